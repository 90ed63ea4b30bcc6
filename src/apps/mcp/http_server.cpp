// The protocol has two ways over HTTP. Older revisions open a session with a handshake, and a
// broken connection must not stop their requests. The newest is stateless: every request names its
// revision, and a client that leaves cancels its request. So one POST is first sorted by revision,
// then served with or without a session. Access is checked before a body is read. One thread per
// connection, at most 32, is simple and enough, because the commands run in processes of their own.
// An event loop would accept more connections, but the commands would still wait for their
// resources. When 32 connections are open, a new one takes the place of one that is silent. The
// cost: 503 when all 32 are at work.
#include "mcp/http_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "mcp/http_connections.h"
#include "mcp/http_sessions.h"
#include "mcp/http_wire.h"
#include "mcp/thread_group.h"
#include "os/interrupt.h"

namespace kw::mcp {
namespace {

constexpr size_t kMostConnections = 32;
constexpr size_t kMostThreads = 2 * kMostConnections;  // with those that were shut down just now
constexpr int kAcceptMs = 200;
constexpr const char* kSessionHeader = "mcp-session-id";
constexpr const char* kRevisionHeader = "mcp-protocol-version";
constexpr const char* kNamedKey = "io.modelcontextprotocol/protocolVersion";

HttpAnswer refusal_answer(const HttpRefusal& refusal) {
  HttpAnswer answer{refusal.status, "text/plain", refusal.why + "\n"};
  answer.close = true;
  if (refusal.status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (refusal.status == 405) answer.headers.emplace_back("Allow", "POST, DELETE");
  return answer;
}

/// Checked before a body is read: access, path and method.
std::optional<HttpRefusal> not_welcome(const HttpRequest& request, const std::string& token) {
  if (!is_local_host(*request.header("host")))
    return HttpRefusal{403, "not a name of this machine"};
  const std::string* origin = request.header("origin");
  if (origin != nullptr && !is_local_origin(*origin))
    return HttpRefusal{403, "not from this machine"};
  if (!is_authorized(request, token)) return HttpRefusal{401, "the token is missing or wrong"};
  if (request.target != kHttpPath)
    return HttpRefusal{404, fmt::format("the endpoint is {}", kHttpPath)};
  if (request.method != "POST" && request.method != "DELETE")
    return HttpRefusal{405, "POST or DELETE"};
  return std::nullopt;
}

std::optional<HttpRefusal> not_understood(const HttpRequest& request) {
  const std::string* type = request.header("content-type");
  if (type == nullptr || !type->starts_with("application/json"))
    return HttpRefusal{415, "Content-Type must be application/json"};
  if (!accepts(request, "application/json") || !accepts(request, "text/event-stream"))
    return HttpRefusal{406, "Accept must name application/json and text/event-stream"};
  return std::nullopt;
}

/// For proxies, headers repeat what a stateless request contains; they must agree.
std::optional<RpcError> header_fault(const HttpRequest& request, const Message& message) {
  const auto mismatch = [](const char* name) {
    return RpcError{
        kHeaderMismatch, fmt::format("the header {} differs from the request", name), {}};
  };
  const std::string* revision = request.header(kRevisionHeader);
  if (revision == nullptr || *revision != message.params["_meta"][kNamedKey].as_string())
    return mismatch(kRevisionHeader);
  const std::string* method = request.header("mcp-method");
  if (method == nullptr || *method != message.method) return mismatch("mcp-method");
  const char* key = message.method == "resources/read"                                  ? "uri"
                    : message.method == "tools/call" || message.method == "prompts/get" ? "name"
                                                                                        : nullptr;
  if (key == nullptr || message.params[key].is_null()) return std::nullopt;
  const std::string* name = request.header("mcp-name");
  std::string text;
  if (name == nullptr || !decode_header(*name, &text) || text != message.params[key].as_string())
    return mismatch("mcp-name");
  return std::nullopt;
}

int status_of(const Json& reply, bool stateless) {
  const int64_t code = reply["error"]["code"].as_int();
  if (code == 0 || !stateless) return 200;
  if (code == kMethodNotFound) return 404;
  return code == kInternalError ? 200 : 400;
}

class HttpService {
 public:
  HttpService(Server& server, const HttpOptions& options) : server_(server), options_(options) {}

  Status run() {
    const int fd = KW_TRY(listen());
    ThreadGroup threads;
    while (!os::interrupted()) {
      pollfd polled[2] = {{fd, POLLIN, 0}, {os::interrupt_fd(), POLLIN, 0}};
      if (::poll(polled, 2, kAcceptMs) <= 0 || polled[0].revents == 0) continue;
      const int client = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) {
        ::poll(nullptr, 0, kAcceptMs);  // no descriptor is free: until one is
      } else if (threads.size() >= kMostThreads || !connections_.admit(client)) {
        HttpWire(client, ending_).write(refusal_answer({503, "too many connections"}));
      } else {
        threads.start([this, client] { converse(client); });
      }
    }
    ::close(fd);
    ending_ = true;
    for (const auto& session : sessions_.all()) session->cancel_all();
    server_.jobs().close();
    threads.join();
    return Done{};
  }

 private:
  Result<int> listen() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || ::bind(fd, generic, size) != 0 || ::listen(fd, 16) != 0 ||
        ::getsockname(fd, generic, &size) != 0) {
      const int problem = errno;
      if (fd >= 0) ::close(fd);
      return environment_error("port {}: {}", options_.port, std::strerror(problem));
    }
    if (options_.ready) options_.ready(ntohs(address.sin_port));
    return fd;
  }

