#include "cuda_source/source_kernels.h"

#include <algorithm>

#include "core/contains.h"

namespace kw::cuda_source {

namespace {

// The name is the identifier before the first '(' that does not belong to an attribute such as
// __launch_bounds__(256).
std::string kernel_name_after(const std::vector<SourceToken>& tokens, size_t at) {
  int parentheses = 0;
  for (size_t i = at + 1; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (parentheses == 0 && (text == ";" || text == "{" || text == "}")) return "";
    if (text == ")") --parentheses;
    if (text != "(") continue;
    const SourceToken& before = tokens[i - 1];
    const bool attribute = before.text.starts_with("__") && before.text.ends_with("__");
    if (parentheses == 0 && before.kind == SourceKind::Identifier && !attribute) return before.text;
    ++parentheses;
  }
  return "";
}

}  // namespace

SourceKernels find_kernels(const SourceText& source) {
  SourceKernels out;
  for (size_t i = 0; i < source.tokens.size(); ++i) {
    const SourceToken& token = source.tokens[i];
    if (token.kind != SourceKind::Identifier) continue;
    out.identifiers.insert(token.text);
    if (token.text != "__global__") continue;
    const std::string name = kernel_name_after(source.tokens, i);
    if (!name.empty() && !contains(out.names, name)) {
      out.names.push_back(name);
    }
  }
  for (const Directive& directive : source.directives) {
    for (size_t i = directive.first; i < directive.first + directive.count; ++i) {
      out.made_by_macros = out.made_by_macros || source.tokens[i].text == "__global__";
    }
  }
  return out;
}

}  // namespace kw::cuda_source
