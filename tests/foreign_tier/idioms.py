"""What torch extensions are written with, one function each: every function copies its tensor by a kernel, in its own way of saying so."""

HEADERS = """
#include <torch/extension.h>
#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <ATen/cuda/detail/KernelUtils.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Half.h>
#include <c10/util/Optional.h>
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <tuple>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

template <typename T>
__global__ void copy_kernel(const T* __restrict__ from, T* __restrict__ to, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) to[i] = from[i];
}
template <typename T>
static void copy(const T* from, T* to, int64_t n, cudaStream_t stream = 0) {
  if (n > 0) copy_kernel<T><<<(n + 255) / 256, 256, 0, stream>>>(from, to, n);
}
static torch::Tensor copied(const torch::Tensor& x, torch::Tensor y) {
  copy(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""

IDIOMS = [  # name, text before the function, the function's body with x
    ("empty_like", "", "return copied(x, torch::empty_like(x));"),
    ("checks", "", 'CHECK_INPUT(x); TORCH_CHECK(x.dim() == 2, "expected 2 dims, got ", x.dim(), " of ", x.sizes(), " on ", x.device());\n'
     'TORCH_CHECK(x.scalar_type() == torch::kFloat32); AT_ASSERTM(x.size(0) >= 0, "rows"); TORCH_INTERNAL_ASSERT(x.defined());\n'
     "TORCH_CHECK_EQ(x.dim(), 2); return copied(x, torch::empty_like(x));"),
    ("sizes", "", "auto y = torch::empty({x.size(0), x.size(-1)}, x.options()); TORCH_CHECK(x.sizes() == y.sizes() && x.sizes().size() == 2);\n"
     "const int64_t rows = x.sizes()[0]; TORCH_CHECK(rows * x.size(1) == x.numel() && x.nbytes() == 4 * x.numel());\n"
     "TORCH_CHECK(x.sizes().vec().size() == 2 && x.ndimension() == 2); return copied(x, y);"),
    ("strides", "", "TORCH_CHECK(x.stride(1) == 1 && x.stride(-2) == x.size(1) && x.strides()[1] == 1); return copied(x, at::empty_like(x));"),
    ("options", "", "auto y = torch::empty({x.size(0), x.size(1)}, torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA));\n"
     "return copied(x, y);"),
    ("options_chain", "", "auto options = torch::TensorOptions().device(x.device()).dtype(x.dtype()).layout(torch::kStrided).requires_grad(false);\n"
     "return copied(x, torch::empty(x.sizes(), options));"),
    ("options_free", "", "return copied(x, torch::empty(x.sizes(), torch::dtype(torch::kFloat32).device(torch::kCUDA, 0)));"),
    ("options_device_index", "", "return copied(x, at::zeros(x.sizes(), at::device(at::kCUDA).dtype(at::kFloat)));"),
    ("zeros", "", "return copied(x, torch::zeros_like(x));"),
    ("zeros_sizes", "", "return copied(x, torch::zeros({x.size(0), x.size(1)}, x.options()));"),
    ("full", "", "auto y = torch::full({x.size(0), x.size(1)}, -INFINITY, x.options()); auto one = torch::ones({7}, x.options().dtype(torch::kInt));\n"
     "return copied(x, y);"),
    ("new_empty", "", "return copied(x, x.new_empty({x.size(0), x.size(1)}));"),
    ("dispatch", "", 'auto y = torch::empty_like(x); AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "copy", ([&] {\n'
     "copy<scalar_t>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel()); })); return y;"),
    ("dispatch_old_type", "", 'auto y = torch::empty_like(x); AT_DISPATCH_FLOATING_TYPES(x.type(), "copy", [&] {\n'
     "copy<scalar_t>(x.data<scalar_t>(), y.data<scalar_t>(), x.numel()); }); return y;"),
    ("dispatch_half", "", 'auto a = x.view(torch::kHalf); auto b = torch::empty_like(a);\n'
     'AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "copy", ([&] { copy(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), a.numel()); }));\n'
     "return b.view(torch::kFloat32);"),
    ("dispatch_and2", "", 'auto a = x.view(at::kBFloat16); auto b = at::empty_like(a);\n'
     'AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, a.scalar_type(), "copy", [&] {\n'
     "copy(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), a.numel()); }); return b.view(at::kFloat);"),
    ("dispatch_all", "", 'auto a = x.view(torch::kInt32); auto b = torch::empty_like(a); AT_DISPATCH_ALL_TYPES(a.scalar_type(), "copy", [&] {\n'
     "copy(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), a.numel()); }); return b.view(torch::kFloat32);"),
    ("dispatch_switch", "", 'auto y = torch::empty_like(x); AT_DISPATCH_SWITCH(x.scalar_type(), "copy", AT_DISPATCH_CASE(at::kFloat, [&] {\n'
     "copy(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel()); })); return y;"),
    ("accessor32", "template <typename scalar_t>\n__global__ void accessor32_kernel(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> a,\n"
     "torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> b) {\n"
     "const int c = blockIdx.x * blockDim.x + threadIdx.x; if (c < a.size(1)) b[blockIdx.y][c] = a[blockIdx.y][c]; }",
     "auto y = torch::empty_like(x); const dim3 grid((x.size(1) + 255) / 256, x.size(0));\n"
     'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "copy", ([&] { accessor32_kernel<scalar_t><<<grid, 256>>>(\n'
     "x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>()); })); return y;"),
    ("accessor64", "__global__ void accessor64_kernel(torch::PackedTensorAccessor64<float, 3> a, at::PackedTensorAccessor64<float, 3> b) {\n"
     "for (int64_t c = threadIdx.x; c < a.size(2); c += 256) b[blockIdx.x][0][c] = a[blockIdx.x][0][c]; }",
     "auto y = torch::empty_like(x); accessor64_kernel<<<x.size(0), 256>>>(x.unsqueeze(1).packed_accessor64<float, 3>(), y.unsqueeze(1).packed_accessor64<float, 3>()); return y;"),
    ("transposed", "__global__ void transposed_kernel(const float* a, float* b, int rows, int columns, int64_t row_step, int64_t column_step) {\n"
     "const int i = blockIdx.x * 256 + threadIdx.x; if (i < rows * columns) b[i] = a[i / columns * row_step + i % columns * column_step]; }",
     "auto t = x.transpose(0, 1); TORCH_CHECK(!t.is_contiguous() || x.size(0) < 2 || x.size(1) < 2); auto back = t.t();\n"
     "auto y = torch::empty({back.size(0), back.size(1)}, x.options()); transposed_kernel<<<(x.numel() + 255) / 256, 256>>>(back.data_ptr<float>(), y.data_ptr<float>(),\n"
     "back.size(0), back.size(1), back.stride(0), back.stride(1)); return y;"),
    ("views", "", "auto flat = x.contiguous().view({-1}); auto cube = flat.reshape({x.size(0), 1, -1}).unsqueeze(0).squeeze(0).squeeze(1);\n"
     "return copied(cube, torch::empty_like(cube)).view_as(x);"),
    ("flatten", "", "auto y = torch::empty_like(x); auto a = x.flatten(), b = y.flatten(0, 1); copied(a, b); return y;"),
    ("permute_expand", "", "auto y = torch::empty_like(x); auto p = x.permute({1, 0}).permute({1, 0}); auto e = x.unsqueeze(0).expand({3, -1, -1});\n"
     "TORCH_CHECK(e.stride(0) == 0 && e.size(0) == 3 && p.is_contiguous()); return copied(p, y);"),
    ("slices", "", "auto y = torch::empty_like(x); for (int64_t r = 0; r < x.size(0); ++r) copied(x[r], y.select(0, r)); return y;"),
    ("narrow_split", "", "auto y = torch::empty_like(x); auto parts = x.split((x.size(0) + 1) / 2), to = y.chunk(2);\n"
     "for (size_t i = 0; i < parts.size(); ++i) copied(parts[i], to[i]); TORCH_CHECK(x.narrow(0, 0, x.size(0)).sizes() == x.sizes()); return y;"),
    ("stream", "", "auto y = torch::empty_like(x); cudaStream_t stream = at::cuda::getCurrentCUDAStream();\n"
     "copy(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), stream); AT_CUDA_CHECK(cudaGetLastError()); return y;"),
    ("stream_guard", "", "const at::cuda::OptionalCUDAGuard device_guard(device_of(x)); auto y = torch::empty_like(x);\n"
     "copy(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), c10::cuda::getCurrentCUDAStream().stream()); C10_CUDA_KERNEL_LAUNCH_CHECK(); return y;"),
    ("device_guard", "", "c10::cuda::CUDAGuard guard(x.device()); at::cuda::CUDAGuard other(x.get_device()); return copied(x, torch::empty_like(x));"),
    ("properties", "", "const auto* properties = at::cuda::getCurrentDeviceProperties(); int device; C10_CUDA_CHECK(cudaGetDevice(&device));\n"
     "TORCH_CHECK(properties->multiProcessorCount > 0 && properties->major >= 7); return copied(x, torch::empty_like(x));"),
    ("error_string", "", "auto y = copied(x, torch::empty_like(x)); cudaError_t error = cudaGetLastError();\n"
     'if (error != cudaSuccess) { throw std::runtime_error(std::string("CUDA error: ") + cudaGetErrorString(error)); } return y;'),
    ("half_pointers", "", "auto a = x.view(torch::kFloat16); auto b = torch::empty_like(a);\n"
     "copy(reinterpret_cast<const __half*>(a.data_ptr<at::Half>()), reinterpret_cast<__half*>(b.data_ptr<at::Half>()), a.numel()); return b.view(torch::kFloat);"),
    ("half_pairs", "", "auto a = x.view(at::kHalf); auto b = torch::empty_like(a);\n"
     "copy(reinterpret_cast<const half2*>(a.data_ptr<c10::Half>()), reinterpret_cast<half2*>(b.data_ptr<c10::Half>()), a.numel() / 2); return b.view(at::kFloat);"),
    ("bfloat16_pointers", "", "auto a = x.view(torch::kBFloat16); auto b = torch::empty_like(a);\n"
     "copy(reinterpret_cast<const __nv_bfloat16*>(a.data_ptr<at::BFloat16>()), (__nv_bfloat16*)b.data_ptr(), a.numel()); return b.view(torch::kFloat);"),
    ("half_arithmetic", "template <typename scalar_t>\n__global__ void half_arithmetic_kernel(const scalar_t* a, scalar_t* b, int64_t n) {\n"
     "const int64_t i = blockIdx.x * 256 + threadIdx.x; if (i >= n) return; b[i] = a[i];\n"
     "if (n < 0) { float sum = 0; sum += a[i]; scalar_t s = a[i] * a[0] + scalar_t(0.5); s += a[1]; s = s / 2; s = -s > a[1] ? s : a[1]; using acc_t = at::acc_type<scalar_t, true>;\n"
     "acc_t wide = static_cast<acc_t>(a[i]) * 2.0f; at::opmath_type<scalar_t> op = a[i] - 1.0f; b[i] = static_cast<scalar_t>(wide + op + sum * expf(s)); b[i] = __ldg(a + i); } }",
     'auto a = x.view(torch::kHalf); auto b = torch::empty_like(a); AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "arithmetic", [&] {\n'
     "half_arithmetic_kernel<scalar_t><<<(a.numel() + 255) / 256, 256>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), a.numel()); }); return b.view(torch::kFloat);"),
    ("optional_argument", "static torch::Tensor with_bias(torch::Tensor x, c10::optional<torch::Tensor> bias, const std::optional<at::Tensor>& other) {\n"
     "TORCH_CHECK(!bias.has_value() && !other); return copied(x, torch::empty_like(x)); }",
     "return with_bias(x, c10::nullopt, {});"),
    ("several_results", "static std::vector<torch::Tensor> both(torch::Tensor x) { return {copied(x, torch::empty_like(x)), torch::empty({1}, x.options())}; }\n"
     "static std::tuple<at::Tensor, at::Tensor> pair_of(const at::Tensor& x) { return std::make_tuple(copied(x, torch::empty_like(x)), x); }",
     "auto [first, second] = pair_of(both(x)[0]); return first;"),
    ("thread_groups", "__global__ void groups_kernel(const float* a, float* b, int64_t n) { namespace cg = cooperative_groups; auto block = cg::this_thread_block();\n"
     "auto tile = cg::tiled_partition<32>(block); const int64_t i = blockIdx.x * 256 + block.thread_rank(); const float value = i < n ? a[i] : 0; block.sync();\n"
     "if (i < n) b[i] = tile.shfl(value, tile.thread_rank()); }",
     "auto y = torch::empty_like(x); groups_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y;"),
    ("cub_block", "__global__ void cub_kernel(const float* a, float* b, int64_t n) { using Reduce = cub::BlockReduce<float, 256>; __shared__ typename Reduce::TempStorage room;\n"
     "const int64_t i = blockIdx.x * 256 + threadIdx.x; const float total = Reduce(room).Sum(0.0f); if (i < n) b[i] = a[i] + (threadIdx.x == 0 ? total : 0); }",
     "auto y = torch::empty_like(x); cub_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y;"),
    ("wmma", "__global__ void wmma_kernel(const float* a, float* b, int64_t n) { using namespace nvcuda; wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;\n"
     "wmma::fill_fragment(sum, 0.0f); const int64_t i = blockIdx.x * 32 + threadIdx.x; if (i < n) b[i] = a[i] + sum.x[0]; }",
     "auto y = torch::empty_like(x); wmma_kernel<<<(x.numel() + 31) / 32, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y;"),
    ("shared_memory", "__global__ void shared_kernel(const float* a, float* b, int64_t n) { extern __shared__ float room[]; const int64_t i = blockIdx.x * 256 + threadIdx.x;\n"
     "if (i < n) { room[threadIdx.x] = a[i]; b[i] = room[threadIdx.x]; } }",
     "auto y = torch::empty_like(x); C10_CUDA_CHECK(cudaFuncSetAttribute(shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));\n"
     "shared_kernel<<<(x.numel() + 255) / 256, 256, 256 * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y;"),
    ("kernel_loop", "__global__ void loop_kernel(const float* a, float* b, int n) { CUDA_KERNEL_LOOP(i, n) { b[i] = a[i]; } }",
     "auto y = torch::empty_like(x); loop_kernel<<<std::min<int64_t>((x.numel() + 255) / 256, 64), 256>>>(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), x.numel()); return y;"),
    ("launch_kernel_call", "", "auto y = torch::empty_like(x); const float* a = x.data_ptr<float>(); float* b = y.data_ptr<float>(); int64_t n = x.numel(); void* args[] = {&a, &b, &n};\n"
     "C10_CUDA_CHECK(cudaLaunchKernel((const void*)copy_kernel<float>, dim3((n + 255) / 256), dim3(256), args, 0, nullptr)); return y;"),
    ("clone_and_copy", "", "auto y = x.clone(); auto z = torch::empty_like(x); z.copy_(y); z = z.to(x.device()).to(torch::kFloat32).cuda(); return z;"),
    ("conversions", "", "auto wide = x.to(torch::kDouble); auto y = torch::empty_like(x); y.copy_(wide.t().contiguous().t()); return y.to(at::kDouble).to(at::kFloat);"),
    ("made_contiguous", "", "auto t = x.t().contiguous(); TORCH_CHECK(t.is_contiguous() && t.size(0) == x.size(1)); return t.transpose(0, 1).contiguous();"),
    ("strided_copy", "", "auto wide = torch::zeros({x.size(0), x.size(1) + 3}, x.options()); wide.narrow(1, 2, x.size(1)).copy_(x);\n"
     "return wide.slice(1, 2, 2 + x.size(1)).clone();"),
    ("reshape_strided", "", "return x.t().reshape({x.size(1), 1, x.size(0)}).permute({2, 1, 0}).reshape({x.size(0), x.size(1)});"),
    ("constant_table", "__global__ void table_kernel(const float* a, const float* table, float* b, int64_t n) {\n"
     "const int64_t i = blockIdx.x * 256 + threadIdx.x; if (i < n) b[i] = a[i] * table[1]; }",
     "auto table = torch::tensor({2.0f, 1.0f}, torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA)); auto y = torch::empty_like(x);\n"
     "table_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), table.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y;"),
    ("template_launch", "template <int kBlock, bool kWide>\nstatic void launch_as(const float* a, float* b, int64_t n) { copy_kernel<float><<<(n + kBlock - 1) / kBlock, kBlock>>>(a, b, n); }",
     "auto y = torch::empty_like(x); if (x.numel() > 1024) launch_as<256, true>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());\n"
     "else launch_as<128, false>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y;"),
    ("struct_by_value", "struct Params { const float* a; float* b; int64_t n; float scale; };\n__global__ void params_kernel(Params p) {\n"
     "const int64_t i = blockIdx.x * 256 + threadIdx.x; if (i < p.n) p.b[i] = p.a[i] * p.scale; }",
     "auto y = torch::empty_like(x); params_kernel<<<(x.numel() + 255) / 256, 256>>>({x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), 1.0f}); return y;"),
]