  void converse(int client) {
    HttpWire wire(client, ending_);
    for (bool open = true; open && !ending_;) {
      connections_.waits(client);
      auto head = wire.head();
      if (!head) break;
      if (const auto* refusal = std::get_if<HttpRefusal>(&*head)) {
        wire.write(refusal_answer(*refusal));
        break;
      }
      open = serve(wire, std::get<HttpRequest>(*head));
    }
    connections_.leave(client);
  }

  /// False: close the connection after this answer.
  bool serve(HttpWire& wire, HttpRequest& request) {
    const auto refuse = [&](const HttpRefusal& refusal) {
      wire.write(refusal_answer(refusal));
      return false;
    };
    if (const auto refusal = not_welcome(request, options_.token)) return refuse(*refusal);
    connections_.works(wire.fd());
    if (request.method == "DELETE") return end_session(wire, request);
    if (const auto refusal = not_understood(request)) return refuse(*refusal);
    const auto length = body_length(request, kMostMessageBytes);
    if (const auto* refusal = std::get_if<HttpRefusal>(&length)) return refuse(*refusal);
    if (!wire.body(request, std::get<size_t>(length)))
      return refuse({408, "the body did not arrive in time"});
    const std::string* connection = request.header("connection");
    const bool keep = connection == nullptr || *connection != "close";
    return post(wire, request) && keep;
  }

  bool end_session(HttpWire& wire, const HttpRequest& request) {
    const std::string* id = request.header(kSessionHeader);
    const auto session = id == nullptr ? nullptr : sessions_.take(*id);
    if (!session) return wire.write(HttpAnswer{404, "text/plain", "no such session\n"});
    session->cancel_all();
    server_.jobs().cancel_of(session->id());
    return wire.write(HttpAnswer{204, "", ""});
  }

  static bool say(HttpWire& wire, int status, const Json& message) {
    return wire.write(HttpAnswer{status, "application/json", message.dump()});
  }

  bool post(HttpWire& wire, const HttpRequest& request) {
    const Incoming incoming = read_messages(request.body);
    if (incoming.batch) return batch(wire, request, incoming);
    if (const Json* refusal = std::get_if<Json>(&incoming.items.front()))
      return say(wire, 400, *refusal);
    const Message& message = std::get<Message>(incoming.items.front());
    const std::string* named = request.header(kRevisionHeader);
    const Revision* revision = named == nullptr ? nullptr : find_revision(*named);
    if (named != nullptr && revision == nullptr)
      return say(wire, 400, unknown_revision(message, *named));
    const bool stateless =
        message.method != "initialize" && ((revision != nullptr && revision->stateless) ||
                                           message.params["_meta"].contains(kNamedKey));
    if (stateless) return post_stateless(wire, request, message);
    return post_in_session(wire, request, message);
  }

