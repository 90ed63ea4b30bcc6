"""Exceptions by blame: who must act so that the error stops."""

from __future__ import annotations

from typing import Any


class KernelwrightError(Exception):
    """An error of kernelwright. `blame` says who must act; `document` has further facts."""

    blame = "bug"

    def __init__(self, message: str, document: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.document = document or {}


class InputError(KernelwrightError, ValueError):
    """The caller's input cannot be used: a reference, an option, a tensor."""

    blame = "input"


class CandidateError(KernelwrightError, RuntimeError):
    """The kernel is wrong: it does not compile, or broke a rule while it ran."""

    blame = "candidate"


class MachineError(KernelwrightError, RuntimeError):
    """This machine lacks or refuses something: a compiler, a GPU, memory, a matching library."""

    blame = "environment"


class InternalError(KernelwrightError, RuntimeError):
    """A bug in kernelwright. Please report it with the steps that led to it."""

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
    """The exception class for a blame; an interruption by the user is KeyboardInterrupt."""
    if blame == "user":
        return KeyboardInterrupt(message)
    return _BY_BLAME.get(blame, InternalError)(message, document)
