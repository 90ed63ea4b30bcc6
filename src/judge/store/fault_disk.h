// A disk that fails: it works until the n-th operation, does only a part of that one, and then
// nothing. It can also be full for a while. For tests only.
#pragma once

#include <string>
#include <string_view>

#include "os/disk.h"

namespace kw::store {

enum class Cut : uint8_t {
  Before,  // nothing of the operation happens
  Torn,    // half of the bytes: in a temporary file, or appended
  After,   // all of it happens, but the caller gets an Error
  Full,    // nothing of it happens; later writes fail too, until make_space()
};

class FaultDisk : public os::Disk {
 public:
  /// Never fails.
  FaultDisk() = default;
  FaultDisk(int operation, Cut how) : at_(operation), how_(how) {}

  int operations() const { return count_; }
  bool dead() const { return dead_; }
  void make_space() { dead_ = false, at_ = -1; }

  Status write(const std::string& path, std::string_view bytes, os::Sync) override {
    return run([&] { return real().write(path, bytes, os::Sync::No); },
               [&] { return real().write(path + ".tmp-1-1", half(bytes), os::Sync::No); });
  }
  Status replace_by(const std::string& path, const std::string& spare,
                    std::string_view bytes) override {
    return run([&] { return real().replace_by(path, spare, bytes); },
               [&] { return real().write(spare, half(bytes), os::Sync::No); });
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
