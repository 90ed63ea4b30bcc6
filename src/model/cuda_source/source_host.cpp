// The problem: nvcc has no option that makes code without an annotation device code, and says
// nothing about host code that it leaves out. So the declarations of namespace scope are read from
// the text, as far as that takes no C++ parser: up to ';' or a body. Members of types are left out,
// because a type may serve both sides. The cost: a macro whose name looks like an annotation hides
// a function; such a function is never compiled, so it can do nothing.
#include "cuda_source/source_host.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "core/contains.h"
#include "cuda_source/source_lexer.h"

namespace kw::cuda_source {

namespace {

constexpr std::array<std::string_view, 9> kForDevice = {"__device__", "__global__",  "__constant__",
                                                        "__shared__", "__managed__", "constexpr",
                                                        "consteval",  "extern",      "const"};
constexpr std::array<std::string_view, 9> kOtherDeclarations = {
    "using",   "typedef",  "static_assert", "friend", "asm",
    "concept", "requires", "import",        "export"};
constexpr std::array<std::string_view, 4> kTypes = {"struct", "class", "union", "enum"};
constexpr const char* kHostHint =
    "nvcc takes it for host code, and a module has none; write '__device__' before it";

class HostFinder {
 public:
  explicit HostFinder(std::string_view text) : source_(lex_source(text)) {
    std::vector<bool> directive(source_.tokens.size(), false);
    for (const Directive& one : source_.directives) {
      for (size_t i = one.first; i < one.first + one.count; ++i) directive[i] = true;
      if (one.name == "define" && one.count > 2) macros_.insert(source_.tokens[one.first + 2].text);
    }
    for (size_t i = 0; i < source_.tokens.size(); ++i) {
      if (!directive[i]) tokens_.push_back(&source_.tokens[i]);
    }
  }

  std::vector<Diagnostic> run() {
    while (at_ < tokens_.size()) read_declaration();
    return std::move(out_);
  }

 private:
  const std::string& text(size_t at) const { return tokens_[at]->text; }

  bool is_annotation(const SourceToken& token) const {
    if (token.kind != SourceKind::Identifier) return false;
    if (contains(kForDevice, token.text) || macros_.count(token.text) != 0) return true;
    const bool attribute = token.text == "__attribute__" || token.text == "__restrict__" ||
                           token.text == "__inline__" || token.text == "__forceinline__" ||
                           token.text == "__noinline__";
    const bool shouts =
        std::ranges::none_of(token.text, [](char c) { return c >= 'a' && c <= 'z'; });
    return !attribute && token.text.size() > 3 && shouts &&
           token.text.find('_') != std::string::npos;
  }

  // Behind the bracket that closes the one at this place.
  size_t behind(size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      const std::string& one = text(at);
      if (one == "(" || one == "{" || one == "[") ++depth;
      if (one == ")" || one == "}" || one == "]") --depth;
      if (depth == 0) return at + 1;
    }
    return at;
  }

  void read_declaration() {
    const size_t start = at_;
    bool annotated = false, other = false, type = false, value = false;
    size_t call = 0;  // the '(' of the parameters
    for (; at_ < tokens_.size();) {
      const SourceToken& token = *tokens_[at_];
      annotated = annotated || is_annotation(token);
      other = other || (at_ == start && contains(kOtherDeclarations, token.text));
      type = type || (contains(kTypes, token.text) && call == 0);
      value = value || (token.text == "=" && call == 0);
      if (token.text == "}") return skip(1);
      if (token.text == ";") {
        if (call == 0 && !annotated && !other && !type && at_ > start)
          report(at_ - 1, value, start);
        return skip(1);
      }
      if (token.text == "{") {
        if (is_namespace(start)) return skip(1);
        if (call != 0 && !value) {
          if (!annotated && !other && !type) report_function(call);
          at_ = behind(at_);
          return;
        }
        if (call == 0 && !annotated && !other && !type && at_ > start)
          report(at_ - 1, value, start);
        at_ = behind(at_);  // of a type, or a value; its name may follow
        annotated = annotated || type;
        continue;
      }
      if (token.text == "(" && call == 0 && !value) call = at_;
      if (token.text == "(" || token.text == "[") {
        at_ = behind(at_);
        continue;
      }
      ++at_;
    }
  }

  void skip(size_t count) { at_ += count; }

  bool is_namespace(size_t start) const {
    return text(start) == "namespace" || (text(start) == "inline" && start + 1 < tokens_.size() &&
                                          text(start + 1) == "namespace");
  }

  void report_function(size_t call) {
    if (call == 0) return;
    const SourceToken& name = *tokens_[call - 1];
    if (name.kind != SourceKind::Identifier) return;
    out_.push_back({name.line, name.column, static_cast<int>(name.end - name.begin),
                    fmt::format("'{}' is a function of the host", name.text), kHostHint});
  }

  // The name is the last identifier before a value or an extent.
  void report(size_t last, bool value, size_t start) {
    size_t at = last;
    if (value) {
      at = start;
      while (at < last && text(at) != "=") ++at;
    }
    while (at > start && tokens_[at]->kind != SourceKind::Identifier) --at;
    if (at == start) return;  // one word declares nothing
    const SourceToken& name = *tokens_[at];
    const bool known = std::ranges::any_of(out_, [&](const Diagnostic& one) {
      return one.line == name.line && one.column == name.column;
    });
    if (known) return;
    out_.push_back({name.line, name.column, static_cast<int>(name.end - name.begin),
                    fmt::format("'{}' is a variable of the host", name.text), kHostHint});
  }

  SourceText source_;
  std::vector<const SourceToken*> tokens_;  // without directives
  std::set<std::string> macros_;
  size_t at_ = 0;
  std::vector<Diagnostic> out_;
};

}  // namespace

std::vector<Diagnostic> find_host_code(std::string_view text) { return HostFinder(text).run(); }

}  // namespace kw::cuda_source
