#!/usr/bin/env python3
"""Header-only libraries of templates, as CUTLASS is one: found by --include and by $KW_CUTLASS, launched through templates with
parameters in structures by value, from a CUDA file with a launcher and from a Python file with an extension. And extensions of several files.

Usage: include_test.py KERNELWRIGHT. KW_LONG=1: also an extension with such a library. Exit 77: no nvcc, or no torch, here.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCES = os.path.join(HERE, "..", "exploits", "references")
HEADERS = {
    "include/cutlass/cutlass.h": """
#pragma once
#include <cuda_runtime.h>
namespace cutlass {
enum class Status { kSuccess, kErrorInvalidProblem, kErrorInternal };
constexpr const char* cutlassGetStatusString(Status status) { return status == Status::kSuccess ? "Success" : "Error"; }
template <typename Operator>
__global__ void __launch_bounds__(Operator::kThreadCount, 1) Kernel(typename Operator::Params params) {
  extern __shared__ int room[];
  Operator op;
  op(params, *reinterpret_cast<typename Operator::SharedStorage*>(room));
}
}  // namespace cutlass
""",
    "include/cutlass/shape.h": """
#pragma once
namespace cutlass::gemm {
template <int kM_, int kN_, int kK_>
struct GemmShape {
  static constexpr int kM = kM_, kN = kN_, kK = kK_, kMN = kM * kN;
  static_assert(kMN % 32 == 0, "whole warps");
};
struct GemmCoord {
  int m, n, k;
  __host__ __device__ constexpr int product() const { return m * n * k; }
};
}  // namespace cutlass::gemm
namespace cutlass {
namespace layout {
struct RowMajor {
  __host__ __device__ static constexpr long long at(int row, int column, long long stride) { return row * stride + column; }
};
}
template <typename Element_, typename Layout_>
struct TensorRef {
  using Element = Element_;
  Element* data = nullptr;
  long long stride = 0;
  __host__ __device__ Element& at(int row, int column) const { return data[Layout_::at(row, column, stride)]; }
};
}  // namespace cutlass
""",
    "tools/util/include/cutlass/util/device_gemm.h": """
