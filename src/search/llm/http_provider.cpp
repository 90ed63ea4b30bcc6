// One exchange over HTTP for all vendors. The vendor's format is a row of functions (wire.h), so
// this source has the parts that are equal for all: the URL, the headers, the key, the stream, the
// failures. A stream is assembled into the body that a reply without streaming has, so one parser
// per format is enough. A key is never sent over plain http to another machine. Servers quote keys
// in errors, so the key is removed from every text that comes back. A class per vendor would repeat
// these rules four times. The cost: streamed text is held back while it could be the beginning of
// the key.
#include "llm/http_provider.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/web_address.h"
#include "llm/http_failure.h"
#include "llm/redacting.h"

namespace kw::llm {
namespace {

const Wire& wire_of(const ProviderRow& row) {
  const Wire* wire = find_wire(row.wire);
  KW_CHECK(wire != nullptr, "the configuration's reader has checked the wire");
  return *wire;
}

Failure not_sent(FailureKind kind, std::string message) {
  Failure failure;
  failure.kind = kind;
  failure.message = std::move(message);
  return failure;
}

bool is_stream(const HttpReply& head) {
  return head.status == 200 && head.header("content-type").starts_with("text/event-stream");
}

/// The request without opaque data that another format or model wrote.
Request own_words(const Request& request, const Wire& wire) {
  Request own = request;
  for (Message& message : own.messages) {
    if (message.opaque.wire != wire.name || message.opaque.model != request.model)
      message.opaque = {};
  }
  return own;
}

/// Limits the numbers that a faulty server may report, so that sums cannot overflow.
void bound(Usage& usage) {
  constexpr int64_t kMost = 1'000'000'000;
  for (int64_t* count :
       {&usage.input, &usage.output, &usage.cache_read, &usage.cache_write, &usage.reasoning})
    *count = std::clamp<int64_t>(*count, 0, kMost);
}

/// Feeds the bytes of a stream to the assembler as they arrive.
class StreamReader {
 public:
  StreamReader(const Wire& wire, const Watch& watch, const Secret& key)
      : watch_(watch),
        key_(key),
        assembler_(wire.assemble()),
        parser_([this](const SseEvent& event) { take(event); }) {}

  void feed(const HttpReply& head, std::string_view bytes) {
    if (!is_stream(head)) return;
    used_ = true;
    parser_.feed(bytes);
  }
  /// The assembler; nullptr when the reply was not a stream.
  const Assembler* end() {
    parser_.finish();
    show(key_.redact(std::exchange(held_, "")));  // the rest was not the whole key
    return used_ ? assembler_.get() : nullptr;
  }

 private:
  void take(const SseEvent& event) {
    auto data = Json::parse(event.data);
    // "[DONE]" is not JSON; such data is passed as null.
    show(key_.redact_piece(assembler_->take(event, data ? *data : Json()), held_));
  }
  void show(const std::string& text) {
    if (!text.empty() && watch_.on_text) watch_.on_text(text);
  }

  const Watch& watch_;
  const Secret& key_;
  std::unique_ptr<Assembler> assembler_;
  SseParser parser_;
  std::string held_;
  bool used_ = false;
};

}  // namespace

HttpProvider::HttpProvider(const Config& config, const ProviderRow& row, Secret key, Http& http,
                           Clock& clock)
    : config_(config),
      row_(row),
      wire_(wire_of(row)),
      key_(std::move(key)),
      http_(http),
      clock_(clock) {}

Capabilities HttpProvider::capabilities() const {
  return {row_.tools, row_.caching, true, row_.stream};
}

HttpRequest HttpProvider::http_request(const Request& request, const Json& body,
                                       Streaming streaming) const {
  HttpRequest http;
  http.url = row_.base_url + wire_.path(request, streaming);
  http.headers = row_.headers;
  http.headers.emplace_back("content-type", "application/json");
  http.headers.emplace_back("accept", "application/json, text/event-stream");
  if (wire_.fixed_header != nullptr) {
    const std::string line = wire_.fixed_header;
    const size_t colon = line.find(": ");
    http.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  http.key_header = wire_.key_header;
  http.key_prefix = wire_.key_prefix;
  http.key = key_;
  http.ca_file = row_.ca_file;
  http.body = body.dump();
  http.timeout_seconds = std::min(request.timeout_seconds, row_.timeout_seconds);
  // Without streaming, a thinking model sends nothing until it has finished.
  if (streaming == Streaming::No) http.idle_seconds = http.timeout_seconds;
  return http;
}

Outcome HttpProvider::complete(const Request& given, const Watch& watch) {
  if (const auto fine = check_request(given); !fine)
    return not_sent(FailureKind::BadRequest, fine.error().message);
  const Request request = own_words(given, wire_);
  const auto address = read_address(row_.base_url);
  const bool safe = address && (address->scheme == "https" || is_loopback(address->place.host));
  if (!key_.empty() && !safe) {
    return not_sent(
        FailureKind::Auth,
        fmt::format("{}: a key is not sent over plain http to another machine; use https, "
                    "or key = \"none\"",
                    row_.base_url));
  }
  const Streaming streaming = row_.stream ? Streaming::Yes : Streaming::No;
  std::vector<std::string> degraded;
  const WireTarget target{row_, config_.model(row_.wire, request.model), streaming};
  const HttpRequest http = http_request(request, wire_.body(request, target, degraded), streaming);

  StreamReader stream(wire_, watch, key_);
  const HttpWatch http_watch{
      [&](const HttpReply& head, std::string_view bytes) { stream.feed(head, bytes); },
      watch.cancelled};
  const HttpOutcome got = http_.send(http, http_watch);
  Outcome outcome = read(got, stream.end());
  const std::string& id = got.reply.header(wire_.request_id_header);
  if (outcome) {
    tidy_calls(request, *outcome);
    bound(outcome->usage);
    if (!outcome->opaque.wire.empty()) outcome->opaque.model = request.model;
    outcome->provider = row_.name;
    outcome->request_id = id;
    outcome->latency_seconds = got.seconds;
    if (outcome->model.empty()) outcome->model = request.model;
    outcome->degraded = std::move(degraded);
  } else {
    bound(outcome.failure().usage);
    outcome.failure().request_id = id;
    outcome.failure().latency_seconds = got.seconds;
  }
  redact(outcome, key_);
  return outcome;
}

Outcome HttpProvider::read_json(const std::string& text) const {
  const auto body = Json::parse(text);
  if (!body || !body->is_object()) {
    return invalid_reply(fmt::format("{} answered with {} instead of JSON; is base_url right?",
                                     host_of(row_.base_url), describe_body(text)));
  }
  if (!(*body)["error"].is_null()) return failure_of_error(*body);
  return wire_.read(*body);
}

Outcome HttpProvider::read(const HttpOutcome& got, const Assembler* stream) const {
  // If the connection breaks after the reply was complete, nothing is lost.
  const bool complete = stream != nullptr && stream->finished();
  if (got.problem != HttpProblem::None && !(complete && got.problem == HttpProblem::CutOff))
    return failure_of_problem(got, host_of(row_.base_url));
  if (got.reply.status != 200) return failure_of_status(got.reply, clock_.unix_time());
  if (stream == nullptr) return read_json(got.reply.body);
  const Json body = stream->body();
  if (!body["error"].is_null()) return failure_of_error(body);
  if (!complete) {
    Failure failure = invalid_reply("the stream ended before the reply was complete");
    failure.kind = FailureKind::CutOff;
    return failure;
  }
  return wire_.read(body);
}

}  // namespace kw::llm
