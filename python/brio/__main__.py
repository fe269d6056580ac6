"""``python3 -m brio``: without arguments, what this package found; with arguments, the program
``brio``."""
import os
import sys

import brio
from brio._library import lib, program_environment


def program() -> None:
    """The program ``brio`` of the package, with the arguments of this process."""
    os.execve(brio.program(), ["brio", *sys.argv[1:]], program_environment())


def main() -> None:
    if len(sys.argv) > 1:
        program()
    print(f"brio {brio.version()}, instruction set {brio.isa()}, {brio.threads()} threads")
    print(f"library   {lib.brio_place}")
    try:
        print(f"program   {brio.program()}")
    except brio.Error as problem:
        print(f"program   {problem}")
    print(f"scenes    {', '.join(brio.scenes())}")


if __name__ == "__main__":
    main()