#pragma once
#include <cutlass/cutlass.h>
#include <cutlass/shape.h>
#include <type_traits>
namespace cutlass::gemm {
template <typename Element, typename Shape>
struct Tile {
  static constexpr int kThreadCount = Shape::kMN;
  struct SharedStorage { Element a[Shape::kM][Shape::kK], b[Shape::kK][Shape::kN]; };
  struct alignas(16) Params {
    GemmCoord problem;
    TensorRef<const Element, layout::RowMajor> a, b;
    TensorRef<Element, layout::RowMajor> c;
    char mode;
  };
  __device__ void operator()(const Params& p, SharedStorage& room) {
    const int row = threadIdx.x / Shape::kN, column = threadIdx.x % Shape::kN;
    const int m = blockIdx.y * Shape::kM + row, n = blockIdx.x * Shape::kN + column;
    Element sum{};
    for (int k0 = 0; k0 < p.problem.k; k0 += Shape::kK) {
      for (int i = threadIdx.x; i < Shape::kM * Shape::kK; i += kThreadCount) {
        const int r = blockIdx.y * Shape::kM + i / Shape::kK, k = k0 + i % Shape::kK;
        room.a[i / Shape::kK][i % Shape::kK] = r < p.problem.m && k < p.problem.k ? p.a.at(r, k) : Element{};
      }
      for (int i = threadIdx.x; i < Shape::kK * Shape::kN; i += kThreadCount) {
        const int k = k0 + i / Shape::kN, c = blockIdx.x * Shape::kN + i % Shape::kN;
        room.b[i / Shape::kN][i % Shape::kN] = k < p.problem.k && c < p.problem.n ? p.b.at(k, c) : Element{};
      }
      __syncthreads();
      if constexpr (std::is_floating_point_v<Element>)
        for (int k = 0; k < Shape::kK; ++k) sum += room.a[row][k] * room.b[k][column];
      __syncthreads();
    }
    if (m < p.problem.m && n < p.problem.n) p.c.at(m, n) = sum;
  }
};
namespace device {
template <typename Element, typename Shape = GemmShape<8, 32, 16>>
class Gemm {
 public:
  using Operator = Tile<Element, Shape>;
  struct Arguments { GemmCoord problem; const Element* a; const Element* b; Element* c; };
  Status operator()(const Arguments& args, cudaStream_t stream = nullptr) {
    if (args.problem.product() == 0) return Status::kErrorInvalidProblem;
    typename Operator::Params params{args.problem, {args.a, args.problem.k}, {args.b, args.problem.n}, {args.c, args.problem.n}, 1};
    constexpr int room = static_cast<int>(sizeof(typename Operator::SharedStorage));
    if (room >= 1024 && cudaFuncSetAttribute(Kernel<Operator>, cudaFuncAttributeMaxDynamicSharedMemorySize, room) != cudaSuccess)
      return Status::kErrorInternal;
    const dim3 grid((args.problem.n + Shape::kN - 1) / Shape::kN, (args.problem.m + Shape::kM - 1) / Shape::kM);
    Kernel<Operator><<<grid, Operator::kThreadCount, room, stream>>>(params);
    return cudaGetLastError() == cudaSuccess ? Status::kSuccess : Status::kErrorInternal;
  }
};
}  // namespace device
}  // namespace cutlass::gemm
""",
}
LAUNCHER = """
#include <cutlass/cutlass.h>
#include <cutlass/util/device_gemm.h>
#include <cstdlib>
extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  using Gemm = cutlass::gemm::device::Gemm<float>;
  Gemm op;
  if (op({{M, N, K}, a, b, c}) != cutlass::Status::kSuccess) std::abort();
}
"""
PYTHON = '''
import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <ATen/cuda/CUDAContext.h>
#include "cutlass/cutlass.h"
#include "cutlass/util/device_gemm.h"
torch::Tensor gemm(torch::Tensor a, torch::Tensor b) {
  auto c = torch::empty({a.size(0), b.size(1)}, a.options());
  cutlass::gemm::device::Gemm<float, cutlass::gemm::GemmShape<16, 16, 32>> op;
  const cutlass::gemm::GemmCoord problem{(int)a.size(0), (int)b.size(1), (int)a.size(1)};
  const auto status = op({problem, a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>()}, at::cuda::getCurrentCUDAStream());
  TORCH_CHECK(status == cutlass::Status::kSuccess, cutlass::cutlassGetStatusString(status));
  return c;
}
"""
extension = load_inline("gemm", "torch::Tensor gemm(torch::Tensor a, torch::Tensor b);", CUDA, functions=["gemm"],
                        extra_include_paths=["/opt/cutlass/include"], extra_cuda_cflags=["-std=c++17", "-DNDEBUG"])


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return extension.gemm(a, b)
'''

SEVERAL = {  # an extension of several files with a template that two of them make, and a header beside them
    "several.py": """
import os, torch
from torch.utils.cpp_extension import load
here = os.path.dirname(os.path.abspath(__file__))
extension = load("several", [os.path.join(here, "csrc", name) for name in ("binding.cpp", "first.cu", "second.cu")], extra_include_paths=[here])
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return extension.product(a, b)
""",
    "csrc/tile.cuh": """
#pragma once
template <typename T> __global__ void zero(T* c, int64_t n) { const int64_t i = blockIdx.x * 256ll + threadIdx.x; if (i < n) c[i] = T(0); }
""",
    "csrc/first.cu": """
#include <torch/extension.h>
#include "csrc/tile.cuh"
torch::Tensor cleared(torch::Tensor a, int64_t columns) {
  auto c = torch::empty({a.size(0), columns}, a.options());
  zero<float><<<(c.numel() + 255) / 256, 256>>>(c.data_ptr<float>(), c.numel());
  return c;
}
""",
    "csrc/second.cu": """
#include <torch/extension.h>
#include "csrc/tile.cuh"
__device__ float one = 1.0f;
__global__ void product_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= m * n) return;
  float sum = c[i];
  for (int j = 0; j < k; ++j) sum += a[i / n * k + j] * b[j * n + i % n] * one;
  c[i] = sum;
}
void product_into(torch::Tensor a, torch::Tensor b, torch::Tensor& c) {
  if (c.numel() > int64_t{1} << 40) zero<float><<<1, 256>>>(c.data_ptr<float>(), 1);
  product_kernel<<<(c.numel() + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), a.size(0), b.size(1), a.size(1));
}
""",
    "csrc/binding.cpp": """
#include <torch/extension.h>
torch::Tensor cleared(torch::Tensor a, int64_t columns);
void product_into(torch::Tensor a, torch::Tensor b, torch::Tensor& c);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("product", [](torch::Tensor a, torch::Tensor b) { auto c = cleared(a, b.size(1)); product_into(a, b, c); return c; }, "a b");
}
"""}


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "cutlass")
        for name, text in HEADERS.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as file:
                file.write(text)
        for name, text in {"launcher.cu": LAUNCHER, "model.py": PYTHON, **SEVERAL}.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        by_option = ["--include", os.path.join(root, "include"), "--include", os.path.join(root, "tools/util/include")]
        rows = [("launcher.cu", by_option, {}, 0, ""), ("launcher.cu", [], {"KW_CUTLASS": root}, 0, ""),
                ("model.py", [], {}, 1, "cutlass/cutlass.h"), ("several.py", [], {}, 0, "")]
        if os.environ.get("KW_LONG") == "1":
            rows.append(("model.py", [], {"KW_CUTLASS": root}, 0, ""))
        for name, words, variables, code, said in rows:
            environment = {key: value for key, value in os.environ.items() if key != "KW_CUTLASS"} | variables
            answer = subprocess.run([sys.argv[1], "verify", os.path.join(folder, name), "--reference", os.path.join(REFERENCES, "matmul.py"), "--device",
                                     "vgpu", "--cross-check", "never", "--timeout", "200", "--json", *words], capture_output=True, text=True,
                                    timeout=600, env=environment)
            if answer.returncode == 3:
                print("SKIPPED:", answer.stderr.strip()[-300:])
                sys.exit(77)
            report = json.loads(answer.stdout)
            good = answer.returncode == code and report["trust"] == "foreign" and said in json.dumps(report)
            failed += not good
            print("ok" if good else f"FAILED (code {answer.returncode}): {answer.stdout[:1500]} {answer.stderr[-500:]}", name, *words[:1], *variables)
    sys.exit(1 if failed else 0)


main()
