// One client: what was agreed with it, and which of its requests are under way.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/json.h"
#include "mcp/revision.h"

namespace kw::mcp {

/// How grave a log message must be to be sent; the protocol's eight levels, "debug" first.
int log_level(const std::string& name);  // -1: no such level
inline constexpr int kInfoLevel = 1;
inline constexpr int kNoLevel = 8;  // above all: nothing is sent

/// Where a request's notifications go while it is being served.
class Sink {
 public:
  virtual ~Sink();
  virtual void send(const Json& message) = 0;
  /// Asked often: whether nobody is left who could receive the answer.
  virtual bool gone() = 0;
};

/// One request under way.
struct Call {
  std::atomic<bool> cancelled{false};
};

class Session {
 public:
  explicit Session(std::string id) : id_(std::move(id)) {}

  const std::string& id() const { return id_; }
  /// nullptr before the handshake.
  const Revision* revision() const { return revision_.load(); }
  /// False when there was one already.
  bool agree(const Revision& revision);
  int level() const { return level_.load(); }
  void set_level(int level) { level_.store(level); }

  /// nullptr when a request with this id, or too many of them, are under way.
  std::shared_ptr<Call> open(const Json& id);
  void close(const Json& id);
  void cancel(const Json& id);
  void cancel_all();
  bool idle() const;

 private:
  const std::string id_;
  std::atomic<const Revision*> revision_{nullptr};
  std::atomic<int> level_{kNoLevel};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Call>> calls_;  // guarded by mutex_
};

}  // namespace kw::mcp
