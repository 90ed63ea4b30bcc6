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

struct Settings {
  std::string version;  // of this program
  Roots roots;
  std::vector<const Tool*> tools;
  os::Permissions allowed = {};  // which client code it may run; the runner enforces it
  Runner runner;
};

/// The arguments of a method.
struct Request {
  Session& session;
  const Revision& revision;
  const Json& params;
  Sink& sink;
  Call& call;
};

class Server {
 public:
  explicit Server(Settings settings);

  /// Returns the response to a request, which may take as long as the command it runs. Empty for
  /// other messages and for cancelled requests. `call` is the session's, opened for this id.
  std::optional<Json> serve(Session& session, const Message& message, Sink& sink, Call& call);
  /// Handles a notification at once.
  void note(Session& session, const Message& message);
  /// Whether this method may run a command, so that serving it may take long.
  static bool is_slow(const std::string& method);

  Jobs& jobs() { return jobs_; }
  const Settings& settings() const { return settings_; }

 private:
  struct MethodRow;
  static const MethodRow* find_method(const std::string& name);

  std::optional<Reply> dispatch(Session& session, const Message& message, Sink& sink, Call& call);
  Reply initialize(Session& session, const Json& params);
  std::optional<Reply> ping(const Request& request);
  std::optional<Reply> discover(const Request& request);
  std::optional<Reply> set_level(const Request& request);
  std::optional<Reply> list_tools(const Request& request);
  std::optional<Reply> call_tool(const Request& request);
  std::optional<Reply> list_resources(const Request& request);
  std::optional<Reply> list_templates(const Request& request);
  std::optional<Reply> read_resource(const Request& request);
  std::optional<Reply> list_prompts(const Request& request);
  std::optional<Reply> fill_prompt(const Request& request);
  Json own_tool(const Request& request, const Tool& tool, const Json& arguments);
  std::optional<Json> follow(const Request& request, const std::string& handle,
                             const Json& arguments);

  const Settings settings_;
  Jobs jobs_;
};

}  // namespace kw::mcp
