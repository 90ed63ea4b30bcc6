"""libkernelwright through ctypes: finds it, checks its version and declares its functions."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import threading
from pathlib import Path
from typing import Any, NoReturn

from kernelwright._version import __version__
from kernelwright.errors import MachineError, make_error

ABI = 1
NAME = "libkernelwright.so"


class Tensor(ctypes.Structure):
    """DLPack's DLTensor, as the C header declares it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


TensorPointer = ctypes.POINTER(Tensor)
Listener = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)

_HANDLE, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "kw_version": (_TEXT, []),
    "kw_last_error": (_TEXT, []),
    "kw_check": (_INT, []),
    "kw_job_start": (_HANDLE, [_TEXT, _TEXT]),
    "kw_job_wait": (_INT, [_HANDLE, _INT, Listener, ctypes.c_void_p]),
    "kw_job_told": (_TEXT, [_HANDLE]),
    "kw_job_stop": (None, [_HANDLE]),
    "kw_job_result": (_TEXT, [_HANDLE]),
    "kw_job_free": (None, [_HANDLE]),
    "kw_kernel_open": (_HANDLE, [_TEXT]),
    "kw_kernel_describe": (_TEXT, [_HANDLE]),
    "kw_kernel_free": (None, [_HANDLE]),
    "kw_kernel_plan": (_HANDLE, [_HANDLE, _TEXT]),
    "kw_plan_describe": (_TEXT, [_HANDLE]),
    "kw_plan_run": (_INT, [_HANDLE, ctypes.POINTER(TensorPointer), ctypes.c_size_t, ctypes.c_void_p]),
    "kw_plan_free": (None, [_HANDLE]),
}

_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None


def native_folder() -> Path:
    """The folder where the wheel puts the library and the program of the workers."""
    return Path(__file__).resolve().parent / "_native"


def library_path() -> Path:
    """$KERNELWRIGHT_LIBRARY, otherwise the library of the wheel."""
    named = os.environ.get("KERNELWRIGHT_LIBRARY")
    path = Path(named) if named else native_folder() / NAME
    if not path.is_absolute():
        raise MachineError(f"KERNELWRIGHT_LIBRARY is {named!r}; it must be an absolute path")
    if not path.is_file():
        hint = "" if named else "; in a source tree, build it and set KERNELWRIGHT_LIBRARY to its path"
        raise MachineError(f"there is no {path}{hint}")
    return path


def make_runnable(program: Path) -> None:
    """Makes the file executable: some installers lose file modes."""
    if program.is_file() and not os.access(program, os.X_OK):
        with contextlib.suppress(OSError):
            program.chmod(0o755)


def _open(path: Path) -> ctypes.CDLL:
    try:
        found = ctypes.CDLL(str(path))
    except OSError as error:
        raise MachineError(f"{path} cannot be loaded: {error}") from error
    if not hasattr(found, "kw_abi_version"):
        raise MachineError(f"{path} is not kernelwright's library")
    abi = found.kw_abi_version()
    if abi != ABI:
        raise MachineError(f"{path} has version {abi} of the interface, this package needs version {ABI}; "
                           "install library and package together")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    version = found.kw_version().decode()
    if version != __version__:
        raise MachineError(f"{path} is kernelwright {version}, this package is {__version__}; "
                           "install library and package together")
    return found


def library() -> ctypes.CDLL:
    """The library; the first call loads and checks it."""
    global _loaded
    with _lock:
        if _loaded is None:
            path = library_path()
            make_runnable(path.parent / "kernelwright")
            found = _open(path)
            if found.kw_check() != 0:
                fail(found)
            _loaded = found
        return _loaded


def fail(found: ctypes.CDLL) -> NoReturn:
    """Raises the last error of the library in this thread."""
    text = found.kw_last_error().decode(errors="replace")
    error = json.loads(text) if text else {"blame": "bug", "message": "the library failed without a message"}
    raise make_error(error["blame"], error["message"])


def handle(found: ctypes.CDLL, value: int | None) -> int:
    """Returns the handle; raises if there is none."""
    if not value:
        fail(found)
    return value


def text_of(value: Any) -> bytes:
    """A value as JSON for the library."""
    return json.dumps(value).encode()
