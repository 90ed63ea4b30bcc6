// A text that must stay secret: a key. It cannot be formatted, printed, compared or converted. Only
// the code that writes the HTTP header reads it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::llm {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text);

  bool empty() const { return text_.empty(); }
  /// For the only caller that sends it (curl_http.cpp).
  const std::string& reveal() const { return text_; }
  /// `text` with "[key]" for every occurrence of the secret or of its first 12 or more characters:
  /// plain, reversed, in base64, or escaped as in JSON and URLs. Some servers quote the key that
  /// they reject. Texts under 12 characters ("EMPTY", "ollama") are not secrets: replacing them
  /// would damage messages.
  std::string redact(std::string text) const;
  /// The same for a text that arrives in pieces; returns what can be shown now. The caller owns
  /// `held`: it keeps an end that may be the beginning of the secret.
  std::string redact_piece(std::string_view piece, std::string& held) const;

 private:
  std::string text_;
  std::vector<std::string> forms_;
};

/// The trimmed content of a file that only its owner can access (mode 600 or less).
Result<Secret> read_secret_file(const std::string& path);

}  // namespace kw::llm
