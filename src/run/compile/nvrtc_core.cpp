// Most of a small compile is spent on headers: cooperative_groups takes 1.4 s. So the process
// stays, with the library loaded, and headers are precompiled. All up to `#pragma nv_hdrstop` is
// restored from a file that this process wrote before, which takes 0.16 s. NVRTC tries every such
// file in its folder and warns about each that does not fit. So each set of header lines and
// options has its own folder.
// The cost: precompiled headers take about 100 MB of disk for large headers. They are in a heap of
// fixed size, so a source that is too big is compiled again without them.
#include "compile/nvrtc_core.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "compile/compiler_messages.h"
#include "compile/cubin.h"
#include "compile/normalise.h"
#include "compile/resources.h"
#include "core/hash.h"
#include "core/text.h"
#include "kernel/inject.h"
#include "os/files.h"
#include "os/library.h"

namespace kw::compile {

struct NvrtcApi {
  using Program = void*;
  os::Library builtins,
      library;  // in this order: NVRTC finds the built-ins by name once they are loaded

  NvrtcApi(os::Library first, os::Library second)
      : builtins(std::move(first)), library(std::move(second)) {}

  const char* (*error_string)(int) = nullptr;
  int (*version)(int*, int*) = nullptr;
  int (*archs_count)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add_name)(Program, const char*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*lowered_name)(Program, const char*, const char**) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int major = 0, minor = 0;

  bool bind() {
    return library.bind(error_string, "nvrtcGetErrorString") &&
           library.bind(version, "nvrtcVersion") &&
           library.bind(archs_count, "nvrtcGetNumSupportedArchs") &&
           library.bind(archs, "nvrtcGetSupportedArchs") &&
           library.bind(create, "nvrtcCreateProgram") &&
           library.bind(destroy, "nvrtcDestroyProgram") &&
           library.bind(add_name, "nvrtcAddNameExpression") &&
           library.bind(compile, "nvrtcCompileProgram") &&
           library.bind(lowered_name, "nvrtcGetLoweredName") &&
           library.bind(log_size, "nvrtcGetProgramLogSize") &&
           library.bind(log, "nvrtcGetProgramLog") && library.bind(ptx_size, "nvrtcGetPTXSize") &&
           library.bind(ptx, "nvrtcGetPTX") && library.bind(cubin_size, "nvrtcGetCUBINSize") &&
           library.bind(cubin, "nvrtcGetCUBIN");
  }
};

namespace {

constexpr int kOutOfMemory = 1, kInvalidOption = 5, kBuiltinFailure = 7;

/// Gets a text result with two calls: its size (with the final zero), then its bytes.
std::string fetch(void* program, int (*size_of)(void*, size_t*), int (*get)(void*, char*),
                  bool text) {
  size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return "";
  std::string bytes(size, '\0');
  if (get(program, bytes.data()) != 0) return "";
  if (text) bytes.resize(std::min(bytes.find('\0'), bytes.size()));
  return bytes;
}

/// The directives that decide which precompiled header fits.
std::string header_lines(std::string_view source) {
  std::string lines;
  for (std::string_view line :
       split_lines(source.substr(0, kernel::find_injection(source).offset))) {
    line = trim(line);
    if (line.starts_with('#')) lines += std::string(line) + "\n";
  }
  return lines;
}

/// The source for NVRTC: tunables come after the headers and after the mark that ends the
/// precompiled part. A module without headers gets the mark too; otherwise its tunables would be
/// precompiled.
std::string source_text(const ports::CompileRequest& request) {
  std::string text =
      kernel::inject_defines(request.source, request.defines, true, request.file_name);
  if (kernel::find_injection(request.source).has_include) return text;
  return "#pragma nv_hdrstop\n" + text;  // the #line that opens the text corrects its line numbers
}

/// A message for a log without an error: NVRTC hides ptxas' error about too much shared memory.
std::string unexplained(const std::string& log) {
  constexpr int64_t kMostStaticShared = 48 << 10;
  for (const auto& [entry, resources] : parse_ptxas_report(log)) {
    if (resources.static_shared <= kMostStaticShared) continue;
    return fmt::format("'{}' declares {} bytes of static shared memory; a block can have {}",
                       demangle(entry), resources.static_shared, kMostStaticShared);
  }
  return fmt::format("refused without a reason; the log: {}", trim(log));
}

// Whether the PTX has what a wait for another block needs: device-wide fences, or strong loads or
// atomics that return what another block wrote.
bool orders_blocks(std::string_view ptx) {
  static constexpr std::string_view kSigns[] = {
      "membar.gl",          "membar.sys",   "fence.acq_rel.gpu", "fence.acq_rel.sys",
      "fence.sc.gpu",       "fence.sc.sys", ".acquire.",         ".acq_rel.",
      "ld.volatile.global", "ld.relaxed",   "atom.global"};
  return std::ranges::any_of(
      kSigns, [&](std::string_view sign) { return ptx.find(sign) != std::string_view::npos; });
}

}  // namespace

