// Candidates of a search differ in one kernel of a module and share the others, yet the whole
// module would be compiled each time. So a source is cut: for each kernel, itself and the
// declarations it needs, by name. Equal slices are compiled once, and slices of one module in
// parallel. A full C++ parser could cut any source; here only top-level pieces are recognised, and
// a piece that is not understood means that the module is compiled whole. So do variables, which
// kernels may share, and kernels inside #if.
// The cost: a start-up of about 20 ms per slice, so sources under 6000 bytes are not cut.
#include "compile/slices.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/contains.h"
#include "core/text.h"
#include "cuda_source/source_lexer.h"

namespace kw::compile {
namespace {

// A compile costs about 20 ms before it reads the source.
constexpr size_t kWorthSlicing = 6000;  // bytes of code

enum class PieceKind : uint8_t { Kernel, Named, Always };

/// One item at the top level of a source.
struct Piece {
  PieceKind kind = PieceKind::Always;
  std::string name;           // of kernels and Named ones; the latter are kept only if used
  size_t begin = 0, end = 0;  // bytes
  int line = 1;
  std::set<std::string> words;  // identifiers in it
};

/// Words that have parentheses of their own in front of a function's name.
constexpr std::array<std::string_view, 9> kAttributes = {
    "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__align__", "alignas",
    "__attribute__",     "decltype",         "noexcept",    "requires"};
constexpr std::array<std::string_view, 4> kRecords = {"struct", "class", "union", "enum"};
/// Declarations with these words end in ';' without being state that kernels share.
constexpr std::array<std::string_view, 5> kStateless = {"using", "typedef", "static_assert",
                                                        "constexpr", "consteval"};
constexpr std::array<std::string_view, 4> kPlainDirectives = {"include", "define", "undef",
                                                              "pragma"};

constexpr std::array<std::string_view, 3> kConditions = {"if", "ifdef", "ifndef"};

/// Reads the pieces of a text one after another; gives up at the first it does not understand.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : source_(cuda_source::lex_source(text)) {
    for (const cuda_source::Directive& directive : source_.directives)
      directives_[directive.first] = &directive;
  }

  std::optional<std::vector<Piece>> read() {
    std::vector<Piece> pieces;
    while (at_ < source_.tokens.size()) {
      std::optional<Piece> piece = next();
      if (!piece) return std::nullopt;
      pieces.push_back(std::move(*piece));
    }
    return pieces;
  }

 private:
  const std::string& text(size_t i) const { return source_.tokens[i].text; }
  bool is_name(size_t i) const {
    return source_.tokens[i].kind == cuda_source::SourceKind::Identifier;
  }

  std::optional<Piece> next() {
    const auto directive = directives_.find(at_);
    if (directive == directives_.end()) return declaration();
    return contains(kConditions, directive->second->name) ? conditional()
                                                          : directive_piece(*directive->second);
  }

