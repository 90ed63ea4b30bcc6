// Reads the values of options from text: NAME=VALUE pairs, numbers, JSON objects of numbers.
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
/// Reads --dim, --dims, --tune, --scalar, --absent.
Result<binding::BindingRequest> binding_options(const Args& args);
/// The options that a repro line must repeat.
std::vector<std::string> task_options(const Args& args);
/// A resumed run keeps its options. Error for an option given with --resume that would be ignored.
Status check_given_again(const Args& args);
/// Reads --input.
Result<binding::InputSources> input_options(const Args& args);

/// Checks that the module in `text` has these tunables, with these values. If the text is not a
/// module, the judge reports that.
Status check_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes);

}  // namespace kw::commands
