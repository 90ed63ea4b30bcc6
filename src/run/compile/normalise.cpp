// The same source should give the same PTX on every machine, so that results can be compared. But
// compilers write folders of this machine into .file, and names with internal linkage contain a
// name of the translation unit that depends on the process. Such a name is mangled with its length,
// and a digit may precede the length, so one name alone is ambiguous; all names vote. Only tokens
// found by the PTX lexer are edited, the rest stays byte for byte. Compiler options that avoid this
// do not exist for NVRTC. The cost: the text is read by the lexer once more. If two names would
// become equal, all names stay as they are.
#include "compile/normalise.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "core/text.h"
#include "ptx/lexer.h"

namespace kw::compile {
namespace {

using ptx::Token;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The text before the name of the translation unit, and the number that replaces both.
struct Mark {
  std::string_view text;
  int number = 0;
};
constexpr std::string_view kPlainName = "_GLOBAL__N_";  // with a number; demanglers know it
constexpr std::array<Mark, 2> kMarks = {{{"_GLOBAL__N__", 1}, {"_INTERNAL_", 2}}};

bool has_mark(std::string_view text) {
  return std::ranges::any_of(
      kMarks, [&](const Mark& mark) { return text.find(mark.text) != std::string_view::npos; });
}

/// The shortest possible name of a translation unit here: "00000000_4_m_cu_" and one character. 0
/// when none begins here.
size_t shortest_unit(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && at < 8 && std::isxdigit(static_cast<unsigned char>(text[at])) != 0)
    ++at;
  if (at != 8 || at == text.size() || text[at] != '_') return 0;
  const size_t digits = ++at;
  while (at < text.size() && is_digit(text[at])) ++at;
  const auto file = parse_int(text.substr(digits, at - digits));
  if (!file || *file <= 0 || *file > static_cast<int64_t>(text.size())) return 0;
  at += 1 + static_cast<size_t>(*file);  // "_m_cu"
  return at + 2 <= text.size() && text[at] == '_' ? at + 2 : 0;
}

/// Names with internal linkage contain the translation unit's name, mangled as length and text:
/// "42_GLOBAL__N__00000000_4_m_cu_e6b0a624_20430". A digit may precede the length ("3__4" and
/// "42_GLOBAL…"), so only all names together tell which digits belong to it.
class InternalNames {
 public:
  void see(std::string_view name) {
    for (const Mark& mark : kMarks) {
      for (size_t at = name.find(mark.text); at != std::string_view::npos;
           at = name.find(mark.text, at + 1)) {
        std::set<std::string> units = units_at(name, at, mark.text.size());
        if (!units.empty()) places_.push_back(std::move(units));
      }
    }
  }

  /// Chooses the unit that most places agree on first; among equals the shortest.
  void choose() {
    while (!places_.empty()) {
      std::map<std::string, size_t> votes;
      for (const auto& units : places_) {
        for (const std::string& unit : units) ++votes[unit];
      }
      const auto best = std::ranges::max_element(votes, [](const auto& a, const auto& b) {
        return std::pair(a.second, b.first.size()) < std::pair(b.second, a.first.size());
      });
      add(best->first);
      std::erase_if(places_, [&](const auto& units) { return units.contains(best->first); });
    }
  }

  std::string renamed(std::string_view name) const {
    std::string result(name);
    for (const auto& [from, to] : names_) result = replace_all(std::move(result), from, to);
    return result;
  }

 private:
  /// Every unit that the digits in front of the mark can mean.
  static std::set<std::string> units_at(std::string_view name, size_t at, size_t mark) {
    std::set<std::string> units;
    const size_t shortest = shortest_unit(name.substr(at + mark));
    if (shortest == 0) return units;
    for (size_t begin = at; begin > 0 && is_digit(name[begin - 1]); --begin) {
      if (name[begin - 1] == '0') continue;
      const auto length = parse_int(name.substr(begin - 1, at - begin + 1));
      if (!length || *length > static_cast<int64_t>(name.size() - at)) break;
      if (*length >= static_cast<int64_t>(mark + shortest))
        units.emplace(name.substr(at + mark, static_cast<size_t>(*length) - mark));
    }
    return units;
  }

  void add(const std::string& unit) {
    for (const Mark& mark : kMarks) {
      const std::string from = std::string(mark.text) + unit;
      const std::string to = std::string(kPlainName) + std::to_string(2 * units_ + mark.number);
      names_.emplace_back(std::to_string(from.size()) + from, std::to_string(to.size()) + to);
    }
    ++units_;
  }

