"""Kernels on torch CUDA tensors of a real GPU: streams, graphs, allocation, refusals."""

import unittest

from support import SCALE, SUM_ROWS, InFolder, has, main

from kernelwright import InputError, Kernel, SynthesisConfig, bench, compare, synthesize

KEPT = """//! kernelwright 1
//! task    total
//! input   x: fp32[N]
//! output  y: fp32[1]
//! scratch done: int32[1] = 0 kept
//! scratch sum: fp32[1] = 0 kept
//! launch  total grid(ceil_div(N, 256)) block(256) args(x, y, done, sum, N)
__global__ void total(const float* x, float* y, int* done, float* sum, int n) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&part, x[i]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(sum, part);
  __threadfence();
  if (atomicAdd(done, 1) != static_cast<int>(gridDim.x) - 1) return;
  y[0] = atomicExch(sum, 0.0f);
  atomicExch(done, 0);
}
"""


def gpu() -> str:
    """Why there is no GPU to test on; "" when there is one."""
    if not has("torch"):
        return "torch is not installed"
    import torch

    return "" if torch.cuda.is_available() else "torch sees no GPU"


@unittest.skipIf(gpu(), gpu())
class OnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import torch

        cls.torch = torch
        cls.scale, cls.rows, cls.total = Kernel(SCALE), Kernel(SUM_ROWS), Kernel(KEPT)

    def test_outputs_and_shapes(self):
        for n in (1, 5, 1000, 1 << 20):
            x = self.torch.randn(n, device="cuda")
            y = self.scale(x, factor=3.0)
            self.assertTrue(y.is_cuda)
            self.torch.testing.assert_close(y, 3 * x, rtol=0, atol=0)

    def test_scratch_is_cleared_every_time(self):
        x = self.torch.ones(16, 100, device="cuda")
        for _ in range(3):
            self.assertTrue(self.torch.equal(self.rows(x), x.sum(1)))

    def test_kept_scratch_per_stream(self):
        x = self.torch.ones(1000, device="cuda")
        streams = [self.torch.cuda.Stream() for _ in range(3)]
        self.torch.cuda.synchronize()
        totals = []
        for stream in streams * 3:
            with self.torch.cuda.stream(stream):
                totals.append(self.total(x))
        self.torch.cuda.synchronize()
        self.assertEqual([float(one) for one in totals], [1000.0] * 9)

    def test_current_stream(self):
        """The kernel waits for what torch queued on the same stream, and only there."""
        x = self.torch.zeros(1 << 20, device="cuda")
        self.scale(x)
        stream = self.torch.cuda.Stream()
        self.torch.cuda.synchronize()
        with self.torch.cuda.stream(stream):
            self.torch.cuda._sleep(50_000_000)
            x.fill_(2.0)
            y = self.scale(x)
        self.assertFalse(stream.query(), "the call waited for the device")
        stream.synchronize()
        self.assertTrue(bool((y == 4).all()))

    def test_cuda_graph(self):
        x = self.torch.ones(4096, device="cuda")
        rows = self.torch.ones(8, 64, device="cuda")
        self.scale(x), self.rows(rows), self.total(x)
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            y = self.scale(self.scale(x))
            sums, total = self.rows(rows), self.total(x)
        for value in (3.0, -1.0):
            x.fill_(value)
            rows.fill_(value)
            graph.replay()
            self.torch.cuda.synchronize()
            self.assertTrue(bool((y == 4 * value).all()))
            self.assertTrue(bool((sums == 64 * value).all()))
            self.assertEqual(float(total), 4096 * value)

    def test_capture_before_the_first_call(self):
        kernel = Kernel(SCALE)
        x = self.torch.ones(64, device="cuda")
        graph = self.torch.cuda.CUDAGraph()
        with self.assertRaisesRegex(InputError, "call it once before capturing"), self.torch.cuda.graph(graph):
            self.torch.ones(1, device="cuda")
            kernel(x)
        self.torch.cuda.synchronize()
        self.assertTrue(bool((kernel(x) == 2).all()))

    def test_no_allocation_with_out(self):
        x = self.torch.ones(4096, device="cuda")
        y = self.torch.empty_like(x)
        self.scale(x, out=y)
        before = self.torch.cuda.memory_stats()["allocation.all.allocated"]
        for _ in range(10):
            self.scale(x, out=y)
        self.assertEqual(self.torch.cuda.memory_stats()["allocation.all.allocated"], before)

    def test_refusals(self):
        x = self.torch.ones(65, device="cuda")
        for arguments, message in (
            ((x[1:],), "not a multiple of 16 bytes"),
            ((x.double(),), "'x' is fp64"),
            ((x, self.torch.ones(65)), "'x' is on cuda:0, 'bias' on the CPU"),
            ((x[::2],), "not contiguous"),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(InputError, message):
                self.scale(*arguments)
        self.assertEqual(self.scale(x[:0]).numel(), 0)
        with self.assertRaisesRegex(InputError, "no elements"):
            self.rows(self.torch.ones(3, 0, device="cuda"))


@unittest.skipIf(gpu(), gpu())
class Story(InFolder):
    def test_from_reference_to_timed_kernel(self):
        import torch

        def rms_norm(x):
            return x * (x.float().pow(2).mean(dim=-1, keepdim=True) + 1e-5).rsqrt().to(x.dtype)

        dims = {"B": 2048, "D": 1024}
        config = SynthesisConfig(artifact_root=self.folder, seconds=5, quick=True, baselines=("eager",))
        said = {"x": "fp16[B, D]"}
        result = synthesize("", rms_norm, config=config, inputs=said, dims=dims)
        self.assertTrue(result.passed, result.failure_reason)
        self.assertGreater(result.performance.time_us, 0)
        self.assertGreater(result.performance.speedup_vs_reference, 0)
        self.assertIsInstance(result.performance.below_target, bool)
        x = torch.randn(64, 1024, device="cuda", dtype=torch.float16)
        torch.testing.assert_close(result.kernel(x), rms_norm(x), rtol=2e-3, atol=2e-3)
        self.assertGreater(bench(result, rms_norm, inputs=said, dims=dims, quick=True).time_us, 0)
        self.assertIn(compare(result, result, dims=dims, quick=True).relation, ("SAME", "AMBIGUOUS"))


if __name__ == "__main__":
    main()
