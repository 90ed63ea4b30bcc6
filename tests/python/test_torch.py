"""References only torch can say, and kernels on CPU tensors of torch."""

import os
import pathlib
import unittest

from support import SCALE, SUM_ROWS, InFolder, main, needs

from kernelwright import InputError, Kernel, SynthesisConfig, reference, synthesize

QUICK = {"device": "vgpu", "cross_check": "never", "seconds": 1, "candidates": 1, "seed": 1}


@needs("torch")
class OnTorch(unittest.TestCase):
    def test_tensors(self):
        import torch

        x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
        total = Kernel(SUM_ROWS)(x)
        self.assertIsInstance(total, torch.Tensor)
        self.assertTrue(torch.equal(total, x.sum(1)))

    def test_again_with_other_contents(self):
        import torch

        scale, rows = Kernel(SCALE), Kernel(SUM_ROWS)
        for value in (1.0, 2.0, 3.0):
            x, bias = torch.full((5,), value), torch.full((5,), 0.5)
            self.assertEqual(scale(x).tolist(), [2 * value] * 5)
            self.assertEqual(scale(x, bias).tolist(), [2 * value + 0.5] * 5)
            self.assertEqual(rows(torch.full((2, 3), value)).tolist(), [3 * value] * 2)
        first, second = scale(x), scale(x + 1)
        self.assertNotEqual(first.data_ptr(), second.data_ptr())
        self.assertEqual(first.tolist(), [6.0] * 5)

    def test_grad_is_not_recorded(self):
        import torch

        y = Kernel(SCALE)(torch.ones(4, requires_grad=True))
        self.assertFalse(y.requires_grad)

    def test_refusals(self):
        import torch

        rows, scale = Kernel(SUM_ROWS), Kernel(SCALE)
        for kernel, x, message in (
            (rows, torch.zeros(4, 3).t(), r"not contiguous.*x\.contiguous\(\)"),
            (scale, torch.zeros(3, dtype=torch.float64), "'x' is fp64, but the kernel needs fp32"),
            (scale, torch.zeros(3, dtype=torch.complex64), "complex64, which no kernel takes"),
            (scale, torch.zeros(3, device="meta"), "'x' is on meta"),
            (scale, torch.zeros(3).to_sparse(), "layout"),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(InputError, message):
                kernel(x)


@needs("torch")
class References(InFolder):
    def made(self, function, **given):
        return synthesize("", function, config=SynthesisConfig(artifact_root=self.folder, **QUICK), **given)

    def test_builtin_and_lambda(self):
        import torch

        x = torch.linspace(-3, 3, 64).reshape(4, 16)
        for function in (torch.nn.functional.relu, lambda t: torch.relu(t)):
            result = self.made(function, inputs=[x])
            self.assertTrue(result.passed, result.failure_reason)
            self.assertTrue(torch.equal(result.kernel(x), torch.relu(x)))

    def test_module_instance(self):
        import torch

        torch.manual_seed(1)
        norm = torch.nn.Sequential(torch.nn.LayerNorm(32), torch.nn.Tanh()).eval()
        rows = "B" if os.environ.get("KW_TORCH_ALL") else "5"  # torch exports every shape again
        result = self.made(norm, inputs={"input": f"fp32[{rows}, 32]"})
        self.assertTrue(result.passed, result.failure_reason)
        x = torch.randn(5, 32)
        torch.testing.assert_close(result.kernel(x), norm(x).detach(), rtol=1e-5, atol=1e-5)
        with torch.no_grad():
            norm[0].weight.mul_(2)  # the kernel takes the weights as they are now
        torch.testing.assert_close(result.kernel(x), norm(x).detach(), rtol=1e-5, atol=1e-5)

    def test_closure_over_a_tensor(self):
        import torch

        shift = torch.arange(8, dtype=torch.float32)
        prepared = reference.prepare(lambda x: x + shift, [torch.zeros(3, 8)])
        self.assertEqual([path.suffix for path in prepared.made], [".pt2", ".py"])
        scope = {}
        exec(pathlib.Path(prepared.path).read_text(), scope)
        x = torch.ones(5, 8)  # the first extent was not fixed
        self.assertTrue(torch.equal(scope[prepared.function](x), x + shift))
        self.assertIn("torch.randn((3, 8))", pathlib.Path(prepared.path).read_text())

    def test_inputs_must_be_known(self):
        import torch

        with self.assertRaisesRegex(InputError, "needs the shape and dtype of 'input'"):
            reference.prepare(torch.nn.Linear(3, 4))

    def test_what_torch_cannot_export(self):
        import torch

        class Steered(torch.nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x

        with self.assertRaisesRegex(InputError, "torch.export refuses it"):
            reference.prepare(Steered(), [torch.ones(4)])


if __name__ == "__main__":
    main()
