// One server speaks several revisions of the protocol, old ones with a handshake and the newest
// without. So a request is first given its revision, from the session or from its own "_meta". A
// table then says which methods exist in it and which are slow. Methods are written once, and
// fields that a revision does not have are left out. One class per revision would separate them
// better, but would repeat nearly everything. The cost: methods test features (revision.structured)
// in places. Messages go in and responses come out; transports do the reading and writing, so tests
// need none.
#include "mcp/server.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "mcp/prompts.h"
#include "mcp/resources.h"

namespace kw::mcp {
namespace {

constexpr const char* kRevisionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kAbilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr size_t kPage = 100;
constexpr int kStaysMs = 60000;  // how long a client may cache what never changes while we run
constexpr const char* kInstructions =
    "kernelwright turns PyTorch references into CUDA kernels, judges them and times them honestly, "
    "on a GPU or on a virtual GPU with every check on. Begin with doctor and describe_task. "
    "verify_kernel decides what is right, bench_kernel and compare_kernels what is fast; a time "
    "without a GPU is an estimate and labelled as one. For a whole optimisation read "
    "kernelwright://skill/SKILL.md. Long tools take background: true and give a job handle.";

Json server_info(const std::string& version, const Revision& revision) {
  Json info = Json::object().set("name", "kernelwright");
  if (revision.structured) info.set("title", "kernelwright");
  return info.set("version", version);
}

Json abilities(const Revision& revision) {
  Json all = Json::object();
  all.set("tools", Json::object().set("listChanged", false));
  all.set("resources", Json::object().set("subscribe", false).set("listChanged", false));
  all.set("prompts", Json::object().set("listChanged", false));
  if (!revision.stateless) all.set("logging", Json::object());
  return all;
}

Json revision_names() {
  Json names = Json::array();
  for (const Revision& revision : revisions()) names.push(revision.name);
  return names;
}

RpcError bad_params(const std::string& why) { return {kInvalidParams, why, {}}; }

/// One page of a list, beginning at the cursor.
RpcReply page(const char* member, const Json::Array& rows, const Json& cursor) {
  size_t from = 0;
  if (!cursor.is_null()) {
    const auto given = parse_int(cursor.as_string());
    if (!given || *given < 0 || static_cast<size_t>(*given) > rows.size())
      return bad_params("\"cursor\" was not issued by this server");
    from = static_cast<size_t>(*given);
  }
  const size_t to = std::min(rows.size(), from + kPage);
  Json part = Json::array();
  for (size_t i = from; i < to; ++i) part.push(rows[i]);
  Json result = Json::object().set(member, std::move(part));
  if (to < rows.size()) result.set("nextCursor", fmt::format("{}", to));
  return result;
}

/// Adds the members that the newest revision requires in every result.
void dress(RpcReply& reply, const std::string& method, const std::string& version,
           const Revision& revision) {
  Json* result = std::get_if<Json>(&reply);
  if (result == nullptr || !revision.stateless) return;
  result->set("resultType", "complete");
  Json meta = (*result)["_meta"].is_object() ? (*result)["_meta"] : Json::object();
  result->set("_meta", meta.set(kServerKey, server_info(version, revision)));
  const bool lists = method.ends_with("/list") || method == "server/discover";
  if (!lists && method != "resources/read") return;
  const bool changes = method == "resources/list" || method == "resources/read";
  result->set("ttlMs", changes ? 0 : kStaysMs).set("cacheScope", "private");
}

/// The revision that a request names; a Fault when it is unknown or not stateless.
std::variant<const Revision*, RpcError> named_revision(const Json& meta) {
  const Json& name = meta[kRevisionKey];
  if (!name.is_string()) return bad_params(fmt::format("\"{}\" must be text", kRevisionKey));
  if (!meta[kAbilitiesKey].is_object())
    return bad_params(fmt::format("\"_meta\" needs an object \"{}\"", kAbilitiesKey));
  const Revision* revision = find_revision(name.as_string());
  if (revision != nullptr && revision->stateless) return revision;
  return RpcError{
      kUnsupportedRevision,
      fmt::format("protocol version '{}' is not supported", name.as_string().substr(0, 80)),
      Json::object().set("supported", revision_names()).set("requested", name)};
}

/// The client's own code may do all that its walls allow, so the hints promise nothing for it.
Json annotations_of(const AgentTool& tool, const os::Permissions& allowed) {
  const bool runs_code = (takes_code(tool) && (allowed.python || allowed.host_code)) ||
                         (asks_models(tool) && allowed.commands);
  return Json::object()
      .set("readOnlyHint", !tool.writes && !runs_code && tool.own != ServerTool::Cancel)
      .set("destructiveHint", runs_code)
      .set("idempotentHint", resource_of(tool) == ResourceClass::Quick && !runs_code)
      .set("openWorldHint", runs_code || asks_models(tool));
}

Json tool_row(const AgentTool& tool, const os::Permissions& allowed, const Revision& revision) {
  Json row = Json::object().set("name", tool.name);
  if (revision.structured) row.set("title", tool.title);
  row.set("description", description_of(tool, allowed)).set("inputSchema", input_schema(tool));
  if (revision.structured) row.set("outputSchema", output_schema(tool));
  if (revision.annotations) row.set("annotations", annotations_of(tool, allowed));
  return row;
}

Resources resources_for(const RpcRequest& request, const Runner& runner, const Jobs& jobs) {
  return Resources(runner, jobs,
                   [&request] { return request.call.cancelled.load() || request.sink.gone(); });
}

enum class Era : uint8_t { Any, Handshake, Stateless };

}  // namespace

Server::Server(ServerSettings settings) : settings_(std::move(settings)), jobs_(settings_.runner) {}

/// One row per method: which revisions have it, and whether it may run a command.
struct Server::MethodRow {
  const char* name;
  Era era;
  bool slow;
  std::optional<RpcReply> (Server::*serve)(const RpcRequest& request);
};

const Server::MethodRow* Server::find_method(const std::string& name) {
  static constexpr MethodRow kMethods[] = {
      {"ping", Era::Handshake, false, &Server::ping},
      {"logging/setLevel", Era::Handshake, false, &Server::set_level},
      {"server/discover", Era::Stateless, false, &Server::discover},
      {"tools/list", Era::Any, false, &Server::list_tools},
      {"tools/call", Era::Any, true, &Server::call_tool},
      {"resources/list", Era::Any, true, &Server::list_resources},
      {"resources/templates/list", Era::Any, false, &Server::list_templates},
      {"resources/read", Era::Any, true, &Server::read_resource},
      {"prompts/list", Era::Any, false, &Server::list_prompts},
      {"prompts/get", Era::Any, false, &Server::fill_prompt},
  };
  for (const MethodRow& row : kMethods) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

bool Server::is_slow(const std::string& method) {
  const MethodRow* row = find_method(method);
  return row != nullptr && row->slow;
}

void Server::note(Session& session, const Message& message) {
  if (message.method == "notifications/cancelled") session.cancel(message.params["requestId"]);
}

RpcReply Server::initialize(Session& session, const Json& params) {
  const Json& asked = params["protocolVersion"];
  if (!asked.is_string()) return bad_params("\"protocolVersion\" is missing");
  const Revision* known = find_revision(asked.as_string());
  const Revision& revision = known != nullptr && !known->stateless ? *known : newest_handshake();
  if (!session.agree(revision)) return RpcError{kInvalidRequest, "initialized already", {}};
  return Json::object()
      .set("protocolVersion", revision.name)
      .set("capabilities", abilities(revision))
      .set("serverInfo", server_info(settings_.version, revision))
      .set("instructions", kInstructions);
}

std::optional<RpcReply> Server::discover(const RpcRequest& request) {
  return Json::object()
      .set("supportedVersions", revision_names())
      .set("capabilities", abilities(request.revision))
      .set("instructions", kInstructions);
}

std::optional<RpcReply> Server::list_tools(const RpcRequest& request) {
  Json::Array rows;
  for (const AgentTool* tool : settings_.tools)
    rows.push_back(tool_row(*tool, settings_.allowed, request.revision));
  return page("tools", rows, request.params["cursor"]);
}

std::optional<RpcReply> Server::set_level(const RpcRequest& request) {
  const int level = log_level(request.params["level"].as_string());
  if (level < 0) return bad_params("\"level\" must be one of the eight levels, debug to emergency");
  request.session.set_level(level);
  return Json::object();
}

std::optional<RpcReply> Server::ping(const RpcRequest&) { return Json::object(); }

std::optional<RpcReply> Server::list_resources(const RpcRequest& request) {
  const Resources resources = resources_for(request, settings_.runner, jobs_);
  return page("resources", resources.rows(request.revision.structured), request.params["cursor"]);
}

std::optional<RpcReply> Server::list_templates(const RpcRequest& request) {
  return page("resourceTemplates", Resources::templates(request.revision.structured),
              request.params["cursor"]);
}

std::optional<RpcReply> Server::read_resource(const RpcRequest& request) {
  const int not_found = request.revision.stateless ? kInvalidParams : kResourceNotFound;
  return resources_for(request, settings_.runner, jobs_)
      .read(request.params["uri"].as_string(), not_found);
}

std::optional<RpcReply> Server::list_prompts(const RpcRequest& request) {
  return page("prompts", prompt_rows(request.revision.structured), request.params["cursor"]);
}

std::optional<RpcReply> Server::fill_prompt(const RpcRequest& request) {
  return get_prompt(request.params);
}

std::optional<RpcReply> Server::dispatch(Session& session, const Message& message, Sink& sink,
                                         ClientCall& call) {
  if (message.method == "initialize") return initialize(session, message.params);
  const Revision* revision = session.revision();
  const Json& meta = message.params["_meta"];
  if (meta.contains(kRevisionKey)) {
    const auto named = named_revision(meta);
    if (const RpcError* fault = std::get_if<RpcError>(&named)) return *fault;
    revision = std::get<const Revision*>(named);
  } else if (revision == nullptr && message.method == "ping") {
    return Json::object();  // also before a handshake
  } else if (revision == nullptr) {
    return RpcError{
        kInvalidRequest,
        "the first request must be \"initialize\", or name its protocol version in \"_meta\"",
        Json::object().set("supported", revision_names())};
  }
  const MethodRow* row = find_method(message.method);
  const Era other = revision->stateless ? Era::Handshake : Era::Stateless;
  if (row == nullptr || row->era == other)
    return RpcError{kMethodNotFound, fmt::format("there is no method '{}'", message.method), {}};
  std::optional<RpcReply> reply =
      (this->*row->serve)({session, *revision, message.params, sink, call});
  if (reply) dress(*reply, message.method, settings_.version, *revision);
  return reply;
}

std::optional<Json> Server::serve(Session& session, const Message& message, Sink& sink,
                                  ClientCall& call) {
  std::optional<RpcReply> reply;
  try {
    reply = dispatch(session, message, sink, call);
  } catch (const std::exception& bug) {
    reply = RpcError{kInternalError, fmt::format("a bug in kernelwright: {}", bug.what()), {}};
  }
  if (!reply || call.cancelled) return std::nullopt;
  return response(message.id, *reply);
}

}  // namespace kw::mcp
