// A tool may take milliseconds or minutes, and clients differ in how long they wait. So every
// tools/call becomes a job: arguments are checked against the schema, become command-line words,
// and the words start a job. Then the call follows the job to its end, or returns a handle when the
// client asked for the background or its wait_seconds are over.
// Running the command inside the call would be simpler, but a client with a timeout would lose the
// result. The cost: the call wakes every 0.1 s to see whether the client is still there. Progress
// is sent at most ten times a second.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/text.h"
#include "mcp/outcome.h"
#include "mcp/schema.h"
#include "mcp/server.h"

namespace kw::mcp {
namespace {

using Moment = std::chrono::steady_clock::time_point;

constexpr double kCheckSeconds =
    0.1;  // seconds between two checks whether the client is still there
constexpr double kProgressSeconds = 0.1;         // least seconds between two progress notifications
constexpr double kMostExact = 9007199254740992;  // above, not every whole number is a double
constexpr const char* kLogLevelKey = "io.modelcontextprotocol/logLevel";

double since(Moment moment) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - moment).count();
}

/// Sends a job's progress and notes to the client, if it asked for them.
class Reporter {
 public:
  explicit Reporter(const RpcRequest& request)
      : request_(request), token_(request.params["_meta"]["progressToken"]) {
    const Json& asked = request.params["_meta"][kLogLevelKey];
    level_ = request.revision.stateless ? log_level(asked.as_string()) : request.session.level();
    if (level_ < 0) level_ = kNoLevel;
  }

  void report(const JobSnapshot& seen) {
    std::string words = seen.progress;
    if (seen.state == JobState::Queued && seen.ahead > 0)
      words = fmt::format("waiting: {} before it", seen.ahead);
    progress(words);
    for (; notes_ < seen.notes.size(); ++notes_) note(seen.notes[notes_]);
  }

 private:
  void progress(const std::string& words) {
    if (!(token_.is_string() || token_.is_int()) || words.empty() || words == last_) return;
    if (count_ > 0 && since(told_) < kProgressSeconds) return;
    Json params = Json::object().set("progressToken", token_).set("progress", ++count_);
    if (request_.revision.annotations) params.set("message", words);
    request_.sink.send(notification("notifications/progress", std::move(params)));
    last_ = words;
    told_ = std::chrono::steady_clock::now();
  }

  void note(const std::string& words) {
    if (level_ > kInfoLevel) return;
    request_.sink.send(notification(
        "notifications/message",
        Json::object().set("level", "info").set("logger", "kernelwright").set("data", words)));
  }

  const RpcRequest& request_;
  const Json& token_;
  int level_ = kNoLevel;
  int64_t count_ = 0;
  std::string last_;
  Moment told_;
  size_t notes_ = 0;
};

Json handle_result(const JobSnapshot& seen) {
  return tool_result(
      job_state(seen).set("next", "job_status returns its state, job_result its result"));
}

bool is_over(const JobSnapshot& seen) {
  return seen.state != JobState::Queued && seen.state != JobState::Running;
}

/// Removes the parts of a result that older revisions do not have.
Json for_revision(Json result, const Revision& revision) {
  if (revision.structured) return result;
  return Json::object().set("content", result["content"]).set("isError", result["isError"]);
}

/// Turns numbers such as 3.0 into integers, because JSON Schema accepts them as such.
Json with_whole_numbers(const Json& value) {
  if (value.is_number() && !value.is_int()) {
    const double number = value.as_double();
    if (std::abs(number) < kMostExact && std::floor(number) == number)
      return static_cast<int64_t>(number);
  }
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value.items()) list.push(with_whole_numbers(item));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [name, member] : value.members()) object.set(name, with_whole_numbers(member));
  return object;
}

