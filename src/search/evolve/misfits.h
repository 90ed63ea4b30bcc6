// What does not fit in a journal that is read again: events that are recorded twice, out of order,
// or after others that are lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::evolve {

class Misfits {
 public:
  void note(std::string text);
  /// Whether an event with this number may follow when `next` was expected. False for one that came
  /// before or that cannot be. A gap is noted, and the event may follow.
  bool follows(const char* what, int64_t number, int64_t next);
  /// One sentence each, at most 1,000.
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
};

}  // namespace kw::evolve
