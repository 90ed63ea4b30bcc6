"""All torch calls of a reference, with place and result: to find the op at which two evaluations begin to differ.

The reference runs unchanged. Calls inside torch's own Python (F.softmax calls Tensor.softmax) are not listed.
"""
import itertools
import sys

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from kw_torch_worker import calls, tensors
from kw_torch_worker.failures import Failure

MAX_BYTES = 1 << 30
# Shapes, strides, dtypes …: calls that compute nothing.
PASSIVE = ("__get__", "size", "dim", "stride", "numel", "element_size", "is_floating_point", "storage_offset",
           "data_ptr", "__len__", "is_contiguous", "__set__", "__repr__", "__format__")


class Recorder(TorchFunctionMode):
    def __init__(self, path, max_bytes):
        super().__init__()
        self.path, self.room = path, max_bytes
        self.steps, self.values = [], []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name in PASSIVE:
            return result
        line, column = self._place()
        for index, part in enumerate(result if isinstance(result, (list, tuple)) else [result]):
            if isinstance(part, torch.Tensor) and part.dtype in tensors.NAMES and part.layout == torch.strided:
                self._keep(function, name, index, part, line, column)
        return result

    def _keep(self, function, name, index, value, line, column):
        self.room -= value.numel() * value.element_size()
        if self.room < 0:
            raise Failure("OutOfMemory", "the intermediate values of the reference are too large to keep")
        self.steps.append({"function": name, "full": resolve_name(function) or name, "index": index, "line": line,
                           "column": column})
        # A later operation may overwrite it.
        self.values.append((name, value.detach().clone()))

    def _place(self):
        """Line and column (from 1, 0 when this Python does not know) of the innermost frame in the reference."""
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        if frame is None:
            return 0, 0
        if hasattr(frame.f_code, "co_positions"):
            line, _, column, _ = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
            if line is not None and column is not None:
                return line, column + 1
        return frame.f_lineno, 0


def trace(request, arena):
    call = calls.prepare(request, calls.read_all(request, arena))
    with Recorder(getattr(call.module, "__file__", ""), request.get("max_bytes", MAX_BYTES)) as recorder:
        call()
    return {"steps": recorder.steps, "outputs": tensors.write(arena, recorder.values)}
