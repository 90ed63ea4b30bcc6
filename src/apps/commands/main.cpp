#include "commands/main.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

#include "commands/command.h"
#include "commands/watch.h"
#include "compile/worker.h"
#include "core/check.h"
#include "core/text.h"
#include "gpu/gpu_device.h"
#include "gpu/output_capture.h"
#include "gpu/profiled_call.h"
#include "gpu/worker.h"
#include "host_recording/worker.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "torch_worker/torch_walls.h"

namespace kw::commands {

namespace {

constexpr OptionRow kRunOptions[] = {
    {"--dim", Takes::Many},
    {"--dims", Takes::One},
    {"--tune", Takes::Many},
    {"--scalar", Takes::Many},
    {"--absent", Takes::Many},
    {"--input", Takes::Many},
    {"--seed", Takes::One},
    {"--output", Takes::One},
    {"--device", Takes::One},
    {"--target", Takes::One},
    {"--compiler", Takes::One},
    {"--counters", Takes::Nothing},
    {"--check-order", Takes::Nothing},
    {"--threads", Takes::One},
    {"--time", Takes::Nothing},
    {"--timeout", Takes::One},
};
constexpr OptionRow kCheckOptions[] = {
    {"--target", Takes::One},  {"--compiler", Takes::One}, {"--dim", Takes::Many},
    {"--dims", Takes::One},    {"--tune", Takes::Many},    {"--all-tunes", Takes::Nothing},
    {"--limit", Takes::One},   {"--scalar", Takes::Many},  {"--absent", Takes::Many},
    {"--timeout", Takes::One},
};
constexpr OptionRow kImportOptions[] = {
    {"--reference", Takes::One}, {"--function", Takes::One},
    {"--launcher", Takes::One},  {"--input", Takes::Many},
    {"--dim", Takes::Many},      {"--dims", Takes::One},
    {"--out", Takes::One},       {"--zero-outputs", Takes::Nothing},
};
constexpr OptionRow kVerifyOptions[] = {
    {"--reference", Takes::One},     {"--function", Takes::One},    {"--backward", Takes::Nothing},
    {"--input", Takes::Many},        {"--dim", Takes::Many},        {"--dims", Takes::One},
    {"--tune", Takes::Many},         {"--device", Takes::One},      {"--target", Takes::One},
    {"--compiler", Takes::One},      {"--family", Takes::One},      {"--seed", Takes::One},
    {"--kill-rate", Takes::Nothing}, {"--explain", Takes::Nothing}, {"--threads", Takes::One},
    {"--timeout", Takes::One},       {"--cross-check", Takes::One}, {"--include", Takes::Many},
    {"--launcher", Takes::One},
};
constexpr OptionRow kLintOptions[] = {
    {"--function", Takes::One}, {"--backward", Takes::Nothing}, {"--input", Takes::Many},
    {"--dim", Takes::Many},     {"--dims", Takes::One},         {"--seeds", Takes::One},
    {"--sarif", Takes::One},    {"--threads", Takes::One},      {"--seconds", Takes::One},
};
constexpr OptionRow kDescribeOptions[] = {{"--function", Takes::One},
                                          {"--backward", Takes::Nothing},
                                          {"--input", Takes::Many},
                                          {"--dim", Takes::Many},
                                          {"--dims", Takes::One}};
constexpr OptionRow kBenchOptions[] = {
    {"--reference", Takes::One},   {"--function", Takes::One}, {"--backward", Takes::Nothing},
    {"--input", Takes::Many},      {"--versus", Takes::Many},  {"--quick", Takes::Nothing},
    {"--dim", Takes::Many},        {"--dims", Takes::One},     {"--tune", Takes::Many},
    {"--seed", Takes::One},        {"--device", Takes::One},   {"--target", Takes::One},
    {"--compiler", Takes::One},    {"--threads", Takes::One},  {"--timeout", Takes::One},
    {"--cross-check", Takes::One}, {"--include", Takes::Many}, {"--launcher", Takes::One},
};
constexpr OptionRow kCompareOptions[] = {
    {"--reference", Takes::One}, {"--function", Takes::One},    {"--backward", Takes::Nothing},
    {"--input", Takes::Many},    {"--quick", Takes::Nothing},   {"--dim", Takes::Many},
    {"--dims", Takes::One},      {"--tune", Takes::Many},       {"--scalar", Takes::Many},
    {"--absent", Takes::Many},   {"--seed", Takes::One},        {"--device", Takes::One},
    {"--target", Takes::One},    {"--compiler", Takes::One},    {"--threads", Takes::One},
    {"--timeout", Takes::One},   {"--cross-check", Takes::One},
};
constexpr OptionRow kProfileOptions[] = {
    {"--reference", Takes::One},     {"--function", Takes::One}, {"--backward", Takes::Nothing},
    {"--input", Takes::Many},        {"--dim", Takes::Many},     {"--dims", Takes::One},
    {"--tune", Takes::Many},         {"--ncu", Takes::One},      {"--report", Takes::One},
    {"--profiler-time", Takes::One}, {"--device", Takes::One},   {"--target", Takes::One},
    {"--compiler", Takes::One},      {"--threads", Takes::One},  {"--timeout", Takes::One},
};
constexpr OptionRow kSassOptions[] = {
    {"--function", Takes::One}, {"--against", Takes::One},  {"--method", Takes::One},
    {"--raw", Takes::Nothing},  {"--dim", Takes::Many},     {"--dims", Takes::One},
    {"--tune", Takes::Many},    {"--scalar", Takes::Many},  {"--absent", Takes::Many},
    {"--target", Takes::One},   {"--compiler", Takes::One}, {"--timeout", Takes::One},
};
constexpr OptionRow kOptimizeOptions[] = {
    {"--reference", Takes::One},
    {"--ref", Takes::One},
    {"--baseline", Takes::One},
    {"--function", Takes::One},
    {"--backward", Takes::Nothing},
    {"--input", Takes::Many},
    {"--dim", Takes::Many},
    {"--dims", Takes::One},
    {"--iterations", Takes::One},
    {"--branches", Takes::One},
    {"--ncu-num", Takes::One},
    {"--noise", Takes::One},
    {"--noise-threshold-pct", Takes::One},
    {"--proposer", Takes::One},
    {"--out", Takes::One},
    {"--run-dir", Takes::One},
    {"--iter", Takes::One},
    {"--force", Takes::Nothing},
    {"--skip-validation", Takes::Nothing},
    {"--restore", Takes::Nothing},
    {"--device", Takes::One},
    {"--target", Takes::One},
    {"--compiler", Takes::One},
    {"--precision", Takes::One},
    {"--seed", Takes::One},
    {"--include", Takes::Many},
    {"--launcher", Takes::One},
    {"--cross-check", Takes::One},
    {"--threads", Takes::One},
    {"--timeout", Takes::One},
    {"--quick", Takes::Nothing},
    {"--model-id", Takes::One},
    {"--stage-model", Takes::Many},
    {"--retries", Takes::Many},
    {"--budget", Takes::One},
    {"--record", Takes::One},
    {"--replay", Takes::One},
    {"--no-transcripts", Takes::Nothing},
    {"--no-store-reference", Takes::Nothing},
};
constexpr OptionRow kSynthesizeOptions[] = {
    {"--reference", Takes::One},
    {"--function", Takes::One},
    {"--backward", Takes::Nothing},
    {"--prompt", Takes::One},
    {"--prompt-file", Takes::One},
    {"--input", Takes::Many},
    {"--dim", Takes::Many},
    {"--dims", Takes::One},
    {"--elements", Takes::One},
    {"--target", Takes::One},
    {"--device", Takes::One},
    {"--compiler", Takes::One},
    {"--proposer", Takes::One},
    {"--time", Takes::One},
    {"--candidates", Takes::One},
    {"--goal", Takes::One},
    {"--perf-target", Takes::One},
    {"--precision", Takes::One},
    {"--seed", Takes::One},
    {"--out", Takes::One},
    {"--versus", Takes::One},
    {"--cross-check", Takes::One},
    {"--threads", Takes::One},
    {"--timeout", Takes::One},
    {"--quick", Takes::Nothing},
    {"--model-id", Takes::One},
    {"--stage-model", Takes::Many},
    {"--retries", Takes::Many},
    {"--budget", Takes::One},
    {"--escalate", Takes::Nothing},
    {"--escalation-model", Takes::One},
    {"--ask", Takes::Nothing},
    {"--record", Takes::One},
    {"--replay", Takes::One},
    {"--no-transcripts", Takes::Nothing},
    {"--verifiers", Takes::One},
    {"--verifier-model", Takes::One},
    {"--verifier-prompts", Takes::One},
    {"--verifier-reflect", Takes::Nothing},
    {"--verifier-reject", Takes::Nothing},
    {"--no-store-reference", Takes::Nothing},
};
constexpr OptionRow kEvolveOptions[] = {
    {"--allow-commands", Takes::Nothing},
    {"--function", Takes::One},
    {"--backward", Takes::Nothing},
    {"--input", Takes::Many},
    {"--dim", Takes::Many},
    {"--dims", Takes::One},
    {"--precision", Takes::One},
    {"--target", Takes::One},
    {"--proposer", Takes::One},
    {"--generations", Takes::One},
    {"--proposals", Takes::One},
    {"--hardware", Takes::One},
    {"--mode", Takes::One},
    {"--verifiers", Takes::One},
    {"--shape-info", Takes::One},
    {"--profile-feedback", Takes::One},
    {"--verifier-model", Takes::One},
    {"--verifier-prompts", Takes::One},
    {"--verifier-reflect", Takes::Nothing},
    {"--verifier-reject", Takes::Nothing},
    {"--islands", Takes::One},
    {"--seed", Takes::One},
    {"--time", Takes::One},
    {"--goal", Takes::One},
    {"--compare", Takes::Nothing},
    {"--resume", Takes::One},
    {"--device", Takes::One},
    {"--compiler", Takes::One},
    {"--versus", Takes::One},
    {"--quick", Takes::Nothing},
    {"--cross-check", Takes::One},
    {"--out", Takes::One},
    {"--threads", Takes::One},
    {"--timeout", Takes::One},
    {"--ensemble", Takes::One},
    {"--in-flight", Takes::One},
    {"--model-id", Takes::One},
    {"--budget", Takes::One},
    {"--record", Takes::One},
    {"--replay", Takes::One},
    {"--no-transcripts", Takes::Nothing},
    {"--no-store-reference", Takes::Nothing},
};
constexpr OptionRow kTuneVerifiersOptions[] = {
    {"--corpus", Takes::One},         {"--runs", Takes::One},
    {"--verifier", Takes::One},       {"--model", Takes::One},
    {"--second-model", Takes::One},   {"--verifier-prompts", Takes::One},
    {"--generations", Takes::One},    {"--population", Takes::One},
    {"--sample", Takes::One},         {"--in-flight", Takes::One},
    {"--seed", Takes::One},           {"--reflect", Takes::Nothing},
    {"--no-install", Takes::Nothing}, {"--out", Takes::One},
    {"--resume", Takes::One},         {"--budget", Takes::One},
    {"--record", Takes::One},         {"--replay", Takes::One},
    {"--allow-commands", Takes::Nothing},
};
constexpr OptionRow kResumeOptions[] = {
    {"--reference", Takes::One}, {"--time", Takes::One},   {"--candidates", Takes::One},
    {"--device", Takes::One},    {"--out", Takes::One},    {"--threads", Takes::One},
    {"--timeout", Takes::One},   {"--budget", Takes::One}, {"--record", Takes::One},
    {"--replay", Takes::One},    {"--allow-commands", Takes::Nothing},
};
constexpr OptionRow kTuneOptions[] = {
    {"--reference", Takes::One}, {"--time", Takes::One}, {"--candidates", Takes::One},
    {"--device", Takes::One},    {"--out", Takes::One},  {"--threads", Takes::One},
    {"--timeout", Takes::One},
};
constexpr OptionRow kRunsOptions[] = {
    {"--out", Takes::One}, {"--status", Takes::One}, {"--limit", Takes::One}};
constexpr OptionRow kInspectOptions[] = {{"--out", Takes::One},
                                         {"--candidate", Takes::One},
                                         {"--events", Takes::Nothing},
                                         {"--limit", Takes::One}};
constexpr OptionRow kDiffOptions[] = {{"--out", Takes::One}};
constexpr OptionRow kGcOptions[] = {{"--out", Takes::One},
                                    {"--older-than", Takes::One},
                                    {"--budget", Takes::One},
                                    {"--keep", Takes::One},
                                    {"--delete", Takes::Nothing}};
constexpr OptionRow kEvalOptions[] = {
    {"--suite", Takes::One},
    {"--backward", Takes::Nothing},
    {"--only", Takes::One},
    {"--limit", Takes::One},
    {"--resume", Takes::Nothing},
    {"--jobs", Takes::One},
    {"--against", Takes::One},
    {"--out", Takes::One},
    {"--dim", Takes::Many},
    {"--dims", Takes::One},
    {"--target", Takes::One},
    {"--device", Takes::One},
    {"--compiler", Takes::One},
    {"--proposer", Takes::One},
    {"--time", Takes::One},
    {"--candidates", Takes::One},
    {"--goal", Takes::One},
    {"--perf-target", Takes::One},
    {"--precision", Takes::One},
    {"--seed", Takes::One},
    {"--versus", Takes::One},
    {"--quick", Takes::Nothing},
    {"--cross-check", Takes::One},
    {"--threads", Takes::One},
    {"--timeout", Takes::One},
    {"--model-id", Takes::One},
    {"--stage-model", Takes::Many},
    {"--retries", Takes::Many},
    {"--budget", Takes::One},
    {"--escalate", Takes::Nothing},
    {"--escalation-model", Takes::One},
    {"--no-transcripts", Takes::Nothing},
    {"--yes", Takes::Nothing},
};
constexpr OptionRow kDemoOptions[] = {{"--compiler", Takes::One}, {"--out", Takes::One}};
constexpr OptionRow kDoctorOptions[] = {{"--has", Takes::One}, {"--looked", Takes::Nothing}};
constexpr OptionRow kMcpOptions[] = {{"--root", Takes::Many},
                                     {"--http", Takes::One},
                                     {"--token-file", Takes::One},
                                     {"--read-only", Takes::Nothing},
                                     {"--allow-python", Takes::Nothing},
                                     {"--allow-host-code", Takes::Nothing},
                                     {"--allow-commands", Takes::Nothing}};

/// Those that name folders; os::env_path() takes no others.
constexpr const char* kFolderVariables[] = {
    "HOME",        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "KERNELWRIGHT_CACHE",
    "VIRTUAL_ENV", "CONDA_PREFIX",   "CUDA_HOME",       "CUDA_PATH",
};

void tell_relative_variables(Io& io) {
  for (const char* name : kFolderVariables) {
    const std::string value = os::env(name);
    if (!value.empty() && !value.starts_with("/"))
      io.note(fmt::format("${} is '{}': only an absolute path is followed", name, value));
  }
}

int compile_worker(const Args&, Io&) { return compile::compile_worker_main(); }
int gpu_worker(const Args&, Io&) { return gpu::gpu_worker_main(); }
int captive_worker(const Args&, Io&) { return host_recording::captive_worker_main(); }
/// Runs the GPU's canary kernel once; something small and real for a profiler to look at.
int gpu_canary(const Args&, Io& io) {
  const auto device = gpu::GpuDevice::open(0);
  const Status healthy = device ? (*device)->health() : Status(device.error());
  return healthy ? kOk : io.fail(healthy.error());
}
/// One call of a program that gpu::ProfiledCall wrote down, marked for a profiler. What its kernels
/// print is thrown away.
int gpu_profiled_call(const Args& args, Io& io) {
  const auto& files = args.positionals;
  if (files.size() != 2) return io.fail(input_error("a call is named by two files"));
  gpu::OutputCapture capture;
  const Status called = gpu::profiled_call(files[0], files[1]);
  return called ? kOk : io.fail(called.error());
}

constexpr Command kCommands[] = {
    {"synthesize", "", false, false, kSynthesizeOptions, synthesize_command},
    {"evolve", "TASK...", false, false, kEvolveOptions, evolve_command},
    {"tune-verifiers", "", false, false, kTuneVerifiersOptions, tune_verifiers_command},
    {"resume", "RUN", true, false, kResumeOptions, resume_command},
    {"tune", "RUN", true, false, kTuneOptions, tune_command},
    {"run", "MODULE", true, false, kRunOptions, run_command},
    {"check", "MODULE", true, false, kCheckOptions, check_command},
    {"import", "FILE", true, false, kImportOptions, import_command},
    {"verify", "MODULE...", true, false, kVerifyOptions, verify_command},
    {"describe", "TASK", true, false, kDescribeOptions, describe_command},
    {"lint", "TASK...", true, false, kLintOptions, lint_command},
    {"bench", "MODULE", true, false, kBenchOptions, bench_command},
    {"compare", "MODULES...", true, false, kCompareOptions, compare_command},
    {"optimize", "KERNEL...", false, false, kOptimizeOptions, optimize_command},
    {"calibrate", "", false, false, {}, calibrate_command},
    {"eval", "", false, false, kEvalOptions, eval_command},
    {"screen", "DIR", true, false, {}, screen_command},
    {"profile", "MODULE", true, false, kProfileOptions, profile_command},
    {"roofline", "MODULE", true, false, kProfileOptions, roofline_command},
    {"sass", "MODULE", true, false, kSassOptions, sass_command},
    {"catalog", "ID", false, false, {}, catalog_command},
    {"runs", "", false, false, kRunsOptions, runs_command},
    {"inspect", "RUN", false, false, kInspectOptions, inspect_command},
    {"diff", "RUNS...", true, false, kDiffOptions, diff_command},
    {"gc", "", false, false, kGcOptions, gc_command},
    {"demo", "", false, false, kDemoOptions, demo_command},
    {"mcp", "", false, false, kMcpOptions, mcp_command},
    {"doctor", "", false, false, kDoctorOptions, doctor_command},
    {"version", "", false, false, {}, version_command},
    {"help", "COMMAND", false, false, {}, help_command},
    {"worker-compile", "", false, true, {}, compile_worker},
    {"worker-gpu", "", false, true, {}, gpu_worker},
    {"worker-job", "", false, true, {}, job_worker},
    {"worker-captive", "", false, true, {}, captive_worker},
    {"gpu-canary", "", false, true, {}, gpu_canary},
    {"profiled-call", "FILES...", true, true, {}, gpu_profiled_call},
};

bool contains(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

int unknown_command(const std::string& name, bool json) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (!command.hidden) names.emplace_back(command.name);
  }
  Io io("", json);
  return io.fail(input_error(fmt::format("there is no command '{}'{}; see 'kernelwright help'",
                                         name, did_you_mean(name, names))));
}

int dispatch(const Command& command, const std::vector<std::string>& words) {
  Io io(command.name, contains(words, "--json"));
  if (contains(words, "--help") || contains(words, "-h")) {
    io.print(help_text(command.name));
    return io.finish(kOk, Json::object().set("text", help_text(command.name)));
  }
  const Result<Args> args = parse_args(command, words);
  if (!args) return io.fail(args.error());
  if (command.hidden) return command.run(*args, io);  // workers leave Ctrl-C to their parent
  tell_relative_variables(io);
  const InterruptWatch watch;
  const int code = perform(command, *args, io);
  return os::interrupted() ? kInterrupted : code;
}

int start(int argc, char** argv) {
  os::hide_keys();
  // The loader took the variable as it was when we started.
  if (os::drop_relative_paths()) ::execv("/proc/self/exe", argv);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) {
    const std::string text = help_text("main");
    std::fwrite(text.data(), 1, text.size(), stderr);
    return kBadInput;
  }
  std::string name = words.front();
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  words.erase(words.begin());
  const Command* command = find_command(name);
  if (command == nullptr) return unknown_command(name, contains(words, "--json"));
  return dispatch(*command, words);
}

int report_bug(const char* what) {
  std::fprintf(stderr,
               "kernelwright: a bug in kernelwright itself: %s\n"
               "Please report it with the command and the files that led here.\n",
               what);
  return kBug;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

int perform(const Command& command, const Args& args, Io& io) {
  const torch_worker::ExecutionListener listener([&io](const std::string& what) { io.note(what); });
  return command.run(args, io);
}

int main(int argc, char** argv) {
  int code = kBug;
  try {
    code = start(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("kernelwright: out of memory\n", stderr);
    return kEnvironment;
  } catch (const std::exception& bug) {
    return report_bug(bug.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("kernelwright: cannot write to standard output\n", stderr);
    return kEnvironment;
  }
  return code;
}

}  // namespace kw::commands
