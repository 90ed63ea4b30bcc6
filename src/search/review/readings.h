// Modules that a panel is reading: a few at the same time, and their opinions in the order the
// modules were handed in, whoever answers first.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "review/panel.h"

namespace kw::review {

struct Read {
  std::string id;
  Case one;
  Opinion opinion;
  std::vector<std::pair<llm::Request, llm::Outcome>> talks;  // by specialist, in their order
};

class Readings {
 public:
  /// Borrows the panel. `answer` is called from several threads at once; `most` modules are read at
  /// a time.
  Readings(Panel& panel, stages::Answer answer, size_t most)
      : panel_(panel), answer_(std::move(answer)), most_(most) {}

  /// Waits only while as many as may be are being read.
  void begin(std::string id, Case one);
  /// Waits for all that began.
  std::vector<Read> finish();

 private:
  Panel& panel_;
  const stages::Answer answer_;
  const size_t most_;
  std::deque<std::future<Read>> reading_;  // its destructor waits
};

}  // namespace kw::review
