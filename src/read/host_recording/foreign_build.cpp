// The problem: to record a foreign file, its host code must be compiled against a runtime that is
// not CUDA's. The choice: one nvcc command links the file with the recorder library and keeps the
// intermediate PTX. Library, PTX and messages together form one image in the compile cache. The
// alternative, compiling host and device code separately, could give kernels other names. The cost:
// nvcc must be installed; it runs in a sandbox, because the compiler reads foreign text.
#include "host_recording/foreign_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "compile/cache.h"
#include "compile/compiler_messages.h"
#include "compile/resources.h"
#include "compile/search.h"
#include "core/text.h"
#include "host_recording/helpers.h"
#include "host_recording/merge.h"
#include "host_recording/recording_source.h"
#include "host_recording/weak_references.h"
#include "kRecorderLibrary.inc"
#include "machine/devices.h"
#include "os/files.h"
#include "os/process.h"
#include "ports/image_pack.h"
#include "sandbox/sandbox.h"

namespace kw::host_recording {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{8} << 30;
constexpr const char* kRecorderName = "libkwrecord.so";

std::vector<std::string> command_for(const compile::FoundProgram& nvcc,
                                     const ForeignBuildRequest& request,
                                     const std::string& folder) {
  const std::string number = replace_all(request.target, "sm_", "");
  std::vector<std::string> command = {
      nvcc.path, "-shared", "-Xcompiler", "-fPIC,-w", "-cudart", "none", "-std=c++17",
      "-O1",  // for host code, which runs rarely; nvcc still optimises device code
      "-gencode", fmt::format("arch=compute_{0},code=[compute_{0},sm_{0}]", number), "-lineinfo",
      "-Xptxas", "-v", "-Wno-deprecated-gpu-targets", "-allow-unsupported-compiler",
      "--expt-relaxed-constexpr", "--extended-lambda",
      // The day of compilation is not the program's.
      "-Xcompiler", "-Wno-builtin-macro-redefined", "-D__DATE__=\"Jan  1 2000\"",
      "-D__TIME__=\"00:00:00\"", "-D__TIMESTAMP__=\"Sat Jan  1 00:00:00 2000\"", "--keep",
      "--keep-dir", folder};
  if (request.torch) command.push_back("-I" + folder + "/shim");
  if (!request.headers.empty()) command.push_back("-I" + folder + "/beside");
  for (const std::string& include : request.include_folders) command.push_back("-I" + include);
  command.insert(command.end(), request.flags.begin(), request.flags.end());
  command.insert(command.end(), {"-o", folder + "/foreign.so"});
  for (const ForeignSource& source : request.sources) command.push_back(folder + "/" + source.name);
  command.push_back(folder + "/" + kRecorderName);
  return command;
}

Status write_beneath(const std::filesystem::path& folder, const std::string& name,
                     const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories((folder / name).parent_path(), failed);
  return os::write_file((folder / name).string(), text);
}

Status write_sources(const ForeignBuildRequest& request, const std::string& folder) {
  const std::filesystem::path in = folder;
  KW_TRY(os::write_file(folder + "/" + kRecorderName, recorder_library()));
  for (const ForeignSource& source : request.sources)
    KW_TRY(write_beneath(in, source.name, source.text));
  for (const ForeignSource& header : request.headers)
    KW_TRY(write_beneath(in / "beside", header.name, header.text));
  if (!request.torch) return Done{};
  for (const ShimHeader& header : torch_headers())
    KW_TRY(write_beneath(in / "shim", header.path, header.text));
  return Done{};
}

/// The merged PTX of all files with device code.
Result<std::string> read_ptx(const ForeignBuildRequest& request, const std::string& folder) {
  std::vector<std::string> texts;
  for (const ForeignSource& source : request.sources) {
    if (!source.name.ends_with(".cu")) continue;
    const std::string stem = source.name.substr(0, source.name.size() - 3);
    texts.push_back(KW_TRY(os::read_file(folder + "/" + stem + ".ptx", size_t{64} << 20)));
  }
  if (texts.size() == 1) return texts.front();
  return merge_ptx(texts);
}

os::Allowed allowed_for(const compile::FoundProgram& nvcc, const ForeignBuildRequest& request,
                        const std::string& folder) {
  os::Allowed allowed = sandbox::system_files();
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(nvcc.path, failed);
  if (!failed) allowed.running.push_back(real.parent_path().parent_path().string());
  allowed.reading.insert(allowed.reading.end(), request.include_folders.begin(),
                         request.include_folders.end());
  allowed.writing.push_back(folder);
  return allowed;
}

ports::CompileFailed failure(const os::ProcessResult& result, const std::string& compiler,
                             const ForeignBuildRequest& request) {
  ports::CompileFailed failed;
  failed.compiler = compiler;
  failed.log = result.out + result.err;
  failed.timed_out = result.timed_out;
  failed.messages = compile::parse_log(failed.log, compile::quotable(request.file_name));
  const bool explained = std::ranges::any_of(failed.messages, [](const ports::CompileMessage& one) {
    return one.severity == ports::CompileMessage::Severity::Error;
  });
  failed.crashed = !explained && !failed.timed_out && result.signal != 0;
  if (!explained && !failed.timed_out) {
    const std::vector<std::string_view> lines = split_lines(failed.log);
    const auto said = std::ranges::find_if(
        lines, [](std::string_view line) { return line.find("error") != std::string_view::npos; });
    failed.messages.insert(failed.messages.begin(),
                           {{}, 0, 0, said == lines.end() ? "nvcc failed" : std::string(*said)});
  }
  return failed;
}

void read_kernels(const std::string& log, ForeignBuild& build) {
  const auto report = compile::parse_ptxas_report(log);
  const auto declared = compile::scan_ptx(build.ptx);
  for (const auto& [entry, params] : entry_params(build.ptx)) {
    KernelNumbers kernel;
    kernel.params = params;
    if (const auto at = report.find(entry); at != report.end()) {
      kernel.registers = std::max(0, at->second.registers);
      kernel.static_shared = std::max<int64_t>(0, at->second.static_shared);
      kernel.local_bytes = std::max<int64_t>(0, at->second.local_bytes);
    }
    if (const auto at = declared.find(entry); at != declared.end())
      kernel.max_threads = std::max(0, at->second.max_threads);
    build.kernels[entry] = std::move(kernel);
  }
}

/// nvcc for one request including its host code. The image holds the library, the PTX and the
/// messages.
class HostNvcc : public ports::Compiler {
 public:
  HostNvcc(const ForeignBuildRequest& request, const compile::FoundProgram& nvcc)
      : request_(request), nvcc_(nvcc) {}

