// The models that an evolution may ask, each with a temperature and an effort. Only parses the
// option; whether a model exists is checked later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::evolve {

struct Arm {
  std::string model;                  // "anthropic:claude-sonnet-4-6"
  std::optional<double> temperature;  // not set: the model's default
  std::string effort;                 // "low", "medium", "high"; "": the model's default

  /// As the user types it: "anthropic:claude-sonnet-4-6:0.7:high".
  std::string name() const;
};

/// "MODEL[:TEMPERATURE][:EFFORT]", separated by commas. The input Error quotes the part that is
/// wrong.
Result<std::vector<Arm>> parse_ensemble(const std::string& text);
/// The same, one per line; `#` begins a comment.
Result<std::vector<Arm>> parse_ensemble_lines(const std::string& text);

}  // namespace kw::evolve
