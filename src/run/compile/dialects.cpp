#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "compile/device_headers.h"
#include "compile/program_compiler.h"
#include "core/text.h"

namespace kw::compile {
namespace {

/// The root folder of the toolkit that a program belongs to, with links resolved.
std::string toolkit_of(const std::string& program) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(program, failed);
  return failed ? "" : real.parent_path().parent_path().string();
}

/// The lowest PTX version that a target needs: it suits older drivers and our interpreter.
int ptx_version_for(const std::string& target) {
  const int sm = std::atoi(target.c_str() + std::min<size_t>(3, target.size()));
  return sm >= 103 && sm < 110 ? 88 : sm >= 120 ? 87 : sm >= 100 ? 86 : 83;
}

void add_includes(const ports::CompileRequest& request, std::vector<std::string>* command) {
  for (const std::string& folder : request.include_folders) command->push_back("-I" + folder);
}

}  // namespace

std::unique_ptr<ProgramCompiler> make_nvcc_compiler(const FoundProgram& nvcc,
                                                    std::optional<FoundProgram> ptxas) {
  Dialect dialect;
  dialect.shown_as = "nvcc " + nvcc.version;
  dialect.leaves_out_host_code = true;
  dialect.path = nvcc.path;
  dialect.ptxas = std::move(ptxas);
  dialect.running = {toolkit_of(nvcc.path)};
  for (const char* part : {"/include", "/include/cccl", "/targets/x86_64-linux/include",
                           "/targets/x86_64-linux/include/cccl"}) {
    dialect.header_folders.push_back(toolkit_of(nvcc.path) + part);
  }
  if (dialect.ptxas) dialect.running.push_back(toolkit_of(dialect.ptxas->path));
  dialect.command = [path = nvcc.path](const ports::CompileRequest& request,
                                       const std::string& input, const std::string& output) {
    std::vector<std::string> command = {path,
                                        "-ptx",
                                        "-arch=" + replace_all(request.target, "sm_", "compute_"),
                                        "-std=c++20",
                                        "-diag-suppress=3010,3011,3012",  // ++ on volatile objects
                                        "-lineinfo",
                                        "-Wno-deprecated-gpu-targets",
                                        "-allow-unsupported-compiler",
                                        "-o",
                                        output,
                                        input};
    add_includes(request, &command);
    return command;
  };
  return std::make_unique<ProgramCompiler>(std::move(dialect));
}

Result<std::unique_ptr<ProgramCompiler>> make_clang_compiler(const FoundProgram& clang,
                                                             std::optional<FoundProgram> ptxas) {
  const std::string headers = KW_TRY(own_header_folder(HeaderSet::Clang));
  Dialect dialect;
  dialect.shown_as = "clang " + clang.version;
  dialect.path = clang.path;
  dialect.ptxas = std::move(ptxas);
  dialect.reading = {headers};
  dialect.header_folders = {headers};
  dialect.running = {toolkit_of(clang.path)};
  if (dialect.ptxas) dialect.running.push_back(toolkit_of(dialect.ptxas->path));
  // As with NVRTC's -default-device: code without annotation is device code. Otherwise clang treats
  // it as host code, rejects calls to it, and ignores its content.
  dialect.before =
      "#pragma clang force_cuda_host_device begin\n"
      "#pragma clang attribute push(__attribute__((device)), apply_to = variable(is_global))\n";
  dialect.after =
      "#pragma clang attribute pop\n"
      "#pragma clang force_cuda_host_device end\n";
  dialect.command = [path = clang.path, headers](const ports::CompileRequest& request,
                                                 const std::string& input,
                                                 const std::string& output) {
    // Neither an installed CUDA toolkit nor the host's headers may be used. All lanes pass a value
    // to a shuffle that only the leader of a group has: in CUDA this is allowed.
    std::vector<std::string> command = {
        path, "-x", "cuda", "-Xclang", "-no-enable-noundef-analysis", "--cuda-device-only",
        "--cuda-gpu-arch=" + request.target, "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
        "-nostdinc", "-nostdinc++", "-std=c++20",
        fmt::format("--cuda-feature=+ptx{}", ptx_version_for(request.target)), "-O3",
        // LLVM peels loops even if they contain shuffles or barriers. Then the lanes of a warp wait
        // at different instructions.
        "-mllvm", "-unroll-allow-peeling=false",
        // Keep a store to null, so that it is found. Otherwise all code that leads to it is treated
        // as unreachable.
        "-fno-delete-null-pointer-checks", "-gline-tables-only", "-Wno-unknown-cuda-version",
        "-Wno-deprecated-volatile", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-isystem",
        headers, "-include", "kernelwright_device.h", "-S", input, "-o", output};
    add_includes(request, &command);
    return command;
  };
  return std::make_unique<ProgramCompiler>(std::move(dialect));
}

}  // namespace kw::compile
