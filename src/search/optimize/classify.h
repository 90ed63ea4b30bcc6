// What a method was worth: effective, ineffective, not there, or not known. A pure function of the
// evidence; unknown never promotes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "optimize/workshop.h"
#include "profile/sass_verdict.h"

namespace kw::optimize {

/// What leaving one method out of the champion did.
struct Attribution {
  enum class Kind : uint8_t {
    Measured,   // raced against the champion
    Estimated,  // no clock
    Essential,  // without it the kernel gives wrong results or crashes
    Broken,     // the kernel without it could not be built or judged
    Missing,    // there is no kernel without it
  };
  Kind kind = Kind::Missing;
  double pct = 0, low = 0, high = 0;  // longer than the champion
  std::optional<double> ablated_us;
  std::string note;
};
const char* attribution_name(Attribution::Kind kind);

/// `champion` and `ablated` as raced together, champion first; the ratio of `ablated` is champion
/// over ablated.
Attribution attribution_of(const Raced& champion, const Raced& ablated);

/// "3.00 % longer", "1.20 % shorter".
std::string change_text(double pct);

enum class Class : uint8_t { Effective, Ineffective, ImplementationFailed, Unverified };
/// "effective", "implementation_failed".
const char* class_name(Class one);

struct Classified {
  Class what = Class::Unverified;
  std::string why;
};

/// `seen`: in machine code or counters. `improved`: the champion beat its parent beyond the
/// threshold; only an essential method is judged by it.
Classified classify(profile::SassState seen, const Attribution& attribution, double threshold_pct,
                    bool improved);

}  // namespace kw::optimize
