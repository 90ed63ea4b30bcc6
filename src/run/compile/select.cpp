#include "compile/select.h"

#include <algorithm>

#include "compile/cache.h"
#include "compile/checked_compiler.h"
#include "compile/device_headers.h"
#include "compile/nvrtc_core.h"
#include "compile/program_compiler.h"
#include "compile/recorded_compiler.h"
#include "core/contains.h"
#include "core/text.h"
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
  return environment_error("{} was found. Searched:\n{}{}", what, places, kWaysToGetOne);
}

std::string wanted_name(const SelectOptions& options) {
  return options.name.empty() ? os::env("KERNELWRIGHT_COMPILER") : options.name;
}

/// A compiler, and what its results depend on besides the request.
struct Candidate {
  std::unique_ptr<ports::Compiler> compiler;  // null: not installed on this machine
  std::string salt;
  std::function<std::string(const ports::CompileRequest&)> command;
};

Candidate program(std::unique_ptr<ProgramCompiler> compiler, const FoundProgram& found,
                  const std::optional<FoundProgram>& ptxas) {
  Candidate made;
  made.salt = fingerprint({found.path}) + (ptxas ? fingerprint({ptxas->path}) : "");
  made.command = [raw = compiler.get()](const ports::CompileRequest& request) {
    return raw->command_text(request);
  };
  made.compiler = std::move(compiler);
  return made;
}

Result<Candidate> make(const std::string& name, const Toolbox& tools,
                       const SelectOptions& options) {
  Candidate made;
  if (name == "nvrtc" && tools.nvrtc) {
    made.compiler = std::make_unique<NvrtcCompiler>(*tools.nvrtc, tools.headers, options.nvrtc);
    made.salt = fingerprint({tools.nvrtc->library, tools.nvrtc->builtins}) +
                fingerprint(tools.headers.folders) + own_header_hash(HeaderSet::Nvrtc);
    made.command = [folders = tools.headers.folders](const ports::CompileRequest& request) {
      return join(nvrtc_arguments(request, folders), "\n");
    };
  } else if (name == "nvcc" && tools.nvcc) {
    made = program(make_nvcc_compiler(*tools.nvcc, tools.ptxas), *tools.nvcc, tools.ptxas);
  } else if (name == "clang" && tools.clang) {
    made =
        program(KW_TRY(make_clang_compiler(*tools.clang, tools.ptxas)), *tools.clang, tools.ptxas);
    made.salt += own_header_hash(HeaderSet::Clang);
  }
  return made;
}

}  // namespace

Result<std::unique_ptr<ports::Compiler>> select_compiler(const SelectOptions& options) {
  const std::string name = wanted_name(options);
  SearchOptions search;
  search.programs = name == "nvcc" || name == "clang";
  return select_compiler(find_tools(search), options);
}

Result<std::unique_ptr<ports::Compiler>> select_compiler(const Toolbox& tools,
                                                         const SelectOptions& options) {
  const std::string name = wanted_name(options);
  const std::vector<std::string> known = {"nvrtc", "nvcc", "clang"};
  if (!name.empty() && !contains(known, name)) {
    return input_error("unknown compiler '{}'{}; known: nvrtc, nvcc, clang", name,
                       did_you_mean(name, known));
  }
  // Without this error, another compiler would silently replace the named one.
  if (name.empty() && !tools.wrong_nvrtc.empty())
    return environment_error(tools.wrong_nvrtc +
                             "\nUnset it, or name another compiler with --compiler.");
  for (const std::string& known_name : known) {
    if (!name.empty() && name != known_name) continue;
    Candidate made = KW_TRY(make(known_name, tools, options));
    if (!made.compiler) continue;
    if (options.cache) {
      CacheOptions cache;
      cache.folder = os::cache_directory() + "/compile";
      cache.salt = std::move(made.salt);
      cache.command = std::move(made.command);
      made.compiler = std::make_unique<CachingCompiler>(std::move(made.compiler), std::move(cache));
    }
    made.compiler = std::make_unique<RecordedCompiler>(std::move(made.compiler));
    return std::unique_ptr<ports::Compiler>(
        std::make_unique<CheckedCompiler>(std::move(made.compiler)));
  }
  return not_found(name.empty() ? "no CUDA compiler" : "no " + name, tools);
}

}  // namespace kw::compile
