#include "captive/source.h"

#include "kTorchShimText.inc"
#include "kTrampolineText.inc"

namespace kw::captive {

std::string with_trampoline(const std::string& text, const std::string& file_name,
                            const std::string& launcher) {
  return "#line 1 \"" + file_name + "\"\n" + text +
         "\n#line 1 \"recording\"\n#define KW_LAUNCHER " + launcher + "\n" + kTrampolineText;
}

std::vector<ShimHeader> torch_headers() {
  std::vector<ShimHeader> out = {{"kw_torch.h", kTorchShimText}};
  for (const char* path :
       {"torch/extension.h", "torch/all.h", "torch/torch.h", "torch/types.h", "torch/script.h",
        "ATen/ATen.h", "ATen/cuda/CUDAContext.h", "ATen/cuda/Exceptions.h", "ATen/Dispatch.h",
        "c10/cuda/CUDAStream.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDAException.h",
        "c10/util/Optional.h", "pybind11/pybind11.h", "pybind11/stl.h"})
    out.push_back({path, "#include <kw_torch.h>\n"});
  return out;
}

bool wants_torch(const std::string& text) {
  for (const char* word : {"torch/", "ATen/", "c10/", "pybind11/"}) {
    if (text.find(std::string("#include <") + word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace kw::captive
