// Walls that quietly are not there are worse than none, because the user relies on them. So a
// process starts with all walls of its kind or not at all. What to do where one is missing is the
// user's decision: --unconfined names the kind, and every verdict then says so. A kind that runs
// unconfined has no ruleset of files and no list of system calls at all: "without the missing ones"
// would differ from machine to machine. Its environment, its descriptors, its limits and the end of
// its process group stay.
#include "sandbox/sandbox.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>

#include "core/text.h"
#include "os/files.h"
#include "os/walls.h"
#include "sandbox/properties.h"

namespace kw::sandbox {
namespace {

constexpr uint64_t kOpenFiles = 4096;

struct State {
  std::mutex mutex;
  std::multiset<std::string> allowed;  // by the Unconfined that exist
  std::set<std::string> started;
};
State& state() {
  static State only;
  return only;
}

/// "files (this kernel has no Landlock)"; "" when nothing is missing.
std::string missing_walls(const KernelFacts& kernel) {
  std::vector<std::string> missing;
  for (const Property& one : properties_on(kernel)) {
    if (one.provider.empty()) missing.push_back(fmt::format("{} ({})", one.name, one.missing));
  }
  return join(missing, "; ");
}

Result<os::Walls> walls_for(const ForeignProcess& job) {
  const KindRow& row = row_of(job.kind);
  os::Walls walls;
  walls.own_session = true;
  walls.limits.address_bytes = job.memory_bytes;
  walls.limits.data_bytes = job.data_bytes;
  walls.limits.frame_bytes = row.frame_bytes;
  walls.limits.file_bytes = row.file_bytes;
  walls.limits.open_files = kOpenFiles;
  walls.limits.group_bytes = row.group_bytes;
  walls.limits.group_processes = row.group_processes;
  if (is_unconfined(row.word)) {
    const std::lock_guard lock(state().mutex);
    state().started.insert(row.word);
    return walls;
  }
  const KernelFacts kernel = this_kernel();
  if (const std::string missing = missing_walls(kernel); !missing.empty())
    return environment_error(
        "{} is not started, because this machine cannot confine it: {}; see 'kernelwright doctor'. "
        "--unconfined {} starts it without walls, and verdicts record that",
        row.name, missing, row.word);
  walls.files = KW_TRY(os::make_ruleset(job.allowed));
  walls.calls = call_filter(row.calls, signals_on(kernel));
  walls.drops_privileges = true;
  return walls;
}

}  // namespace

Result<os::ProcessResult> run(const ForeignProcess& job, const std::vector<std::string>& argv,
                              std::string_view input, const os::ProcessLimits& limits) {
  const os::Walls walls = KW_TRY(walls_for(job));
  os::ProcessLimits own = limits;
  own.memory_bytes = 0;
  own.walls = &walls;
  own.environment = os::Environment::Needed;
  return os::run_process(argv, input, own, job.environment);
}

Result<std::unique_ptr<os::Child>> start(const ForeignProcess& job,
                                         const std::vector<std::string>& argv) {
  const os::Walls walls = KW_TRY(walls_for(job));
  // A profiler or checker reaches the worker by variables such as LD_PRELOAD.
  const bool attached = job.kind == Kind::GpuWorker && is_unconfined(row_of(job.kind).word);
  const os::Environment environment =
      attached ? os::Environment::WithoutKeys : os::Environment::Needed;
  return os::Child::start(argv, {job.environment, environment, &walls});
}

os::Allowed system_files() {
  os::Allowed allowed;
  allowed.running = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32"};
  allowed.reading = {"/etc/ld.so.cache",    "/etc/ld.so.conf",   "/etc/ld.so.conf.d",
                     "/etc/localtime",      "/etc/alternatives", "/dev/urandom",
                     "/dev/random",         "/dev/zero",         "/proc/cpuinfo",
                     "/proc/meminfo",       "/proc/stat",        "/proc/version",
                     "/proc/filesystems",   "/proc/sys/vm",      "/proc/sys/kernel/random",
                     "/sys/devices/system", "/sys/fs/cgroup"};
  allowed.writing = {"/dev/null"};
  return allowed;
}

os::Allowed worker_files(const std::string& program) {
  os::Allowed allowed = system_files();
  allowed.running.push_back(program);
  for (const std::string& folder : os::env_paths("LD_LIBRARY_PATH"))
    allowed.reading.push_back(folder);
  return allowed;
}

void add_gpu(os::Allowed* allowed) {
  for (const char* path : {"/proc", "/sys", "/opt"}) allowed->reading.emplace_back(path);
  allowed->devices.emplace_back("/dev/dri");
  std::error_code failed;
  for (const auto& one : std::filesystem::directory_iterator("/dev", failed)) {
    if (one.path().filename().string().starts_with("nvidia"))
      allowed->devices.push_back(one.path().string());
  }
}

bool has_gpu_devices() { return os::exists("/dev/nvidiactl"); }

Unconfined::Unconfined(std::vector<std::string> words) : words_(std::move(words)) {
  const std::lock_guard lock(state().mutex);
  state().allowed.insert(words_.begin(), words_.end());
}

Unconfined::~Unconfined() {
  const std::lock_guard lock(state().mutex);
  for (const std::string& word : words_) state().allowed.erase(state().allowed.find(word));
}

bool is_unconfined(const std::string& word) {
  const std::vector<std::string> named = split(os::env(kUnconfinedVariable), ',');
  if (std::ranges::any_of(named, [&](const std::string& one) { return trim(one) == word; }))
    return true;
  const std::lock_guard lock(state().mutex);
  return state().allowed.count(word) > 0;
}

std::vector<std::string> unconfined_words() {
  std::vector<std::string> words = kind_words();
  std::erase_if(words, [](const std::string& word) { return !is_unconfined(word); });
  return words;
}

std::string also_unconfined(const std::string& word) {
  std::vector<std::string> words = unconfined_words();
  words.push_back(word);
  return std::string(kUnconfinedVariable) + "=" + join(words, ",");
}

std::vector<std::string> started_unconfined() {
  const std::lock_guard lock(state().mutex);
  return {state().started.begin(), state().started.end()};
}

}  // namespace kw::sandbox
