// A compile may hang, exhaust memory or crash NVRTC, so it runs in worker processes. A new worker
// costs more than a small compile, so workers stay. The one used last is chosen first, and one that
// has precompiled the same headers is preferred. So a thread that compiles variants of one module
// keeps one warm worker. A worker is replaced after recycle_after compiles.
// A call of NVRTC in our process would save the messages, but one bad source would end the run.
// A verdict lasts, so a compile counts against the source only if nothing else explains its
// failure: it failed in a new worker, that could have all its memory, and that was not killed.
// NVRTC removes precompiled headers only on a clean exit. So they are in a folder named by our
// process, and the next one deletes what a killed one left.
#include "compile/nvrtc_compiler.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "compile/compile_worker.h"
#include "compile/compiler_messages.h"
#include "compile/device_headers.h"
#include "compile/wire.h"
#include "core/contains.h"
#include "core/hash.h"
#include "core/text.h"
#include "kernel/inject.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/memory.h"
#include "os/own_program.h"
#include "os/scratch.h"
#include "sandbox/sandbox.h"

namespace kw::compile {
namespace {

constexpr double kStartSeconds = 60;
// NVRTC maps its precompiled headers into memory: a full disk raises SIGBUS instead of an error.
constexpr uint64_t kSpaceToPrecompile = uint64_t{1} << 30;

std::string headers_key(const ports::CompileRequest& request) {
  const std::string_view source = request.source;
  std::string key = request.target;
  for (std::string_view line :
       split_lines(source.substr(0, kernel::find_injection(source).offset))) {
    if (trim(line).starts_with('#')) key += std::string(line);
  }
  return hash_hex(key);
}

/// Whether a signal from outside ended it: no source can make its compiler send itself one of
/// these.
bool was_killed(const std::string& ended) {
  return std::ranges::any_of(std::array{"(SIGKILL)", "(SIGTERM)", "(SIGHUP)", "(SIGINT)"},
                             [&](const char* name) { return ended.find(name) != ended.npos; });
}

/// A failure that a lack of memory may explain.
Status blame_machine(const ports::CompileOutcome& outcome, uint64_t memory_bytes) {
  if (!outcome.failed || !outcome.failed->crashed) return Done{};
  const std::string why = os::why_no_memory(memory_bytes);
  if (why.empty()) return Done{};
  return environment_error("the compiler ran out of memory: {}", why);
}

std::string absolute(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(folder, failed);
  return failed ? folder : path.lexically_normal().string();
}

}  // namespace

struct NvrtcCompiler::Worker {
  std::unique_ptr<os::Child> child;
  std::optional<os::ScratchFolder> scratch;
  std::vector<std::string> extra_folders;  // it may read these too
  std::set<std::string> precompiled;       // header sets it has precompiled
  int compiles = 0;
  bool wants_rest = false;
  bool precompiles = false;

  ~Worker() {
    if (child) child->kill();  // before its folder is removed
  }
};

NvrtcCompiler::NvrtcCompiler(FoundNvrtc nvrtc, FoundHeaders headers, NvrtcOptions options)
    : nvrtc_(std::move(nvrtc)), headers_(std::move(headers)), options_(std::move(options)) {
  precompile_ = options_.precompile;
  if (options_.workers <= 0) {
    options_.workers = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
  }
}

NvrtcCompiler::~NvrtcCompiler() = default;

std::string NvrtcCompiler::name() const {
  return fmt::format("NVRTC {} ({})", nvrtc_.version, nvrtc_.library);
}

std::vector<std::string> NvrtcCompiler::notes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return notes_;
}

void NvrtcCompiler::note(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!contains(notes_, text)) notes_.push_back(text);
}

Result<std::unique_ptr<NvrtcCompiler::Worker>> NvrtcCompiler::start_worker(
    const std::vector<std::string>& extra_folders) {
  auto worker = std::make_unique<Worker>();
  worker->extra_folders = extra_folders;
  worker->scratch = KW_TRY(os::ScratchFolder::make("compile"));
  const std::string& scratch = worker->scratch->path();
  const bool room = os::free_space(scratch) >= kSpaceToPrecompile;
  worker->precompiles = precompile_ && room;
  if (precompile_ && !room) {
    note("headers are not precompiled: less than 1 GiB is free in the temporary folder");
  }
  std::vector<std::string> folders = headers_.folders;
  if (auto own = own_header_folder(HeaderSet::Nvrtc)) {
    folders.push_back(std::move(own).value());
  } else {
    note("standard headers are missing: " + own.error().message);
  }
  const WorkerSetup setup{nvrtc_.library, nvrtc_.builtins,     "NVRTC " + nvrtc_.version, folders,
                          scratch,        worker->precompiles, options_.memory_bytes};
  std::vector<std::string> argv = options_.worker_argv;
  if (argv.empty()) argv = {KW_TRY(os::worker_program()), kWorkerCommand};
  sandbox::ForeignProcess job{sandbox::Kind::CompilerLibrary,
                              sandbox::worker_files(os::find_program(argv[0])),
                              {"TMPDIR=" + scratch}};
  std::vector<std::string>& readable = job.allowed.reading;
  readable.insert(readable.end(), folders.begin(), folders.end());
  readable.insert(readable.end(), extra_folders.begin(), extra_folders.end());
  for (const std::string& library : {nvrtc_.library, nvrtc_.builtins})
    readable.push_back(std::filesystem::path(library).parent_path().string());
  job.allowed.writing.push_back(scratch);
  worker->child = KW_TRY(sandbox::start(job, argv));
  std::string frame;
  WorkerHello hello;
  if (worker->child->send(encode(setup)) != os::ChannelState::Open ||
      worker->child->receive(&frame, kStartSeconds) != os::ChannelState::Open ||
      !decode(frame, &hello)) {
    if (os::interrupted()) return environment_error("interrupted");
    worker->child->kill();
    return environment_error("the compile worker ({}) did not start: {}\n{}", join(argv, " "),
                             worker->child->how_it_ended(), worker->child->stderr_tail());
  }
  if (!hello.error.empty()) return environment_error(hello.error);
  return worker;
}

