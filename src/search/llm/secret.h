// A text that must stay secret: a key. It cannot be formatted, printed, compared or converted. Only
// the code that writes the HTTP header reads it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::llm {

/// Longer keys are refused: no provider has them, and every part of a key is looked for.
inline constexpr size_t kLongestSecret = 8192;

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text);

  bool empty() const { return text_.empty(); }
  /// For the only caller that sends it (curl_http.cpp).
  const std::string& reveal() const { return text_; }
  /// `text` with "[key]" for every occurrence of the secret or of 12 or more of its characters in a
  /// row: plain, reversed, in hex or base64, in another case, also escaped as in JSON and URLs, as
  /// a whole or in part. Some servers quote the key that they reject. Texts under 12 characters
  /// ("EMPTY", "ollama") are not secrets: replacing them would damage messages.
  std::string redact(std::string text) const;
  /// The same for a text that arrives in pieces; returns what can be shown now. The caller owns
  /// `held`: it keeps an end that may be the beginning of a part of the secret.
  std::string redact_piece(std::string_view piece, std::string& held) const;

 private:
  struct Forms;
  std::string text_;
  std::shared_ptr<const Forms> forms_;  // shared by copies; nullptr: nothing is looked for
};

/// The trimmed content of a file that only its owner can access (mode 600 or less).
Result<Secret> read_secret_file(const std::string& path);

}  // namespace kw::llm
