"""Failures as data: a kind that the C++ side knows, one line of text, the end of the traceback."""
import os
import traceback


class Failure(Exception):
    """A failure that this worker recognised; `kind` is one of the names in src/run/torch_worker/torch_outcome.h."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Loading(Exception):
    """Wraps the exception that stopped the file of a reference; only the cause counts."""


TRACEBACK_LINES = 30
FATAL = ("cuda error", "cublas_status", "cudnn_status", "an illegal memory access", "device-side assert")
NO_MEMORY = ("can't allocate memory", "cannot allocate memory", "not enough memory", "out of memory", "bad_alloc")


def text_of(error):
    try:
        return str(error)
    except Exception:  # printing an exception class of the user may fail
        return ""


def one_line(error):
    text = " ".join(text_of(error).split())
    return text[:600] + (" …" if len(text) > 600 else "")


def a(value):
    """"an int", "a Tensor", "nothing"."""
    name = type(value).__name__
    return "nothing" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def kind_of(error, during):
    """`during`: the kind of an error that has no more specific one."""
    if isinstance(error, Failure):
        return error.kind
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "OutOfMemory"
    if isinstance(error, (RuntimeError, OSError)) and any(word in text_of(error).lower() for word in NO_MEMORY):
        return "OutOfMemory"
    if isinstance(error, ModuleNotFoundError):
        return "MissingModule"
    return during


def message_of(error):
    if isinstance(error, Failure):
        return one_line(error)
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r})"
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{os.path.basename(error.filename or 'the text')}:{error.lineno}: {type(error).__name__}: {error.msg}"
    text = one_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def frames_of(error):
    """The last lines of the traceback, without our own frames."""
    if isinstance(error, SyntaxError) or (isinstance(error, Failure) and error.__cause__ is None):
        return ""
    parts = traceback.TracebackException.from_exception(error.__cause__ if isinstance(error, Failure) else error)
    parts.stack = traceback.StackSummary.from_list(
        [frame for frame in parts.stack if not frame.filename.startswith(("<kernelwright", "<string>"))])
    lines = "".join(parts.format()).splitlines()
    return "\n".join(lines[-TRACEBACK_LINES:])


def describe(error):
    """The reply for a failure. After a fatal failure this process cannot be used any more."""
    during = "Raised"
    if isinstance(error, Loading):
        error, during = error.__cause__, "BadSource"
    kind = kind_of(error, during)
    text = text_of(error).lower()
    fatal = kind != "OutOfMemory" and not isinstance(error, Failure) and any(word in text for word in FATAL)
    try:
        frames = frames_of(error)
    except Exception as broken:
        frames = f"(no traceback: {type(broken).__name__})"
    return {"kind": kind, "message": message_of(error), "traceback": frames, "fatal": fatal}
