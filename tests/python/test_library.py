"""The library itself: found or not, of the right version or not; jobs and their options."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from support import ROOT, InFolder, main

from kernelwright import InputError, MachineError, _jobs, _library, _version

LIBRARY = pathlib.Path(os.environ["KERNELWRIGHT_LIBRARY"])


class Versions(unittest.TestCase):
    def test_one_version_everywhere(self):
        wanted = re.search(r"project\(kernelwright VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        self.assertEqual(_version.__version__, wanted)
        self.assertIn(f'version = "{wanted}"', (ROOT / "pyproject.toml").read_text())
        self.assertEqual(_library.library().kw_version().decode(), wanted)

    def test_package_of_another_version(self):
        kept = _library.__version__
        self.addCleanup(setattr, _library, "__version__", kept)
        _library.__version__ = "9.9.9"
        with self.assertRaisesRegex(MachineError, f"is kernelwright {kept}, this package is 9.9.9"):
            _library._open(LIBRARY)

    def test_interface_of_another_version(self):
        self.addCleanup(setattr, _library, "ABI", _library.ABI)
        _library.ABI = 99
        with self.assertRaisesRegex(MachineError, "has version 1 of the interface, this package needs version 99"):
            _library._open(LIBRARY)


class Finding(InFolder):
    def load(self, path):
        code = "import sys; sys.path.insert(0, sys.argv[1]); from kernelwright import _library; _library.library()"
        environment = {**os.environ, "KERNELWRIGHT_LIBRARY": str(path)}
        said = subprocess.run([sys.executable, "-c", code, str(ROOT / "python")], env=environment, text=True,
                              capture_output=True)
        return said.stderr.strip().splitlines()[-1] if said.stderr else ""

    def test_missing(self):
        self.assertIn("there is no", self.load(self.folder / "nothing.so"))

    def test_no_library(self):
        path = self.folder / "text.so"
        path.write_text("not a library")
        self.assertIn("cannot be loaded", self.load(path))

    def test_without_workers(self):
        path = self.folder / "libkernelwright.so"
        shutil.copy(LIBRARY, path)
        self.assertIn("kernelwright is missing; it belongs beside the library", self.load(path))
        worker = self.folder / "kernelwright"
        worker.write_text('#!/bin/sh\necho \'{"kernelwright": "0.0.7"}\'\n')
        worker.chmod(0o755)
        self.assertIn("is version 0.0.7; install them together", self.load(path))


class Jobs(InFolder):
    def test_document(self):
        self.assertEqual(_jobs.run("runs", {"out": str(self.folder)})["runs"], [])

    def test_unknown_command(self):
        with self.assertRaisesRegex(InputError, "no command 'synthesise'.*synthesize"):
            _jobs.run("synthesise", {})
        with self.assertRaisesRegex(InputError, "no command 'worker-gpu'"):
            _jobs.run("worker-gpu", {})

    def test_unknown_option(self):
        with self.assertRaisesRegex(InputError, "has no option --outt.*--out"):
            _jobs.run("runs", {"outt": 1})

    def test_value_of_the_wrong_kind(self):
        with self.assertRaisesRegex(InputError, "option 'out'"):
            _jobs.run("runs", {"out": [[1]]})

    def test_values_are_passed_as_they_are(self):
        with self.assertRaisesRegex(InputError, "--limit"):
            _jobs.run("runs", {"limit": "-- two"})

    def test_no_worker_of_the_host(self):
        """The library starts workers from the program next to it, never from this Python."""
        document = _jobs.run("doctor", {})
        self.assertIn("kernelwright", document)


if __name__ == "__main__":
    main()
