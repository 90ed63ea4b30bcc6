// The sessions of the HTTP server, by id. A new one replaces the oldest idle one when there are too
// many.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/result.h"
#include "mcp/session.h"

namespace kw::mcp {

class HttpSessions {
 public:
  /// An environment Error when all are busy.
  Result<std::shared_ptr<Session>> make();
  /// nullptr when there is no such session.
  std::shared_ptr<Session> find(const std::string& id);
  std::shared_ptr<Session> take(const std::string& id);
  std::vector<std::shared_ptr<Session>> all();

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    uint64_t used = 0;
  };
  std::mutex mutex_;  // guards all below
  std::map<std::string, Entry> sessions_;
  uint64_t clock_ = 0;
};

}  // namespace kw::mcp
