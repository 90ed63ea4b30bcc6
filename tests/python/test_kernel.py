"""Kernel modules called on CPU tensors, through the virtual GPU; and what is refused, with which words."""

import array
import ctypes
import subprocess
import sys
import threading
import unittest

from support import OUT_OF_BOUNDS, ROOT, SCALE, SUM_ROWS, main, needs

import kernelwright
from kernelwright import CandidateError, InputError, Kernel


class OnBuffers(unittest.TestCase):
    """Without NumPy and torch: anything that has a buffer."""

    @classmethod
    def setUpClass(cls):
        cls.scale = Kernel(SCALE)

    def test_array_in_memoryview_out(self):
        y = self.scale(array.array("f", [1, 2, 3]))
        self.assertEqual((y.format, y.tolist()), ("f", [2, 4, 6]))

    def test_read_only_input(self):
        y = self.scale(memoryview(bytes(array.array("f", [5]))).cast("f"))
        self.assertEqual(y.tolist(), [10])

    def test_optional_and_scalar_by_name(self):
        x, bias = array.array("f", [1, 2]), array.array("f", [10, 20])
        self.assertEqual(self.scale(x, bias=bias, factor=3).tolist(), [13, 26])
        self.assertEqual(self.scale(x, None, 0.5).tolist(), [0.5, 1])

    def test_out(self):
        y = array.array("f", [0, 0])
        self.assertIs(self.scale(array.array("f", [1, 2]), out=y), y)
        self.assertEqual(y.tolist(), [2, 4])

    def test_scratch_and_two_launches(self):
        x = memoryview(array.array("f", range(12))).cast("B").cast("f", (3, 4))
        self.assertEqual(Kernel(SUM_ROWS)(x).tolist(), [6, 22, 38])

    def test_says_what_it_is(self):
        self.assertEqual(repr(self.scale), "<kernel scale(x: fp32[N], bias: fp32[N]) -> y: fp32[N]>")
        self.assertEqual(self.scale.scalars, {"factor": 2.0})
        self.assertTrue(self.scale.inputs[1].optional)

    def test_nothing_in_nothing_out(self):
        self.assertEqual(len(self.scale(array.array("f"))), 0)

    def test_something_out_of_nothing_is_refused(self):
        import kernelwright.tensors as tensors

        empty = tensors.View("buffer", 0, tensors.CPU, 0, tensors.BY_NAME["fp32"], (3, 0), (0, 1), None)
        kernel = Kernel(SUM_ROWS)
        with self.assertRaisesRegex(InputError, "'x' has no elements"):
            kernel._plan(empty, {"x": empty}, {}, {})

    def test_many_threads(self):
        answers = []

        def work(n):
            answers.append((n, self.scale(array.array("f", [n] * n)).tolist()))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(sorted(answers), [(n, [2.0 * n] * n) for n in range(1, 7)])


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scale = Kernel(SCALE)

    def refused(self, message, *args, **kwargs):
        with self.assertRaisesRegex(InputError, message):
            self.scale(*args, **kwargs)

    def test_dtype(self):
        self.refused("'x' is fp64, but the kernel needs fp32", array.array("d", [1]))

    def test_rank(self):
        x = memoryview(array.array("f", range(4))).cast("B").cast("f", (2, 2))
        self.refused(r"'x' has 2 dimensions, but the kernel needs \[N\]", x)

    def test_shapes_that_disagree(self):
        self.refused("dim N is", array.array("f", [1, 2]), array.array("f", [1]))

    def test_no_tensor(self):
        self.refused("'x' is list, not a tensor", [1, 2])
        self.refused("x not given")

    def test_unknown_name(self):
        self.refused("no input 'z'", array.array("f", [1]), z=3)

    def test_too_many(self):
        self.refused("4 arguments", *[array.array("f", [1])] * 4)

    def test_scalar_of_the_wrong_kind(self):
        self.refused("'factor' is 'two'", array.array("f", [1]), factor="two")

    def test_out_of_the_wrong_shape(self):
        self.refused(r"'y' has shape \[3\], but the kernel needs \[2\]", array.array("f", [1, 2]),
                     out=array.array("f", [0, 0, 0]))
        self.refused("out= has 2 tensors for 1 outputs", array.array("f", [1]), out=(1, 2))

    def test_another_device(self):
        class Elsewhere:
            """A tensor of DLPack kind 4: OpenCL."""

            def __init__(self):
                self.shape = (ctypes.c_int64 * 1)(4)
                self.tensor = kernelwright._library.Tensor(8, 4, 0, 1, 2, 32, 1, self.shape, None, 0)

            def __dlpack__(self):
                new = ctypes.pythonapi.PyCapsule_New
                new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
                return new(ctypes.addressof(self.tensor), b"dltensor", None)

        self.refused("'x' is on the CPU, 'bias' on a device of kind 4", array.array("f", [1, 2, 3, 4]), Elsewhere())

    def test_text_that_is_no_module(self):
        with self.assertRaisesRegex(InputError, "kernelwright 1"):
            Kernel("int main() {\n}\n")
        with self.assertRaisesRegex(InputError, "reading nothing.cu"):
            Kernel("nothing.cu")

    def test_kernel_that_does_not_compile(self):
        with self.assertRaisesRegex(CandidateError, "does not compile: line 1[0-9]"):
            Kernel(SCALE.replace("x[i] *", "x[i] * oops *"))(array.array("f", [1]))

    def test_kernel_that_breaks_a_rule(self):
        with self.assertRaisesRegex(CandidateError, "out-of-bounds-global: .*'?x"):
            Kernel(OUT_OF_BOUNDS)(array.array("f", [1]))

    def test_shape_outside_the_domain(self):
        kernel = Kernel(SCALE.replace("//! launch", "//! when    N > 100\n//! launch"))
        with self.assertRaisesRegex(InputError, "outside the module's domain"):
            kernel(array.array("f", [1]))


@needs("numpy")
class OnNumpy(unittest.TestCase):
    def test_arrays(self):
        import numpy

        x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        total = Kernel(SUM_ROWS)(x)
        self.assertIsInstance(total, numpy.ndarray)
        numpy.testing.assert_array_equal(total, x.sum(1))

    def test_not_contiguous(self):
        import numpy

        x = numpy.zeros((4, 3), dtype=numpy.float32).T
        with self.assertRaisesRegex(InputError, r"'x' is not contiguous: shape \[3, 4\] with strides \[1, 3\]"):
            Kernel(SUM_ROWS)(x)

    def test_foreign_byte_order(self):
        import numpy

        with self.assertRaisesRegex(InputError, "byte order"):
            Kernel(SCALE)(numpy.zeros(3, dtype=">f4"))

    def test_declared_strides(self):
        import numpy

        kernel = Kernel(SCALE.replace("x: fp32[N]", "x: fp32[N] strides(2)").replace("x[i] *", "x[2 * i] *"))
        x = numpy.arange(10, dtype=numpy.float32)
        numpy.testing.assert_array_equal(kernel(x[::2]), 2 * x[::2])


class Importing(unittest.TestCase):
    def test_imports_nothing_heavy(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import kernelwright;"
                "print([m for m in ('torch', 'numpy', 'IPython') if m in sys.modules])")
        said = subprocess.run([sys.executable, "-I", "-c", code, str(ROOT / "python")], capture_output=True, text=True)
        self.assertEqual(said.stdout.strip(), "[]", said.stderr)


if __name__ == "__main__":
    main()
