// The worker process: owns one CUDA context and serves kernelwright's requests one after another. A
// candidate can destroy the context or hang the device, and then CUDA calls fail or never return.
// So the worker does not repair anything: it reports context_lost and leaves with _exit, without
// destructors, which could wait forever. A second thread ends the process when kernelwright has
// ended, even if the main thread waits for a kernel.
// A library in kernelwright's process would save the messages, but a fault would end the whole run.
#include "gpu/gpu_worker.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "cuda/calibrate.h"
#include "cuda/clock.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/program_subject.h"
#include "cuda/run_program.h"
#include "cuda/utility_kernels.h"
#include "gpu/kept_inputs.h"
#include "gpu/messages.h"
#include "gpu/output_capture.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace kw::gpu {
namespace {

constexpr int kChannelFd = 3;
constexpr double kOwnCanarySeconds = 20;

Error bug(std::string message) { return {Blame::Bug, std::move(message)}; }

/// For each program, its sets of inputs.
using Pools = std::vector<std::vector<cuda::Sources>>;

class Worker {
 public:
  Reply serve(const Request& request, const std::vector<int>& fds) {
    Reply reply;
    Status status = dispatch(request, fds, reply);
    if (!status) {
      reply.error = status.error().message;
      reply.blame = status.error().blame;
    }
    reply.context_lost = context_ != nullptr && context_->lost();
    return reply;
  }

 private:
  Status dispatch(const Request& request, const std::vector<int>& fds, Reply& reply) {
    if (request.verb == Verb::Hello) return hello(request, reply);
    if (context_ == nullptr) return bug("the first request must be Hello");
    switch (request.verb) {
      case Verb::Hello:
        break;
      case Verb::Arena:
        return attach_arena(request, fds);
      case Verb::Load:
        return load(request);
      case Verb::Unload:
        images_.erase(request.image);
        return Done{};
      case Verb::Run:
        return run(request, reply);
      case Verb::Time:
        return time(request, reply);
      case Verb::Canary:
        return canary();
      case Verb::Calibrate:
        return calibrate(request, reply);
    }
    return Done{};
  }

  Status hello(const Request& request, Reply& reply) {
    if (request.protocol != kProtocol) {
      return environment_error(
          "the GPU worker uses protocol {}, kernelwright {}: they are of different builds",
          kProtocol, request.protocol);
    }
    auto driver = cuda::Driver::open();
    if (!driver) {
      Error error = std::move(driver).error();
      error.message += "\n  hint: --device vgpu judges without a GPU, on the virtual one";
      return error;
    }
    driver_ = std::move(driver).value();
    context_ = KW_TRY(cuda::Context::create(*driver_, request.ordinal));
    utilities_ = KW_TRY(cuda::UtilityKernels::load(*context_));
    kept_.emplace(*context_, utilities_->jobs());
    reply.info = context_->info();
    return Done{};
  }

  Status attach_arena(const Request& request, const std::vector<int>& fds) {
    if (fds.size() != 1) return bug("an arena comes with one descriptor");
    pinned_.reset();
    arena_.reset();
    arena_.emplace(KW_TRY(os::SharedMemory::attach(fds[0], request.arena_bytes)));
    pinned_.emplace(*context_, arena_->data(), arena_->size());
    return Done{};
  }

  Status load(const Request& request) {
    images_[request.image] =
        KW_TRY(cuda::LoadedImage::load(*context_, request.kind, request.bytes));
    return Done{};
  }

  Status canary() {
    cuda::MaybeFault done = utilities_->canary(cuda::deadline_in(kOwnCanarySeconds));
    if (!done) return environment_error(done.error().message);
    return Done{};
  }

  Status calibrate(const Request& request, Reply& reply) {
    auto measured = cuda::calibrate(*context_, *utilities_, request.options.timeout_seconds);
    if (!measured) return gpu_error(measured.error());
    reply.calibration = to_json(*measured).dump();
    return Done{};
  }

  /// A fault that no candidate caused; for kernelwright it is an environment Error.
  static Error gpu_error(const cuda::Fault& fault) { return environment_error(fault.message); }