struct NvrtcCore::Run {
  int code = 0;
  double seconds = 0;
  std::string log, image;
  std::vector<std::string> entries;  // parallel to the request's kernels, when code is 0
};

NvrtcCore::~NvrtcCore() = default;

Result<std::unique_ptr<NvrtcCore>> NvrtcCore::load(Options options) {
  os::Library builtins = KW_TRY(os::Library::open(options.builtins));
  os::Library library = KW_TRY(os::Library::open(options.library));
  std::unique_ptr<NvrtcCore> core(new NvrtcCore);
  core->api_.reset(new NvrtcApi(std::move(builtins), std::move(library)));
  core->options_ = std::move(options);
  NvrtcApi& api = *core->api_;
  if (!api.bind() || api.version(&api.major, &api.minor) != 0) {
    return environment_error("loading {}: this is not NVRTC of CUDA 12 or newer",
                             api.library.path());
  }
  return core;
}

// C++20 deprecates += and ++ on volatile objects, which kernels use for flags and locks.
constexpr const char* kVolatileIsFine = "-diag-suppress=3010,3011,3012";

std::vector<std::string> nvrtc_arguments(const ports::CompileRequest& request,
                                         const std::vector<std::string>& header_folders) {
  const bool cubin = request.image == ports::ImageKind::Cubin;
  // "sm_90a" -> "compute_90a": PTX is requested by the virtual architecture.
  const std::string arch = cubin ? request.target : replace_all(request.target, "sm_", "compute_");
  std::vector<std::string> arguments = {"--gpu-architecture=" + arch, "--std=c++20", "-lineinfo",
                                        "-default-device", kVolatileIsFine};
  std::vector<std::string> folders = request.include_folders;
  folders.insert(folders.end(), header_folders.begin(), header_folders.end());
  for (const std::string& folder : folders) arguments.push_back("--include-path=" + folder);
  if (cubin) arguments.emplace_back("--ptxas-options=-v");
  return arguments;
}

std::vector<std::string> NvrtcCore::arguments(const ports::CompileRequest& request,
                                              bool precompile) {
  std::vector<std::string> arguments = nvrtc_arguments(request, options_.header_folders);
  const bool has_pch = api_->major > 12 || (api_->major == 12 && api_->minor >= 8);
  if (precompile && has_pch && !options_.pch_folder.empty()) {
    const std::string folder = pch_folder_for(request, arguments);
    if (!folder.empty()) {
      arguments.insert(arguments.end(), {"--pch", "--pch-dir=" + folder, "--pch-messages=false",
                                         "--pch-verbose=false", "-diag-suppress=20283"});
    }
  }
  return arguments;
}

std::string NvrtcCore::pch_folder_for(const ports::CompileRequest& request,
                                      const std::vector<std::string>& arguments) {
  std::string key = header_lines(request.source);
  for (const std::string& argument : arguments) {
    // PTX and cubin of one architecture share their precompiled header.
    if (!argument.starts_with("--ptxas")) key += replace_all(argument, "=sm_", "=compute_") + "\n";
  }
  const auto known = pch_folders_.find(key);
  if (known != pch_folders_.end()) return known->second;
  const std::string folder = options_.pch_folder + "/" + hash_hex(key);
  if (!os::make_directories(folder)) return "";
  return pch_folders_.emplace(key, folder).first->second;
}

