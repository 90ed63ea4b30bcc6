// Requests and outcomes as JSON, for cassettes, transcripts and ledgers. Optional members that are
// not set are left out. The label and the timeout are not written: they do not change the answer. A
// replay that finds no equal request must tell the user why, so first_difference() compares two
// values member by member. It gives the path and the byte of the first difference. A text diff
// would need no code here, but a request is one long line. The cost: only the first difference is
// shown.
#include "llm/message_json.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::llm {
namespace {

constexpr const char* kRoleWords[] = {"user", "assistant"};

std::string excerpt(const std::string& text, size_t at) {
  constexpr size_t kBefore = 20, kAfter = 40;
  const size_t begin = at > kBefore ? at - kBefore : 0;
  return (begin > 0 ? "…" : "") + text.substr(begin, at - begin + kAfter) +
         (at + kAfter < text.size() ? "…" : "");
}

std::string differ(const Json& a, const Json& b, const std::string& path);

std::string differ_strings(const std::string& a, const std::string& b, const std::string& path) {
  const auto at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  return fmt::format("{}: byte {}: recorded '{}', now '{}'", path, at, excerpt(a, at),
                     excerpt(b, at));
}

std::string differ_lists(const Json& a, const Json& b, const std::string& path) {
  const size_t both = std::min(a.items().size(), b.items().size());
  for (size_t i = 0; i < both; ++i) {
    std::string inner = differ(a.items()[i], b.items()[i], fmt::format("{}[{}]", path, i));
    if (!inner.empty()) return inner;
  }
  if (a.items().size() == b.items().size()) return "";
  return fmt::format("{}: recorded {} items, now {}", path, a.items().size(), b.items().size());
}

std::string differ_objects(const Json& a, const Json& b, const std::string& path) {
  const auto at = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : a.members()) {
    if (!b.contains(key)) return fmt::format("{}: recorded, but not there now", at(key));
    std::string inner = differ(value, b[key], at(key));
    if (!inner.empty()) return inner;
  }
  for (const auto& [key, value] : b.members()) {
    if (!a.contains(key)) return fmt::format("{}: not recorded, but there now", at(key));
  }
  return "";
}

std::string differ(const Json& a, const Json& b, const std::string& path) {
  if (a.is_object() && b.is_object()) return differ_objects(a, b, path);
  if (a.is_array() && b.is_array()) return differ_lists(a, b, path);
  const std::string a_text = a.dump(), b_text = b.dump();
  if (a_text == b_text) return "";
  if (a.is_string() && b.is_string()) return differ_strings(a.as_string(), b.as_string(), path);
  return fmt::format("{}: recorded {}, now {}", path, excerpt(a_text, 0), excerpt(b_text, 0));
}

}  // namespace

void fields(auto& v, SystemBlock& b) {
  v("text", b.text)("cache", computed(b.cache == Cache::Mark), Zero::Omit);
}

void fields(auto& v, ToolCall& c) { v("id", c.id)("name", c.name)("arguments", c.arguments); }

void fields(auto& v, ToolResult& r) {
  v("call_id", r.call_id)("name", r.name)("content", r.content)("failed", r.failed, Zero::Omit);
}

void fields(auto& v, Opaque& o) { v("wire", o.wire)("model", o.model)("content", o.content); }

void fields(auto& v, Message& m) {
  v("role", m.role, kRoleWords)("text", m.text, Zero::Omit)("calls", m.calls, Zero::Omit);
  v("results", m.results, Zero::Omit)("cache", computed(m.cache == Cache::Mark), Zero::Omit);
  v("opaque", m.opaque, When{!m.opaque.wire.empty()});
}

void fields(auto& v, Tool& t) {
  v("name", t.name)("description", t.description)("schema", t.schema);
}

void fields(auto& v, Reasoning& r) {
  v("effort", computed(effort_name(r.effort)))("budget_tokens", r.budget_tokens);
}

void fields(auto& v, Request& r) {
  v("model", r.model)("system", r.system)("messages", r.messages)("tools", r.tools);
  v("max_tokens", r.max_tokens)("temperature", r.temperature, Zero::Omit);
  v("reasoning", r.reasoning, When{r.reasoning.asked()})("stop", r.stop, Zero::Omit);
}

void fields(auto& v, Usage& u) {
  v("input", u.input)("output", u.output)("cache_read", u.cache_read)("cache_write", u.cache_write);
  v("reasoning", u.reasoning);
}

void fields(auto& v, Reply& r) {
  v("text", r.text, required)("stop", computed(stop_name(r.stop)))("stop_word", r.stop_word);
  v("calls", r.calls, Zero::Omit)("usage", r.usage)("provider", r.provider)("model", r.model);
  v("request_id", r.request_id)("latency_seconds", r.latency_seconds);
  v("degraded", r.degraded, Zero::Omit)("opaque", r.opaque, When{!r.opaque.wire.empty()});
}

void fields(auto& v, Failure& f) {
  v("kind", computed(failure_name(f.kind)))("message", f.message);
  v("retry_after_seconds", f.retry_after_seconds, Zero::Omit)("status", f.status, Zero::Omit);
  v("request_id", f.request_id)("sent", f.sent)("usage", f.usage, When{f.usage.known});
  v("latency_seconds", f.latency_seconds);
}

namespace {

Result<Outcome> reply_from(const Json& json) {
  Result<Reply> reply = check_record<Reply>(json);
  const auto stop = stop_reason(json["stop"].as_string());
  if (!stop || !reply) return input_error("a reply without text or stop");
  reply->stop = *stop;
  for (ToolCall& call : reply->calls) call = make_tool_call(call.id, call.name, call.arguments);
  return Outcome(std::move(reply).value());
}

Result<Outcome> failure_from(const Json& json) {
  const auto kind = failure_kind(json["kind"].as_string());
  if (!kind) return input_error("a failure of unknown kind");
  auto failure = read_record<Failure>(json);
  failure.kind = *kind;
  return Outcome(std::move(failure));
}

}  // namespace

Json to_json(const Request& request) { return record_json(request); }

Json to_json(const Usage& usage) { return usage.known ? record_json(usage) : Json(); }

bool from_json(const Json& json, Usage& usage) {
  usage = read_record<Usage>(json);
  usage.known = json.is_object();
  return true;
}

Json to_json(const Outcome& outcome) {
  return outcome ? Json(Json::Object{{"reply", record_json(*outcome)}})
                 : Json(Json::Object{{"failure", record_json(outcome.failure())}});
}

Result<Outcome> outcome_from_json(const Json& json) {
  if (json.contains("reply")) return reply_from(json["reply"]);
  if (json.contains("failure")) return failure_from(json["failure"]);
  return input_error("neither a reply nor a failure");
}

std::string first_difference(const Json& recorded, const Json& now) {
  return differ(recorded, now, "");
}

}  // namespace kw::llm
