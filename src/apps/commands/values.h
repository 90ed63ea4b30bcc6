// The values behind options, read from text: NAME=VALUE pairs, numbers, JSON objects of numbers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "binding/bind.h"
#include "binding/inputs.h"
#include "commands/command.h"
#include "core/result.h"

namespace kw::commands {

inline constexpr uint64_t kMostModuleBytes = uint64_t{1} << 20;

/// "B=4096" -> {"B", "4096"}; the Error names the option.
Result<std::pair<std::string, std::string>> parse_assignment(const std::string& option,
                                                             const std::string& text);
/// A whole number from `low` to `high` that an option was given, or `fallback`.
Result<int64_t> integer_option(const Args& args, const std::string& option, int64_t fallback,
                               int64_t low, int64_t high);
/// A number from `low` to `high` that an option was given, or `fallback`.
Result<double> number_option(const Args& args, const std::string& option, double fallback,
                             double low = 0, double high = 1e9);
/// Seconds, at most a week, from "90", "90s", "1.5m", "2h" or "500ms", or `fallback`.
Result<double> duration_option(const Args& args, const std::string& option, double fallback);
/// --timeout: seconds, more than 0.
Result<double> timeout_option(const Args& args);
/// "on" (also when nothing is said) or "off".
Result<bool> switch_option(const Args& args, const std::string& option);
/// --dim, --dims, --tune, --scalar, --absent.
Result<binding::BindingRequest> binding_options(const Args& args);
/// What a repro line must repeat of the command line.
std::vector<std::string> task_options(const Args& args);
/// With --resume what was begun goes on as it began: an Error for an option that is none of these
/// and would be passed over.
Status check_said_anew(const Args& args, std::span<const char* const> options);
/// --input.
Result<binding::InputSources> input_options(const Args& args);

/// Whether the module in `text` has these tunables, with these values. A text that is no module is
/// the judge's business.
Status check_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes);

}  // namespace kw::commands
