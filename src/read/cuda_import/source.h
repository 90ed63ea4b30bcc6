// A foreign file after one parse: its tokens, outline, macros and aliases. Internal.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_import/outline.h"
#include "cuda_import/types.h"
#include "cuda_source/source_lexer.h"
#include "cuda_source/tokens.h"

namespace kw::cuda_import {

struct HostSource {
  std::string_view text;
  cuda_source::SourceText lexed;
  std::vector<cuda_source::Token> tokens;
  std::map<std::string, cuda_source::Macro> macros;
  Outline outline;
  TypeNames types;
  std::set<std::string> classes, enums;

  explicit HostSource(std::string_view file)
      : text(file),
        lexed(cuda_source::lex_source(file)),
        tokens(cuda_source::code_tokens(lexed)),
        macros(cuda_source::find_macros(lexed)),
        outline(cuda_import::outline(tokens)),
        types(type_names(tokens, outline)),
        classes(class_names(tokens)),
        enums(enum_names(tokens)) {}

  /// The tokens with macros expanded; without them if they do not end.
  std::vector<cuda_source::Token> expanded(size_t first, size_t last) const {
    return cuda_source::expand(tokens, first, last, macros)
        .value_or(std::vector<cuda_source::Token>{});
  }
  std::vector<CParameter> parameters(const Item& item) const {
    const auto all = expanded(item.parameters_first, item.parameters_last);
    return read_parameters(all, 0, all.size(), types);
  }
};

/// The name without namespaces: "softmax" for "ops::softmax".
inline std::string last_name(const std::string& name) {
  const size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

}  // namespace kw::cuda_import
