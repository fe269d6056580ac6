"""Runs one file of tests as CTest and the closing count of `make test` expect it: run.py
test_NAME."""
import importlib.util
import os
import sys
import unittest

root = os.environ.get("BRIO_SOURCE_DIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
sys.path[:0] = [os.path.join(root, "python"), os.path.dirname(os.path.abspath(__file__))]

if importlib.util.find_spec("numpy") is None:
    print(f"SKIPPED: {sys.executable} has no numpy; apt-get install python3-numpy")
    sys.exit(77)


class Result(unittest.TextTestResult):
    """The lines of cmocka."""

    def startTest(self, test):
        super().startTest(test)
        print(f"[ RUN      ] {test.id().split('.', 1)[1]}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        print(f"[       OK ] {test.id().split('.', 1)[1]}", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"SKIPPED: {reason}\n[       OK ] {test.id().split('.', 1)[1]}", flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        print(f"[  FAILED  ] {test.id().split('.', 1)[1]}", flush=True)

    def addError(self, test, error):
        super().addError(test, error)
        print(
            f"[  FAILED  ] {test.id().split('.', 1)[1] if '.' in test.id() else test.id()}",
            flush=True,
        )


names = sys.argv[1:] or sorted(
    name[:-3]
    for name in os.listdir(os.path.dirname(os.path.abspath(__file__)))
    if name.startswith("test_")
)
tests = unittest.defaultTestLoader.loadTestsFromNames(names)
sys.exit(
    not unittest.TextTestRunner(stream=sys.stderr, verbosity=0, resultclass=Result)
    .run(tests)
    .wasSuccessful()
)
