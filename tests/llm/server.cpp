#include "server.h"

#include <fmt/core.h>
#include <stdlib.h>

#include "core/check.h"

namespace kw::llm::test {

Server::Server() : http_(make_curl_http()) {
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"})
    ::unsetenv(name);
  ::setenv("KW_TEST_KEY", kKey, 1);
  auto child = os::Child::start(
      {KW_PYTHON, "-B", std::string(KW_LLM_TESTS) + "/server.py", "--frame", "--key", kKey});
  KW_CHECK(child, child ? "" : child.error().message);
  child_ = std::move(child).value();
  std::string port;
  KW_CHECK(child_->receive(&port, 60) == os::ChannelState::Open, child_->stderr_tail());
  url_ = "http://127.0.0.1:" + port;
}

Server& Server::instance() {
  static Server server;
  return server;
}

void Server::script(const std::string& steps) {
  HttpRequest request;
  request.url = url_ + "/control/script";
  request.body = fmt::format("{{\"reset\": true, \"steps\": {}}}", steps);
  const HttpOutcome outcome = http_->send(request, {});
  KW_CHECK(outcome.problem == HttpProblem::None && outcome.reply.status == 200,
           outcome.detail + outcome.reply.body);
}

Json Server::log() {
  HttpRequest request;
  request.url = url_ + "/control/log";
  const HttpOutcome outcome = http_->send(request, {});
  auto json = Json::parse(outcome.reply.body);
  KW_CHECK(json, outcome.detail);
  return std::move(json).value();
}

std::vector<Json> Server::requests() { return log()["requests"].items(); }

size_t Server::steps_left() { return static_cast<size_t>(log()["steps_left"].as_int()); }

Config Server::config(const std::string& extra) const {
  std::string toml;
  const std::pair<const char*, const char*> bases[] = {
      {"anthropic", ""}, {"openai", "/v1"}, {"openai-responses", "/v1"}, {"gemini", "/v1beta"}};
  for (const auto& [name, path] : bases) {
    toml += fmt::format("[provider.{}]\nbase_url = \"{}{}\"\nkey_env = \"KW_TEST_KEY\"\n", name,
                        url_, path);
  }
  auto config = parse_config(toml + extra, "test");
  KW_CHECK(config, config ? "" : config.error().message);
  return std::move(config).value();
}

Request question(const std::string& text, const std::string& model) {
  Request request;
  request.model = model;
  request.system.push_back({"You are terse.", Cache::No});
  request.messages.push_back(user_message(text));
  request.timeout_seconds = 20;
  return request;
}

Tool compile_tool() {
  auto schema = Json::parse(
      R"({"type": "object", "properties": {"source": {"type": "string", "description": "CUDA"},
          "flags": {"type": "array", "items": {"type": "string"}}},
          "required": ["source"], "additionalProperties": false})");
  KW_CHECK(schema, "the schema is JSON");
  return {"compile", "Compiles a module.", std::move(schema).value()};
}

}  // namespace kw::llm::test
