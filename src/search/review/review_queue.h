// Modules that reviewers are reading: a few at a time, with results in the order in which the
// modules were given.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "review/reviewers.h"

namespace kw::review {

struct ReviewedModule {
  std::string id;
  Case one;
  Opinion opinion;
  std::vector<std::pair<llm::Request, llm::Outcome>> talks;  // sorted by specialist
};

class ReviewQueue {
 public:
  /// Borrows the reviewers. `answer` is called from several threads at once. At most `most` modules
  /// are reviewed at a time.
  ReviewQueue(Reviewers& reviewers, stages::Answer answer, size_t most)
      : reviewers_(reviewers), answer_(std::move(answer)), most_(most) {}

  /// Blocks only while `most` modules are being reviewed.
  void begin(std::string id, Case one);
  /// Waits for all modules that were begun.
  std::vector<ReviewedModule> finish();

 private:
  Reviewers& reviewers_;
  const stages::Answer answer_;
  const size_t most_;
  std::deque<std::future<ReviewedModule>> reading_;  // its destructor waits
};

}  // namespace kw::review
