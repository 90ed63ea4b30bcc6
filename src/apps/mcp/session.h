// One client: the agreed revision, and its open requests.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/json.h"
#include "mcp/revision.h"

namespace kw::mcp {

/// The index of a log level among the protocol's eight; "debug" is first.
int log_level(const std::string& name);  // -1: no such level
inline constexpr int kInfoLevel = 1;
inline constexpr int kNoLevel = 8;  // above all levels: no message is sent

/// Receives a request's notifications while it is served.
class Sink {
 public:
  virtual ~Sink();
  virtual void send(const Json& message) = 0;
  /// Called often: whether the client can no longer receive the answer.
  virtual bool gone() = 0;
};

/// One open request.
struct ClientCall {
  std::atomic<bool> cancelled{false};
};

class Session {
 public:
  explicit Session(std::string id) : id_(std::move(id)) {}

  const std::string& id() const { return id_; }
  /// nullptr before the handshake.
  const Revision* revision() const { return revision_.load(); }
  /// False when a revision was agreed already.
  bool agree(const Revision& revision);
  int level() const { return level_.load(); }
  void set_level(int level) { level_.store(level); }

  /// nullptr when a request with this id is open, or too many are.
  std::shared_ptr<ClientCall> open(const Json& id);
  void close(const Json& id);
  void cancel(const Json& id);
  void cancel_all();
  bool idle() const;

 private:
  const std::string id_;
  std::atomic<const Revision*> revision_{nullptr};
  std::atomic<int> level_{kNoLevel};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ClientCall>> calls_;  // guarded by mutex_
};

}  // namespace kw::mcp
