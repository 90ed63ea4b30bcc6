// nvcc and clang are programs, so each compile starts one, or two when ptxas makes the cubin. They
// read a source that is not trusted, and may hang or crash. So each has a time limit, 8 GiB of
// memory and access to its own folders only. Differences between the programs are
// data (Dialect); this code is the same for both. These programs do not report the symbol of a
// launched template, so variables added to the source show it (entries.h). The cost: every compile
// starts a program and reads all headers again; a warm NVRTC takes 30 to 60 ms.
#include "compile/program_compiler.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "compile/compiler_messages.h"
#include "compile/entries.h"
#include "compile/normalise.h"
#include "compile/resources.h"
#include "core/text.h"
#include "cuda_source/source_host.h"
#include "kernel/inject.h"
#include "os/files.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/scratch.h"
#include "os/spawn.h"
#include "sandbox/sandbox.h"

namespace kw::compile {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{8} << 30;
constexpr const char* kMemorySigns[] = {"out of memory", "bad_alloc", "Cannot allocate memory",
                                        "memory exhausted", "failed to map segment"};

std::vector<std::string> ptxas_command(const FoundProgram& ptxas,
                                       const ports::CompileRequest& request,
                                       const std::string& input, const std::string& output) {
  return {ptxas.path, "-arch=" + request.target, "-lineinfo", "-v", "-o", output, input};
}

}  // namespace

struct ProgramCompiler::Step {
  os::ProcessResult process;
  std::string log() const { return process.out + process.err; }
  bool good() const { return process.exit_code == 0 && process.signal == 0 && !process.timed_out; }
  /// By a signal from outside: no source can make its compiler send itself one of these.
  bool was_killed() const {
    const int signal = process.signal != 0 ? process.signal : process.exit_code - 128;
    return !process.timed_out && (signal == SIGKILL || signal == SIGTERM || signal == SIGHUP);
  }
  bool ran_out() const {
    const std::string text = log();
    return std::ranges::any_of(kMemorySigns,
                               [&](const char* sign) { return text.find(sign) != text.npos; });
  }
};

std::string ProgramCompiler::name() const {
  return fmt::format("{} ({})", dialect_.shown_as, dialect_.path);
}

std::string ProgramCompiler::command_text(const ports::CompileRequest& request) const {
  std::string text = join(dialect_.command(request, "input.cu", "output.ptx"), "\n") +
                     dialect_.before + dialect_.after;
  if (dialect_.leaves_out_host_code) text += "\nno host code";  // of a module: a rule of ours
  if (request.image == ports::ImageKind::Cubin && dialect_.ptxas)
    text += "\n" + join(ptxas_command(*dialect_.ptxas, request, "input.ptx", "output.cubin"), "\n");
  return text;
}

Result<ProgramCompiler::Step> ProgramCompiler::run(const std::vector<std::string>& command,
                                                   const ports::CompileRequest& request,
                                                   const std::string& scratch,
                                                   double deadline) const {
  Step step = KW_TRY(run_once(command, request, scratch, deadline));
  if (step.was_killed()) step = KW_TRY(run_once(command, request, scratch, deadline));
  if (step.good() || step.process.timed_out) return step;
  const std::string log = step.log();
  if (log.find("No space left on device") != std::string::npos)
    return environment_error("{}: no space left in {}", dialect_.shown_as, scratch);
  if (step.was_killed())
    return environment_error(
        "{} was killed twice: the machine may lack memory, or a user ended it; run the command "
        "again with more memory free",
        dialect_.shown_as);
  const bool crashed = step.process.signal != 0 || step.process.exit_code >= 128;
  const std::string why = os::why_no_memory(kMemoryBytes);
  if ((crashed || step.ran_out()) && !why.empty())
    return environment_error("{} ran out of memory: {}", dialect_.shown_as, why);
  return step;
}

