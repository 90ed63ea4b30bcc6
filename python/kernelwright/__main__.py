"""`python -m kernelwright`, and the command `kernelwright` of an installed wheel: the program itself."""

from __future__ import annotations

import os
import sys

from kernelwright._library import library_path, make_runnable


def main() -> None:
    """Replaces this process by the program next to the library."""
    program = library_path().parent / "kernelwright"
    make_runnable(program)
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
