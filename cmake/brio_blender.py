"""Packs the add-on for Blender:  brio_blender.py BRIO ZIP

The zip holds integrations/blender/brio_blender and the materials that the program knows. Its bytes
depend on nothing else: no times, a fixed order.
"""
import json
import os
import subprocess
import sys
import zipfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
addon = os.path.join(root, "integrations", "blender")
sys.path.insert(0, addon)
from brio_blender.core import presets  # noqa: E402


def add(archive, name, data):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def main(program, path):
    listed = subprocess.run([program, "list", "presets", "--json"], check=True,
                            stdout=subprocess.PIPE, encoding="utf-8").stdout
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    files = []
    for folder, folders, names in os.walk(os.path.join(addon, "brio_blender")):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
    with zipfile.ZipFile(path + ".tmp", "w") as archive:
        for file in files:
            with open(file, "rb") as data:
                add(archive, os.path.relpath(file, addon).replace(os.sep, "/"), data.read())
        add(archive, "brio_blender/core/presets.json",
            json.dumps(presets.parse(listed), indent=1, ensure_ascii=False) + "\n")
        with open(os.path.join(root, "LICENSE"), "rb") as data:
            add(archive, "brio_blender/LICENSE", data.read())
    os.replace(path + ".tmp", path)
    print("%s: %d files, %d kB" % (path, len(files) + 2, os.path.getsize(path) // 1000))


if __name__ == "__main__":
    main(*sys.argv[1:])
