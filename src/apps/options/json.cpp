#include <iterator>

#include "core/text.h"
#include "options/command.h"

namespace kw::options {
namespace {

constexpr const char* kKindNames[] = {
    "flag",   "text",     "id",        "run",    "choice", "choices", "whole",
    "number", "duration", "seconds",   "switch", "dims",   "pairs",   "inputs",
    "texts",  "module",   "reference", "file",   "path",   "place",   "folder"};
static_assert(std::size(kKindNames) == static_cast<size_t>(Kind::Waiting));

Json option_json(const Use& use) {
  const Option& row = *use.row;
  const bool bounded = row.type.kind == Kind::Whole || row.type.kind == Kind::Number;
  const bool for_agents = *row.agent.about != '\0';
  Json choices = Json::array();
  for (const std::string& name : split(row.type.choices, ','))
    if (!name.empty()) choices.push(name);
  return Json::object()
      .set("name", row.name)
      .set("value", row.value)
      .set("type", kKindNames[static_cast<size_t>(row.type.kind)])
      .set("repeats", row.repeats())
      .set("low", bounded ? Json(row.type.low) : Json())
      .set("high", bounded ? Json(row.type.high) : Json())
      .set("choices", std::move(choices))
      .set("default", *row.fallback == '\0' ? Json() : Json(row.fallback))
      .set("about", use.about)
      .set("agent", for_agents ? Json(agent_name(row)) : Json());
}

}  // namespace

Json to_json(const Command& command) {
  Json options = Json::array();
  for (const Use& use : command.options) options.push(option_json(use));
  return Json::object()
      .set("name", command.name)
      .set("summary", command.summary)
      .set("positional", command.positional)
      .set("positional_required", command.positional_required)
      .set("options", std::move(options));
}

}  // namespace kw::options
