// The strict model server as a child process, and providers that talk to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "llm/client.h"
#include "llm/config.h"
#include "llm/http.h"
#include "os/process.h"

namespace kw::llm::test {

inline constexpr const char* kKey = "sk-planted-5f1d0c";

/// The four providers of the built-in rows, one per wire format, with a model that each knows.
struct Vendor {
  const char* provider;
  const char* model;
  const char* thinker;  // a model that thinks
};
inline constexpr Vendor kVendors[] = {
    {"anthropic", "claude-sonnet-4-6", "claude-sonnet-4-6"},
    {"openai", "gpt-4.1", "gpt-5.2"},
    {"openai-responses", "gpt-4.1", "gpt-5.2"},
    {"gemini", "gemini-2.5-pro", "gemini-3-pro-preview"},
};

/// One server for the whole program, started when first asked for.
class Server {
 public:
  static Server& instance();
  /// Forgets everything and answers with these steps (a JSON list).
  void script(const std::string& steps);
  /// What it received since script().
  std::vector<Json> requests();
  size_t steps_left();
  const std::string& url() const { return url_; }
  /// Built-in rows, sent here. `extra` is more TOML.
  Config config(const std::string& extra = "") const;
  Http& http() { return *http_; }

 private:
  Server();
  Json log();
  std::unique_ptr<os::Child> child_;
  std::unique_ptr<Http> http_;
  std::string url_;
};

/// A request with a system text and one question.
Request question(const std::string& text, const std::string& model = "");
/// The tool "compile" with one text parameter.
Tool compile_tool();

}  // namespace kw::llm::test
