// The problem: a recording serves only if every call did the same. The choice: calls are compared
// step by step. Memory that a launcher makes is compared by its pieces: the places in it to which
// launches point, in order. A workspace that is kept and grows has larger pieces after a large
// call; the agreed call has the smallest of all calls, so that an overrun is found. The
// alternative, equal sizes, refuses every workspace that is kept. The cost: kernels that compare
// the addresses of two pieces are not seen.
#include <fmt/core.h>

#include <algorithm>

#include "host_recording/recording.h"

namespace kw::host_recording {
namespace {

/// One allocation: the first byte of each piece, and the end.
using Pieces = std::vector<int64_t>;

template <typename Call, typename Visit>
void each_scratch_pointer(Call& call, const Visit& visit) {
  for (auto& step : call.steps) {
    for (auto& param : step.params) {
      for (auto& pointer : param.pointers) {
        if (pointer.scratch >= 0) visit(pointer);
      }
    }
  }
}

/// Replaces places in the call's memory by the numbers of its pieces.
std::vector<Pieces> take_pieces(RecordedCall& call) {
  std::vector<Pieces> all(call.scratch.size());
  each_scratch_pointer(call, [&](const Pointer& one) {
    all.at(static_cast<size_t>(one.scratch)).push_back(one.add);
  });
  for (Pieces& one : all) {
    std::ranges::sort(one);
    one.erase(std::unique(one.begin(), one.end()), one.end());
  }
  each_scratch_pointer(call, [&](Pointer& one) {
    const Pieces& pieces = all[static_cast<size_t>(one.scratch)];
    one.add = std::ranges::lower_bound(pieces, one.add) - pieces.begin();
  });
  for (size_t i = 0; i < all.size(); ++i) all[i].push_back(static_cast<int64_t>(call.scratch[i]));
  return all;
}

/// Each piece gets the smaller of its two sizes. False if the pieces do not correspond.
bool make_smaller(std::vector<Pieces>& smallest, const std::vector<Pieces>& other) {
  if (smallest == other) return true;
  for (size_t i = 0; i < smallest.size(); ++i) {
    Pieces &mine = smallest[i], made;
    const Pieces& its = other[i];
    if (mine == its) continue;
    if (mine.size() != its.size() || mine.front() < 0 || its.front() < 0) return false;
    made.push_back(std::min(mine.front(), its.front()));
    for (size_t k = 1; k < mine.size(); ++k)
      made.push_back(made.back() + std::min(mine[k] - mine[k - 1], its[k] - its[k - 1]));
    mine = std::move(made);
  }
  return true;
}

void put_pieces(RecordedCall& call, const std::vector<Pieces>& all) {
  each_scratch_pointer(call, [&](Pointer& one) {
    one.add = all[static_cast<size_t>(one.scratch)].at(static_cast<size_t>(one.add));
  });
  for (size_t i = 0; i < all.size(); ++i) call.scratch[i] = static_cast<uint64_t>(all[i].back());
}

std::string shown(const RecordedStep& step) {
  switch (step.kind) {
    case RecordedStep::Kind::Launch:
      return "the launch of " + step.name;
    case RecordedStep::Kind::Fill:
      return "a fill";
    case RecordedStep::Kind::Copy:
    case RecordedStep::Kind::Move:
      return "a copy";
    case RecordedStep::Kind::Upload:
      return "a copy from the host";
    case RecordedStep::Kind::Symbol:
      return "a copy to " + step.name;
  }
  return "";
}

std::string step_difference(const RecordedStep& one, const RecordedStep& other) {
  if (one.kind != other.kind || one.name != other.name)
    return fmt::format("launches differ from call to call: {} in one, {} in the other", shown(one),
                       shown(other));
  if (one.data != other.data)
    return "data from the host differ from call to call: the result depends on host code";
  for (size_t i = 0; i < one.params.size() && i < other.params.size(); ++i) {
    if (one.params[i] != other.params[i])
      return fmt::format("launches differ from call to call: parameter {} of {}", i + 1,
                         shown(one));
  }
  return fmt::format("launches differ from call to call: the size of {}", shown(one));
}

}  // namespace

std::string difference(const RecordedCall& one, const RecordedCall& other) {
  if (one.finished != other.finished) return "one call returns, the other does not";
  for (size_t i = 0; i < std::min(one.steps.size(), other.steps.size()); ++i) {
    if (one.steps[i] != other.steps[i]) return step_difference(one.steps[i], other.steps[i]);
  }
  if (one.steps.size() != other.steps.size())
    return fmt::format("launches differ from call to call: {} steps in one, {} in the other",
                       one.steps.size(), other.steps.size());
  if (one.scratch.size() != other.scratch.size())
    return "launches differ from call to call: the memory that they are given";
  return "";
}

std::string difference_in_pieces(RecordedCall one, RecordedCall other) {
  take_pieces(one);
  take_pieces(other);
  return difference(one, other);
}

AgreedCall agree_on_call(const std::vector<CaseRecord*>& records, size_t calls_wanted) {
  AgreedCall settled;
  bool returned = false, stayed = false;
  for (const CaseRecord* record : records) {
    if (record->calls.size() < calls_wanted || !record->calls.back().finished)
      settled.not_served = "it did not return";
    for (const RecordedCall& call : record->calls) {
      if (!call.refusals.empty()) settled.refused = call.refusals.front();
      (call.finished ? returned : stayed) = true;
    }
  }
  if (settled.refused.empty() && returned && stayed)
    settled.refused = "one call returns, the other does not";
  if (!settled.refused.empty()) return settled;
  RecordedCall* first = nullptr;
  std::vector<Pieces> smallest;
  for (CaseRecord* record : records) {
    for (RecordedCall& call : record->calls) {
      if (!call.finished) continue;
      if (first == nullptr) first = &call;
      std::vector<Pieces> pieces = take_pieces(call);
      settled.refused = difference(*first, call);
      if (!settled.refused.empty()) return settled;
      if (first == &call)
        smallest = std::move(pieces);
      else if (!make_smaller(smallest, pieces))
        settled.refused = "launches differ from call to call: the places in memory that is kept";
      if (!settled.refused.empty()) return settled;
    }
  }
  if (first != nullptr) put_pieces(*first, smallest);
  if (!settled.not_served.empty()) return settled;
  if (first == nullptr || first->steps.empty()) {
    settled.not_served = first != nullptr && !first->failures.empty()
                             ? "no device accepts its launch of " + first->failures.front()
                             : "it launches nothing";
    return settled;
  }
  settled.call = first;
  return settled;
}

}  // namespace kw::host_recording