  /// Drops and uploads inputs as the request says, then finds every input. Empty when some are
  /// lost.
  Result<std::optional<Pools>> find_inputs(const Request& request, Reply& reply) {
    kept_->new_request();
    for (InputKey key : request.drops) kept_->drop(key);
    for (const Upload& upload : request.uploads) {
      cuda::MaybeFault done = kept_->keep(upload.key, KW_TRY(bytes_at(upload.range)));
      if (!done && done.error().status == ports::RunStatus::OutOfMemory) {
        reply.run.status = reply.time.status = done.error().status;
        reply.run.message = reply.time.message = done.error().message;
        reply.lost = kept_->take_lost();
        return std::optional<Pools>();
      }
      if (!done) return gpu_error(done.error());
    }
    Pools pools;
    for (const ProgramMessage& message : request.programs) {
      pools.emplace_back();
      for (const auto& refs : message.pool) {
        pools.back().push_back(KW_TRY(sources(refs)));
      }
    }
    reply.lost = kept_->take_lost();
    if (!reply.lost.empty()) return std::optional<Pools>();
    for (size_t p = 0; p < pools.size(); ++p) {
      if (pools[p].empty()) return bug("a program comes with inputs");
      for (const cuda::Sources& set : pools[p]) {
        KW_TRY(cuda::check_program(request.programs[p].program, set));
      }
    }
    return std::optional<Pools>(std::move(pools));
  }

  Result<cuda::Sources> sources(const std::vector<InputRef>& refs) {
    cuda::Sources found;
    for (const InputRef& ref : refs) {
      if (ref.key == 0) {
        found.push_back({KW_TRY(bytes_at(ref.range)), {}, 0});
        continue;
      }
      auto source = kept_->find(ref.key);
      if (!source) return gpu_error(source.error());
      found.push_back(*source);
    }
    return found;
  }

  Result<std::vector<cuda::MutableBytes>> places(const ProgramMessage& message) {
    std::vector<cuda::MutableBytes> all;
    for (const std::vector<Range>& ranges : message.outputs) {
      if (ranges.size() != message.program.buffers.size())
        return bug("one output range per buffer");
      cuda::MutableBytes bytes;
      for (const Range& range : ranges) bytes.push_back(KW_TRY(bytes_at(range)));
      all.push_back(std::move(bytes));
    }
    return all;
  }

  Status run(const Request& request, Reply& reply) {
    if (request.programs.size() != 1) return bug("one program is run at a time");
    const ProgramMessage& message = request.programs[0];
    cuda::LoadedImage* image = KW_TRY(find_image(message.image));
    const auto pools = KW_TRY(find_inputs(request, reply));
    if (!pools) return Done{};
    const std::vector<cuda::MutableBytes> outputs = KW_TRY(places(message));
    cuda::RunRequest wanted;
    wanted.program = &message.program;
    wanted.options = request.options;
    wanted.seed = request.seed;
    wanted.inputs = (*pools)[0][0];
    if (request.options.copy_outputs) {
      if (outputs.size() != 1) return bug("a run has one place for its outputs");
      wanted.outputs = outputs[0];
    }
    OutputCapture capture;
    cuda::RunReport report = cuda::run_program(*context_, utilities_->jobs(), *image, wanted);
    report.outcome.printed = capture.finish();
    if (report.device_lost) return environment_error("the GPU was lost: " + report.outcome.message);
    reply.run = std::move(report.outcome);
    return Done{};
  }

