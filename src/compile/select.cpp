#include "compile/select.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "compile/cache.h"
#include "compile/device_headers.h"
#include "compile/program_compiler.h"
#include "os/files.h"

namespace kw::compile {
namespace {

constexpr const char* kWaysToGetOne =
    "Ways to get one:\n"
    "  apt install clang-19                       (virtual GPU only; no CUDA needed)\n"
    "  pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt\n"
    "  the CUDA toolkit, 12 or newer; point CUDA_HOME at it when it is not in /usr/local/cuda";

Error not_found(const std::string& what, const Toolbox& tools) {
  std::string places;
  for (const std::string& place : tools.looked_at) places += "  " + place + "\n";
  return environment_error(
      fmt::format("{} was found. Looked at:\n{}{}", what, places, kWaysToGetOne));
}

std::string wanted_name(const SelectOptions& options) {
  return options.name.empty() ? os::env("KERNELWRIGHT_COMPILER") : options.name;
}

/// One candidate: null when this machine does not have it.
Result<std::unique_ptr<exec::Compiler>> make(const std::string& name, const Toolbox& tools,
                                             const SelectOptions& options, std::string* salt) {
  std::unique_ptr<exec::Compiler> none;
  if (name == "nvrtc" && tools.nvrtc) {
    *salt = fingerprint({tools.nvrtc->library, tools.nvrtc->builtins}) +
            fingerprint(tools.headers.folders) + own_header_hash(HeaderSet::Nvrtc);
    return std::unique_ptr<exec::Compiler>(
        std::make_unique<NvrtcCompiler>(*tools.nvrtc, tools.headers, options.nvrtc));
  }
  if (name == "nvcc" && tools.nvcc) {
    *salt = fingerprint({tools.nvcc->path}) + (tools.ptxas ? fingerprint({tools.ptxas->path}) : "");
    return make_nvcc_compiler(*tools.nvcc, tools.ptxas);
  }
  if (name == "clang" && tools.clang) {
    *salt = fingerprint({tools.clang->path}) +
            (tools.ptxas ? fingerprint({tools.ptxas->path}) : "") +
            own_header_hash(HeaderSet::Clang);
    return make_clang_compiler(*tools.clang, tools.ptxas);
  }
  return none;
}

}  // namespace

Result<std::unique_ptr<exec::Compiler>> select_compiler(const SelectOptions& options) {
  const std::string name = wanted_name(options);
  SearchOptions search;
  search.programs = name == "nvcc" || name == "clang";
  return select_compiler(find_tools(search), options);
}

Result<std::unique_ptr<exec::Compiler>> select_compiler(const Toolbox& tools,
                                                        const SelectOptions& options) {
  const std::string name = wanted_name(options);
  const std::vector<std::string> known = {"nvrtc", "nvcc", "clang"};
  if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
    return input_error(fmt::format("unknown compiler '{}'{}; known: nvrtc, nvcc, clang", name,
                                   did_you_mean(name, known)));
  }
  for (const std::string& candidate : known) {
    if (!name.empty() && name != candidate) continue;
    std::string salt;
    std::unique_ptr<exec::Compiler> compiler = KW_TRY(make(candidate, tools, options, &salt));
    if (!compiler) continue;
    if (!options.cache) return compiler;
    CacheOptions cache;
    cache.folder = os::cache_directory() + "/compile";
    cache.salt = salt;
    return std::unique_ptr<exec::Compiler>(
        std::make_unique<CachingCompiler>(std::move(compiler), cache));
  }
  return not_found(name.empty() ? "no CUDA compiler" : "no " + name, tools);
}

}  // namespace kw::compile
