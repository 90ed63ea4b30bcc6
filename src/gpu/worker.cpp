#include "gpu/worker.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "cuda/clock.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/run.h"
#include "cuda/utility_kernels.h"
#include "gpu/messages.h"
#include "gpu/output_capture.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace kw::gpu {
namespace {

constexpr int kChannelFd = 3;
constexpr double kCanarySeconds = 20;

Error bug(std::string message) { return {Blame::Bug, std::move(message)}; }

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
    }
    return Done{};
  }

  Status hello(const Request& request, Reply& reply) {
    if (request.protocol != kProtocol) {
      return environment_error(fmt::format(
          "the GPU worker speaks protocol {}, the engine {}: they are of different builds",
          kProtocol, request.protocol));
    }
    driver_ = KW_TRY(cuda::Driver::open());
    context_ = KW_TRY(cuda::Context::create(*driver_, request.ordinal));
    utilities_ = KW_TRY(cuda::UtilityKernels::load(*context_));
    reply.info = context_->info();
    return Done{};
  }

  Status attach_arena(const Request& request, const std::vector<int>& fds) {
    if (fds.size() != 1) return bug("an arena comes with one descriptor");
    arena_.reset();
    arena_.emplace(KW_TRY(os::SharedMemory::attach(fds[0], request.arena_bytes)));
    return Done{};
  }

  Status load(const Request& request) {
    images_[request.image] =
        KW_TRY(cuda::LoadedImage::load(*context_, request.kind, request.bytes));
    return Done{};
  }

  Status canary() {
    cuda::Went went = utilities_->canary(cuda::deadline_in(kCanarySeconds));
    if (!went) return environment_error(went.error().message);
    return Done{};
  }

  Status run(const Request& request, Reply& reply) {
    if (request.programs.size() != 1) return bug("one program is run at a time");
    const ProgramMessage& message = request.programs[0];
    cuda::LoadedImage* image = KW_TRY(find_image(message.image));
    cuda::RunRequest wanted;
    wanted.program = &message.program;
    wanted.options = request.options;
    wanted.seed = request.seed;
    for (const Range& range : message.inputs) wanted.inputs.push_back(KW_TRY(bytes_at(range)));
    for (const Range& range : message.outputs) wanted.outputs.push_back(KW_TRY(bytes_at(range)));
    if (wanted.outputs.size() != message.program.buffers.size())
      return bug("one output range per buffer");
    KW_TRY(cuda::check_program(message.program, wanted.inputs));
    OutputCapture capture;
    cuda::RunReport report = cuda::run_program(*context_, *image, wanted);
    report.outcome.printed = capture.finish();
    if (report.device_lost) return environment_error("the GPU was lost: " + report.outcome.message);
    reply.run = std::move(report.outcome);
    return Done{};
  }

  Status time(const Request& request, Reply& reply) {
    std::vector<cuda::TimeRequest> programs;
    for (const ProgramMessage& message : request.programs) {
      cuda::TimeRequest timed;
      timed.image = KW_TRY(find_image(message.image));
      timed.program = &message.program;
      for (const Range& range : message.inputs) timed.inputs.push_back(KW_TRY(bytes_at(range)));
      KW_TRY(cuda::check_program(message.program, timed.inputs));
      programs.push_back(std::move(timed));
    }
    OutputCapture
        capture;  // thrown away: a program that prints is not made to print into our terminal
    cuda::TimeReport report =
        cuda::time_programs(*context_, *utilities_, programs, request.protocol_options);
    if (report.device_lost) return environment_error("the GPU was lost: " + report.outcome.message);
    reply.time = std::move(report.outcome);
    return Done{};
  }

  Result<cuda::LoadedImage*> find_image(exec::ImageId id) {
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
  std::map<exec::ImageId, std::unique_ptr<cuda::LoadedImage>> images_;
  std::optional<os::SharedMemory> arena_;
};

/// Ends the process when the engine is gone, even while the main thread waits for a kernel that
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
    // Destructors would wait for a device that never answers.
    if (reply.context_lost) ::_exit(0);
    fds.clear();
  }
  // Likewise if the engine left while something still runs.
  ::_exit(0);
}

}  // namespace kw::gpu
