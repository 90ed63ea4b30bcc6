// The command line: finds the command, parses its words and runs it. One table connects names with
// functions, and the workers are hidden commands of the same binary, so that they always have its
// version. First, relative paths are dropped from the environment's variables: no library
// may be loaded from the working directory. Then its keys are hidden from other processes. Separate
// worker programs would be smaller, but could be missing or of another build. The cost: the loader
// has already read its variables, so the program may have to start itself again with execv.
// Exceptions end here as exit codes.
#include "commands/main.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "commands/command.h"
#include "commands/watch.h"
#include "compile/compile_worker.h"
#include "core/check.h"
#include "core/text.h"
#include "gpu/gpu_device.h"
#include "gpu/gpu_worker.h"
#include "gpu/output_capture.h"
#include "gpu/profiled_call.h"
#include "host_recording/captive_worker.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/own_files.h"
#include "os/permissions.h"
#include "os/process.h"
#include "os/scratch.h"
#include "sandbox/sandbox.h"
#include "torch_worker/torch_confinement.h"

namespace kw::commands {

namespace {

/// Variables that name folders; os::env_path() accepts no others.
constexpr const char* kFolderVariables[] = {
    "HOME",        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "KERNELWRIGHT_CACHE",
    "VIRTUAL_ENV", "CONDA_PREFIX",   "CUDA_HOME",       "CUDA_PATH",
};

void tell_relative_variables(Io& io) {
  for (const char* name : kFolderVariables) {
    const std::string value = os::env(name);
    if (!value.empty() && !value.starts_with("/"))
      io.note(fmt::format("${} is '{}'; it must be an absolute path", name, value));
  }
}

Result<int> compile_worker(const Args&, Io&) { return compile::compile_worker_main(); }
Result<int> gpu_worker(const Args&, Io&) { return gpu::gpu_worker_main(); }
Result<int> captive_worker(const Args&, Io&) { return host_recording::captive_worker_main(); }
/// Runs the GPU's canary kernel once: a small real kernel for a profiler.
Result<int> gpu_canary(const Args&, Io&) {
  const auto device = KW_TRY(gpu::GpuDevice::open(0));
  KW_TRY(device->health());
  return kOk;
}
/// Runs one call of a program that gpu::ProfiledCall wrote, marked for a profiler. Output of its
/// kernels is discarded.
Result<int> gpu_profiled_call(const Args& args, Io&) {
  const auto& files = args.positionals;
  if (files.size() != 2) return input_error("a profiled call is given by two files");
  gpu::OutputCapture capture;
  KW_TRY(gpu::profiled_call(files[0], files[1]));
  return kOk;
}

constexpr const char* kUnconfined = "--unconfined";

std::vector<std::string> unconfined_kinds(const Args& args) {
  const auto given = args.values.find(kUnconfined);
  return given == args.values.end() ? std::vector<std::string>{}
                                    : split(join(given->second, ","), ',');
}

/// The programs that we start follow the same permission: a checker runs our own 'run'.
void pass_on_unconfined(const Args& args) {
  const std::string words = join(unconfined_kinds(args), ",");
  if (words.empty()) return;
  const std::string before = os::env(sandbox::kUnconfinedVariable);
  ::setenv(sandbox::kUnconfinedVariable, (before.empty() ? words : before + "," + words).c_str(),
           1);
}

struct Action {
  const char* name;
  Result<int> (*run)(const Args& args, Io& io);
};
#define KW_ACTION(name, function) {name, function},
constexpr Action kActions[] = {{"worker-compile", compile_worker},
                               {"worker-gpu", gpu_worker},
                               {"worker-job", job_worker},
                               {"worker-captive", captive_worker},
                               {"gpu-canary", gpu_canary},
                               {"profiled-call", gpu_profiled_call},
                               {"behind-walls", behind_walls},
                               {"complete", complete_command},
                               KW_COMMANDS(KW_ACTION)};
#undef KW_ACTION

int run(const Command& command, const Args& args, Io& io) {
  const auto* row = std::ranges::find(kActions, command.name, &Action::name);
  KW_CHECK(row != std::end(kActions), "a command does nothing");
  const Result<int> code = row->run(args, io);
  return code ? *code : io.fail(code.error());
}

/// Whether an option is among the words; after "--" there are none.
bool contains(const std::vector<std::string>& words, const char* word) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, word) != end;
}

int unknown_command(const std::string& name, bool json) {
  Io io("", json);
  return io.fail(input_error("there is no command '{}'{}; see 'kernelwright help'", name,
                             did_you_mean(name, options::command_names())));
}

/// A file is executed when its user names it. A folder may hold files that the user never looked
/// at, so commands that read all of them execute none unless the user says so.
void forbid_what_was_not_asked(const Command& command, const Args& args) {
  constexpr std::string_view kReaders[] = {"describe", "lint", "screen"};
  if (args.has("--no-python")) os::forbid_python(os::NoPython::Option);
  if (std::ranges::count(kReaders, command.name) == 0 || args.has("--allow-python")) return;
  if (std::ranges::any_of(args.positionals, os::is_directory))
    os::forbid_python(os::NoPython::Folder);
}

int dispatch(const Command& command, const std::vector<std::string>& words) {
  Io io(command.name, contains(words, "--json"));
  if (contains(words, "--help") || contains(words, "-h")) {
    io.print(command.help);
    return io.finish(kOk, Json::object().set("text", command.help));
  }
  const Result<Args> args = options::parse_args(command, words);
  if (!args) return io.fail(args.error());
  if (command.hidden) return run(command, *args, io);  // workers leave Ctrl-C to their parent
  tell_relative_variables(io);
  forbid_what_was_not_asked(command, *args);
  pass_on_unconfined(*args);
  if (const auto home = os::home_directory(); !home) return io.fail(home.error());
  os::ScratchFolder::sweep_once();
  const InterruptWatch watch;
  const int code = perform(command, *args, io);
  return os::interrupted() ? kInterrupted : code;
}

int start(int argc, char** argv) {
  ::umask(077);  // files of other libraries and of programs we start are for this user alone too
  // The loader read the variables when we started, so the program must start again.
  if (os::drop_relative_paths()) ::execv("/proc/self/exe", argv);
  os::hide_keys();
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) {
    const std::string text = options::help_text("main");
    std::fwrite(text.data(), 1, text.size(), stderr);
    return kBadInput;
  }
  std::string name = words.front();
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  words.erase(words.begin());
  const Command* command = options::find_command(name);
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

int perform(const Command& command, const Args& args, Io& io) {
  const sandbox::Unconfined meant(unconfined_kinds(args));
  if (const std::vector<std::string> words = sandbox::unconfined_words(); !words.empty())
    io.note(fmt::format("processes of these kinds run without walls, and verdicts record it: {}",
                        join(words, ", ")));
  const torch_worker::ExecutionListener listener(
      [&io](const std::string& what) { return io.note(what); });
  return run(command, args, io);
}

int perform(const Command& command, const std::vector<std::string>& words, Io& io) {
  const Result<Args> args = options::parse_args(command, words);
  return args ? perform(command, *args, io) : io.fail(args.error());
}

int main(int argc, char** argv) {
  int code = kBug;
  try {
    code = start(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("kernelwright: out of memory\n", stderr);
    return kEnvironment;
  } catch (const std::system_error& error) {
    const int reason = error.code().value();
    if (reason != EAGAIN && reason != ENOMEM) return report_bug(error.what());
    std::fprintf(stderr,
                 "kernelwright: the system starts no more threads: %s\n"
                 "  hint: end other programs, or raise the limits: ulimit -u, ulimit -v\n",
                 std::strerror(reason));
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
