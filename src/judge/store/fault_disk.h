// A disk that dies: does everything the real one does until the n-th operation, of which only a
// part happens, and nothing after it. Or one that is full for a while. For tests alone.
#pragma once

#include <string>
#include <string_view>

#include "os/disk.h"

namespace kw::store {

enum class Cut : uint8_t {
  Before,  // nothing of it happens
  Torn,    // half of the bytes: in a temporary file, or at the end of what is appended to
  After,   // all of it happens, but nobody hears of it
  Full,    // nothing of it happens, and the same for all writes until relieve()
};

class FaultDisk : public os::Disk {
 public:
  /// Never.
  FaultDisk() = default;
  FaultDisk(int operation, Cut how) : at_(operation), how_(how) {}

  int operations() const { return count_; }
  bool dead() const { return dead_; }
  void relieve() { dead_ = false, at_ = -1; }

  Status write(const std::string& path, std::string_view bytes, os::Sync) override {
    return run([&] { return real().write(path, bytes, os::Sync::No); },
               [&] { return real().write(path + ".tmp-1-1", half(bytes), os::Sync::No); });
  }
  Status append(const std::string& path, std::string_view bytes) override {
    return run([&] { return real().append(path, bytes); },
               [&] { return real().append(path, half(bytes)); });
  }
  Status truncate(const std::string& path, uint64_t size) override {
    return run([&] { return real().truncate(path, size); }, [] { return Status(Done{}); });
  }
  Status make_directories(const std::string& path) override {
    return run([&] { return real().make_directories(path); }, [] { return Status(Done{}); });
  }
  Status remove(const std::string& path) override {
    return run([&] { return real().remove(path); }, [] { return Status(Done{}); });
  }

 private:
  static os::Disk& real() { return os::real_disk(); }
  static std::string_view half(std::string_view bytes) { return bytes.substr(0, bytes.size() / 2); }

  template <typename Whole, typename Part>
  Status run(const Whole& whole, const Part& part) {
    const bool now = count_++ == at_;
    if (!dead_ && !now) return whole();
    if (!dead_ && how_ == Cut::After) static_cast<void>(whole());
    if (!dead_ && how_ == Cut::Torn) static_cast<void>(part());
    dead_ = true;
    return environment_error(how_ == Cut::Full ? "writing: No space left on device"
                                               : "the disk died");
  }

  int at_ = -1;
  Cut how_ = Cut::Before;
  int count_ = 0;
  bool dead_ = false;
};

}  // namespace kw::store
