// A foreign file taken apart once: its tokens, outline, macros and aliases. Internal.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/outline.h"
#include "foreign/tokens.h"
#include "foreign/types.h"
#include "kernel/source_lexer.h"

namespace kw::foreign {

struct Source {
  std::string_view text;
  kernel::SourceText lexed;
  std::vector<Token> tokens;
  std::map<std::string, Macro> macros;
  Outline outline;
  TypeNames types;

  explicit Source(std::string_view file)
      : text(file),
        lexed(kernel::lex_source(file)),
        tokens(code_tokens(lexed)),
        macros(find_macros(lexed)),
        outline(foreign::outline(tokens)),
        types(type_names(tokens, outline)) {}

  std::vector<CParameter> parameters(const Item& item) const {
    return read_parameters(tokens, item.parameters_first, item.parameters_last, types);
  }
};

/// Without namespaces: "softmax" of "ops::softmax".
inline std::string last_name(const std::string& name) {
  const size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

}  // namespace kw::foreign
