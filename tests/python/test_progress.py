"""What is shown while a job runs, on terminals, in notebooks and elsewhere."""

import contextlib
import io
import sys
import types
import unittest
from unittest import mock

from support import main

from kernelwright import progress


class Shown:
    """IPython's handle of something displayed."""

    def __init__(self, log, text):
        self.log = log
        log.append(("new", text))

    def update(self, shown, raw):
        self.log.append(("update", shown["text/plain"]))


class ZMQInteractiveShell:
    """Named like a notebook's shell."""


class Progress(unittest.TestCase):
    def lines(self, show):
        with contextlib.redirect_stderr(io.StringIO()) as written:
            show("progress", "one\ntwo")
            show("note", "mind this")
            show("progress", "x" * 500)
            show.close()
        return written.getvalue()

    def test_terminal(self):
        said = self.lines(progress.shower(True))
        self.assertIn("\r\x1b[Kone two", said)
        self.assertIn("kernelwright: mind this\n", said)
        self.assertTrue(said.endswith("\r\x1b[K"))
        self.assertNotIn("x" * 400, said)

    def test_silence(self):
        self.assertEqual(self.lines(progress.shower(False)), "")
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIsInstance(progress.shower(None), progress.Silence)

    def test_function(self):
        told = []
        self.lines(progress.shower(lambda kind, text: told.append((kind, text))))
        self.assertEqual([kind for kind, _ in told], ["progress", "note", "progress"])

    def test_notebook(self):
        log = []
        shell = types.ModuleType("IPython")
        shell.get_ipython = ZMQInteractiveShell
        display = types.ModuleType("IPython.display")
        display.display = lambda shown, raw, display_id: Shown(log, shown["text/plain"])
        with mock.patch.dict(sys.modules, {"IPython": shell, "IPython.display": display}):
            self.assertEqual(self.lines(progress.shower(None)), "")
        self.assertEqual(log[:3], [("new", "one\ntwo"), ("update", "kernelwright: mind this"), ("new", "x" * 500)])
        self.assertEqual(log[-1], ("update", ""))


if __name__ == "__main__":
    main()
