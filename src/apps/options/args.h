// The words after a command's name, sorted by option and checked against the rows.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "options/command_list.h"

namespace kw::options {

struct Args {
  const Command* command = nullptr;
  std::set<std::string> flags;
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> positionals;

  bool has(const std::string& flag) const { return flags.count(flag) > 0; }
  bool given(const std::string& option) const { return values.count(option) > 0; }
  const std::vector<std::string>& all(const std::string& option) const;
  /// The given value; otherwise `otherwise`; otherwise the row's default.
  std::string one(const std::string& option, const std::string& otherwise = "") const;
  /// The given value; otherwise the row's default; otherwise `otherwise`.
  int64_t integer(const std::string& option, int64_t otherwise = 0) const;
  double number(const std::string& option, double otherwise = 0) const;
  /// The value of a Switch.
  bool on(const std::string& option) const { return one(option) == "on"; }
};

/// The input Error suggests a similar option.
Result<Args> parse_args(const Command& command, const std::vector<std::string>& words);

}  // namespace kw::options
