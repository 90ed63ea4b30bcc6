"""What the tests of the Python package share: where it is, small modules, reasons to skip."""

import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

SCALE = """//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! input   bias?: fp32[N]
//! scalar  factor: fp32 = 2
//! output  y: fp32[N]
//! tune    THREADS in 128, 256
//! launch  scale<THREADS> grid(ceil_div(N, THREADS)) block(THREADS) args(x, bias, y, N, factor)
template <int kThreads>
__global__ void scale(const float* x, const float* bias, float* y, int n, float factor) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = x[i] * factor + (bias != nullptr ? bias[i] : 0.0f);
}
"""
SUM_ROWS = """//! kernelwright 1
//! task    sum_rows
//! input   x: fp32[B, D]
//! output  total: fp32[B]
//! scratch part: fp32[B] = 0
//! launch  add_up grid(B) block(32) args(x, part, D)
//! launch  copy_out grid(1) block(128) args(part, total, B)
__global__ void add_up(const float* x, float* part, int D) {
  float sum = 0;
  for (int i = threadIdx.x; i < D; i += 32) sum += x[blockIdx.x * D + i];
  atomicAdd(&part[blockIdx.x], sum);
}
__global__ void copy_out(const float* part, float* total, int B) {
  for (int i = threadIdx.x; i < B; i += 128) total[i] = part[i];
}
"""
OUT_OF_BOUNDS = SCALE.replace("if (i < n) ", "")


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def needs(module: str):
    return unittest.skipUnless(has(module), f"{module} is not installed")


class InFolder(unittest.TestCase):
    """A test with a folder and a cache of its own."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kw-python-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        kept = {name: os.environ.get(name) for name in ("XDG_DATA_HOME",)}
        os.environ["XDG_DATA_HOME"] = str(self.folder / "data")
        self.addCleanup(self._restore, kept)

    @staticmethod
    def _restore(kept: dict) -> None:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def main() -> None:
    """Runs the tests; one line per reason to skip, as the other tests of the project print them."""
    result = unittest.main(exit=False, verbosity=1).result
    for reason in sorted({reason for _, reason in result.skipped}):
        print(f"skipped: {reason}")
    if result.testsRun == len(result.skipped) and result.wasSuccessful():
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
