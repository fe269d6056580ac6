"""The wheel of this build in a fresh environment: the same bytes as the program, no place of this
machine in it."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(os.environ.get("BRIO_SOURCE_DIR", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("BRIO_LIBRARY", ROOT / "build" / "libbrio.so")).resolve().parent
sys.path.insert(0, str(ROOT / "cmake"))


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import ensurepip  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("no ensurepip: apt-get install python3-venv")
        if not (BUILD / "brio_launcher").is_file():
            raise unittest.SkipTest(f"{BUILD} has no brio_launcher (a build with sanitizers)")
        import brio_wheel

        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)
        cls.wheel = cls.at / brio_wheel.make(cls.at, BUILD)
        cls.python = cls.at / "venv" / "bin" / "python"
        cls.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("BRIO_", "PYTHON"))
        }
        # numpy is that of the machine: nothing is fetched
        subprocess.run(
            [sys.executable, "-m", "venv", "--system-site-packages", str(cls.at / "venv")],
            check=True,
            env=cls.environment,
        )
        subprocess.run(
            [
                str(cls.python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-index",
                "--no-deps",
                "--disable-pip-version-check",
                str(cls.wheel),
            ],
            check=True,
            env=cls.environment,
        )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_in(self, *command):
        return subprocess.run(
            [str(part) for part in command],
            cwd=self.at,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def test_folder_of_the_sources(self):
        """Only what begins with it goes, also where its name is short: a clone in /brio."""
        import brio_wheel

        data = b"\0/brio/src/a.c\0%s/share/brio/scenes\0/brio\0/brio2/b.c\0"
        without = b"\0" * 6 + b"/src/a.c\0%s/share/brio/scenes" + b"\0" * 7 + b"/brio2/b.c\0"
        self.assertEqual(brio_wheel.without_folder(data, b"/brio"), without)

    def test_content(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            self.assertIsNone(wheel.testzip())
            names = wheel.namelist()
            for name in names:
                self.assertNotIn(os.fsencode(ROOT), wheel.read(name), name)
        for name in ("brio/__init__.py", "brio/bin/brio", "brio/share/brio/scenes/demo.yaml"):
            self.assertIn(name, names)
        self.assertTrue(any(name == "brio/lib/libbrio_python.so" for name in names))
        print(f"{self.wheel.name}: {self.wheel.stat().st_size / 1e6:.1f} MB")

    def test_finds_its_own(self):
        told = self.run_in(self.python, "-m", "brio")
        for line in told.splitlines()[1:3]:
            self.assertIn(str(self.at), line)
        self.assertIn("demo", told)

    def test_same_bytes(self):
        sets = ("time.end=0.1", "output.frames=[]")
        flags = [word for one in sets for word in ("--set", one)]
        subprocess.run(
            [str(BUILD / "brio"), "run", "cloth", "-o", str(self.at / "ours"), "--quiet", *flags],
            check=True,
        )
        self.run_in(
            self.at / "venv" / "bin" / "brio",
            "run",
            "cloth",
            "-o",
            self.at / "program",
            "--quiet",
            *flags,
        )
        self.run_in(
            self.python,
            "-c",
            f"import brio; brio.run('cloth', '{self.at}/python', set={list(sets)!r})",
        )
        ours = (self.at / "ours" / "energy.csv").read_bytes()
        for name in ("program", "python"):
            self.assertEqual((self.at / name / "energy.csv").read_bytes(), ours, name)
        print(f"{len(ours)} bytes of energy.csv are the same")


if __name__ == "__main__":
    unittest.main()