Result<std::unique_ptr<NvrtcCompiler::Worker>> NvrtcCompiler::acquire(
    const ports::CompileRequest& request) {
  const std::string key = headers_key(request);
  std::unique_ptr<Worker> unfit;  // destroyed after the lock is released
  {
    std::unique_lock<std::mutex> lock(mutex_);
    freed_.wait(lock, [&] { return !idle_.empty() || started_ < options_.workers; });
    const auto fits = [&](const std::unique_ptr<Worker>& worker) {
      return worker->extra_folders == request.include_folders;
    };
    auto chosen = std::ranges::find_if(idle_, [&](const std::unique_ptr<Worker>& worker) {
      return fits(worker) && worker->precompiled.contains(key);
    });
    if (chosen == idle_.end()) chosen = std::ranges::find_if(idle_, fits);
    if (chosen != idle_.end()) {
      std::unique_ptr<Worker> worker = std::move(*chosen);
      idle_.erase(chosen);
      worker->precompiled.insert(key);
      return worker;
    }
    if (started_ < options_.workers) {
      ++started_;
    } else {
      unfit = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  unfit.reset();
  auto worker = start_worker(request.include_folders);
  if (!worker) {
    forget();
    return std::move(worker).error();
  }
  (*worker)->precompiled.insert(key);
  return worker;
}

void NvrtcCompiler::forget() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --started_;
  }
  freed_.notify_one();
}

void NvrtcCompiler::release(std::unique_ptr<Worker> worker) {
  if (worker->wants_rest || worker->compiles >= options_.recycle_after) {
    worker.reset();
    return forget();
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_front(std::move(worker));
  }
  freed_.notify_one();
}

ports::CompileOutcome NvrtcCompiler::lost(Worker& worker, os::ChannelState state,
                                          const ports::CompileRequest& request) const {
  ports::CompileFailed failed;
  failed.compiler = "NVRTC " + nvrtc_.version;
  failed.timed_out = state == os::ChannelState::TimedOut;
  failed.crashed = !failed.timed_out;
  std::string text;
  if (failed.timed_out) {
    text = fmt::format("compiling took more than {} s and was stopped", request.timeout_seconds);
  } else {
    // Its channel is closed, so it is ending; kill() only makes it faster.
    for (int i = 0; i < 100 && worker.child->alive(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const bool alive = worker.child->alive();
    text = fmt::format("the compiler died on this source: {}",
                       alive ? "it closed its channel" : worker.child->how_it_ended());
  }
  worker.child->kill();
  failed.log = worker.child->stderr_tail();
  failed.messages.push_back({ports::CompileMessage::Severity::Error, 0, 0, text});
  ports::CompileOutcome outcome;
  outcome.failed = std::move(failed);
  return outcome;
}

Result<ports::CompileOutcome> NvrtcCompiler::compile(const ports::CompileRequest& given) {
  ports::CompileRequest request = given;
  request.file_name = quotable(request.file_name);
  for (std::string& folder : request.include_folders) folder = absolute(folder);
  const std::string frame = encode(request);
  bool killed_before = false;
  for (;;) {
    std::unique_ptr<Worker> worker = KW_TRY(acquire(request));
    const bool fresh = worker->compiles++ == 0;
    std::string answer;
    os::ChannelState state = worker->child->send(frame);
    if (state == os::ChannelState::Open)
      state = worker->child->receive(&answer, request.timeout_seconds);
    WorkerReply reply;
    if (state == os::ChannelState::Open && decode(answer, &reply)) {
      worker->wants_rest = reply.wants_rest;
      release(std::move(worker));
      if (!reply.error.empty()) return environment_error(reply.error);
      // A used worker may have spent its memory on earlier sources.
      if (!fresh && reply.outcome.failed && reply.outcome.failed->crashed) continue;
      KW_TRY(blame_machine(reply.outcome, options_.memory_bytes));
      return std::move(reply.outcome);
    }
    ports::CompileOutcome outcome = lost(*worker, state, request);
    const std::string ended = worker->child->how_it_ended();
    const bool disk_full = worker->precompiles && ended.find("SIGBUS") != std::string::npos;
    const bool killed = state != os::ChannelState::TimedOut && was_killed(ended);
    worker.reset();
    forget();
    if (os::interrupted()) return environment_error("interrupted");
    if (disk_full) {
      note("headers are no longer precompiled: the temporary folder is full");
      precompile_ = false;
      continue;
    }
    if (killed && killed_before)
      return environment_error(
          "the compile worker was {}, twice: the machine may lack memory, or a user ended it; run "
          "the "
          "command again with more memory free",
          ended);
    killed_before = killed_before || killed;
    if (killed) continue;
    // A used worker may have been damaged by earlier sources. Only a new one proves that this
    // source is the cause.
    if (!fresh && state != os::ChannelState::TimedOut) continue;
    KW_TRY(blame_machine(outcome, options_.memory_bytes));
    return outcome;
  }
}

}  // namespace kw::compile
