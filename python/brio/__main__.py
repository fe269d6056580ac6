"""``python3 -m brio``: without arguments, what this package found; with arguments, the program ``brio``."""
import os
import sys

import brio
from brio._library import lib

if len(sys.argv) > 1:
    os.execv(brio.program(), ["brio", *sys.argv[1:]])
print(f"brio {brio.version()}, instruction set {brio.isa()}, {brio.threads()} threads")
print(f"library   {lib.brio_place}")
try:
    print(f"program   {brio.program()}")
except brio.Error as problem:
    print(f"program   {problem}")
print(f"scenes    {', '.join(brio.scenes())}")
