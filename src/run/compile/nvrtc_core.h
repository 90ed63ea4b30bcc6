// NVRTC in this process: compiles one source to PTX or a cubin. Runs inside a compile worker, which
// limits its time, memory and file access. All other code uses NvrtcCompiler.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "ports/compiler.h"

namespace kw::compile {

/// The arguments of NVRTC for a request, except those for precompiled headers.
std::vector<std::string> nvrtc_arguments(const ports::CompileRequest& request,
                                         const std::vector<std::string>& header_folders);

struct NvrtcApi;  // the library's entry points

class NvrtcCore {
 public:
  struct Options {
    std::string library, builtins;  // paths of libnvrtc.so and libnvrtc-builtins.so
    std::string shown_as;           // "NVRTC 13.0.88"
    std::vector<std::string> header_folders;
    std::string pch_folder;  // "" = no precompiled headers
  };
  /// Loads the two libraries; environment Error when they do not work.
  static Result<std::unique_ptr<NvrtcCore>> load(Options options);
  ~NvrtcCore();

  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request);
  /// The size of all precompiled headers that it has written.
  uint64_t precompiled_bytes() const;

 private:
  NvrtcCore() = default;
  struct Run;  // one call of the compiler

  std::vector<std::string> arguments(const ports::CompileRequest& request, bool precompile);
  std::string pch_folder_for(const ports::CompileRequest& request,
                             const std::vector<std::string>& arguments);
  Result<Run> run(const ports::CompileRequest& request, bool precompile = true);
  Error option_error(const ports::CompileRequest& request, const std::string& log) const;
  ports::CompileFailed failure(const ports::CompileRequest& request, const Run& run);
  void add_registers(const ports::CompileRequest& request, ports::Compiled* compiled);
  ports::Compiled success(const ports::CompileRequest& request, Run run) const;

  Options options_;
  std::unique_ptr<NvrtcApi> api_;
  std::map<std::string, std::string> pch_folders_;  // header lines and options -> folder
};

}  // namespace kw::compile
