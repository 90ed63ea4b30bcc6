// A text that must not be seen: a key. It cannot be formatted, printed, compared or converted; only
// the place that writes the HTTP header reads it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace kw::llm {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  bool empty() const { return text_.empty(); }
  /// For the one caller that sends it (curl_http.cpp).
  const std::string& reveal() const { return text_; }
  /// `text` with every occurrence of the secret (as it is, or as JSON and URLs write it) replaced
  /// by
  /// "[key]". Servers like to quote the key they reject. Texts under 12 characters are no secrets
  /// ("EMPTY", "ollama"): taking them out would spoil what is said.
  std::string redact(std::string text) const;
  /// The same for a text that comes in pieces: gives what can be shown now. `held` keeps the end
  /// that may be the beginning of the secret; it is the caller's between calls.
  std::string redact_piece(std::string_view piece, std::string& held) const;

 private:
  std::string text_;
};

/// The content of a file only its owner can touch (mode 600 or less), blanks around it removed.
Result<Secret> read_secret_file(const std::string& path);

}  // namespace kw::llm
