// Clients get a JSON Schema for the arguments and the result of every tool. Both are made from the
// tool's row, so that they agree with the command that runs. Arguments are strict: unknown names
// are refused, texts and lists are bounded. A module or reference may be given as a path or as
// text, in two properties.
// "anyOf" would express that one of the two is required, but several model vendors reject it here.
// So the description says it and command_line_of() checks it. The cost: this mistake is found after
// the schema check.
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "core/text.h"
#include "mcp/tool.h"

namespace kw::mcp {
namespace {

constexpr int kMostText = 1 << 20;
constexpr int kMostWord = 4096;
constexpr int kMostMembers = 256;

Json typed(const char* type) { return Json::object().set("type", type); }

Json names_of(const char* commas) {
  Json names = Json::array();
  for (const std::string& name : split(commas, ',')) names.push(name);
  return names;
}

Json text_of(int most) { return typed("string").set("minLength", 1).set("maxLength", most); }

Json bounded(Json schema, const ToolArgument& argument) {
  if (argument.low == 0 && argument.high == 0) return schema;
  const auto whole = [](double value) {
    const auto integer = static_cast<int64_t>(value);
    return static_cast<double>(integer) == value ? Json(integer) : Json(value);
  };
  return schema.set("minimum", whole(argument.low)).set("maximum", whole(argument.high));
}

Json waiting_schema(const ToolArgument& argument) {
  return argument.high > 0 ? bounded(typed("number"), argument) : typed("boolean");
}

Json map_of(Json values) {
  return typed("object")
      .set("additionalProperties", std::move(values))
      .set("maxProperties", kMostMembers);
}

Json argument_schema(const ToolArgument& argument) {
  switch (argument.kind) {
    case Kind::Text:
    case Kind::Duration:
      return text_of(kMostText);
    case Kind::Choice:
      return typed("string").set("enum", names_of(argument.choices));
    case Kind::Choices:
      return typed("array")
          .set("items", typed("string").set("enum", names_of(argument.choices)))
          .set("minItems", 1)
          .set("maxItems", 16);
    case Kind::Whole:
      return bounded(typed("integer"), argument);
    case Kind::Number:
    case Kind::Seconds:
      return bounded(typed("number"), argument);
    case Kind::Flag:
      return typed("boolean");
    case Kind::Dims:
      return map_of(typed("integer").set("minimum", 0)).set("minProperties", 1);
    case Kind::Pairs:
      return map_of(typed("number"));
    case Kind::Inputs:
      return map_of(text_of(kMostWord));
    case Kind::Texts:
      return typed("array").set("items", text_of(kMostWord)).set("maxItems", kMostMembers);
    case Kind::Waiting:
      return waiting_schema(argument);
    default:
      return text_of(kMostWord);
  }
}

bool has_text_form(const ToolArgument& argument) {
  return argument.kind == Kind::Module || argument.kind == Kind::Reference;
}

std::string either_text(const ToolArgument& argument) {
  const std::string text = std::string("the text itself, instead of ") + argument.name;
  return argument.required ? text + "; one of the two is required" : text;
}

Json member_schema(const Member& member) {
  const Json types = names_of(member.type);
  return Json::object()
      .set("type", types.items().size() == 1 ? types.items().front() : types)
      .set("description", member.about);
}

/// Whether the tool has an argument of one of these kinds, or with one of these options.
bool has_argument(const AgentTool& tool, std::initializer_list<Kind> kinds,
                  std::initializer_list<std::string_view> options) {
  return std::ranges::any_of(tool.arguments, [&](const ToolArgument& argument) {
    return std::ranges::count(kinds, argument.kind) > 0 ||
           std::ranges::count(options, std::string_view(argument.option)) > 0;
  });
}

}  // namespace

ResourceClass resource_of(const AgentTool& tool) {
  return options::resource_of({tool.words.begin(), tool.words.end()});
}

bool is_lasting(const AgentTool& tool) { return resource_of(tool) == ResourceClass::Gpu; }

bool takes_code(const AgentTool& tool) {
  return has_argument(tool, {Kind::Reference, Kind::Module, Kind::Run},
                      {"--reference", "--baseline", "--run-dir"});
}

bool asks_models(const AgentTool& tool) {
  return tool.writes && has_argument(tool, {Kind::Run}, {"--model-id", "--ensemble"});
}

std::string description_of(const AgentTool& tool, const os::Permissions& allowed) {
  std::string text = tool.about;
  if (!takes_code(tool)) return text;
  const bool reads_reference = has_argument(tool, {Kind::Reference}, {"--reference"});
  if (reads_reference)
    text += allowed.python
                ? " Where PyTorch is needed to read, check or time the reference, it runs the "
                  "reference's Python in a confined process."
                : " The reference's Python is read and never run.";
  const bool judges = has_argument(tool, {}, {"--cross-check"});
  if (judges && allowed.host_code)
    text += " Host code of a CUDA file that cannot be imported is run in a confined process.";
  return text;
}

std::vector<const AgentTool*> offered_tools(bool read_only) {
  std::vector<const AgentTool*> offered;
  for (const AgentTool& tool : all_tools()) {
    if (!(read_only && tool.writes)) offered.push_back(&tool);
  }
  return offered;
}

Json input_schema(const AgentTool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    const std::string& name = argument.name;
    Json schema = argument_schema(argument).set("description", argument.about);
    if (*argument.fallback != '\0') schema.set("default", argument.fallback);
    properties.set(name, std::move(schema));
    // Several model vendors reject "anyOf" here. So the description says that one of the two is
    // required, and command_line_of() checks it.
    if (has_text_form(argument)) {
      properties.set(name + "_text", text_of(kMostText).set("description", either_text(argument)));
    } else if (argument.required) {
      required.push(name);
    }
  }
  Json schema = typed("object").set("properties", std::move(properties));
  if (!required.items().empty()) schema.set("required", std::move(required));
  return schema.set("additionalProperties", false);
}

Json output_schema(const AgentTool& tool) {
  Json properties = Json::object();
  if (tool.own == ServerTool::No) {
    properties.set("kernelwright", typed("string").set("description", "version of kernelwright"))
        .set("command", typed("string"))
        .set("ok",
             typed("boolean").set("description", "false: the tool failed, or the candidate did"))
        .set("exit_code", typed("integer"))
        .set("error",
             typed("object").set("description", "why the tool failed, with blame and message"));
  }
  if (is_lasting(tool) || tool.own == ServerTool::Result) {
    properties
        .set("job", typed("string").set("description", "handle of a job that is still running"))
        .set("state", Json::object().set("type", Json::array().push("string").push("null")));
  }
  for (const Member& member : tool.members) properties.set(member.name, member_schema(member));
  return typed("object").set("properties", std::move(properties));
}

}  // namespace kw::mcp
