#include <iterator>

#include "core/json_writer.h"
#include "core/text.h"
#include "options/command_list.h"

namespace kw::options {
namespace {

constexpr const char* kKindNames[] = {
    "flag",   "text",     "id",        "run",    "choice", "choices", "whole",
    "number", "duration", "seconds",   "switch", "dims",   "pairs",   "inputs",
    "texts",  "module",   "reference", "file",   "path",   "place",   "folder"};
static_assert(std::size(kKindNames) == static_cast<size_t>(Kind::Waiting));
constexpr const char* kResourceNames[] = {"quick", "cpu", "gpu"};

std::vector<std::string> not_empty(std::vector<std::string> names) {
  std::erase(names, "");
  return names;
}

Json option_json(const Use& use) {
  const Option& row = *use.row;
  const bool bounded = row.type.kind == Kind::Whole || row.type.kind == Kind::Number;
  const bool for_agents = *row.agent.about != '\0';
  JsonWriter v;
  v("name", row.name)("value", row.value)("type", row.type.kind, kKindNames);
  v("repeats", row.repeats())("low", bounded ? Json(row.type.low) : Json());
  v("high", bounded ? Json(row.type.high) : Json())("choices", not_empty(choices_of(row)));
  v("default", std::string(row.fallback), Zero::Null)("about", use.about);
  v("agent", for_agents ? Json(agent_name(row)) : Json());
  v("kept", not_empty(split(row.replay.keys, ' ')))("anew", row.replay.anew);
  return v.take();
}

}  // namespace

Json to_json(const Command& command) {
  Json options = Json::array();
  for (const Use& use : command.options) options.push(option_json(use));
  JsonWriter v;
  v("name", command.name)("summary", command.summary)("positional", command.positional);
  v("positional_required", command.positional_required);
  v("resource", command.resource, kResourceNames)("options", options);
  return v.take();
}

}  // namespace kw::options
