#include "host_recording/recording_source.h"

#include "core/hash.h"
#include "kHelperKernels.inc"
#include "kShimFiles.inc"
#include "kTrampolineText.inc"

namespace kw::host_recording {
namespace {

// The paths with which extensions include PyTorch's headers.
constexpr const char* kTorchPaths[] = {
    "ATen/ATen.h",
    "ATen/AccumulateType.h",
    "ATen/Dispatch.h",
    "ATen/NumericUtils.h",
    "ATen/OpMathType.h",
    "ATen/Parallel.h",
    "ATen/Tensor.h",
    "ATen/TensorUtils.h",
    "ATen/core/Tensor.h",
    "ATen/cuda/Atomic.cuh",
    "ATen/cuda/CUDAContext.h",
    "ATen/cuda/CUDAContextLight.h",
    "ATen/cuda/CUDAEvent.h",
    "ATen/cuda/DeviceUtils.cuh",
    "ATen/cuda/Exceptions.h",
    "ATen/cuda/detail/KernelUtils.h",
    "ATen/native/cuda/KernelUtils.cuh",
    "c10/core/Device.h",
    "c10/core/ScalarType.h",
    "c10/cuda/CUDAException.h",
    "c10/cuda/CUDAFunctions.h",
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAMathCompat.h",
    "c10/cuda/CUDAStream.h",
    "c10/macros/Macros.h",
    "c10/util/ArrayRef.h",
    "c10/util/BFloat16.h",
    "c10/util/Exception.h",
    "c10/util/Half.h",
    "c10/util/Optional.h",
    "pybind11/pybind11.h",
    "pybind11/stl.h",
    "torch/all.h",
    "torch/csrc/utils/pybind.h",
    "torch/cuda.h",
    "torch/extension.h",
    "torch/library.h",
    "torch/python.h",
    "torch/script.h",
    "torch/torch.h",
    "torch/types.h",
};

std::string shim(std::string_view name) {
  for (const auto* file = kShimFiles; file->name != nullptr; ++file) {
    if (name == file->name) return file->text;
  }
  return "";
}

std::string numbered(const std::string& text, const std::string& file_name) {
  return "#line 1 \"" + file_name + "\"\n" + text + "\n#line 1 \"recording\"\n";
}

}  // namespace

std::string entry_name(const std::string& text) { return "kw_recorded_call_" + hash_hex(text); }

std::string with_trampoline(const std::string& text, const std::string& file_name,
                            const std::string& launcher) {
  return numbered(text, file_name) + "#define KW_ENTRY " + entry_name(text) +
         "\n#define KW_LAUNCHER " + launcher + "\n" + kTrampolineText + kHelperKernels;
}

std::string with_functions(const std::string& text, const std::string& file_name, bool helpers) {
  return numbered(text, file_name) + "#include <kw_torch.cuh>\n" + kTrampolineText +
         (helpers ? kHelperKernels : "") + shim("kw_extension.cuh");
}

std::string with_bound_call(const std::string& text, const std::string& file_name,
                            const std::string& function, const std::string& arguments) {
  return with_functions(text, file_name, true) + "\n#define KW_ENTRY " + entry_name(text) +
         "\n#define KW_FUNCTION \"" + function + "\"\n#define KW_ARGUMENTS \"" + arguments +
         "\"\n" + shim("kw_bound_call.cuh");
}

std::string helper_kernels() { return kHelperKernels; }

std::vector<ShimHeader> torch_headers() {
  std::vector<ShimHeader> out;
  for (const auto* file = kShimFiles; file->name != nullptr; ++file)
    out.push_back({file->name, file->text});
  for (const char* path : kTorchPaths) out.push_back({path, "#include <kw_torch.cuh>\n"});
  return out;
}

bool wants_torch(const std::string& text) {
  for (const char* word : {"torch/", "ATen/", "c10/", "pybind11/"}) {
    for (const char* open : {"#include <", "#include \""}) {
      if (text.find(std::string(open) + word) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace kw::host_recording