  std::vector<std::set<std::string>> places_;
  std::vector<std::pair<std::string, std::string>> names_;
  int units_ = 0;
};

/// The form of a path for a .file line.
std::string plain_path(std::string_view path, std::string_view file_name,
                       const std::vector<std::string>& folders) {
  if (path.ends_with("/" + std::string(file_name))) return std::string(file_name);
  // The longest folder wins: include/cccl before include.
  size_t longest = 0;
  for (const std::string& folder : folders) {
    if (path.starts_with(folder + "/")) longest = std::max(longest, folder.size() + 1);
  }
  return std::string(path.substr(longest));
}

/// One string of .debug_str: its bytes, and the text after its label.
struct DebugString {
  std::string_view text;
  std::string bytes;
};

/// The parts of a PTX text that may have to change.
struct Places {
  std::vector<std::string_view> paths, names, comments;
  std::vector<DebugString> strings;
};

class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text), lexer_(text) {}

  Places find() {
    while (lexer_.peek().kind != Token::Kind::End) {
      const Token token = take();
      const bool ours = token.text.find(kPlainName) != std::string_view::npos;
      if (token.kind == Token::Kind::Name && (ours || has_mark(token.text)))
        places_.names.push_back(token.text);
      else if (token.kind == Token::Kind::Dotted && token.text == "file")
        take_file();
      else if (token.kind == Token::Kind::Dotted && token.text == "section")
        take_section();
    }
    take_comments(text_.size());
    return std::move(places_);
  }

 private:
  Token take() {
    const Token token = lexer_.next();
    if (token.kind == Token::Kind::Bad) return token;  // its text may be a message
    const auto begin = static_cast<size_t>(token.text.data() - text_.data());
    take_comments(begin);
    after_ = begin + token.text.size();
    return token;
  }

  /// The text before a token: "// _ZN…E4tile has been demoted".
  void take_comments(size_t end) {
    const std::string_view between = text_.substr(after_, end - after_);
    if (has_mark(between)) places_.comments.push_back(between);
  }

  void take_file() {
    if (lexer_.peek().kind == Token::Kind::Number) take();
    if (lexer_.peek().kind == Token::Kind::String) places_.paths.push_back(take().text);
  }

  /// ".section .debug_str { label: .b8 95,90,0 .b8 1 … }"
  void take_section() {
    if (lexer_.peek().kind != Token::Kind::Dotted || lexer_.peek().text != "debug_str") return;
    take();
    if (!lexer_.peek().is("{")) return;
    take();
    while (lexer_.at_label()) {
      take();
      take();
      take_string();
    }
  }

  void take_string() {
    const size_t begin = after_;
    DebugString string;
    while (lexer_.peek().kind == Token::Kind::Dotted && lexer_.peek().text == "b8") {
      do {
        take();
        const auto byte = lexer_.peek().kind == Token::Kind::Number ? parse_int(lexer_.peek().text)
                                                                    : std::nullopt;
        if (!byte || *byte < 0 || *byte > 255) return;
        string.bytes += static_cast<char>(*byte);
        take();
      } while (lexer_.peek().is(","));
    }
    string.text = text_.substr(begin, after_ - begin);
    if (has_mark(string.bytes)) places_.strings.push_back(std::move(string));
  }

  std::string_view text_;
  ptx::Lexer lexer_;
  size_t after_ = 0;  // the last token taken
  Places places_;
};

std::string byte_lines(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += i % 40 != 0 ? "," : "\n.b8 ";
    text += std::to_string(static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

/// Maps the identifiers of the text to their new names; empty when two would become equal.
std::optional<std::map<std::string_view, std::string>> renaming(const Places& places,
                                                                const InternalNames& internal) {
  std::map<std::string_view, std::string> renamed;
  std::set<std::string> taken;
  for (const std::string_view name : places.names) {
    const auto [at, fresh] = renamed.try_emplace(name);
    if (!fresh) continue;
    at->second = internal.renamed(name);
    if (!taken.insert(at->second).second) return std::nullopt;
  }
  return renamed;
}

}  // namespace

std::string normalise_ptx(std::string_view ptx, std::string_view file_name,
                          const std::vector<std::string>& header_folders,
                          std::vector<std::string>* names) {
  const Places places = PlaceFinder(ptx).find();
  std::map<const char*, std::pair<size_t, std::string>> edits;  // by their start
  for (const std::string_view path : places.paths)
    edits[path.data()] = {path.size(), plain_path(path, file_name, header_folders)};
  InternalNames internal;
  for (const std::string_view name : std::set(places.names.begin(), places.names.end()))
    internal.see(name);
  for (const DebugString& string : places.strings)
    internal.see(std::string_view(string.bytes).substr(0, string.bytes.find('\0')));
  internal.choose();
  if (const auto renamed = renaming(places, internal)) {
    for (const std::string_view name : places.names)
      edits[name.data()] = {name.size(), renamed->at(name)};
    for (const std::string_view comment : places.comments)
      edits[comment.data()] = {comment.size(), internal.renamed(comment)};
    for (const DebugString& string : places.strings)
      edits[string.text.data()] = {string.text.size(), byte_lines(internal.renamed(string.bytes))};
    for (std::string& name : *names) name = internal.renamed(name);
  }
  std::string result;
  result.reserve(ptx.size());
  const char* at = ptx.data();
  for (const auto& [begin, edit] : edits) {
    result.append(at, begin);
    result.append(edit.second);
    at = begin + edit.first;
  }
  result.append(at, ptx.data() + ptx.size());
  return result;
}

}  // namespace kw::compile
