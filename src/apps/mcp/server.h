// The methods of the protocol for tools, resources, prompts and jobs. Transports pass it messages;
// it does no input or output itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "mcp/jobs.h"
#include "mcp/revision.h"
#include "mcp/roots.h"
#include "mcp/rpc.h"
#include "mcp/session.h"
#include "mcp/tool.h"
#include "os/permissions.h"

namespace kw::mcp {

struct ServerSettings {
  std::string version;  // of this program
  Roots roots;
  std::vector<const AgentTool*> tools;
  os::Permissions allowed = {};  // which client code it may run; the runner enforces it
  Runner runner;
};

/// The arguments of a method.
struct RpcRequest {
  Session& session;
  const Revision& revision;
  const Json& params;
  Sink& sink;
  ClientCall& call;
};

class Server {
 public:
  explicit Server(ServerSettings settings);

  /// Returns the response to a request, which may take as long as the command it runs. Empty for
  /// other messages and for cancelled requests. `call` is the session's, opened for this id.
  std::optional<Json> serve(Session& session, const Message& message, Sink& sink, ClientCall& call);
  /// Handles a notification at once.
  void note(Session& session, const Message& message);
  /// Whether this method may run a command, so that serving it may take long.
  static bool is_slow(const std::string& method);

  Jobs& jobs() { return jobs_; }
  const ServerSettings& settings() const { return settings_; }

 private:
  struct MethodRow;
  static const MethodRow* find_method(const std::string& name);

  std::optional<RpcReply> dispatch(Session& session, const Message& message, Sink& sink,
                                   ClientCall& call);
  RpcReply initialize(Session& session, const Json& params);
  std::optional<RpcReply> ping(const RpcRequest& request);
  std::optional<RpcReply> discover(const RpcRequest& request);
  std::optional<RpcReply> set_level(const RpcRequest& request);
  std::optional<RpcReply> list_tools(const RpcRequest& request);
  std::optional<RpcReply> call_tool(const RpcRequest& request);
  std::optional<RpcReply> list_resources(const RpcRequest& request);
  std::optional<RpcReply> list_templates(const RpcRequest& request);
  std::optional<RpcReply> read_resource(const RpcRequest& request);
  std::optional<RpcReply> list_prompts(const RpcRequest& request);
  std::optional<RpcReply> fill_prompt(const RpcRequest& request);
  Json own_tool(const RpcRequest& request, const AgentTool& tool, const Json& arguments);
  std::optional<Json> follow(const RpcRequest& request, const std::string& handle,
                             const Json& arguments);

  const ServerSettings settings_;
  Jobs jobs_;
};

}  // namespace kw::mcp
