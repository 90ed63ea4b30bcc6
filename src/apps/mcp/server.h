// The protocol's methods over tools, resources, prompts and jobs. Transports give it messages; it
// neither reads nor writes anything itself.
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
  os::Permissions allowed = {};  // what of its clients' code it runs; the runner holds to it
  Runner runner;
};

/// What a method is given.
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

  /// The response to a request, which may take as long as the command it runs; nothing for other
  /// messages and for requests that were cancelled. `call` is the session's, opened for this id.
  std::optional<Json> serve(Session& session, const Message& message, Sink& sink, Call& call);
  /// The work of notifications, at once.
  void note(Session& session, const Message& message);
  /// Whether serving this may take longer than a moment.
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
