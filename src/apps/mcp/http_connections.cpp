#include "mcp/http_connections.h"

#include <sys/socket.h>

#include <algorithm>
#include <tuple>

namespace kw::mcp {

bool Connections::make_room() {
  const auto order = [](const auto& one) {
    return std::make_tuple(!one.second.waiting, one.second.trusted, one.second.since);
  };
  const auto first = std::ranges::min_element(entries_, {}, order);
  if (first == entries_.end() || !first->second.waiting) return false;
  ::shutdown(first->first, SHUT_RDWR);  // its thread finds it closed
  entries_.erase(first);
  return true;
}

bool Connections::admit(int fd) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= most_ && !make_room()) return false;
  entries_[fd] = {false, true, ++clock_};
  return true;
}

void Connections::works(int fd) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(fd);
  if (at != entries_.end()) at->second = {true, false, ++clock_};
}

void Connections::waits(int fd) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(fd);
  if (at != entries_.end()) at->second = {at->second.trusted, true, ++clock_};
}

void Connections::leave(int fd) {
  const std::lock_guard lock(mutex_);
  entries_.erase(fd);
}

}  // namespace kw::mcp
