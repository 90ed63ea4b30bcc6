"""ruff and mypy find nothing. They are looked for on PATH and where `make lint` installs them."""

import os
import pathlib
import shutil
import subprocess
import unittest

from support import ROOT, main

TOOLS = pathlib.Path(os.environ["KW_BUILD"]) / "lint-venv" / "bin"


def tool(name: str) -> str | None:
    private = TOOLS / name
    return str(private) if private.exists() else shutil.which(name)


class Tools(unittest.TestCase):
    def run_tool(self, name, *arguments):
        program = tool(name)
        if program is None:
            self.skipTest(f"{name} is not installed; 'make lint' fetches it")
        said = subprocess.run([program, *arguments], cwd=ROOT, text=True, capture_output=True)
        if "is not installed" in said.stderr or "command not found" in said.stderr:  # a shim of a version manager
            self.skipTest(f"{name} is not installed; 'make lint' fetches it")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    def test_ruff(self):
        self.run_tool("ruff", "check", "--no-cache", ".")

    def test_mypy(self):
        self.run_tool("mypy", "--cache-dir", str(TOOLS.parents[1] / "mypy-cache"))


if __name__ == "__main__":
    main()
