// The port through which a search asks for new candidates.
#pragma once

#include <string>
#include <vector>

#include "archive/archive.h"
#include "core/result.h"
#include "ports/judge.h"
#include "record/candidate.h"

namespace kw::halving {

using archive::Archive;
using archive::Entry;

class Proposer {
 public:
  virtual ~Proposer();
  virtual std::string name() const = 0;
  /// At most `count` candidates that the archive does not have, the most promising first. Empty:
  /// the proposer has no more candidates.
  virtual Result<std::vector<record::Candidate>> propose(size_t count, const Archive& archive) = 0;
};

}  // namespace kw::halving
