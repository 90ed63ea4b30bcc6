"""The torch worker's own binding of the clock, without torch: python_clock.py LIBRARY DRIVER FRAME REPLY

Times an empty graph whose input is also its output, so that the hashes in the reply are those of the pool's entries.
The driver is the fake one, which keeps device memory where ctypes can reach it.
"""
import ctypes
import os
import pathlib
import sys
import types

root = pathlib.Path(__file__).resolve().parents[2]
package = types.ModuleType("kw_torch_worker")
package.__path__ = [str(root / "python" / "torch_worker")]
sys.modules["kw_torch_worker"] = package
sys.dont_write_bytecode = True
library, driver_path, frame, reply = sys.argv[1:]
os.environ["KERNELWRIGHT_LIBCUDA"] = driver_path

from kw_torch_worker import clock, failures  # noqa: E402

driver = ctypes.CDLL(driver_path)
BYTES = 256


class Memory:
    """What the binding needs of a tensor."""

    def __init__(self, value):
        self.address = ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(BYTES)) == 0
        ctypes.memset(self.address.value, value, BYTES)

    def data_ptr(self):
        return self.address.value

    def numel(self):
        return BYTES // 4

    def element_size(self):
        return 4


class Graph:
    def raw_cuda_graph(self):
        graph = ctypes.c_void_p()
        assert driver.cuGraphCreate(ctypes.byref(graph), 0) == 0
        return graph.value


class Copy:
    def __init__(self):
        memory = Memory(0)
        self.graph, self.inputs, self.outputs = Graph(), [memory], [memory]


def refused(make):
    try:
        make()
    except failures.Failure as failure:
        return str(failure)
    raise SystemExit("nothing was refused")


data = pathlib.Path(library).read_bytes()
timer = clock.Clock(data, 0)
assert "GPU 99 does not exist" in refused(lambda: clock.Clock(data, 99))
assert "the clock" in refused(lambda: timer.ask(b"garbage"))
pool = [[Memory(1)], [Memory(2)]]
work = clock.baseline("python", [Copy(), Copy()], pool)
pathlib.Path(reply).write_bytes(timer.ask(pathlib.Path(frame).read_bytes(), [], [work]))
assert not timer.lost()
