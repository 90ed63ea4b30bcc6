"""Exceptions by blame: who has to act for this to stop happening."""

from __future__ import annotations

from typing import Any


class KernelwrightError(Exception):
    """Anything kernelwright could not do. `blame` says whose turn it is, `document` what else is known."""

    blame = "bug"

    def __init__(self, message: str, document: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.document = document or {}


class InputError(KernelwrightError, ValueError):
    """What you wrote or passed cannot be used: a reference, an option, a tensor."""

    blame = "input"


class CandidateError(KernelwrightError, RuntimeError):
    """The kernel is wrong: it does not compile, or broke a rule while it ran."""

    blame = "candidate"


class MachineError(KernelwrightError, RuntimeError):
    """This machine lacks or refuses something: a compiler, a GPU, memory, a matching library."""

    blame = "environment"


class InternalError(KernelwrightError, RuntimeError):
    """A bug in kernelwright. Please report it with what led here."""

    blame = "bug"


_BY_BLAME: dict[str, type[KernelwrightError]] = {
    "input": InputError,
    "candidate": CandidateError,
    "environment": MachineError,
    "bug": InternalError,
}


def make_error(
    blame: str, message: str, document: dict[str, Any] | None = None
) -> KernelwrightError | KeyboardInterrupt:
    """The exception for a blame; the user's own is KeyboardInterrupt."""
    if blame == "user":
        return KeyboardInterrupt(message)
    return _BY_BLAME.get(blame, InternalError)(message, document)
