// What a search sees of those who propose candidates.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exec/evaluator.h"
#include "record/candidate.h"
#include "search/archive.h"

namespace kw::search {

class Proposer {
 public:
  virtual ~Proposer();
  virtual std::string name() const = 0;
  /// At most `count` candidates that the archive does not know, the most promising first. None:
  /// there is nothing left to try.
  virtual Result<std::vector<record::Candidate>> propose(size_t count, const Archive& archive) = 0;
};

}  // namespace kw::search
