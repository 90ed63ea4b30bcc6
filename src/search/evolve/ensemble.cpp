#include "evolve/ensemble.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::evolve {
namespace {

constexpr double kHottest = 2;
constexpr size_t kMostArms = 64;

bool is_effort(const std::string& word) {
  return word == "low" || word == "medium" || word == "high";
}

bool has_dot(const std::string& word) { return word.find('.') != std::string::npos; }

// Model names may contain colons and numbers ("ollama:llama3:8b"). So only parts that cannot belong
// to the name are removed from the end.
Result<Arm> parse_arm(const std::string& word) {
  std::vector<std::string> parts = split(word, ':');
  Arm arm;
  if (parts.size() > 1 && is_effort(parts.back())) {
    arm.effort = parts.back();
    parts.pop_back();
  }
  if (const auto number = parse_double(parts.back()); number && parts.size() > 1) {
    const bool meant = has_dot(parts.back()) || (*number >= 0 && *number <= kHottest);
    if (meant && !(*number >= 0 && *number <= kHottest))
      return input_error("--ensemble: temperature '{}' must be from 0 to 2", parts.back());
    if (meant) {
      arm.temperature = *number;
      parts.pop_back();
    }
  }
  arm.model = std::string(trim(join(parts, ":")));
  if (arm.model.empty() || arm.model.front() == ':' || arm.model.back() == ':')
    return input_error("--ensemble: '{}' names no model; it needs MODEL[:TEMPERATURE][:EFFORT]",
                       word);
  return arm;
}

Result<std::vector<Arm>> parse_arms(const std::vector<std::string>& words) {
  std::vector<Arm> arms;
  for (const std::string& word : words) {
    const std::string bare(trim(word));
    if (bare.empty()) return input_error("--ensemble: an arm is empty; check the commas");
    Arm arm = KW_TRY(parse_arm(bare));
    if (std::ranges::any_of(arms, [&](const Arm& one) { return one.name() == arm.name(); }))
      return input_error("--ensemble: '" + arm.name() + "' is listed twice");
    arms.push_back(std::move(arm));
  }
  if (arms.empty()) return input_error("--ensemble names no model");
  if (arms.size() > kMostArms)
    return input_error("--ensemble: {} arms, at most {}", arms.size(), kMostArms);
  return arms;
}

}  // namespace

std::string Arm::name() const {
  std::string text = model;
  if (temperature) text += fmt::format(":{}", *temperature);
  return effort.empty() ? text : text + ":" + effort;
}

Result<std::vector<Arm>> parse_ensemble(const std::string& text) {
  return parse_arms(split(text, ','));
}

Result<std::vector<Arm>> parse_ensemble_lines(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view bare = trim(line.substr(0, line.find('#')));
    if (!bare.empty()) words.emplace_back(bare);
  }
  return parse_arms(words);
}

}  // namespace kw::evolve
