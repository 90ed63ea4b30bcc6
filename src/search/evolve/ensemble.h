// Who may be asked: models, each with a temperature and an effort. Only reads what was typed;
// whether a model exists is found out by whoever asks it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::evolve {

struct Arm {
  std::string model;                  // "anthropic:claude-sonnet-4-6"
  std::optional<double> temperature;  // nothing: the model's own
  std::string effort;                 // "low", "medium", "high"; "": the model's own

  /// As it is typed: "anthropic:claude-sonnet-4-6:0.7:high".
  std::string name() const;
};

/// "MODEL[:TEMPERATURE][:EFFORT]", commas between. The input Error quotes what cannot be read.
Result<std::vector<Arm>> parse_ensemble(const std::string& text);
/// The same, one per line; `#` begins a comment.
Result<std::vector<Arm>> parse_ensemble_lines(const std::string& text);

}  // namespace kw::evolve