  static Json unknown_revision(const Message& message, const std::string& named) {
    Json known = Json::array();
    for (const Revision& revision : revisions()) known.push(revision.name);
    return failure(message.id, {kUnsupportedRevision, "this protocol version is not supported",
                                Json::object().set("supported", known).set("requested", named)});
  }

  bool post_stateless(HttpWire& wire, const HttpRequest& request, const Message& message) {
    if (message.kind != Message::Kind::Request) return wire.write(HttpAnswer{202, "", ""});
    if (const auto fault = header_fault(request, message))
      return say(wire, 400, failure(message.id, *fault));
    Session alone("");  // its background jobs belong to the server
    ClientCall call;
    HttpSink sink(wire, ending_, true);
    const std::optional<Json> reply = server_.serve(alone, message, sink, call);
    return sink.finish(reply, reply ? status_of(*reply, true) : 200, {});
  }

  bool post_in_session(HttpWire& wire, const HttpRequest& request, const Message& message) {
    if (message.method == "initialize" && message.kind == Message::Kind::Request)
      return begin_session(wire, message);
    const std::string* id = request.header(kSessionHeader);
    if (id == nullptr)
      return say(wire, 400,
                 failure(message.id, {kInvalidRequest, "Mcp-Session-Id is missing", {}}));
    const auto session = sessions_.find(*id);
    if (!session)
      return say(wire, 404,
                 failure(message.id, {kInvalidRequest, "no such session; initialize again", {}}));
    if (message.kind != Message::Kind::Request) {
      if (message.kind == Message::Kind::Notification) server_.note(*session, message);
      return wire.write(HttpAnswer{202, "", ""});
    }
    const auto call = session->open(message.id);
    if (!call)
      return say(
          wire, 400,
          failure(message.id,
                  {kInvalidRequest, "this id is in use, or there are too many requests", {}}));
    // In these revisions the request continues if the connection breaks.
    HttpSink sink(wire, ending_, false);
    const std::optional<Json> reply = server_.serve(*session, message, sink, *call);
    session->close(message.id);
    return sink.finish(reply, 200, {});
  }

  bool begin_session(HttpWire& wire, const Message& message) {
    Result<std::shared_ptr<Session>> session = sessions_.make();
    if (!session)
      return say(wire, 503, failure(message.id, {kInternalError, session.error().message, {}}));
    ClientCall call;
    HttpSink sink(wire, ending_, false);
    const std::optional<Json> reply = server_.serve(**session, message, sink, call);
    const bool agreed = reply && reply->contains("result");
    if (!agreed) sessions_.take((*session)->id());
    return sink.finish(
        reply, 200,
        agreed ? HttpSink::Headers{{"Mcp-Session-Id", (*session)->id()}} : HttpSink::Headers{});
  }

  bool batch(HttpWire& wire, const HttpRequest& request, const Incoming& incoming) {
    const std::string* id = request.header(kSessionHeader);
    const auto session = id == nullptr ? nullptr : sessions_.find(*id);
    if (!session || session->revision() == nullptr || !session->revision()->batches)
      return say(wire, 400,
                 failure({}, {kInvalidRequest, "this protocol version has no batches", {}}));
    HttpSink sink(wire, ending_, false);
    Json replies = Json::array();
    for (const auto& item : incoming.items) {
      if (const Json* refusal = std::get_if<Json>(&item)) {
        replies.push(*refusal);
        continue;
      }
      const Message& message = std::get<Message>(item);
      if (message.kind == Message::Kind::Notification) server_.note(*session, message);
      if (message.kind != Message::Kind::Request) continue;
      const auto call = session->open(message.id);
      if (!call) {
        replies.push(failure(message.id, {kInvalidRequest, "this id is in use", {}}));
        continue;
      }
      if (const auto reply = server_.serve(*session, message, sink, *call)) replies.push(*reply);
      session->close(message.id);
    }
    if (replies.items().empty()) return wire.write(HttpAnswer{202, "", ""});
    return sink.finish(replies, 200, {});
  }

  Server& server_;
  const HttpOptions& options_;
  HttpSessions sessions_;
  Connections connections_{kMostConnections};
  std::atomic<bool> ending_{false};
};

}  // namespace

Status serve_http(Server& server, const HttpOptions& options) {
  return HttpService(server, options).run();
}

}  // namespace kw::mcp
