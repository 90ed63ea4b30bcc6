#include "optimize/classify.h"

#include <fmt/core.h>

#include <cmath>

namespace kw::optimize {
namespace {

using Kind = Attribution::Kind;
using profile::SassState;

double lost_pct(double champion_over_ablated) {
  return champion_over_ablated > 0 ? 100 * (1 / champion_over_ablated - 1) : 0;
}

std::string longer(const Attribution& a) {
  return fmt::format("without it {} ({:.2f} to {:.2f})", change_text(a.pct), a.low, a.high);
}

Classified by_time(SassState seen, const Attribution& a, double threshold) {
  if (a.pct <= threshold)
    return {Class::Ineffective,
            fmt::format("{}: not more than the {:.2f} % that count", longer(a), threshold)};
  if (seen == SassState::Unknown)
    return {Class::Unverified, longer(a) + ", but it could not be seen in the kernel"};
  if (a.low <= threshold)
    return {Class::Unverified, fmt::format("{}: not certainly more than the {:.2f} % that count",
                                           longer(a), threshold)};
  return {Class::Effective, longer(a) + ", and it is there"};
}

}  // namespace

std::string change_text(double pct) {
  return fmt::format("{:.2f} % {}", std::abs(pct), pct < 0 ? "shorter" : "longer");
}

std::optional<double> Attribution::known_pct() const {
  if (kind != Kind::Measured && kind != Kind::Estimated) return std::nullopt;
  return pct;
}

std::optional<double> Attribution::known_ms(const std::optional<double>& champion_us) const {
  if (!known_pct()) return std::nullopt;
  return pct / 100 * champion_us.value_or(0) / 1000;
}

Json Attribution::interval_pct() const {
  return kind == Kind::Measured ? Json::array().push(low).push(high) : Json();
}

const char* attribution_name(Kind kind) {
  constexpr const char* kNames[] = {"measured", "estimated", "essential", "broken", "missing"};
  return kNames[static_cast<size_t>(kind)];
}

const char* class_name(Class one) {
  constexpr const char* kNames[] = {"effective", "ineffective", "implementation_failed",
                                    "unverified"};
  return kNames[static_cast<size_t>(one)];
}

Attribution attribution_of(const ports::Outcome& champion, const ports::Outcome& ablated) {
  Attribution a;
  a.ablated_us = us_of(ablated);
  a.note = problem_of(ablated);
  if (!passed(ablated)) {
    const bool judged = ablated.verdict == "wrong" || ablated.verdict == "crashed";
    a.kind = judged ? Kind::Essential : Kind::Broken;
    return a;
  }
  if (ablated.ratio && champion.measured && ablated.measured) {
    a.kind = Kind::Measured;
    a.pct = lost_pct(ablated.ratio->value);
    a.low = lost_pct(ablated.ratio->high);
    a.high = lost_pct(ablated.ratio->low);
    return a;
  }
  if (champion.us <= 0 || ablated.us <= 0) {
    a.kind = Kind::Broken;
    if (a.note.empty()) a.note = "it was not timed";
    return a;
  }
  a.kind = Kind::Estimated;
  a.pct = a.low = a.high = 100 * (ablated.us / champion.us - 1);
  return a;
}

Classified classify(SassState seen, const Attribution& a, double threshold_pct, bool improved) {
  if (seen == SassState::Absent)
    return {Class::ImplementationFailed, "it is not in the kernel that claims it"};
  switch (a.kind) {
    case Kind::Missing:
      return {Class::Unverified, "there is no kernel without it to compare with"};
    case Kind::Broken:
      return {Class::Unverified, "the kernel without it could not be timed: " + a.note};
    case Kind::Estimated:
      return {Class::Unverified, fmt::format("estimated to take {} without it; nothing was timed",
                                             change_text(a.pct))};
    case Kind::Essential:
      if (seen == SassState::Unknown)
        return {Class::Unverified, "the kernel does not work without it, but it was not seen"};
      if (!improved)
        return {Class::Ineffective,
                "the kernel does not work without it, and is not faster with it"};
      return {Class::Effective,
              "the kernel does not work without it, and is faster than its parent"};
    case Kind::Measured:
      return by_time(seen, a, threshold_pct);
  }
  return {};
}

}  // namespace kw::optimize
