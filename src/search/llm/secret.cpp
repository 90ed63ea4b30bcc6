// A server can quote a key in many ways: cut, encoded, with some characters escaped. A list of
// whole forms would miss parts. So every form (plain, reversed, hex, base64 at its three
// alignments) is cut into all runs of 12 characters, and what a text has of these is taken out.
// Upper and lower case count as equal. Escapes of JSON and URLs are decoded in a second look, which
// remembers where each character came from. The cost: harmless text that has 12 characters of a
// form in a row is taken out too; and a stream holds back an end of up to 11 characters.
#include "llm/secret.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/text.h"
#include "os/files.h"

namespace kw::llm {
namespace {

constexpr const char* kShown = "[key]";
constexpr size_t kRun = 12;  // characters of the secret in a row

std::string hex_form(const std::string& text) {
  std::string out;
  for (const char c : text) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
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

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = std::tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The number that these digits write; -1 when one is none.
int hex_number(std::string_view digits) {
  int number = 0;
  for (const char c : digits) {
    if (hex_digit(c) < 0) return -1;
    number = 16 * number + hex_digit(c);
  }
  return number;
}

/// Parts of a text, as [begin, end).
using Parts = std::vector<std::pair<size_t, size_t>>;

/// A text as it is compared: in lower case, and perhaps without escapes.
struct Look {
  std::string text;
  std::vector<size_t> begins = {};  // where each character begins in the raw text; empty: the same

  size_t raw(size_t at, size_t raw_size) const {
    if (begins.empty()) return at;
    return at < begins.size() ? begins[at] : raw_size;
  }
};

/// The length of the escape that begins here, and its character; 1 and the character itself when
/// there is none.
std::pair<size_t, char> unescaped(std::string_view text) {
  const int url = text[0] == '%' && text.size() > 2 ? hex_number(text.substr(1, 2)) : -1;
  if (url >= 0) return {3, static_cast<char>(url)};
  if (text[0] == '\\' && text.size() > 1) {
    if (std::strchr("\"\\/", text[1]) != nullptr) return {2, text[1]};
    const int code = text[1] == 'u' && text.size() > 5 ? hex_number(text.substr(2, 4)) : -1;
    if (code > 0 && code < 0x80) return {6, static_cast<char>(code)};
  }
  return {1, text[0]};
}

Look without_escapes(std::string_view raw) {
  Look look;
  for (size_t at = 0; at < raw.size();) {
    const auto [length, character] = unescaped(raw.substr(at));
    look.text += character;
    look.begins.push_back(at);
    at += length;
  }
  look.text = lower_case(look.text);
  return look;
}

/// The looks at a text: as it is, and without escapes when it has any.
std::vector<Look> looks_at(std::string_view raw) {
  std::vector<Look> looks = {{lower_case(raw), {}}};
  if (raw.find_first_of("%\\") != std::string_view::npos) looks.push_back(without_escapes(raw));
  return looks;
}

/// The size of a text without an escape that its end cuts.
size_t before_cut_escape(std::string_view text) {
  constexpr size_t kLongestEscape = 6;
  const size_t from = text.size() - std::min(text.size(), kLongestEscape - 1);
  for (size_t at = from; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const bool url = rest[0] == '%' && rest.size() < 3;
    const bool json = rest == "\\" || rest.starts_with("\\u");
    if ((url || json) && hex_number(rest.substr(std::min<size_t>(json ? 2 : 1, rest.size()))) >= 0)
      return at;
  }
  return text.size();
}

size_t pair_of(char a, char b) {
  return static_cast<size_t>(static_cast<unsigned char>(a)) << 8U | static_cast<unsigned char>(b);
}

}  // namespace

struct Secret::Forms {
  std::vector<std::string> all;          // in lower case
  std::unordered_set<std::string> runs;  // every run of kRun characters of a form
  std::bitset<65536> begins;             // the first two characters of runs
  size_t longest = 0;

  void add(const std::string& form) {
    all.push_back(lower_case(form));
    longest = std::max(longest, form.size());
    for (size_t at = 0; at + kRun <= form.size(); ++at) {
      runs.insert(all.back().substr(at, kRun));
      begins.set(pair_of(all.back()[at], all.back()[at + 1]));
    }
  }

  void find(const Look& look, size_t raw_size, Parts* found) const {
    Parts own;
    for (size_t at = 0; at + kRun <= look.text.size(); ++at) {
      if (!begins.test(pair_of(look.text[at], look.text[at + 1])) ||
          runs.count(look.text.substr(at, kRun)) == 0)
        continue;
      if (!own.empty() && at < own.back().second) {
        own.back().second = at + kRun;
      } else {
        own.emplace_back(at, at + kRun);
      }
    }
    for (const auto& [begin, end] : own)
      found->emplace_back(look.raw(begin, raw_size), look.raw(end, raw_size));
  }

  /// The parts to take out, in order and without overlaps.
  Parts parts(std::string_view raw) const {
    Parts found, merged;
    for (const Look& look : looks_at(raw)) find(look, raw.size(), &found);
    std::ranges::sort(found);
    for (const auto& part : found) {
      if (!merged.empty() && part.first < merged.back().second) {
        merged.back().second = std::max(merged.back().second, part.second);
      } else {
        merged.push_back(part);
      }
    }
    return merged;
  }

  /// Where the longest end begins that may be the beginning of a run.
  size_t open_end(const Look& look, size_t raw_size) const {
    for (size_t n = std::min(look.text.size(), kRun - 1); n > 0; --n) {
      const std::string_view end = std::string_view(look.text).substr(look.text.size() - n);
      if (std::ranges::any_of(
              all, [&](const auto& form) { return form.find(end) != std::string::npos; }))
        return look.raw(look.text.size() - n, raw_size);
    }
    return raw_size;
  }
};

Secret::Secret(std::string text) : text_(std::move(text)) {
  if (text_.size() < kRun) return;
  const auto forms = std::make_shared<Forms>();
  for (const std::string& one : {text_, std::string(text_.rbegin(), text_.rend())}) {
    forms->add(one);
    forms->add(hex_form(one));
    for (size_t before = 0; before < 3; ++before) {
      const std::string plain = base64_form(one, before);
      forms->add(plain);
      forms->add(replace_all(replace_all(plain, "+", "-"), "/", "_"));
    }
  }
  forms_ = forms;
}

std::string Secret::redact(std::string text) const {
  if (forms_ == nullptr) return text;
  std::string shown;
  size_t at = 0;
  for (const auto& [begin, end] : forms_->parts(text)) {
    shown += text.substr(at, begin - at) + kShown;
    at = end;
  }
  return at == 0 ? text : shown + text.substr(at);
}

std::string Secret::redact_piece(std::string_view piece, std::string& held) const {
  std::string text = std::exchange(held, "") + std::string(piece);
  if (forms_ == nullptr) return text;
  const size_t whole = before_cut_escape(text);
  size_t open = whole;
  for (const Look& look : looks_at(std::string_view(text).substr(0, whole)))
    open = std::min(open, forms_->open_end(look, whole));
  for (const auto& [begin, end] : forms_->parts(text)) {
    if (begin < open && open < end) open = begin;
  }
  // A key that is repeated without an end must not be kept without an end.
  if (text.size() - open > 8 * forms_->longest) open = text.size() - (kRun - 1);
  held = text.substr(open);
  text.resize(open);
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
  if (key.size() > kLongestSecret)
    return input_error("key file {}: a key has at most {} characters", path, kLongestSecret);
  for (const char c : key) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      return input_error("key file {}: a key is one word on one line", path);
  }
  return Secret(key);
}

}  // namespace kw::llm
