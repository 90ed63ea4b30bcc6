#include "mcp/http_sessions.h"

#include "mcp/token.h"

namespace kw::mcp {
namespace {

constexpr size_t kMostSessions = 64;

}  // namespace

Result<std::shared_ptr<Session>> HttpSessions::make() {
  const std::string id = KW_TRY(new_token());
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= kMostSessions) {
    auto oldest = sessions_.end();
    for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
      if (at->second.session->idle() &&
          (oldest == sessions_.end() || at->second.used < oldest->second.used))
        oldest = at;
    }
    if (oldest == sessions_.end()) return environment_error("too many sessions are active");
    sessions_.erase(oldest);
  }
  auto session = std::make_shared<Session>(id);
  sessions_[id] = {session, ++clock_};
  return session;
}

std::shared_ptr<Session> HttpSessions::find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return nullptr;
  at->second.used = ++clock_;
  return at->second.session;
}

std::shared_ptr<Session> HttpSessions::take(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return nullptr;
  std::shared_ptr<Session> session = at->second.session;
  sessions_.erase(at);
  return session;
}

std::vector<std::shared_ptr<Session>> HttpSessions::all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Session>> sessions;
  for (const auto& [unused, session] : sessions_) sessions.push_back(session.session);
  return sessions;
}

}  // namespace kw::mcp
