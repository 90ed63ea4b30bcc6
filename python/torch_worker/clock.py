"""kernelwright's clock (libkwclock), loaded into this process; mirrors src/run/clock_library/clock_api.h."""
import ctypes
import os
import tempfile

from kw_torch_worker.failures import Failure


class Span(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class Baseline(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("calls", ctypes.c_size_t), ("inputs", ctypes.c_size_t),
                ("outputs", ctypes.c_size_t), ("entries", ctypes.c_size_t),
                ("graphs", ctypes.POINTER(ctypes.c_void_p)), ("input_spans", ctypes.POINTER(Span)),
                ("output_spans", ctypes.POINTER(Span)), ("pool_spans", ctypes.POINTER(Span))]


def span(tensor):
    return Span(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def spans(tensors):
    return (Span * max(1, len(tensors)))(*[span(tensor) for tensor in tensors])


def baseline(name, copies, pool):
    """`copies` have a raw graph, inputs and outputs; `pool` is a list of entries parallel to the inputs."""
    graphs = (ctypes.c_void_p * len(copies))(*[copy.graph.raw_cuda_graph() for copy in copies])
    return Baseline(name.encode(), len(copies), len(copies[0].inputs), len(copies[0].outputs), len(pool), graphs,
                    spans([tensor for copy in copies for tensor in copy.inputs]),
                    spans([tensor for copy in copies for tensor in copy.outputs]),
                    spans([tensor for entry in pool for tensor in entry]))


def _load(data):
    """Loads the library from its bytes and leaves no file behind."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("libkwclock.so")
        try:
            with open(fd, "wb", closefd=False) as file:
                file.write(data)
            return ctypes.CDLL(f"/proc/self/fd/{fd}")
        except OSError:  # this machine may forbid to execute anonymous files
            pass
        finally:
            os.close(fd)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "libkwclock.so")
        with open(path, "wb") as file:
            file.write(data)
        return ctypes.CDLL(path)


class Clock:
    def __init__(self, data, ordinal):
        self.library = library = _load(data)
        library.kw_clock_open.restype = ctypes.c_void_p
        library.kw_clock_error.restype = ctypes.c_char_p
        library.kw_clock_error.argtypes = [ctypes.c_void_p]
        library.kw_clock_lost.argtypes = [ctypes.c_void_p]
        library.kw_clock_ask.restype = ctypes.c_void_p
        library.kw_clock_ask.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(Span), ctypes.c_size_t,
            ctypes.POINTER(Baseline), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        self.handle = library.kw_clock_open(ordinal)
        if not self.handle:
            raise Failure("NoCuda", "the clock cannot be opened: " + self._error(None))

    def _error(self, handle):
        return (self.library.kw_clock_error(handle) or b"").decode(errors="replace")

    def ask(self, frame, inputs=(), baselines=()):
        """The reply frame, as bytes."""
        size = ctypes.c_size_t()
        work = (Baseline * max(1, len(baselines)))(*baselines)
        reply = self.library.kw_clock_ask(self.handle, frame, len(frame), spans(list(inputs)), len(inputs), work,
                                          len(baselines), ctypes.byref(size))
        if not reply:
            raise Failure("Failed", "the clock: " + self._error(self.handle))
        return ctypes.string_at(reply, size.value)

    def lost(self):
        return bool(self.library.kw_clock_lost(self.handle))
