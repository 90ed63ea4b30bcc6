#include "llm/secret.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/ascii.h"
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
    const bool plain = is_ascii_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// What base64 makes of the secret behind `before` other bytes: the characters that no neighbour
/// changes.
std::string base64_form(const std::string& text, size_t before) {
  static constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string bytes = std::string(before, '\0') + text;
  std::string out;
  for (size_t bit = 0; bit + 6 <= 8 * bytes.size(); bit += 6) {
    const auto high = static_cast<unsigned char>(bytes[bit / 8]);
    const unsigned low =
        bit / 8 + 1 < bytes.size() ? static_cast<unsigned char>(bytes[bit / 8 + 1]) : 0;
    out += kDigits[(((high << 8U) | low) >> (10 - bit % 8)) & 63U];
  }
  return out.substr((8 * before + 5) / 6);
}

/// Takes out each occurrence of the form, or of its beginning.
std::string without(std::string text, const std::string& form) {
  const std::string_view begin = std::string_view(form).substr(0, kShortestSecret);
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    size_t length = begin.size();
    while (length < form.size() && at + length < text.size() && text[at + length] == form[length])
      ++length;
    text.replace(at, length, kShown);
    at += std::strlen(kShown);
  }
  return text;
}

}  // namespace

Secret::Secret(std::string text) : text_(std::move(text)) {
  if (text_.size() < kShortestSecret) return;
  forms_ = {text_, replace_all(replace_all(text_, "\\", "\\\\"), "\"", "\\\""), url_form(text_),
            std::string(text_.rbegin(), text_.rend())};
  for (size_t before = 0; before < 3; ++before) {
    const std::string plain = base64_form(text_, before);
    forms_.push_back(plain);
    forms_.push_back(replace_all(replace_all(plain, "+", "-"), "/", "_"));
  }
  std::erase_if(forms_, [](const std::string& form) { return form.size() < kShortestSecret; });
  // The longer form first: one may begin with another.
  std::ranges::sort(forms_, [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string Secret::redact(std::string text) const {
  for (const std::string& form : forms_) text = replace_all(std::move(text), form, kShown);
  for (const std::string& form : forms_) text = without(std::move(text), form);
  return text;
}

std::string Secret::redact_piece(std::string_view piece, std::string& held) const {
  std::string text = std::exchange(held, "") + std::string(piece);
  for (const std::string& form : forms_) text = replace_all(std::move(text), form, kShown);
  size_t open = 0;  // the longest end that begins a form
  for (const std::string& form : forms_) {
    for (size_t n = std::min(text.size(), form.size() - 1); n > open; --n) {
      if (text.compare(text.size() - n, n, form, 0, n) == 0) open = n;
    }
  }
  held = text.substr(text.size() - open);
  text.resize(text.size() - open);
  return redact(std::move(text));
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
