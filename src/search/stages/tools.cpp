#include "stages/tools.h"

#include <fmt/core.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "core/text.h"
#include "stages/prompts.h"

namespace kw::stages {
namespace {

constexpr size_t kMostResult = 12'000;  // bytes of one tool's answer

struct ToolRow {
  const char* name;
  const char* description;
  std::optional<ports::Depth> look;  // not set: read_catalog
};

constexpr ToolRow kTools[] = {
    {"compile",
     "Parse a kernel module and compile it for the target at the timed shape. Answers with the "
     "compiler's messages, or with registers and shared memory per kernel.",
     ports::Depth::Compile},
    {"run_virtual_gpu",
     "Compile a kernel module and run it on the virtual GPU at a small shape under all checks: "
     "bounds, races, uninitialised reads, alignment, barriers. Answers with findings and their "
     "source lines.",
     ports::Depth::Run},
    {"verify",
     "Put a kernel module through the whole gate: many shapes and input families against the "
     "reference, the timed shape included. Answers with the verdict, the worst element and a "
     "reproduction.",
     ports::Depth::Verify},
    {"read_catalog",
     "List known optimisation methods whose id, axis (compute, memory, latency) or description "
     "contains any of the words asked for; without words, all of them.",
     std::nullopt},
};

Json text_property(const char* description) {
  return Json(Json::Object{{"type", "string"}, {"description", description}});
}

Json tool_schema(const ToolRow& row) {
  Json properties = Json::object();
  if (row.look) {
    properties.set("source", text_property("A whole kernel module, or a unified diff whose '--- ' "
                                           "line names the id of the module it changes."));
  } else {
    properties.set("words", text_property("Words to look for, with blanks between; may be empty."));
  }
  Json schema = Json::object();
  schema.set("type", "object").set("properties", std::move(properties));
  Json required = Json::array();
  required.push(row.look ? "source" : "words");
  return schema.set("required", std::move(required)).set("additionalProperties", false);
}

ToolAnswer tool_answer(const llm::ToolCall& call, std::string text, bool failed) {
  return {{call.id, call.name, shortened(text, kMostResult), failed}, ""};
}

Result<ToolAnswer> look_at(const llm::ToolCall& call, const ToolRow& row,
                           const ToolContext& context) {
  const Json& source = call.parsed["source"];
  if (!source.is_string())
    return tool_answer(call, fmt::format("{} needs 'source': the text of a module", call.name),
                       true);
  const Result<Submission> submission = read_source(source.as_string(), context.parent);
  if (!submission) return tool_answer(call, submission.error().message, true);
  const record::Candidate candidate = context.candidate(*submission);
  const ports::Outcome look = KW_TRY(context.judge->examine_one(candidate, *row.look));
  // The judge's text quotes sources and kernel output, so it is fenced as data.
  std::string text = fmt::format("module {}: {}\n", candidate.id, look.passed() ? "ok" : "refused");
  const std::string said = look.passed() ? look.detail : look.refused + "\n\n" + look.detail;
  if (!said.empty()) text += data("data", shortened(said, kMostResult));
  ToolAnswer made = tool_answer(call, text, false);
  made.candidate = candidate.id;
  return made;
}

}  // namespace

std::vector<llm::Tool> tools() {
  std::vector<llm::Tool> list;
  for (const ToolRow& row : kTools) list.push_back({row.name, row.description, tool_schema(row)});
  return list;
}

std::string catalog_text(const std::string& query) {
  std::string out;
  std::vector<std::string> words;
  for (const std::string& word : split(replace_all(lower_case(query), ",", " "), ' ')) {
    if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  for (const catalog::Method& method : catalog::methods()) {
    const std::string line = fmt::format("{} ({}): {}", method.id, method.axis, method.title);
    const bool fits = words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
                        return lower_case(line).find(word) != std::string::npos;
                      });
    if (fits) out += line + "\n";
  }
  return out.empty() ? "no method fits these words\n" : out;
}

Result<ToolAnswer> run_tool(const llm::ToolCall& call, const ToolContext& context) {
  std::vector<std::string> names;
  for (const ToolRow& row : kTools) {
    names.emplace_back(row.name);
    if (call.name != row.name) continue;
    if (!call.parse_error.empty())
      return tool_answer(call, "the arguments are not a JSON object: " + call.parse_error, true);
    if (!row.look) return tool_answer(call, catalog_text(call.parsed["words"].as_string()), false);
    return look_at(call, row, context);
  }
  return tool_answer(call,
                     fmt::format("there is no tool '{}'{}; tools: {}", call.name,
                                 did_you_mean(call.name, names), join(names, ", ")),
                     true);
}

}  // namespace kw::stages
