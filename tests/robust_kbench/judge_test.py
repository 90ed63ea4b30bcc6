#!/usr/bin/env python3
"""A small checkout in robust-kbench's layout, judged by judge.py: arguments in each folder's own order, with numbers, tuples and tensors that
no gradient needs, results in theirs.

Usage: judge_test.py KERNELWRIGHT. Exit 77: no nvcc here.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = HERE.parent / "frontend" / "rkb"
HEAD = "#include <torch/extension.h>\n#include <vector>\n"
NORM = HEAD + """
__global__ void centred(const float* x, const float* gain, const float* shift, float* y, int n, float eps) {
  __shared__ float total;
  x += static_cast<long>(blockIdx.x) * n;
  y += static_cast<long>(blockIdx.x) * n;
  float sums[2] = {0, 0};
  for (int pass = 0; pass < 2; ++pass) {
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += pass == 0 ? x[i] : (x[i] - sums[0] / n) * (x[i] - sums[0] / n);
    for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
    if (threadIdx.x == 0) total = mine;
    __syncthreads();
    sums[pass] = total;
    __syncthreads();
  }
  const float mean = sums[0] / n, scale = rsqrtf(sums[1] / n + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = (x[i] - mean) * scale * gain[i] + shift[i];
}
torch::Tensor normalise(torch::Tensor x, torch::Tensor gain, torch::Tensor shift, double eps) {
  auto y = torch::empty_like(x);
  centred<<<x.size(0), 32>>>(x.data_ptr<float>(), gain.data_ptr<float>(), shift.data_ptr<float>(), y.data_ptr<float>(),
                             static_cast<int>(gain.numel()), static_cast<float>(eps));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &normalise); }
"""
GRADIENT = HEAD + """
__global__ void statistics(const float* x, double* mean, double* scale, int n, double eps) {
  const float* row = x + static_cast<long>(blockIdx.x) * n;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) sum += row[i];
  sum /= n;
  for (int i = 0; i < n; ++i) squares += (row[i] - sum) * (row[i] - sum);
  mean[blockIdx.x] = sum;
  scale[blockIdx.x] = 1 / sqrt(squares / n + eps);
}
__global__ void by_x(const float* up, const float* x, const float* gain, const double* mean, const double* scale, float* out, int n) {
  const long row = static_cast<long>(blockIdx.x) * n;
  const double m = mean[blockIdx.x], s = scale[blockIdx.x];
  double first = 0, second = 0;
  for (int i = 0; i < n; ++i) {
    const double g = static_cast<double>(up[row + i]) * gain[i];
    first += g;
    second += g * (x[row + i] - m) * s;
  }
  for (int i = 0; i < n; ++i) {
    const double g = static_cast<double>(up[row + i]) * gain[i];
    out[row + i] = s * (g - first / n - (x[row + i] - m) * s * second / n);
  }
}
__global__ void by_weights(const float* up, const float* x, const double* mean, const double* scale, float* gain, float* shift, int rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = 0, b = 0;
  for (int r = 0; r < rows; ++r) {
    const double g = up[static_cast<long>(r) * n + i];
    a += g * (x[static_cast<long>(r) * n + i] - mean[r]) * scale[r];
    b += g;
  }
  gain[i] = a;
  shift[i] = b;
}
std::vector<torch::Tensor> gradients(torch::Tensor up, torch::Tensor x, torch::Tensor gain, torch::Tensor shift, double eps,
                                     std::vector<int64_t> extents) {
  TORCH_CHECK(shift.sizes() == gain.sizes(), "weights of one shape");
  int n = 1;
  for (const int64_t extent : extents) n *= static_cast<int>(extent);
  const int rows = static_cast<int>(x.numel() / n);
  auto by = torch::empty_like(x), a = torch::empty_like(gain), b = torch::empty_like(gain);
  auto mean = torch::empty({rows}, x.options().dtype(torch::kFloat64)), scale = torch::empty_like(mean);
  statistics<<<rows, 1>>>(x.data_ptr<float>(), mean.data_ptr<double>(), scale.data_ptr<double>(), n, eps);
  by_x<<<rows, 1>>>(up.data_ptr<float>(), x.data_ptr<float>(), gain.data_ptr<float>(), mean.data_ptr<double>(), scale.data_ptr<double>(),
                    by.data_ptr<float>(), n);
  by_weights<<<(n + 63) / 64, 64>>>(up.data_ptr<float>(), x.data_ptr<float>(), mean.data_ptr<double>(), scale.data_ptr<double>(),
                                    a.data_ptr<float>(), b.data_ptr<float>(), rows, n);
  return {by, a, b};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("backward", [](torch::Tensor up, torch::Tensor x, torch::Tensor gain, torch::Tensor shift, double eps, std::vector<int64_t> extents) {
    return gradients(up, x, gain, shift, eps, extents);
  });
}
"""
LARGER = HEAD + """
__global__ void route(const float* x, const float* up, float* out, long pairs) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= pairs) return;
  const float a = x[2 * i], b = x[2 * i + 1];
  out[2 * i] = a > b ? up[i] : a == b ? up[i] / 2 : 0.0f;
  out[2 * i + 1] = b > a ? up[i] : a == b ? up[i] / 2 : 0.0f;
}
torch::Tensor backward_of_saved(py::tuple saved, const torch::Tensor& up) {
  TORCH_CHECK(saved.size() == 1, "one saved tensor");
  const auto x = saved[0].cast<torch::Tensor>();
  auto out = torch::empty_like(x);
  route<<<(up.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), up.numel());
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward_of_saved); }
"""
# Where it goes, its text, what is said of it.
ROWS = [
    ("row_norm/forward/kernel.cu", NORM, "row_norm, forward                passes"),
    ("row_norm/forward/library.cu", NORM.replace("return y;", "return y / 1.0;"),
     "row_norm, forward, library       fails: at batch_size=64 extents_0=32 extents_1=64: it calls PyTorch's operator /, which is not a kernel of the file"),
    ("row_norm/backward/kernel.cu", GRADIENT, "row_norm, backward               passes"),
    ("row_norm/backward/swapped.cu", GRADIENT.replace("{by, a, b}", "{by, b, a}"), "row_norm, backward, swapped      fails: "),
    ("window_max/backward/kernel.cu", LARGER, "window_max, backward             passes"),
]


def main():
    if not shutil.which("nvcc") and not os.environ.get("CUDA_HOME"):
        print("SKIPPED: nvcc is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="kw_rkb_") as made:
        checkout = pathlib.Path(made)
        for name in ("row_norm", "window_max"):
            shutil.copytree(FOLDERS / name, checkout / "tasks" / name)
        for place, text, _ in ROWS:
            file = checkout / "highlighted" / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        ran = subprocess.run([sys.executable, "-B", str(HERE / "judge.py"), sys.argv[1], made, "--cross-check", "never"], capture_output=True,
                             text=True)
    print(ran.stdout, ran.stderr)
    missing = [line for _, _, line in ROWS if line not in ran.stdout]
    assert not missing, missing
    assert "3 of 5 pass" in ran.stdout, ran.stdout


main()
