// The problem: a foreign launcher is arbitrary host code, and its calls must be observed. The
// choice: a worker process enters a sandbox, loads the recording runtime and then the library, and
// calls the launcher three times per shape. The second call gets new tensors and the third the
// first ones again, so that cached addresses show. A job may ask for many more calls at its shapes
// in turns, which count calls. Every call is made in another world (recorder/world.h). The
// alternative, parsing the host code (cuda_import), does not understand every file. The cost: three
// calls per shape. The recording is sent before and after each call, so that a crash loses only
// that call.
#include "host_recording/captive_worker.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "core/one_line.h"
#include "core/text.h"
#include "host_recording/recorder/control.h"
#include "os/files.h"
#include "os/landlock.h"
#include "os/own_program.h"
#include "os/process.h"
#include "os/spawn.h"
#include "sandbox/sandbox.h"

namespace kw::host_recording {
namespace {

constexpr uint64_t kHostMemory = uint64_t{4} << 30;
constexpr uint64_t kCpuSeconds = 120;
constexpr size_t kFrameBytes = size_t{1} << 20;
// The calls beyond the first three end early for launchers that take long or launch much.
constexpr size_t kMostRecorded = size_t{512} << 20;
constexpr size_t kFewFar = 450, kFarBytes = size_t{32} << 20;
constexpr double kFarSeconds = 2;
// The library finds the functions of the recording runtime before those of the C library.
#ifdef __SANITIZE_ADDRESS__
constexpr int kOwnFirst = 0;  // not possible with it
#else
constexpr int kOwnFirst = RTLD_DEEPBIND;
#endif

/// The functions of the recording runtime.
struct Runtime {
  decltype(&kw_record_kernel) kernel = nullptr;
  decltype(&kw_record_attribute_is) attribute = nullptr;
  decltype(&kw_record_begin) begin = nullptr;
  decltype(&kw_record_line) line = nullptr;
  decltype(&kw_record_tensor) tensor = nullptr;
  decltype(&kw_record_take) take = nullptr;
  decltype(&kw_record_at_end) at_end = nullptr;
  decltype(&kw_record_world) world = nullptr;
  decltype(&kw_record_confine) confine = nullptr;
  decltype(&kw_record_confine_files) confine_files = nullptr;
  decltype(&kw_record_hide_environment) hide_environment = nullptr;
  decltype(&kw_record_seconds) seconds = nullptr;

  template <typename Function>
  static bool find(void* library, const char* name, Function& to) {
    to = reinterpret_cast<Function>(::dlsym(library, name));
    return to != nullptr;
  }
  bool load(void* library) {
    return find(library, "kw_record_kernel", kernel) &&
           find(library, "kw_record_attribute_is", attribute) &&
           find(library, "kw_record_begin", begin) && find(library, "kw_record_line", line) &&
           find(library, "kw_record_tensor", tensor) && find(library, "kw_record_take", take) &&
           find(library, "kw_record_at_end", at_end) && find(library, "kw_record_world", world) &&
           find(library, "kw_record_confine", confine) &&
           find(library, "kw_record_confine_files", confine_files) &&
           find(library, "kw_record_hide_environment", hide_environment) &&
           find(library, "kw_record_seconds", seconds);
  }
};

Runtime& runtime() {
  static Runtime only;
  return only;
}

size_t sent_bytes = 0;

/// Sends everything recorded so far, because the next call may end this process.
void send_recorded() {
  std::string frame(kFrameBytes, '\0');
  while (const size_t count = runtime().take(frame.data(), frame.size())) {
    if (os::child_send("+" + frame.substr(0, count)) != os::ChannelState::Open) std::_Exit(3);
    sent_bytes += count;
  }
}

int give_up(const std::string& why) {
  os::child_send("!" + why);
  return 0;
}

std::string loader_error() {
  const char* const text = ::dlerror();
  return text == nullptr ? "" : ": " + std::string(text);
}

void prepare(const CaptiveJob& job) {
  runtime().world(job.seed);
  for (const auto& [entry, kernel] : job.kernels) {
    std::vector<long> row = {kernel.registers, kernel.static_shared, kernel.local_bytes,
                             kernel.max_threads};
    row.insert(row.end(), kernel.params.begin(), kernel.params.end());
    runtime().kernel(entry.c_str(), row.data(), static_cast<int>(row.size()));
  }
  for (const auto& [which, value] : job.attributes) runtime().attribute(which, value);
  runtime().begin(job.base, job.memory_bytes);
  runtime().at_end(send_recorded);
  runtime().line("kernelwright recording 1", 1);
}

using Launcher = void (*)(void**);

/// Calls the launcher once with tensors at these addresses.
void make_call(const Case& one, const std::vector<uint64_t>& addresses, Launcher launcher) {
  std::vector<std::vector<uint64_t>> storage;
  std::vector<void*> pointers;
  for (const Argument& argument : one.arguments) {
    std::vector<uint64_t>& room = storage.emplace_back(argument.bytes.size() / 8 + 2);
    // The bytes after a tensor's address hold its type and shape.
    const size_t first = argument.tensor >= 0 ? 1 : 0;
    if (argument.tensor >= 0) room[0] = addresses.at(static_cast<size_t>(argument.tensor));
    std::copy(argument.bytes.begin(), argument.bytes.end(),
              reinterpret_cast<uint8_t*>(room.data() + first));
  }
  for (std::vector<uint64_t>& room : storage) pointers.push_back(room.data());
  launcher(pointers.data());
}

std::vector<uint64_t> make_tensors(const Case& one) {
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < one.tensor_bytes.size(); ++i)
    addresses.push_back(runtime().tensor(static_cast<int>(i), one.tensor_bytes[i]));
  return addresses;
}

void say_tensors(const Case& one, const std::vector<uint64_t>& addresses, uint64_t noise) {
  for (size_t i = 0; i < addresses.size(); ++i)
    runtime().line(fmt::format("tensor {} {} {}", i, addresses[i], one.tensor_bytes[i]).c_str(),
                   noise);
}

class Calls {
 public:
  Calls(const CaptiveJob& job, Launcher launcher)
      : job_(job), launcher_(launcher), random_(job.seed), tensors_(job.cases.size()) {}

