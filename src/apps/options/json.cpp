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
constexpr const char* kResourceNames[] = {"quick", "cpu", "gpu"};

Json list_of(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names)
    if (!name.empty()) list.push(name);
  return list;
}

Json option_json(const Use& use) {
  const Option& row = *use.row;
  const bool bounded = row.type.kind == Kind::Whole || row.type.kind == Kind::Number;
  const bool for_agents = *row.agent.about != '\0';
  return Json::object()
      .set("name", row.name)
      .set("value", row.value)
      .set("type", kKindNames[static_cast<size_t>(row.type.kind)])
      .set("repeats", row.repeats())
      .set("low", bounded ? Json(row.type.low) : Json())
      .set("high", bounded ? Json(row.type.high) : Json())
      .set("choices", list_of(choices_of(row)))
      .set("default", *row.fallback == '\0' ? Json() : Json(row.fallback))
      .set("about", use.about)
      .set("agent", for_agents ? Json(agent_name(row)) : Json())
      .set("kept", list_of(split(row.replay.keys, ' ')))
      .set("anew", row.replay.anew);
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
      .set("resource", kResourceNames[static_cast<size_t>(command.resource)])
      .set("options", std::move(options));
}

}  // namespace kw::options
