// Some models and all local programs have no tool calls, but the stages need tools. So the tools
// are described in the system text, and the model writes each call as a fenced "```tool" block of
// JSON. The blocks are taken out of the answer and become calls; results go back as fenced text. A
// fence is longer than any run of backticks inside it, so a kernel may contain fences. A stricter
// syntax would be easier to parse, but models often break it. The cost: a block with broken JSON
// becomes a call with a parse error, which takes another turn.
#include "llm/fenced.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/contains.h"
#include "core/text.h"

namespace kw::llm {
namespace {

constexpr const char* kWords[] = {"tool", "tool_call", "tool-call", "tool_code"};

/// The number of backticks at the start of a line (after blanks), and the text after them.
size_t ticks(std::string_view line, std::string_view* rest) {
  line = trim(line);
  const size_t n = std::min(line.find_first_not_of('`'), line.size());
  *rest = trim(line.substr(n));
  return n;
}

/// Models often put raw line breaks into JSON strings, which JSON forbids; this escapes them.
std::string escape_raw_breaks(std::string_view text) {
  std::string out;
  bool inside = false, escaped = false;
  for (const char c : text) {
    if (inside && !escaped && (c == '\n' || c == '\t' || c == '\r')) {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
      continue;
    }
    if (c == '"' && !escaped) inside = !inside;
    escaped = inside && c == '\\' && !escaped;
    out += c;
  }
  return out;
}

/// The name in a block that cannot be parsed, so that the error is reported for the right tool.
std::string guess_name(std::string_view block) {
  const size_t key = block.find("\"name\"");
  if (key == std::string_view::npos) return "unnamed";
  const size_t open = block.find('"', block.find(':', key));
  if (open == std::string_view::npos) return "unnamed";
  const size_t close = block.find('"', open + 1);
  if (close == std::string_view::npos) return "unnamed";
  return std::string(block.substr(open + 1, std::min<size_t>(close - open - 1, 64)));
}

ToolCall call_of(const std::string& id, const std::string& block) {
  auto json = Json::parse(block);
  if (!json) json = Json::parse(escape_raw_breaks(block));
  if (!json || !(*json)["name"].is_string()) {
    ToolCall call{id, guess_name(block), block, Json(), ""};
    call.parse_error = json ? "the block has no \"name\"" : json.error().message;
    return call;
  }
  const Json& arguments = (*json)["arguments"];
  std::string text = arguments.is_string() ? arguments.as_string() : arguments.dump();
  if (arguments.is_null()) text = "{}";
  return make_tool_call(id, (*json)["name"].as_string(), std::move(text));
}

std::string instructions(const std::vector<Tool>& tools) {
  std::string text =
      "Tools are called by text here. To call one, write a block of exactly this form, once per "
      "call, "
      "and end your answer after the last of them; the results come with the next message.\n\n"
      "```tool\n{\"name\": \"NAME\", \"arguments\": {…}}\n```\n\nThe tools:\n";
  for (const Tool& tool : tools) {
    text += fmt::format("\n{}: {}\narguments, as JSON schema: {}\n", tool.name, tool.description,
                        tool.schema.dump());
  }
  return text;
}

Message as_text(const Message& message) {
  Message out;
  out.role = message.role;
  out.cache = message.cache;
  std::vector<std::string> parts;
  for (const ToolResult& result : message.results) {
    parts.push_back(fmt::format("{} of {} (call {}):\n{}", result.failed ? "Error" : "Result",
                                result.name, result.call_id, fence("result", result.content)));
  }
  if (!message.text.empty()) parts.push_back(message.text);
  for (const ToolCall& call : message.calls) {
    Json json(Json::Object{{"name", call.name}});
    json.set("arguments", call.parse_error.empty() ? call.parsed : Json(call.arguments));
    parts.push_back(fence("tool", json.dump()));
  }
  out.text = join(parts, "\n\n");
  return out;
}

}  // namespace

std::string fence(const std::string& word, const std::string& text) {
  size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string bar(longest + 1, '`');
  return bar + word + "\n" + text + (text.empty() || text.back() != '\n' ? "\n" : "") + bar;
}

Request without_tools(const Request& request) {
  Request out = request;
  out.tools.clear();
  if (!request.tools.empty()) {
    // After the stable text but before a cache mark, so that the cache still covers it.
    const Cache cache = out.system.empty() ? Cache::No : out.system.back().cache;
    if (!out.system.empty()) out.system.back().cache = Cache::No;
    out.system.push_back({instructions(request.tools), cache});
  }
  for (Message& message : out.messages) message = as_text(message);
  return out;
}

void read_fenced_calls(const Request& request, Reply& reply) {
  std::set<std::string> taken;
  for (const Message& message : request.messages) {
    for (const ToolCall& call : message.calls) taken.insert(call.id);
  }
  const auto new_id = [&] {
    for (size_t n = taken.size() + 1;; ++n) {
      if (taken.insert(fmt::format("fenced_{}", n)).second) return fmt::format("fenced_{}", n);
    }
  };
  std::string kept, block;
  size_t open = 0;   // backticks of the current tool block; 0: none
  size_t other = 0;  // backticks of another kind of block, in which "```tool" is text
  const auto close = [&] {
    reply.calls.push_back(call_of(new_id(), block));
    block.clear();
    open = 0;
  };
  for (const std::string_view line : split_lines(reply.text)) {
    std::string_view rest;
    const size_t n = ticks(line, &rest);
    if (open > 0) {
      if (n >= open && rest.empty()) {
        close();
      } else {
        block += std::string(line) + "\n";
      }
      continue;
    }
    const bool starts = other == 0 && n >= 3 && contains(kWords, rest);
    if (starts) {
      open = n;
      continue;
    }
    if (other == 0 && n >= 3) {
      other = n;
    } else if (other > 0 && n >= other && rest.empty()) {
      other = 0;
    }
    kept += std::string(line) + "\n";
  }
  if (open > 0) close();
  if (reply.calls.empty()) return;
  reply.text = std::string(trim(kept));
  if (reply.stop == StopReason::End) reply.stop = StopReason::ToolUse;
}

}  // namespace kw::llm
