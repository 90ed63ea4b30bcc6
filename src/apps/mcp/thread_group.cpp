#include "mcp/thread_group.h"

#include <utility>

namespace kw::mcp {

ThreadGroup::~ThreadGroup() { join(); }

void ThreadGroup::dismiss() {
  for (auto it = members_.begin(); it != members_.end();) {
    if (!*it->done) {
      ++it;
      continue;
    }
    it->thread.join();
    it = members_.erase(it);
  }
}

void ThreadGroup::start(std::function<void()> work) {
  dismiss();
  auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread thread([work = std::move(work), done] {
    work();
    *done = true;
  });
  members_.push_back({std::move(thread), done});
}

size_t ThreadGroup::size() {
  dismiss();
  return members_.size();
}

void ThreadGroup::join() {
  for (Member& member : members_) member.thread.join();
  members_.clear();
}

}  // namespace kw::mcp
