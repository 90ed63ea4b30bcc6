#include "mcp/crew.h"

#include <utility>

namespace kw::mcp {

Crew::~Crew() { join(); }

void Crew::dismiss() {
  for (auto it = members_.begin(); it != members_.end();) {
    if (!*it->done) {
      ++it;
      continue;
    }
    it->thread.join();
    it = members_.erase(it);
  }
}

void Crew::start(std::function<void()> work) {
  dismiss();
  auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread thread([work = std::move(work), done] {
    work();
    *done = true;
  });
  members_.push_back({std::move(thread), done});
}

size_t Crew::size() {
  dismiss();
  return members_.size();
}

void Crew::join() {
  for (Member& member : members_) member.thread.join();
  members_.clear();
}

}  // namespace kw::mcp
