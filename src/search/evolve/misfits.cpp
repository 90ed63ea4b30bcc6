#include "evolve/misfits.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace kw::evolve {
namespace {

constexpr int64_t kMostMissing = 100000;  // a larger gap means a wrong number
constexpr int64_t kMostNumber = 1000000000;
constexpr size_t kMostKept = 1000;

}  // namespace

void Misfits::note(std::string text) {
  if (list_.size() < kMostKept) list_.push_back(std::move(text));
}

bool Misfits::follows(const char* what, int64_t number, int64_t next) {
  if (number < 0 || number > std::min(next + kMostMissing, kMostNumber)) {
    note(fmt::format("{} {} is out of range: the next one is {}; the event is ignored", what,
                     number, next));
    return false;
  }
  if (number < next) {
    note(fmt::format("{} {} is recorded twice or out of order; the later event is ignored", what,
                     number));
    return false;
  }
  if (number == next + 1) note(fmt::format("the events of {} {} are missing", what, next));
  if (number > next + 1)
    note(fmt::format("the events of {}s {} to {} are missing", what, next, number - 1));
  return true;
}

}  // namespace kw::evolve