Result<ProgramCompiler::Step> ProgramCompiler::run_once(const std::vector<std::string>& command,
                                                        const ports::CompileRequest& request,
                                                        const std::string& scratch,
                                                        double deadline) const {
  sandbox::ForeignProcess job{sandbox::Kind::CompilerProgram,
                              sandbox::system_files(),
                              {"TMPDIR=" + scratch, "LC_ALL=C", "CCACHE_DISABLE=1"}};
  for (const auto& [to, from] : {std::pair(&job.allowed.running, &dialect_.running),
                                 std::pair(&job.allowed.reading, &dialect_.reading),
                                 std::pair(&job.allowed.reading, &request.include_folders)})
    to->insert(to->end(), from->begin(), from->end());
  job.allowed.writing.push_back(scratch);
  os::ProcessLimits limits;
  limits.timeout_seconds = std::max(0.01, deadline - os::monotonic_seconds());
#ifndef __SANITIZE_ADDRESS__
  job.memory_bytes = kMemoryBytes;
#endif
  limits.output_bytes = 4 << 20;
  return Step{KW_TRY(sandbox::run(job, command, {}, limits))};
}

std::optional<Error> ProgramCompiler::target_error(const ports::CompileRequest& request,
                                                   const std::string& log) const {
  for (const char* sign : {"Unsupported gpu architecture", "unsupported CUDA gpu architecture",
                           "is not defined for option 'gpu-",
                           "is not a recognized feature for this target", "unknown target CPU"}) {
    if (log.find(sign) != std::string::npos) {
      return environment_error("{} does not know {}: a newer compiler is needed", dialect_.shown_as,
                               request.target);
    }
  }
  return std::nullopt;
}

ports::CompileFailed ProgramCompiler::failure(const ports::CompileRequest& request,
                                              const Step& step, const std::string& ptx) const {
  ports::CompileFailed failed;
  failed.compiler = dialect_.shown_as;
  failed.log = step.log();
  failed.timed_out = step.process.timed_out;
  failed.messages = parse_log(failed.log, request.file_name, request.kernels);
  const bool explained = std::ranges::any_of(failed.messages, [](const auto& message) {
    return message.severity == ports::CompileMessage::Severity::Error;
  });
  failed.crashed = !failed.timed_out &&
                   (step.process.signal != 0 || step.process.exit_code >= 128 || !explained);
  std::string verdict;
  if (failed.timed_out) {
    verdict = fmt::format("compiling took more than {} s and was stopped", request.timeout_seconds);
  } else if (failed.crashed) {
    verdict = step.process.signal != 0
                  ? fmt::format("the compiler died on this source (signal {})", step.process.signal)
                  : fmt::format("the compiler failed on this source (exit code {})",
                                step.process.exit_code);
  }
  if (!verdict.empty()) failed.messages.insert(failed.messages.begin(), {{}, 0, 0, verdict});
  for (ports::CompileMessage& message : failed.messages) {
    const size_t at = message.text.find(" (PTX line ");
    if (at == std::string::npos) continue;
    message.line = module_line(ptx, std::atoi(message.text.c_str() + at + 11), request.file_name);
  }
  return failed;
}

Result<ports::CompileOutcome> ProgramCompiler::assemble(const ports::CompileRequest& request,
                                                        ports::Compiled compiled,
                                                        const std::string& scratch,
                                                        double deadline) const {
  if (!dialect_.ptxas) {
    return environment_error(
        "{} makes PTX only; a cubin for {} needs NVRTC, or ptxas from a CUDA toolkit",
        dialect_.shown_as, request.target);
  }
  const std::string input = scratch + "/module.ptx", output = scratch + "/module.cubin";
  if (auto written = os::write_file(input, compiled.image); !written)
    return std::move(written).error();
  const Step step = KW_TRY(
      run(ptxas_command(*dialect_.ptxas, request, input, output), request, scratch, deadline));
  if (auto error = target_error(request, step.log())) return *error;
  ports::CompileOutcome outcome;
  if (!step.good()) {
    outcome.failed = failure(request, step, compiled.image);
    return outcome;
  }
  const auto report = parse_ptxas_report(step.log());
  compiled.image = KW_TRY(os::read_file(output));
  for (ports::CompiledKernel& kernel : compiled.kernels) {
    const auto found = report.find(kernel.entry);
    if (found == report.end()) continue;
    const int max_threads = kernel.resources.max_threads;
    kernel.resources = found->second;
    kernel.resources.max_threads = max_threads;
  }
  for (ports::CompileMessage& message : parse_log(step.log(), request.file_name)) {
    compiled.messages.push_back(std::move(message));
  }
  outcome.compiled = std::move(compiled);
  return outcome;
}

