// Outputs that were judged right for one set of inputs, by their hashes. Candidates of one task
// mostly give the same bits; those need not be copied and compared again. Only bits that were
// hashed in this process, where no candidate ever ran, are entered.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "record/verdict.h"

namespace kw::gate {

/// What comparing them with the truths said.
struct RightOutputs {
  record::ErrorSummary summary;
  int64_t telling = 0;
  std::vector<std::string> lint;
};

/// Safe to use from several threads.
class KnownBits {
 public:
  /// One hash per output of the graph, in its order.
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
