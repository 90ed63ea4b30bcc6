// Formats the numbers of an evaluation in the same way for every document. Internal to suites.
#pragma once

#include <optional>
#include <string>

#include "suites/totals.h"

namespace kw::suites {

/// "41/42 (97.6 %, 95 % interval 87.7 … 99.6 %)".
std::string rate_text(const Rate& rate);
/// "1.042x (1.011 … 1.080)"; "–" when nothing was compared.
std::string speedup_text(const std::optional<Estimated>& estimate);
/// "1.04x" or "–".
std::string times_text(const std::optional<double>& number);
/// "96.1 %" or "–".
std::string share_text(const std::optional<double>& share);
/// "12.3 s", "4 min 10 s", "1 h 02 min".
std::string duration_text(double seconds);
/// "3 stage_failure, 1 task_error".
std::string failures_text(const Totals& totals);
/// The first line, at most `most` bytes, never cut inside a character.
std::string short_text(const std::string& text, size_t most);

}  // namespace kw::suites
