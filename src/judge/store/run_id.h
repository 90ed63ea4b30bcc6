// Names of runs: short, and in order of time when sorted as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kw::store {

/// Seconds since 1970 by the wall clock.
int64_t wall_clock();
/// "2026-11-15T09:12:44Z".
std::string utc_text(int64_t seconds);
/// The inverse; -1 when the text does not have this form.
int64_t utc_seconds(const std::string& text);
/// "20261115-091244-rms_norm-3f2a9b01c7d4": time in UTC, the task's name as far as it fits a file
/// name, 48 bits of `salt`.
std::string run_id(int64_t seconds, std::string_view name, uint64_t salt);

}  // namespace kw::store
