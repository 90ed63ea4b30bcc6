// Hashes of outputs that were judged right for one set of inputs. Candidates of one task often give
// the same bits; these need not be copied and compared again. Only hashes computed in this process
// are added, because no candidate ever runs in it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "record/verdict.h"

namespace kw::gate {

/// The result of comparing these outputs with the truths.
struct RightOutputs {
  record::ErrorSummary summary;
  int64_t telling = 0;
  std::vector<std::string> lint;
};

/// Thread-safe.
class KnownBits {
 public:
  /// One hash per output of the graph, in order.
  using Bits = std::vector<uint64_t>;

  bool empty() const {
    const std::lock_guard guard(mutex_);
    return right_.empty();
  }
  std::optional<RightOutputs> find(const Bits& bits) const {
    const std::lock_guard guard(mutex_);
    const auto found = right_.find(bits);
    return found == right_.end() ? std::nullopt : std::optional(found->second);
  }
  void add(const Bits& bits, RightOutputs right) {
    const std::lock_guard guard(mutex_);
    right_.emplace(bits, std::move(right));
  }

 private:
  mutable std::mutex mutex_;
  std::map<Bits, RightOutputs> right_;
};

}  // namespace kw::gate
