#include "llm/secret.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text.h"
#include "os/files.h"

namespace kw::llm {
namespace {

constexpr const char* kShown = "[key]";
constexpr size_t kShortestSecret = 12;

/// The secret as a URL writes it: all but letters, digits and "-._~" as %XX.
std::string url_form(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

std::string Secret::redact(std::string text) const {
  if (text_.size() < kShortestSecret) return text;
  text = replace_all(std::move(text), text_, kShown);
  const std::string in_json = replace_all(replace_all(text_, "\\", "\\\\"), "\"", "\\\"");
  if (in_json != text_) text = replace_all(std::move(text), in_json, kShown);
  const std::string in_url = url_form(text_);
  if (in_url != text_) text = replace_all(std::move(text), in_url, kShown);
  return text;
}

std::string Secret::redact_piece(std::string_view piece, std::string& held) const {
  std::string text = redact(std::exchange(held, "") + std::string(piece));
  if (text_.size() < kShortestSecret) return text;
  for (size_t n = std::min(text.size(), text_.size() - 1); n > 0; --n) {
    if (text.compare(text.size() - n, n, text_, 0, n) != 0) continue;
    held = text.substr(text.size() - n);
    text.resize(text.size() - n);
    break;
  }
  return text;
}

Result<Secret> read_secret_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return input_error("key file {}: {}", path, std::strerror(errno));
  if ((info.st_mode & 077) != 0) {
    return input_error("key file {}: others can read it (mode {:o}); chmod 600 {}", path,
                       info.st_mode & 0777, shell_quote(path));
  }
  auto text = os::read_file(path, 1 << 16);
  if (!text) return std::move(text).error().context("key file");
  const std::string key(trim(*text));
  if (key.empty()) return input_error("key file {}: it is empty", path);
  for (const char c : key) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      return input_error("key file {}: a key is one word on one line", path);
  }
  return Secret(key);
}

}  // namespace kw::llm