  void in_order() {
    for (size_t i = 0; i < job_.cases.size(); ++i) {
      begin(i);
      tensors_[i] = make_tensors(job_.cases[i]);
      call(i, tensors_[i]);
      const std::vector<uint64_t> others = make_tensors(job_.cases[i]);
      call(i, others);
      say_tensors(job_.cases[i], tensors_[i], random_);
      call(i, tensors_[i]);
    }
  }

  /// Calls with the shapes in any order, half of them with tensors of an earlier call.
  void in_any_order(size_t count) {
    const double enough = runtime().seconds() + kFarSeconds;
    for (size_t n = 0; n < count && sent_bytes < kFarBytes; ++n) {
      if (n >= kFewFar && runtime().seconds() > enough) return;
      const size_t i = next() % job_.cases.size();
      begin(i);
      const bool again = next() % 2 == 0;
      if (again)
        say_tensors(job_.cases[i], tensors_[i], random_);
      else
        tensors_[i] = make_tensors(job_.cases[i]);
      call(i, tensors_[i]);
    }
  }

 private:
  uint64_t next() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return random_ >> 33;
  }

  void begin(size_t i) { runtime().line(fmt::format("case {}", i).c_str(), random_); }

  void call(size_t i, const std::vector<uint64_t>& tensors) {
    next();
    runtime().world(random_);
    runtime().line("call", random_);
    send_recorded();
    make_call(job_.cases[i], tensors, launcher_);
    runtime().line("end", random_);
    send_recorded();
  }

  const CaptiveJob& job_;
  const Launcher launcher_;
  uint64_t random_;
  std::vector<std::vector<uint64_t>> tensors_;
};

}  // namespace

int captive_worker_main() {
  std::string frame;
  if (os::child_receive(&frame) != os::ChannelState::Open) return 2;
  const Result<Json> json = Json::parse(frame);
  const Result<CaptiveJob> job = json ? job_from_json(*json) : Result<CaptiveJob>(json.error());
  if (!job) return give_up(job.error().message);
  os::limit_resources({kHostMemory, kCpuSeconds, 0});
  void* const recording = ::dlopen(job->runtime.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (recording == nullptr || !runtime().load(recording))
    return give_up("the recording runtime cannot be loaded" + loader_error());
  const bool calls = runtime().confine() != 0;
  prepare(*job);
  void* const library = ::dlopen(job->library.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnFirst);
  if (library == nullptr) return give_up("cannot be loaded" + loader_error());
  const auto launcher = reinterpret_cast<Launcher>(::dlsym(library, job->entry.c_str()));
  if (launcher == nullptr) return give_up("it lost its launcher");
  runtime().hide_environment();
  if (calls) runtime().confine_files();
  Calls made(*job, launcher);
  made.in_order();
  made.in_any_order(job->far_calls);
  os::child_send("=");
  std::_Exit(0);  // skip the library's exit handlers and destructors
}

Result<Captured> run_captive(const CaptiveJob& job, double timeout_seconds) {
  const std::string program = KW_TRY(os::worker_program());
  sandbox::ForeignProcess process{sandbox::Kind::Recorder, sandbox::worker_files(program)};
  std::vector<std::string>& readable = process.allowed.reading;
  readable.insert(readable.end(), job.readable.begin(), job.readable.end());
  std::unique_ptr<os::Child> child = KW_TRY(sandbox::start(process, {program, "worker-captive"}));
  Captured captured;
  child->send(to_json(job).dump());
  const double deadline = os::monotonic_seconds() + timeout_seconds;
  std::string frame;
  while (!captured.finished) {
    const os::ChannelState state =
        child->receive(&frame, std::max(0.01, deadline - os::monotonic_seconds()));
    if (state == os::ChannelState::TimedOut) {
      captured.ended = fmt::format("did not finish within {:.0f} s", timeout_seconds);
      return captured;
    }
    if (state == os::ChannelState::Closed) {
      // The channel closes shortly before the process ends.
      for (int i = 0; i < 200 && child->alive(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      captured.ended = child->how_it_ended();
      if (captured.ended.empty()) captured.ended = "closed its channel";
      return captured;
    }
    const char kind = frame.empty() ? '\0' : frame[0];
    if (kind == '+') captured.text += frame.substr(1);
    if (captured.text.size() > kMostRecorded) {
      captured.ended = "launched more than can be recorded";
      return captured;
    }
    if (kind == '=') captured.finished = true;
    if (kind == '!') {
      captured.ended = one_line(std::string_view(frame).substr(1));
      return captured;
    }
  }
  return captured;
}

}  // namespace kw::host_recording