  Status time(const Request& request, Reply& reply) {
    const auto pools = KW_TRY(find_inputs(request, reply));
    if (!pools) return Done{};
    // Discarded: a timed program must not print to the user's terminal.
    OutputCapture capture;
    std::vector<std::unique_ptr<cuda::ProgramSubject>> subjects;
    std::vector<cuda::TimeRequest> requests;
    cuda::TimeReport report;
    for (size_t p = 0; p < request.programs.size(); ++p) {
      const ProgramMessage& message = request.programs[p];
      cuda::LoadedImage* image = KW_TRY(find_image(message.image));
      subjects.push_back(std::make_unique<cuda::ProgramSubject>(
          *context_, utilities_->jobs(), *image, message.program, (*pools)[p],
          request.protocol_options.seed + p));
      requests.push_back({subjects.back().get(), KW_TRY(places(message))});
      if (cuda::MaybeFault done = subjects.back()->prepare(); !done) {
        report.status = done.error().status;
        report.message = message.program.module_name + ": " + done.error().message;
        report.device_lost = done.error().device_lost;
        break;
      }
    }
    if (report.status == ports::RunStatus::Completed) {
      report = cuda::time_subjects(*context_, *utilities_, requests, request.protocol_options);
    }
    if (report.device_lost) return environment_error("the GPU was lost: " + report.message);
    report_end(std::move(report), reply);
    return Done{};
  }

  static void report_end(cuda::TimeReport report, Reply& reply) {
    reply.time.status = report.status;
    reply.time.message = std::move(report.message);
    for (cuda::LaneResult& lane : report.results) {
      ports::TimedResult result{
          std::move(lane.samples), std::move(lane.audits), {}, std::move(lane.findings)};
      reply.slots.emplace_back();
      for (size_t slot = 0; slot < lane.copied.size(); ++slot) {
        if (!lane.copied[slot].filled) continue;
        result.copied.push_back({lane.copied[slot].sample, lane.copied[slot].entry, {}});
        reply.slots.back().push_back(static_cast<int32_t>(slot));
      }
      reply.time.results.push_back(std::move(result));
    }
  }

  Result<cuda::LoadedImage*> find_image(ports::ImageId id) {
    auto found = images_.find(id);
    if (found == images_.end())
      return bug(fmt::format("image {} is not loaded in this worker", id));
    return found->second.get();
  }

  Result<std::span<std::byte>> bytes_at(const Range& range) {
    if (range.bytes == 0) return std::span<std::byte>();
    if (!arena_ || range.offset > arena_->size() || range.bytes > arena_->size() - range.offset) {
      return bug("a range lies outside the arena");
    }
    return std::span<std::byte>(arena_->data() + range.offset, range.bytes);
  }

  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Context> context_;
  std::unique_ptr<cuda::UtilityKernels> utilities_;
  std::map<ports::ImageId, std::unique_ptr<cuda::LoadedImage>> images_;
  std::optional<KeptInputs> kept_;
  std::optional<os::SharedMemory> arena_;
  std::optional<cuda::PinnedRange> pinned_;
};

/// Ends the process when kernelwright has ended, even while the main thread waits for a kernel that
/// never ends.
void leave_with_parent() {
  std::thread([] {
    for (;;) {
      pollfd channel{kChannelFd, POLLRDHUP, 0};
      if (::poll(&channel, 1, -1) > 0 && (channel.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
        ::_exit(0);
    }
  }).detach();
}

Reply answer(Worker& worker, const std::string& frame, const std::vector<int>& fds) {
  Reply reply;
  reply.blame = Blame::Bug;
  try {
    auto request = decode_request(frame);
    if (request) return worker.serve(*request, fds);
    reply.error = request.error().message;
  } catch (const std::bad_alloc&) {
    reply.blame = Blame::Environment;
    reply.error = "the GPU worker ran out of host memory";
  } catch (const std::exception& error) {
    reply.error = error.what();
  }
  return reply;
}

}  // namespace

int gpu_worker_main() {
  leave_with_parent();
  Worker worker;
  std::string frame;
  std::vector<int> fds;
  while (os::child_receive(&frame, &fds) == os::ChannelState::Open) {
    const Reply reply = answer(worker, frame, fds);
    if (os::child_send(encode(reply)) != os::ChannelState::Open) break;
    // Destructors could wait for a device that never answers.
    if (reply.context_lost) ::_exit(0);
    fds.clear();
  }
  // The same if kernelwright ended while a kernel still runs.
  ::_exit(0);
}

}  // namespace kw::gpu
