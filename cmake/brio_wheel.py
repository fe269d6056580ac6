"""The Python package as a wheel: the build backend of pyproject.toml, and `make wheel`.

    python3 cmake/brio_wheel.py FOLDER [BUILD]     FOLDER/brio-VERSION-py3-none-PLATFORM.whl

A wheel is a zip with the package, and within it what it needs of the build:

    brio/*.py
    brio/lib/libbrio_python.so    stripped, and libfyaml next to it if the library needs it
    brio/bin/brio                 the program: a few lines over that library
    brio/share/brio/scenes        where library and program look for them

Nothing names a place of the machine that built it. CHOLMOD stays optional: it is loaded where the
machine has it. The platform tag is that of the newest GLIBC that library and program ask for. BUILD
is a build that already exists; without it CMake builds the release (as `make` does).
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUNDLED = ("libfyaml",)  # libraries that are not on every Linux
TIME = (1980, 1, 1, 0, 0, 0)  # of every file, so that equal builds give equal wheels


def _version():
    text = (ROOT / "include" / "brio" / "brio.h").read_text()
    numbers = [
        re.search(rf"define BRIO_VERSION_{part} (\d+)", text).group(1)
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    return ".".join(numbers)


def _build():
    """The release, as `make` builds it."""
    if not shutil.which("cmake"):
        raise SystemExit(
            "brio is built by CMake, which is not installed (on Debian: apt-get install cmake "
            "ninja-build gcc pkg-config libfyaml-dev libsuitesparse-dev zlib1g-dev)"
        )
    subprocess.run(
        ["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    subprocess.run(
        ["cmake", "--build", "build", "--target", "brio_python", "brio_launcher"],
        cwd=ROOT,
        check=True,
    )
    return ROOT / "build"


def _needs(file):
    """Places of the libraries of BUNDLED that a file is linked with, by name."""
    found = {}
    for line in subprocess.run(
        ["ldd", str(file)], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match and match.group(1).startswith(BUNDLED):
            found[match.group(1)] = pathlib.Path(match.group(2)).resolve()
    return found


def _binary(file):
    """A library or program without symbols and without the folder of its sources."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        shutil.copyfile(file, copy)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
        data = copy.read_bytes()
    return without_folder(data, os.fsencode(ROOT))


def without_folder(data, place):
    """Text constants that begin with a folder become empty: they end at their first zero. Others
    may have the folder's name in them, as "share/brio/scenes" has that of a clone in /brio."""
    begin = re.compile(rb"(?<=\0)" + re.escape(place) + rb"(?=[/\0])")
    return begin.sub(b"\0" * len(place), data)


def _platform(binaries):
    machine = os.uname().machine
    versions = {
        tuple(map(int, match))
        for data in binaries
        for match in re.findall(rb"GLIBC_(\d+)\.(\d+)", data)
    }
    newest = max(versions, default=(2, 17))
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def _files(build):
    """What is in the wheel: (name, bytes, may be executed)."""
    library, program = build / "libbrio_python.so", build / "brio_launcher"
    files = [
        (f"brio/{file.name}", file.read_bytes(), False)
        for file in sorted((ROOT / "python" / "brio").iterdir())
        if file.suffix == ".py" or file.name == "py.typed"
    ]
    binaries = [
        (f"brio/lib/{library.name}", _binary(library.resolve()), True),
        ("brio/bin/brio", _binary(program), True),
    ]
    for name, place in sorted({**_needs(library), **_needs(program)}.items()):
        binaries.append((f"brio/lib/{name}", place.read_bytes(), True))
    files += binaries
    files += [
        (f"brio/share/brio/scenes/{file.name}", file.read_bytes(), False)
        for file in sorted((ROOT / "scenes").iterdir())
        if file.is_file()
    ]
    return files, _platform(data for _, data, _ in binaries)


def _metadata(version, tag):
    about = {
        "METADATA": (
            f"Metadata-Version: 2.1\nName: brio\nVersion: {version}\nSummary: Things that bend,"
            " stretch, bounce and collide\nLicense: MIT\nRequires-Python: >=3.8\nRequires-Dist:"
            " numpy\n"
        ),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: brio_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nbrio = brio.__main__:program\n",
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }
    return [
        (f"brio-{version}.dist-info/{name}", text.encode(), False) for name, text in about.items()
    ]


def make(folder, build):
    """Writes the wheel of a build into a folder and returns its name."""
    version = _version()
    files, platform = _files(pathlib.Path(build))
    tag = f"py3-none-{platform}"
    files += _metadata(version, tag)
    record = f"brio-{version}.dist-info/RECORD"
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
        for name, data, _ in files
    ]
    files.append((record, ("\n".join(lines) + f"\n{record},,\n").encode(), False))
    name = f"brio-{version}-{tag}.whl"
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data, runs in files:
            info = zipfile.ZipInfo(path, TIME)
            info.external_attr = (0o100755 if runs else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)
    return name


# ---- what pip calls (PEP 517) ---------------------------------------------------------------------


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Name, version and needs, which pip asks for first: nothing is built for them."""
    version = _version()
    for path, data, _ in _metadata(version, "py3-none-any"):
        file = pathlib.Path(metadata_directory) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return f"brio-{version}.dist-info"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return make(wheel_directory, (config_settings or {}).get("build") or _build())


def build_sdist(sdist_directory, config_settings=None):
    version = _version()
    base = f"brio-{version}"
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split("\n")
    with tarfile.open(
        pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT
    ) as archive:
        for name in filter(None, listed):
            archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "PKG-INFO"
            file.write_bytes(_metadata(version, "")[0][1])
            archive.add(file, f"{base}/PKG-INFO")
    return f"{base}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    made = make(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else _build())
    size = os.path.getsize(os.path.join(sys.argv[1], made))
    print(f"{os.path.join(sys.argv[1], made)} ({size / 1e6:.1f} MB)")