  /// From an #if to its #endif: one piece, which must not contain a kernel.
  std::optional<Piece> conditional() {
    const size_t first = at_;
    at_ += directives_.at(first)->count;
    while (at_ < source_.tokens.size()) {
      const auto directive = directives_.find(at_);
      const std::string name = directive == directives_.end() ? "" : directive->second->name;
      if (name == "endif" || name == "else" || name == "elif") {
        at_ += directive->second->count;
        if (name == "endif") return piece_from(first, at_);
        continue;
      }
      const std::optional<Piece> inside = next();
      if (!inside || inside->kind == PieceKind::Kernel) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Piece> directive_piece(const cuda_source::Directive& directive) {
    if (!contains(kPlainDirectives, directive.name)) return std::nullopt;
    Piece piece = piece_from(at_, at_ + directive.count);
    at_ += directive.count;
    return piece;
  }

  Piece piece_from(size_t first, size_t last) const {
    Piece piece;
    piece.begin = source_.tokens[first].begin;
    piece.end = source_.tokens[last - 1].end;
    piece.line = source_.tokens[first].line;
    for (size_t i = first; i < last; ++i) {
      if (is_name(i)) piece.words.insert(text(i));
    }
    return piece;
  }

  /// The index after the matching bracket; empty when there is none.
  std::optional<size_t> behind(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < source_.tokens.size(); ++i) {
      const std::string& token = text(i);
      if (token == "(" || token == "[" || token == "{") ++depth;
      if (token == ")" || token == "]" || token == "}") --depth;
      if (depth == 0) return i + 1;
    }
    return std::nullopt;
  }

  /// The index after all `template <…>` heads.
  std::optional<size_t> behind_templates(size_t at) const {
    while (at + 1 < source_.tokens.size() && text(at) == "template" && text(at + 1) == "<") {
      int depth = 0;
      for (++at; at < source_.tokens.size(); ++at) {
        if (text(at) == "(") {
          const auto end = behind(at);
          if (!end) return std::nullopt;
          at = *end - 1;
        }
        if (text(at) == "<") ++depth;
        if (text(at) == ">" && --depth == 0) break;
      }
      ++at;
    }
    return at;
  }

  /// A function, a record, or a declaration that ends at a ';'.
  std::optional<Piece> declaration() {
    const size_t first = at_;
    const auto head = behind_templates(first);
    if (!head || *head >= source_.tokens.size()) return std::nullopt;
    const bool record = contains(kRecords, text(*head));
    bool parameters = false, body = false, assigned = false, stateless = false, kernel = false;
    std::string name;
    for (size_t i = *head; i < source_.tokens.size();) {
      if (const auto inside = directives_.find(i); inside != directives_.end()) {
        i += inside->second->count;
        continue;
      }
      const std::string& token = text(i);
      if (token == "namespace" || token == "extern" || token == "asm") return std::nullopt;
      stateless = stateless || contains(kStateless, token);
      kernel = kernel || token == "__global__";
      assigned = assigned || token == "=";
      if (record && name.empty() && i > *head && is_name(i) && token != "class" &&
          token != "struct" && !contains(kAttributes, token))
        name = token;
      if (token == ";") {
        at_ = i + 1;
        return ended(first, record && !name.empty() ? name : "", record || stateless);
      }
      if (token != "(" && token != "[" && token != "{") {
        ++i;
        continue;
      }
      const auto end = behind(i);
      if (!end) return std::nullopt;
      const bool attribute = i > *head && contains(kAttributes, text(i - 1));
      if (token == "(" && !attribute && !parameters && !record) {
        parameters = true;
        name = i > *head && is_name(i - 1) ? text(i - 1) : "";
      }
      body = body || token == "{";
      i = *end;
      if (token == "{" && parameters && !assigned && !record) {
        at_ = i;
        return function(first, name, kernel);
      }
      // "struct X {…} x;" would be a variable.
      if (token == "{" && record && (i >= source_.tokens.size() || text(i) != ";"))
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Piece> ended(size_t first, const std::string& name, bool harmless) const {
    if (!harmless) return std::nullopt;
    Piece piece = piece_from(first, at_);
    piece.name = name;
    if (!name.empty()) piece.kind = PieceKind::Named;
    return piece;
  }

  // Operators and functions without a plain name are used without being named.
  std::optional<Piece> function(size_t first, const std::string& name, bool kernel) const {
    Piece piece = piece_from(first, at_);
    piece.name = name;
    if (kernel && name.empty()) return std::nullopt;
    if (kernel)
      piece.kind = PieceKind::Kernel;
    else if (!name.empty() && name != "operator" && piece.words.count("operator") == 0)
      piece.kind = PieceKind::Named;
    return piece;
  }

  cuda_source::SourceText source_;
  std::map<size_t, const cuda_source::Directive*> directives_;
  size_t at_ = 0;
};

/// "rms_norm" of "rms_norm<256, 2>".
std::string kernel_name(const std::string& expression) {
  return std::string(trim(expression.substr(0, expression.find('<'))));
}

/// The pieces that a kernel needs: itself, those always kept, and all that these name.
std::vector<bool> needed(const std::vector<Piece>& pieces, const std::string& kernel) {
  std::vector<bool> kept(pieces.size());
  std::set<std::string> said = {kernel};
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind != PieceKind::Always) continue;
    kept[i] = true;
    said.insert(pieces[i].words.begin(), pieces[i].words.end());
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (kept[i] || said.count(pieces[i].name) == 0) continue;
      kept[i] = grew = true;
      said.insert(pieces[i].words.begin(), pieces[i].words.end());
    }
  }
  return kept;
}

KernelText text_of(const std::string& source, const std::vector<Piece>& pieces,
                   const std::string& kernel) {
  KernelText text;
  const std::vector<bool> kept = needed(pieces, kernel);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!kept[i]) continue;
    const Piece& piece = pieces[i];
    const std::string_view code =
        std::string_view(source).substr(piece.begin, piece.end - piece.begin);
    text.source += std::string(code) + "\n";
    const auto lines = 1 + std::ranges::count(code, '\n');
    for (int line = 0; line < lines; ++line) text.lines.push_back(piece.line + line);
    text.words.insert(piece.words.begin(), piece.words.end());
  }
  return text;
}

Slice slice_of(const ports::CompileRequest& whole, const std::string& kernel,
               const KernelText& text) {
  Slice slice;
  slice.lines = text.lines;
  ports::CompileRequest& request = slice.request;
  request = whole;
  request.source = text.source;
  std::set<std::string> said;
  std::erase_if(request.kernels,
                [&](const std::string& expression) { return kernel_name(expression) != kernel; });
  for (const std::string& expression : request.kernels) {
    for (const cuda_source::SourceToken& token : cuda_source::lex_source(expression).tokens)
      said.insert(token.text);
  }
  std::erase_if(request.defines, [&](const auto& define) {
    return text.words.count(define.first) == 0 && said.count(define.first) == 0;
  });
  return slice;
}

}  // namespace

KernelTexts kernel_texts(const std::string& source) {
  const auto pieces = Pieces(source).read();
  if (!pieces) return {};
  size_t bytes = 0;
  KernelTexts texts;
  for (const Piece& piece : *pieces) {
    bytes += piece.end - piece.begin;
    if (piece.kind == PieceKind::Kernel) texts[piece.name];
  }
  if (bytes < kWorthSlicing) return {};
  for (auto& [kernel, text] : texts) text = text_of(source, *pieces, kernel);
  return texts;
}

std::vector<Slice> slices_of(const ports::CompileRequest& request, const KernelTexts& texts) {
  std::vector<std::string> names;
  for (const std::string& expression : request.kernels) {
    const std::string name = kernel_name(expression);
    if (texts.count(name) == 0) return {};
    if (!contains(names, name)) names.push_back(name);
  }
  if (names.size() < 2) return {};
  std::vector<Slice> slices;
  for (const std::string& name : names) slices.push_back(slice_of(request, name, texts.at(name)));
  return slices;
}

}  // namespace kw::compile