Result<NvrtcCore::Run> NvrtcCore::run(const ports::CompileRequest& request, bool precompile) {
  const std::string source = source_text(request);
  const std::vector<std::string> texts = arguments(request, precompile);
  std::vector<const char*> options;
  for (const std::string& text : texts) options.push_back(text.c_str());

  NvrtcApi& api = *api_;
  NvrtcApi::Program program = nullptr;
  const auto start = std::chrono::steady_clock::now();
  if (int code =
          api.create(&program, source.c_str(), request.file_name.c_str(), 0, nullptr, nullptr);
      code != 0) {
    return environment_error("{}: {}", options_.shown_as, api.error_string(code));
  }
  Run run;
  for (const std::string& name : request.kernels) api.add_name(program, name.c_str());
  run.code = api.compile(program, static_cast<int>(options.size()), options.data());
  run.log = fetch(program, api.log_size, api.log, true);
  if (run.code == 0) {
    for (const std::string& name : request.kernels) {
      const char* lowered = nullptr;
      const int code = api.lowered_name(program, name.c_str(), &lowered);
      run.entries.emplace_back(code == 0 && lowered != nullptr ? lowered : "");
    }
    run.image = request.image == ports::ImageKind::Cubin
                    ? fetch(program, api.cubin_size, api.cubin, false)
                    : fetch(program, api.ptx_size, api.ptx, true);
  }
  api.destroy(&program);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

Error NvrtcCore::option_error(const ports::CompileRequest& request, const std::string& log) const {
  int count = 0;
  api_->archs_count(&count);
  std::vector<int> archs(static_cast<size_t>(std::max(count, 0)));
  if (!archs.empty()) api_->archs(archs.data());
  if (log.find("gpu-architecture") == std::string::npos || archs.empty())
    return environment_error("{}: {}", options_.shown_as, trim(log));
  const int wanted = std::atoi(request.target.c_str() + std::min<size_t>(3, request.target.size()));
  const auto [lowest, highest] = std::minmax_element(archs.begin(), archs.end());
  const char* age = wanted > *highest  ? "too old for"
                    : wanted < *lowest ? "too new for"
                                       : "unable to compile for";
  return environment_error("{} is {} {}: it supports sm_{} to sm_{}", options_.shown_as, age,
                           request.target, *lowest, *highest);
}

ports::CompileFailed NvrtcCore::failure(const ports::CompileRequest& request, const Run& run) {
  ports::CompileFailed failed;
  failed.compiler = options_.shown_as;
  failed.log = run.log;
  failed.messages = parse_log(run.log, request.file_name);
  failed.crashed = run.code == kOutOfMemory;
  for (const char* sign : {"out of memory", "Loop in catastrophic error", "mapped memory"}) {
    failed.crashed |= run.log.find(sign) != std::string::npos;
  }
  // What its front end could not even name: it had no memory left for the sentence.
  failed.crashed |=
      failed.messages.empty() && run.log.find("catastrophic error") != std::string::npos;
  if (failed.crashed) {
    failed.messages = {{ports::CompileMessage::Severity::Error, 0, 0,
                        "the compiler ran out of memory on this source"}};
  }
  if (failed.messages.empty()) {
    const std::string text = run.log.empty() ? api_->error_string(run.code) : unexplained(run.log);
    failed.messages.push_back({ports::CompileMessage::Severity::Error, 0, 0, text});
  }
  // ptxas reports lines of the PTX. Compile the same source to PTX to find the module's lines.
  if (request.image == ports::ImageKind::Cubin &&
      run.log.find("ptx input, line ") != std::string::npos) {
    ports::CompileRequest as_ptx = request;
    as_ptx.image = ports::ImageKind::Ptx;
    if (const auto ptx = this->run(as_ptx); ptx && ptx->code == 0) {
      for (ports::CompileMessage& message : failed.messages) {
        const size_t at = message.text.find(" (PTX line ");
        if (at == std::string::npos) continue;
        message.line =
            module_line(ptx->image, std::atoi(message.text.c_str() + at + 11), request.file_name);
      }
    }
  }
  return failed;
}

// Blocks that wait for each other must be on the device at once. How many fit depends on registers,
// which only ptxas knows.
void NvrtcCore::add_registers(const ports::CompileRequest& request, ports::Compiled* compiled) {
  ports::CompileRequest as_cubin = request;
  as_cubin.image = ports::ImageKind::Cubin;
  const auto cubin = run(as_cubin);
  if (!cubin || cubin->code != 0) return;
  const auto resources = parse_ptxas_report(cubin->log);
  for (ports::CompiledKernel& kernel : compiled->kernels) {
    const auto found = resources.find(kernel.entry);
    if (found != resources.end()) kernel.resources.registers = found->second.registers;
  }
}

ports::Compiled NvrtcCore::success(const ports::CompileRequest& request, Run run) const {
  ports::Compiled compiled;
  compiled.kind = request.image;
  compiled.target = request.target;
  compiled.compiler = options_.shown_as;
  compiled.seconds = run.seconds;
  compiled.messages = parse_log(run.log, request.file_name);
  const bool cubin = request.image == ports::ImageKind::Cubin;
  if (!cubin)
    run.image = normalise_ptx(run.image, request.file_name, options_.header_folders, &run.entries);
  compiled.image = std::move(run.image);
  const auto resources = cubin ? parse_ptxas_report(run.log) : scan_ptx(compiled.image);
  const auto bounds = cubin ? launch_bounds_of(compiled.image) : std::map<std::string, int>{};
  for (size_t i = 0; i < request.kernels.size(); ++i) {
    ports::CompiledKernel kernel{request.kernels[i], run.entries[i], demangle(run.entries[i]), {}};
    if (const auto found = resources.find(kernel.entry); found != resources.end())
      kernel.resources = found->second;
    if (const auto found = bounds.find(kernel.entry); found != bounds.end())
      kernel.resources.max_threads = found->second;
    compiled.kernels.push_back(std::move(kernel));
  }
  return compiled;
}

uint64_t NvrtcCore::precompiled_bytes() const {
  uint64_t total = 0;
  for (const auto& [key, folder] : pch_folders_) {
    for (const std::string& name : os::list_directory(folder))
      total += os::file_size(folder + "/" + name);
  }
  return total;
}

Result<ports::CompileOutcome> NvrtcCore::compile(const ports::CompileRequest& request) {
  if (request.source.find('\0') !=
      std::string::npos) {  // NVRTC would compile only what is before it
    ports::CompileOutcome refused;
    refused.failed = ports::CompileFailed{
        options_.shown_as, {{{}, 0, 0, "the source contains a zero byte"}}, "", false, false};
    return refused;
  }
  Run done = KW_TRY(run(request));
  // Precompiled headers are in a heap of fixed size; a source too big for it compiles without them.
  if (done.code != 0 && done.log.find("mapped memory") != std::string::npos)
    done = KW_TRY(run(request, false));
  ports::CompileOutcome outcome;
  if (done.code == kInvalidOption) return option_error(request, done.log);
  if (done.code == kBuiltinFailure)
    return environment_error("{}: {}", options_.shown_as, trim(done.log));
  if (done.code != 0 && done.log.find("temporary file") != std::string::npos)
    return environment_error("{}: {}", options_.shown_as, trim(done.log));
  if (done.code != 0) {
    outcome.failed = failure(request, done);
  } else {
    outcome.compiled = success(request, std::move(done));
    if (request.image == ports::ImageKind::Ptx && orders_blocks(outcome.compiled->image))
      add_registers(request, &*outcome.compiled);
  }
  return outcome;
}

}  // namespace kw::compile
