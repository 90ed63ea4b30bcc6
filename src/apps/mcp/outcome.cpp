#include "mcp/outcome.h"

#include "core/contains.h"
#include "core/text.h"

namespace kw::mcp {
namespace {

constexpr size_t kMostResult = size_t{4} << 20;

/// `names` are names of arrays and objects at any depth, or of any member directly below another:
/// "methods/guidance".
Json without(const Json& value, const std::string& above, const std::vector<std::string>& names,
             std::vector<std::string>& found) {
  if (value.is_array()) {
    Json kept = Json::array();
    for (const Json& item : value.items()) kept.push(without(item, above, names, found));
    return kept;
  }
  if (!value.is_object()) return value;
  Json kept = Json::object();
  for (const auto& [name, member] : value.members()) {
    const bool bulky = ((member.is_array() || member.is_object()) && contains(names, name)) ||
                       contains(names, above + "/" + name);
    if (!bulky) {
      kept.set(name, without(member, name, names, found));
    } else if (!contains(found, name)) {
      found.push_back(name);
    }
  }
  return kept;
}

Json failed(const char* blame, const std::string& why) {
  return Json::object()
      .set("ok", false)
      .set("error", Json::object().set("blame", blame).set("message", why));
}

}  // namespace

Json tool_result(Json structure, bool is_error) {
  std::string text = structure.dump();
  if (text.size() > kMostResult) {
    structure = failed("input", "the result has " + human_bytes(text.size()) +
                                    ": ask for less, or read it as a resource");
    text = structure.dump();
    is_error = true;
  }
  Json content = Json::array();
  content.push(Json::object().set("type", "text").set("text", std::move(text)));
  Json result = Json::object();
  result.set("content", std::move(content)).set("structuredContent", std::move(structure));
  return result.set("isError", is_error);
}

Json tool_error(const std::string& why, const char* blame) {
  Json result = tool_result(failed(blame, why), true);
  Json content = Json::array();  // users and models read words more easily than a document
  content.push(Json::object().set("type", "text").set("text", why));
  return result.set("content", std::move(content));
}

Json brief(const Json& document, const char* names) {
  if (*names == '\0') return document;
  std::vector<std::string> found;
  Json kept = without(document, "", split(names, ','), found);
  if (found.empty()) return kept;
  Json list = Json::array();
  for (const std::string& name : found) list.push(name);
  return kept.set("left_out", std::move(list));
}

Json job_state(const JobSnapshot& seen) {
  Json state = Json::object();
  state.set("job", seen.handle).set("tool", seen.tool).set("state", state_name(seen.state));
  state.set("seconds", seen.seconds);
  if (!seen.progress.empty()) state.set("progress", seen.progress);
  if (seen.state == JobState::Queued) state.set("ahead", static_cast<int64_t>(seen.ahead));
  if (!seen.why.empty()) state.set("why", seen.why);
  return state;
}

Json job_result(const JobSnapshot& seen, bool full) {
  switch (seen.state) {
    case JobState::Done: {
      // A verdict may also have a member "error", about the numbers.
      const bool is_error = seen.document["error"]["blame"].is_string();
      return tool_result(full ? seen.document : brief(seen.document, seen.row->bulky), is_error);
    }
    case JobState::Failed:
      return tool_error(seen.why, "bug");
    case JobState::Cancelled:
      return tool_error(seen.why, "user");
    default:
      return tool_result(job_state(seen));
  }
}

}  // namespace kw::mcp
