#include "gpu/worker_link.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "os/own_program.h"

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
                                               : fmt::format("; its last output: {}", lines.back());
}

}  // namespace

Result<std::unique_ptr<WorkerLink>> WorkerLink::start(int ordinal) {
  const std::string program = KW_TRY(os::worker_program());
  std::unique_ptr<WorkerLink> link(new WorkerLink());
  link->child_ = KW_TRY(os::Child::start({program, "worker-gpu"}));
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