  std::string name() const override { return "nvcc " + nvcc_.version + " with host code"; }

  Result<ports::CompileOutcome> compile(const ports::CompileRequest&) override {
    const os::ScratchFolder scratch = KW_TRY(os::ScratchFolder::make("foreign"));
    const std::string& folder = scratch.path();
    KW_TRY(write_sources(request_, folder));
    sandbox::ForeignProcess job{sandbox::Kind::CompilerProgram,
                                allowed_for(nvcc_, request_, folder),
                                {"TMPDIR=" + folder, "LC_ALL=C", "CCACHE_DISABLE=1"}};
    os::ProcessLimits limits;
    limits.timeout_seconds = request_.timeout_seconds;
#ifndef __SANITIZE_ADDRESS__
    job.memory_bytes = kMemoryBytes;
#endif
    limits.output_bytes = 4 << 20;
    const os::ProcessResult result =
        KW_TRY(sandbox::run(job, command_for(nvcc_, request_, folder), {}, limits));
    ports::CompileOutcome outcome;
    const std::string shown = "nvcc " + nvcc_.version;
    if (result.exit_code != 0 || result.signal != 0 || result.timed_out) {
      outcome.failed = failure(result, shown, request_);
      return outcome;
    }
    const Result<std::string> ptx = read_ptx(request_, folder);
    if (!ptx) {
      outcome.failed.emplace();
      outcome.failed->compiler = shown;
      outcome.failed->messages = {{{}, 0, 0, ptx.error().message}};
      return outcome;
    }
    outcome.compiled.emplace();
    outcome.compiled->compiler = shown;
    outcome.compiled->image = ports::pack_images(
        {KW_TRY(os::read_file(folder + "/foreign.so")), *ptx, result.out + result.err});
    return outcome;
  }

