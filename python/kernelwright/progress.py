"""Progress while a job runs: one line that is rewritten, on terminals and in notebooks; otherwise nothing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import Any

#: Called with "progress" or "note", and a line of text.
Watcher = Callable[[str, str], None]


class TerminalLine:
    """One status line on standard error; notes stay."""

    def __init__(self) -> None:
        self._shown = False

    def __call__(self, kind: str, text: str) -> None:
        """Shows a line."""
        if kind == "note":
            self.close()
            print(f"kernelwright: {text}", file=sys.stderr, flush=True)
            return
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{' '.join(text.split())[:width]}", end="", file=sys.stderr, flush=True)
        self._shown = True

    def close(self) -> None:
        """Removes the line."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        self._shown = False


class NotebookLine:
    """One line below the cell, replaced in place."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def _show(self, text: str) -> None:
        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def __call__(self, kind: str, text: str) -> None:
        """Shows a line."""
        self._show(f"kernelwright: {text}" if kind == "note" else text)
        if kind == "note":
            self._handle = None  # the next line starts a new place

    def close(self) -> None:
        """Leaves an empty line where the last one was."""
        if self._handle is not None:
            self._show("")


class Silence:
    """Nothing is shown."""

    def __call__(self, kind: str, text: str) -> None:
        """Shows nothing."""

    def close(self) -> None:
        """Has nothing to remove."""


class Given:
    """A caller's own function."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def __call__(self, kind: str, text: str) -> None:
        """Passes a line to the function."""
        self._watcher(kind, text)

    def close(self) -> None:
        """The caller's function does not need to know the end."""


def _notebook_display() -> Any:
    """IPython's display() inside a notebook, otherwise None."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    return display


def shower(progress: bool | Watcher | None) -> TerminalLine | NotebookLine | Silence | Given:
    """True: shown. False: not shown. None: shown on a terminal or in a notebook. A function: called."""
    if callable(progress):
        return Given(progress)
    if progress is False:
        return Silence()
    display = _notebook_display()
    if display is not None:
        return NotebookLine(display)
    if progress is True or sys.stderr.isatty():
        return TerminalLine()
    return Silence()
