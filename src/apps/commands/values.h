// The values behind options, read from text: NAME=VALUE pairs, numbers, JSON objects of numbers.
#pragma once

#include <cstdint>
#include <map>
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
/// --dim, --dims, --tune, --scalar, --absent.
Result<binding::BindingRequest> binding_options(const Args& args);
/// What a repro line must repeat of the command line.
std::vector<std::string> task_options(const Args& args);
/// With --resume what was begun goes on as it began: an Error for an option that cannot be given
/// again and would be passed over.
Status check_said_anew(const Args& args);
/// --input.
Result<binding::InputSources> input_options(const Args& args);

/// Whether the module in `text` has these tunables, with these values. A text that is no module is
/// the judge's business.
Status check_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes);

}  // namespace kw::commands
