// Time as a port, so that tests of waiting do not wait.
#pragma once

#include <functional>

namespace kw::llm {

class Clock {
 public:
  virtual ~Clock();
  /// Seconds of a monotonic clock.
  virtual double now() = 0;
  /// Seconds since 1970.
  virtual double unix_time() = 0;
  /// Sleeps; false when `cancelled` or Ctrl-C ended it early.
  virtual bool sleep(double seconds, const std::function<bool()>& cancelled) = 0;
};

Clock& real_clock();

/// A clock for tests: sleeping advances it at once.
class FakeClock : public Clock {
 public:
  double now() override { return now_; }
  double unix_time() override { return 1'800'000'000 + now_; }
  bool sleep(double seconds, const std::function<bool()>& cancelled) override;
  void advance(double seconds) { now_ += seconds; }
  double slept() const { return slept_; }

 private:
  double now_ = 1000;
  double slept_ = 0;
};

}  // namespace kw::llm