 private:
  const ForeignBuildRequest& request_;
  const compile::FoundProgram& nvcc_;
};

/// Everything that a build depends on, in the form of the cache's key.
ports::CompileRequest cache_key(const ForeignBuildRequest& request) {
  ports::CompileRequest key;
  const auto add = [&](const std::string& name, const std::string& text) {
    key.source += fmt::format("{} {}\n{}\n", name, text.size(), text);
  };
  for (const ForeignSource& source : request.sources) add(source.name, source.text);
  for (const ForeignSource& header : request.headers) add("beside/" + header.name, header.text);
  if (request.torch) {
    for (const ShimHeader& header : torch_headers()) add("shim/" + header.path, header.text);
  }
  const compile::FoundProgram anywhere;
  for (const std::string& word : command_for(anywhere, request, "")) add("word", word);
  key.file_name = request.file_name;
  key.target = request.target;
  key.include_folders = request.include_folders;
  return key;
}

}  // namespace

ForeignBuildRequest launcher_build(const std::string& text, const std::string& file_name,
                                   const std::string& launcher) {
  ForeignBuildRequest request;
  request.sources = {{"foreign.cu", with_trampoline(text, compile::quotable(file_name), launcher)}};
  request.file_name = file_name;
  request.torch = wants_torch(text);
  return request;
}

ForeignBuildRequest binding_build(const std::string& text, const std::string& file_name,
                                  const std::string& function, const std::string& arguments) {
  ForeignBuildRequest request;
  request.sources = {
      {"foreign.cu", with_bound_call(text, compile::quotable(file_name), function, arguments)}};
  request.file_name = file_name;
  request.torch = true;
  return request;
}

std::string_view recorder_library() {
  return {kRecorderLibrary, static_cast<size_t>(kRecorderLibrary_end - kRecorderLibrary)};
}

Result<std::string> build_helpers(const std::string& target) {
  const std::unique_ptr<ports::Compiler> compiler = KW_TRY(machine::open_compiler(""));
  ports::CompileRequest request;
  request.source = helper_kernels();
  request.file_name = "helper_kernels.cuh";
  request.target = target;
  request.kernels = {std::begin(kHelperEntries), std::end(kHelperEntries)};
  ports::CompileOutcome outcome = KW_TRY(compiler->compile(request));
  if (!outcome.compiled)
    return environment_error("the kernels that play back copies do not compile here");
  return std::move(outcome.compiled->image);
}

Result<ForeignBuild> build_foreign(const ForeignBuildRequest& request) {
  const compile::Toolbox tools = compile::find_tools();
  if (!tools.nvcc)
    return environment_error(
        "recording a foreign launcher needs nvcc, and none was found; set CUDA_HOME to a CUDA "
        "toolkit");
  ForeignBuild build{KW_TRY(os::ScratchFolder::make("foreign")), "", "", "", {}, {}, std::nullopt};
  build.compiler = "nvcc " + tools.nvcc->version;
  compile::CacheOptions cache;
  cache.folder = os::cache_directory() + "/compile";
  cache.salt = compile::fingerprint(
      {tools.nvcc->path, os::find_program("gcc"), os::find_program("g++"), "/usr/include"});
  compile::CachingCompiler compiler(std::make_unique<HostNvcc>(request, *tools.nvcc),
                                    std::move(cache));
  ports::CompileOutcome outcome = KW_TRY(compiler.compile(cache_key(request)));
  if (outcome.failed) {
    build.failed = std::move(outcome.failed);
    return build;
  }
  const std::vector<std::string_view> parts = ports::images_in(outcome.compiled->image);
  if (parts.size() != 3) return environment_error("a cached library with host code is not whole");
  build.library = build.folder.path() + "/foreign.so";
  KW_TRY(os::write_file(build.library, parts[0]));
  build.ptx = parts[1];
  build.weak = weak_references(parts[0]);
  build.from_cache = outcome.compiled->from_cache;
  read_kernels(std::string(parts[2]), build);
  return build;
}

}  // namespace kw::host_recording
