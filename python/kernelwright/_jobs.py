"""Commands of kernelwright as jobs of its library. Ctrl-C asks the job to stop and waits until its state is saved."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from kernelwright import _library
from kernelwright.errors import make_error
from kernelwright.progress import Watcher, shower

POLL_MS = 100
STOP_MS = 30_000
INTERRUPTED = 130

_running: set[int] = set()
_environment = threading.Lock()


def _stop_all() -> None:
    for job in list(_running):
        found = _library.library()
        found.kw_job_stop(job)
        found.kw_job_wait(job, STOP_MS, _library.Listener(), None)


atexit.register(_stop_all)


def _isolated_torch() -> bool:
    """Whether this Python finds torch in its own folders, without $PYTHONPATH and the user's."""
    if not os.path.basename(sys.executable or "").startswith("python"):
        return False
    found = importlib.util.find_spec("torch")
    return found is not None and (found.origin or "").startswith((sys.prefix, sys.base_prefix))


@contextlib.contextmanager
def _torch_here() -> Iterator[None]:
    """Starts the torch process from this Python if it has torch and the caller chose no other."""
    name = "KW_TORCH_PYTHON"
    with _environment:
        mine = name not in os.environ and _isolated_torch()
        if mine:
            os.environ[name] = sys.executable
    try:
        yield
    finally:
        if mine:
            os.environ.pop(name, None)


def _wait_once(found: Any, job: int, show: Any) -> bool:
    ended: bool = found.kw_job_wait(job, POLL_MS, _library.Listener(), None) != 0
    for kind, text in json.loads(found.kw_job_told(job).decode(errors="replace")):
        show(kind, text)
    return ended


def _wait(found: Any, job: int, show: Any) -> None:
    """Waits until the job has ended. The first Ctrl-C asks it to stop; the second stops waiting for it."""
    # The library gets no callback: an exception that a signal raises inside one would be lost.
    try:
        while not _wait_once(found, job, show):
            pass
    except KeyboardInterrupt:
        found.kw_job_stop(job)
        waited = 0
        while waited < STOP_MS and not _wait_once(found, job, show):
            waited += POLL_MS
    finally:
        show.close()


def run(command: str, options: dict[str, Any], progress: bool | Watcher | None = None) -> dict[str, Any]:
    """The command's document. Raises if the command has no result; a failed candidate is a result."""
    found = _library.library()
    with _torch_here():
        job = _library.handle(found, found.kw_job_start(command.encode(), _library.text_of(options)))
        _running.add(job)
        try:
            _wait(found, job, shower(progress))
            text = found.kw_job_result(job).decode(errors="replace")
        finally:
            _running.discard(job)
            found.kw_job_free(job)
    document: dict[str, Any] = json.loads(text) if text else {"exit_code": INTERRUPTED}
    raise_for(document)
    return document


def raise_for(document: dict[str, Any]) -> None:
    """Raises the exception for the error in a document."""
    if document.get("exit_code") == INTERRUPTED:
        folder = document.get("artifacts_dir")
        raise KeyboardInterrupt(f"interrupted; the run is kept in {folder}" if folder else "interrupted")
    error = document.get("error")
    if isinstance(error, dict) and "blame" in error:  # the error of a verdict is numbers, not a message
        raise make_error(error["blame"], error.get("message", ""), document)
