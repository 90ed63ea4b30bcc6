// One candidate can destroy the context that another is judged in, hang the device, or take over
// the worker through a bug of the driver. So the worker is a process of its own, behind the walls
// of its kind, and a worker that does not answer is killed. What it holds (images, inputs) is noted
// here, so that a new worker gets it again. A context in our process would save the messages. The
// cost: each start compiles our own kernels again, because the driver's cache on disk is not used.
#include "gpu/worker_link.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/contains.h"
#include "core/one_line.h"
#include "core/text.h"
#include "os/files.h"
#include "os/own_program.h"
#include "sandbox/sandbox.h"
#include "sandbox/trusted.h"

namespace kw::gpu {
namespace {

// Creating a context takes 0.1 s on one GPU, but many seconds on a machine with many GPUs.
constexpr double kHelloSeconds = 120;
constexpr double kQuickSeconds = 30;
constexpr size_t kMaxLoadedImages = 256;

std::string last_output(os::Child& child) {
  const std::string tail = child.stderr_tail();
  const auto lines = split_lines(trim(tail));
  return lines.empty() || lines.back().empty() ? ""
                                               : "; its last output: " + one_line(lines.back());
}

/// Kernels of candidates can end the worker or take it over. It needs the driver and its devices.
/// It writes no file: the driver's cache of compiled kernels would let one candidate choose the
/// machine code of another.
sandbox::ForeignProcess gpu_job(const std::string& program) {
  sandbox::ForeignProcess job{
      sandbox::Kind::GpuWorker, sandbox::worker_files(program), {"CUDA_CACHE_DISABLE=1"}};
  sandbox::add_gpu(&job.allowed);
  const std::string driver = os::env_path("KERNELWRIGHT_LIBCUDA");
  if (!driver.empty())
    job.allowed.reading.push_back(std::filesystem::path(driver).parent_path().string());
  // Drivers that tests pretend read what they pretend from here.
  if (const std::string pretended = os::env_path("KERNELWRIGHT_RUNTIME_DIR"); !pretended.empty())
    job.allowed.reading.push_back(pretended);
  return job;
}

}  // namespace

Result<std::unique_ptr<WorkerLink>> WorkerLink::start(int ordinal) {
  const std::string program = KW_TRY(os::worker_program());
  std::unique_ptr<WorkerLink> link(new WorkerLink());
  if (const std::string driver = os::env_path("KERNELWRIGHT_LIBCUDA"); !driver.empty())
    KW_TRY(sandbox::check_trusted(driver));
  link->child_ = KW_TRY(sandbox::start(gpu_job(program), {program, "worker-gpu"}));
  Request hello;
  hello.ordinal = ordinal;
  Answer answer = link->ask(hello, kHelloSeconds);
  switch (answer.state) {
    case Answer::State::TimedOut:
      return environment_error("the GPU worker {} did not answer within {} s", program,
                               kHelloSeconds);
    case Answer::State::Died:
      return environment_error("the GPU worker {} did not start: {}", program, answer.how_died);
    case Answer::State::Replied:
      break;
  }
  if (!answer.reply.error.empty()) return Error{answer.reply.blame, answer.reply.error};
  link->info_ = answer.reply.info;
  return link;
}

Answer WorkerLink::ask(const Request& request, double timeout_seconds) {
  return exchange(request, {}, timeout_seconds);
}

std::optional<Answer> WorkerLink::share(const os::SharedMemory& arena, uint64_t generation) {
  if (shared_generation_ == generation) return std::nullopt;
  Request request;
  request.verb = Verb::Arena;
  request.arena_bytes = arena.size();
  Answer answer = exchange(request, {arena.fd()}, kQuickSeconds);
  if (answer.state != Answer::State::Replied || !answer.reply.error.empty()) return answer;
  shared_generation_ = generation;
  return std::nullopt;
}

Answer WorkerLink::exchange(const Request& request, const std::vector<int>& fds,
                            double timeout_seconds) {
  Answer answer;
  std::string frame;
  os::ChannelState state = child_->send(encode(request), fds);
  if (state == os::ChannelState::Open) state = child_->receive(&frame, timeout_seconds);
  if (state == os::ChannelState::TimedOut) {
    answer.state = Answer::State::TimedOut;
    child_->kill();
    return answer;
  }
  if (state == os::ChannelState::Closed) {
    child_->kill();
    answer.state = Answer::State::Died;
    answer.how_died = child_->how_it_ended() + last_output(*child_);
    return answer;
  }
  auto reply = decode_reply(frame);
  if (reply) {
    answer.reply = std::move(reply).value();
  } else {
    answer.state = Answer::State::Died;
    answer.how_died = reply.error().message;
    child_->kill();
  }
  return answer;
}

bool WorkerLink::holds(ports::ImageId image) const { return contains(images_, image); }

std::optional<ports::ImageId> WorkerLink::note_loaded(ports::ImageId image) {
  images_.push_back(image);
  if (images_.size() <= kMaxLoadedImages) return std::nullopt;
  const ports::ImageId oldest = images_.front();
  images_.pop_front();
  return oldest;
}

bool WorkerLink::keeps(InputKey key) {
  auto found = std::ranges::find_if(kept_, [&](const Kept& kept) { return kept.key == key; });
  if (found == kept_.end()) return false;
  kept_.splice(kept_.end(), kept_, found);
  return true;
}

std::vector<InputKey> WorkerLink::note_kept(InputKey key, uint64_t bytes, uint64_t budget,
                                            const std::set<InputKey>& needed) {
  kept_.push_back({key, bytes});
  kept_bytes_ += bytes;
  std::vector<InputKey> dropped;
  for (auto it = kept_.begin(); it != kept_.end() && kept_bytes_ > budget;) {
    if (needed.count(it->key) > 0) {
      ++it;
      continue;
    }
    dropped.push_back(it->key);
    kept_bytes_ -= it->bytes;
    it = kept_.erase(it);
  }
  return dropped;
}

void WorkerLink::forget(InputKey key) {
  auto found = std::ranges::find_if(kept_, [&](const Kept& kept) { return kept.key == key; });
  if (found == kept_.end()) return;
  kept_bytes_ -= found->bytes;
  kept_.erase(found);
}

}  // namespace kw::gpu
