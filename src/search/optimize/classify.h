// Classifies a method: effective, ineffective, implementation failed or unverified. A pure function
// of the evidence; unknown evidence never makes a method effective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"
#include "optimize/optimize_tools.h"
#include "profile/sass_verdict.h"

namespace kw::optimize {

/// The effect of leaving one method out of the champion.
struct Attribution {
  enum class Kind : uint8_t {
    Measured,   // raced against the champion
    Estimated,  // without a clock
    Essential,  // without it the kernel gives wrong results or crashes
    Broken,     // the kernel without it does not build or was not judged
    Missing,    // there is no kernel without it
  };
  Kind kind = Kind::Missing;
  double pct = 0, low = 0, high = 0;  // how much longer than the champion
  std::optional<double> ablated_us;
  std::string note;

  /// Set when it was measured or estimated.
  std::optional<double> known_pct() const;
  /// The same as a part of the champion's time.
  std::optional<double> known_ms(const std::optional<double>& champion_us) const;
  /// [low, high] when it was measured, otherwise null.
  Json interval_pct() const;
};
const char* attribution_name(Attribution::Kind kind);

/// `champion` and `ablated` were raced together, the champion first. The ratio of `ablated` is
/// champion over ablated.
Attribution attribution_of(const ports::Outcome& champion, const ports::Outcome& ablated);

/// "3.00 % longer", "1.20 % shorter".
std::string change_text(double pct);

enum class Class : uint8_t { Effective, Ineffective, ImplementationFailed, Unverified };
/// "effective", "implementation_failed".
const char* class_name(Class one);

struct Classified {
  Class what = Class::Unverified;
  std::string why;
};

/// `seen`: in machine code or counters. `improved`: the champion beat its parent by more than the
/// threshold. Only an essential method depends on `improved`.
Classified classify(profile::SassState seen, const Attribution& attribution, double threshold_pct,
                    bool improved);

}  // namespace kw::optimize
