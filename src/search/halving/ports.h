// What a search sees of those who propose candidates.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "halving/archive.h"
#include "ports/judge.h"
#include "record/candidate.h"

namespace kw::halving {

class Proposer {
 public:
  virtual ~Proposer();
  virtual std::string name() const = 0;
  /// At most `count` candidates that the archive does not know, the most promising first. None:
  /// there is nothing left to try.
  virtual Result<std::vector<record::Candidate>> propose(size_t count, const Archive& archive) = 0;
};

}  // namespace kw::halving
