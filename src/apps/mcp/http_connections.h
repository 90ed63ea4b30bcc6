// Which connections the HTTP server holds, so that silent ones do not keep a client out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace kw::mcp {

/// Safe for several threads. A descriptor must stay open from admit() until leave() has returned.
class Connections {
 public:
  explicit Connections(size_t most) : most_(most) {}

  /// False: all connections are at work. When there is no room, the one that waits for a request
  /// longest is shut down. Those that never sent the token come first.
  bool admit(int fd);
  /// It sent a request with the token, which is being answered.
  void works(int fd);
  /// It waits for the next request.
  void waits(int fd);
  void leave(int fd);

 private:
  struct Entry {
    bool trusted = false, waiting = true;
    uint64_t since = 0;
  };
  bool make_room();

  const size_t most_;
  std::mutex mutex_;              // guards all below
  std::map<int, Entry> entries_;  // without those that were shut down
  uint64_t clock_ = 0;
};

}  // namespace kw::mcp