RpcError no_tool(const std::string& name, const std::vector<const AgentTool*>& tools) {
  std::vector<std::string> names;
  for (const AgentTool* tool : tools) names.emplace_back(tool->name);
  return {kInvalidParams,
          fmt::format("there is no tool '{}'{}", name.substr(0, 80), did_you_mean(name, names)),
          {}};
}

}  // namespace

std::optional<RpcReply> Server::call_tool(const RpcRequest& request) {
  const std::string& name = request.params["name"].as_string();
  const auto tool = std::find_if(settings_.tools.begin(), settings_.tools.end(),
                                 [&](const AgentTool* one) { return name == one->name; });
  if (tool == settings_.tools.end()) return no_tool(name, settings_.tools);
  Json arguments = request.params["arguments"];
  if (arguments.is_null()) arguments = Json::object();
  if (!arguments.is_object())
    return RpcError{kInvalidParams, "\"arguments\" must be an object", {}};
  arguments = with_whole_numbers(arguments);
  const std::vector<std::string> problems = schema_problems(input_schema(**tool), arguments);
  if (!problems.empty()) return for_revision(tool_error(join(problems, "\n")), request.revision);
  if ((*tool)->own != ServerTool::No)
    return for_revision(own_tool(request, **tool, arguments), request.revision);
  Result<Words> words = command_line_of(**tool, arguments, settings_.roots);
  if (!words) return for_revision(tool_error(words.error().message), request.revision);
  const ResourceClass resource = options::resource_of(words->words);
  const Result<std::string> handle =
      jobs_.start({*tool, std::move(*words), resource, request.session.id()});
  if (!handle)
    return for_revision(tool_error(handle.error().message, "environment"), request.revision);
  std::optional<Json> result = follow(request, *handle, arguments);
  if (!result) return std::nullopt;
  return for_revision(std::move(*result), request.revision);
}

std::optional<Json> Server::follow(const RpcRequest& request, const std::string& handle,
                                   const Json& arguments) {
  const Moment began = std::chrono::steady_clock::now();
  const Json& patience = arguments["wait_seconds"];
  const bool background = arguments["background"].as_bool();
  Reporter reporter(request);
  uint64_t said = 0;
  for (;;) {
    const std::optional<JobSnapshot> seen =
        jobs_.wait(handle, said, background ? 0 : kCheckSeconds);
    if (!seen) return tool_error(handle + " is no longer known", "bug");
    said = seen->said;
    reporter.report(*seen);
    if (is_over(*seen)) return job_result(*seen, arguments["full"].as_bool());
    if (request.call.cancelled || request.sink.gone()) {
      jobs_.cancel(handle);
      return std::nullopt;
    }
    if (background || (patience.is_number() && since(began) >= patience.as_double()))
      return handle_result(*seen);
  }
}

Json Server::own_tool(const RpcRequest& request, const AgentTool& tool, const Json& arguments) {
  const std::string& handle = arguments["job"].as_string();
  if (tool.own == ServerTool::Status && handle.empty()) {
    Json all = Json::array();
    for (const JobSnapshot& seen : jobs_.all()) all.push(job_state(seen));
    return tool_result(Json::object().set("jobs", std::move(all)));
  }
  if (tool.own == ServerTool::Cancel) jobs_.cancel(handle);
  std::optional<JobSnapshot> seen = jobs_.look(handle);
  if (!seen) return tool_error(fmt::format("there is no job '{}'", handle.substr(0, 80)));
  if (tool.own != ServerTool::Result) return tool_result(job_state(*seen));
  const Moment began = std::chrono::steady_clock::now();
  const double patience = arguments["wait_seconds"].as_double();
  Reporter reporter(request);
  while (!is_over(*seen) && since(began) < patience && !request.call.cancelled &&
         !request.sink.gone()) {
    seen = jobs_.wait(handle, seen->said, kCheckSeconds);
    if (!seen) return tool_error(handle + " is no longer known", "bug");
    reporter.report(*seen);
  }
  return job_result(*seen, arguments["full"].as_bool());
}

}  // namespace kw::mcp
