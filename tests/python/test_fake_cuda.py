"""Kernels on CUDA tensors of no library, on the fake driver: ctypes can read its device memory."""

import ctypes
import os
import unittest

from support import main

from kernelwright import InputError, Kernel, MachineError, _library

ADD = """//! kernelwright 1
//! task    add
//! input   a: fp32[N]
//! input   b?: fp32[N]
//! output  c: fp32[N]
//! launch  vector_add grid(ceil_div(N, 128)) block(128) args(a, b, c, N)
__global__ void vector_add(const float* a, const float* b, float* c, unsigned n) {
  unsigned i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) c[i] = a[i] + (b != nullptr ? b[i] : 0.0f);
}
"""
COUNT = """//! kernelwright 1
//! task    count
//! input   a: fp32[N]
//! output  c: fp32[N]
//! scratch s: fp32[N] = 0
//! launch  vector_add grid(ceil_div(N, 128)) block(128) args(a, s, s, N)
//! launch  vector_add grid(ceil_div(N, 128)) block(128) args(a, s, c, N)
__global__ void vector_add(const float* a, const float* b, float* c, unsigned n) {
  unsigned i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""


class DeviceTensor:
    """Floats in the memory of the fake GPU, seen through DLPack."""

    driver = None

    def __init__(self, values, offset=0, device=0):
        self.address = ctypes.c_uint64()
        assert self.driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(4 * len(values) + 64)) == 0
        self.memory = (ctypes.c_float * len(values)).from_address(self.address.value + offset)
        self.memory[:] = values
        self.shape = (ctypes.c_int64 * 1)(len(values))
        self.tensor = _library.Tensor(self.address.value, 2, device, 1, 2, 32, 1, self.shape, None, offset)

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def read(self):
        assert self.driver.cuCtxSynchronize() == 0
        return list(self.memory)


class OnTheFakeDriver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        DeviceTensor.driver = ctypes.CDLL(os.environ["KERNELWRIGHT_LIBCUDA"])
        cls.add = Kernel(ADD)

    def test_queued_in_place(self):
        c = DeviceTensor([0, 0, 0])
        self.assertIs(self.add(DeviceTensor([1, 2, 3]), DeviceTensor([10, 20, 30]), out=c), c)
        self.assertEqual(c.read(), [11, 22, 33])

    def test_optional_input_left_out(self):
        c = DeviceTensor([0, 0])
        self.add(DeviceTensor([1, 2]), out=c)
        self.assertEqual(c.read(), [1, 2])

    def test_other_shapes_and_again(self):
        for _ in range(2):
            for n in (1, 200, 3):
                c = DeviceTensor([0] * n)
                self.add(DeviceTensor(range(n)), out=c)
                self.assertEqual(c.read(), [float(i) for i in range(n)])

    def test_alignment(self):
        with self.assertRaisesRegex(InputError, "'a' begins at an address that is not a multiple of 16 bytes"):
            self.add(DeviceTensor([1, 2], offset=4), out=DeviceTensor([0, 0]))

    def test_places(self):
        import array

        with self.assertRaisesRegex(InputError, "'a' is on cuda:0, 'b' on the CPU"):
            self.add(DeviceTensor([1]), array.array("f", [1]), out=DeviceTensor([0]))
        with self.assertRaisesRegex(InputError, "'c' is on the CPU, but this call runs on cuda:0"):
            self.add(DeviceTensor([1]), out=array.array("f", [1]))

    def test_no_such_device(self):
        with self.assertRaises(MachineError):
            self.add(DeviceTensor([1], device=7), out=DeviceTensor([0]))

    def test_outputs_need_memory(self):
        with self.assertRaisesRegex(InputError, "allocated by torch"):
            self.add(DeviceTensor([1]))

    def test_scratch_needs_memory(self):
        with self.assertRaisesRegex(InputError, "allocated by torch"):
            Kernel(COUNT)(DeviceTensor([1]), out=DeviceTensor([0]))


if __name__ == "__main__":
    main()
