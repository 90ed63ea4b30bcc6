#include "mcp/session.h"

#include <cstddef>

#include "mcp/rpc.h"

namespace kw::mcp {
namespace {

constexpr size_t kMostCalls = 64;
constexpr const char* kLevels[] = {"debug", "info",     "notice", "warning",
                                   "error", "critical", "alert",  "emergency"};

}  // namespace

int log_level(const std::string& name) {
  int level = 0;
  for (const char* known : kLevels) {
    if (name == known) return level;
    ++level;
  }
  return -1;
}

Sink::~Sink() = default;

bool Session::agree(const Revision& revision) {
  const Revision* none = nullptr;
  return revision_.compare_exchange_strong(none, &revision);
}

std::shared_ptr<ClientCall> Session::open(const Json& id) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= kMostCalls) return nullptr;
  const auto [at, fresh] = calls_.emplace(id_key(id), nullptr);
  if (!fresh) return nullptr;
  return at->second = std::make_shared<ClientCall>();
}

void Session::close(const Json& id) {
  const std::lock_guard lock(mutex_);
  calls_.erase(id_key(id));
}

void Session::cancel(const Json& id) {
  const std::lock_guard lock(mutex_);
  const auto at = calls_.find(id_key(id));
  if (at != calls_.end()) at->second->cancelled = true;
}

void Session::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [unused, call] : calls_) call->cancelled = true;
}

bool Session::idle() const {
  const std::lock_guard lock(mutex_);
  return calls_.empty();
}

}  // namespace kw::mcp