// What this compiler would leave out without a word.
std::optional<ports::CompileFailed> ProgramCompiler::host_code(
    const ports::CompileRequest& request) const {
  if (!dialect_.leaves_out_host_code) return std::nullopt;
  ports::CompileFailed failed;
  failed.compiler = dialect_.shown_as;
  for (const cuda_source::Diagnostic& one : cuda_source::find_host_code(request.source)) {
    failed.messages.push_back({{}, one.line, one.column, one.message + ": " + one.hint});
    failed.log += failed.messages.back().text + "\n";
  }
  if (failed.messages.empty()) return std::nullopt;
  return failed;
}

Result<ports::CompileOutcome> ProgramCompiler::compile(const ports::CompileRequest& given) {
  ports::CompileRequest request = given;
  request.file_name = quotable(request.file_name);
  if (std::optional<ports::CompileFailed> failed = host_code(request)) {
    ports::CompileOutcome refused;
    refused.failed = std::move(failed);
    return refused;
  }
  const double start = os::monotonic_seconds(), deadline = start + request.timeout_seconds;
  const os::ScratchFolder scratch = KW_TRY(os::ScratchFolder::make("compile"));
  const std::string input = scratch.path() + "/input.cu", output = scratch.path() + "/output.ptx";
  const std::string text =
      dialect_.before + fmt::format("#line 1 \"{}\"\n", request.file_name) +
      kernel::inject_defines(request.source, request.defines, false, request.file_name);
  const std::string whole = with_entries(text, request.kernels) + dialect_.after;
  if (auto written = os::write_file(input, whole); !written) return std::move(written).error();
  const Step step =
      KW_TRY(run(dialect_.command(request, input, output), request, scratch.path(), deadline));
  if (auto error = target_error(request, step.log())) return *error;
  ports::CompileOutcome outcome;
  if (!step.good()) {
    // nvcc runs ptxas on the PTX it made and leaves the file, so ptxas' lines can be mapped.
    const auto ptx = os::read_file(output);
    outcome.failed = failure(request, step, ptx ? *ptx : "");
    return outcome;
  }
  ports::Compiled compiled;
  compiled.kind = request.image;
  compiled.target = request.target;
  compiled.compiler = dialect_.shown_as;
  compiled.messages = parse_log(step.log(), request.file_name, request.kernels);
  std::string ptx = KW_TRY(os::read_file(output));
  std::vector<std::string> entries;
  if (!take_entries(&ptx, request.kernels.size(), &entries))
    return environment_error("{} did not say which symbols it gave the kernels", dialect_.shown_as);
  compiled.image = normalise_ptx(ptx, request.file_name, dialect_.header_folders, &entries);
  const auto resources = scan_ptx(compiled.image);
  for (size_t i = 0; i < entries.size(); ++i) {
    ports::CompiledKernel kernel{request.kernels[i], entries[i], demangle(entries[i]), {}};
    if (const auto found = resources.find(kernel.entry); found != resources.end())
      kernel.resources = found->second;
    compiled.kernels.push_back(std::move(kernel));
  }
  if (request.image == ports::ImageKind::Cubin) {
    outcome = KW_TRY(assemble(request, std::move(compiled), scratch.path(), deadline));
  } else {
    outcome.compiled = std::move(compiled);
  }
  if (outcome.compiled) outcome.compiled->seconds = os::monotonic_seconds() - start;
  return outcome;
}

}  // namespace kw::compile
