// Host code must be read to find its launches, and macros often hide them. So the macros of the
// file are expanded, and each expanded token keeps the place where its macro is used. We expand
// macros over tokens that the lexer produced, instead of running a compiler's preprocessor: that
// would expand headers too and lose the places. A macro that is being expanded is hidden, so
// recursion ends. Depth and number of tokens are limited (kMostDepth, kMostTokens), so that nested
// macros cannot use up memory. The cost: macros of headers and #if conditions are not evaluated.
#include "cuda_source/tokens.h"

#include <algorithm>
#include <array>
#include <set>

namespace kw::cuda_source {

namespace {

constexpr std::array<std::string_view, 23> kOperators = {
    "<<<", "<<=", "...", "==", "!=", "<=", "&&", "||", "++", "--", "+=", "-=",
    "*=",  "/=",  "%=",  "&=", "|=", "^=", "->", "<<", "##", "::", "%:"};
constexpr size_t kMostTokens = 200000;
constexpr int kMostDepth = 40;

Token plain(const SourceToken& from, size_t previous_end) {
  return {from.kind,
          from.text,
          from.begin,
          from.end,
          from.line,
          from.column,
          from.begin == previous_end};
}

std::vector<Token> join_operators(const std::vector<Token>& single) {
  std::vector<Token> out;
  for (size_t i = 0; i < single.size();) {
    Token token = single[i];
    size_t used = 1;
    for (const std::string_view op : kOperators) {
      if (token.kind != SourceKind::Punctuator || token.text.size() != 1) break;
      std::string text = token.text;
      size_t count = 1;
      while (text.size() < op.size() && i + count < single.size() && single[i + count].joined &&
             single[i + count].kind == SourceKind::Punctuator) {
        text += single[i + count++].text;
      }
      if (text != op) continue;
      token.text = text;
      token.end = single[i + count - 1].end;
      used = count;
      break;
    }
    i += used;
    out.push_back(std::move(token));
  }
  return out;
}

class Expander {
 public:
  explicit Expander(const std::map<std::string, Macro>& macros) : macros_(macros) {}

  bool run(const std::vector<Token>& tokens, size_t first, size_t last, std::vector<Token>& out) {
    if (++depth_ > kMostDepth) return false;
    for (size_t i = first; i < last; ++i) {
      if (++steps_ > kMostTokens) return false;
      const Token& token = tokens[i];
      const auto at = token.identifier() ? macros_.find(token.text) : macros_.end();
      const bool usable = at != macros_.end() && hidden_.count(token.text) == 0;
      const bool called = i + 1 < last && tokens[i + 1].is("(");
      if (!usable || (at->second.function && !called)) {
        out.push_back(token);
        continue;
      }
      std::vector<Token> body = at->second.body;
      if (at->second.function) {
        const size_t end = behind_bracket(tokens, i + 1, last);
        if (!substitute(at->second, tokens, i + 2, end - 1, body)) return false;
        i = end - 1;
      }
      for (Token& one : body) {
        one.line = token.line;
        one.column = token.column;
        one.begin = token.begin;
        one.end = token.end;
      }
      hidden_.insert(token.text);
      const bool fine = run(body, 0, body.size(), out);
      hidden_.erase(token.text);
      if (!fine) return false;
    }
    --depth_;
    return true;
  }

 private:
  using Arguments = std::map<std::string, std::vector<Token>>;

  static Arguments arguments(const Macro& macro, const std::vector<Token>& tokens, size_t first,
                             size_t last) {
    Arguments out;
    size_t number = 0;
    int depth = 0;
    for (size_t i = first; i < last; ++i) {
      const std::string& text = tokens[i].text;
      depth += text == "(" || text == "[" || text == "{";
      depth -= text == ")" || text == "]" || text == "}";
      const bool rest = number < macro.parameters.size() && macro.parameters[number] == "...";
      if (depth == 0 && text == "," && !rest) {
        ++number;
        continue;
      }
      if (number >= macro.parameters.size()) break;
      out[rest ? "__VA_ARGS__" : macro.parameters[number]].push_back(tokens[i]);
    }
    return out;
  }

  bool substitute(const Macro& macro, const std::vector<Token>& tokens, size_t first, size_t last,
                  std::vector<Token>& body) {
    const Arguments given = arguments(macro, tokens, first, last);
    const std::set<std::string> names(macro.parameters.begin(), macro.parameters.end());
    const auto is_parameter = [&](const std::string& text) {
      return names.count(text) > 0 || (text == "__VA_ARGS__" && names.count("...") > 0);
    };
    std::vector<Token> out;
    for (size_t i = 0; i < macro.body.size(); ++i) {
      const Token& token = macro.body[i];
      const bool quotes = token.is("#") && i + 1 < macro.body.size();
      const Token& name = quotes ? macro.body[i + 1] : token;
      if (!is_parameter(name.text)) {
        out.push_back(token);
        continue;
      }
      const auto at = given.find(name.text);
      if (quotes) {
        out.push_back({SourceKind::String, "\"…\"", 0, 0, token.line, token.column, false});
        ++i;
      } else if (at != given.end()) {
        out.insert(out.end(), at->second.begin(), at->second.end());
      }
      if (out.size() > kMostTokens) return false;
    }
    body = std::move(out);
    return true;
  }

  const std::map<std::string, Macro>& macros_;
  std::set<std::string> hidden_;
  size_t steps_ = 0;
  int depth_ = 0;
};

bool same_text(const std::vector<Token>& a, const std::vector<Token>& b) {
  return std::ranges::equal(a, b, {}, &Token::text, &Token::text);
}

}  // namespace

std::vector<Token> code_tokens(const SourceText& source) {
  std::vector<Token> single;
  size_t directive = 0, previous_end = std::string::npos;
  for (size_t i = 0; i < source.tokens.size(); ++i) {
    while (directive < source.directives.size() &&
           i >= source.directives[directive].first + source.directives[directive].count)
      ++directive;
    if (directive < source.directives.size() && i >= source.directives[directive].first) continue;
    single.push_back(plain(source.tokens[i], previous_end));
    previous_end = source.tokens[i].end;
  }
  return join_operators(single);
}

std::map<std::string, Macro> find_macros(const SourceText& source) {
  std::map<std::string, Macro> macros;
  for (const Directive& directive : source.directives) {
    if (directive.name != "define" || directive.count < 3) continue;
    std::vector<Token> all;
    for (size_t i = 0; i < directive.count; ++i) {
      const auto& from = source.tokens[directive.first + i];
      all.push_back(plain(from, all.empty() ? std::string::npos : all.back().end));
    }
    Macro macro;
    size_t at = 3;
    if (all.size() > 3 && all[3].is("(") && all[3].joined) {
      macro.function = true;
      for (++at; at < all.size() && !all[at].is(")"); ++at) {
        if (all[at].identifier()) macro.parameters.push_back(all[at].text);
        if (all[at].is(".") && (macro.parameters.empty() || macro.parameters.back() != "..."))
          macro.parameters.push_back("...");
      }
      ++at;
    }
    at = std::min(at, all.size());
    macro.body = join_operators({all.begin() + static_cast<std::ptrdiff_t>(at), all.end()});
    const auto [known, is_new] = macros.try_emplace(all[2].text, macro);
    if (!is_new && !same_text(known->second.body, macro.body)) known->second.ambiguous = true;
  }
  return macros;
}

std::optional<std::vector<Token>> expand(const std::vector<Token>& tokens, size_t first,
                                         size_t last, const std::map<std::string, Macro>& macros) {
  std::vector<Token> out;
  if (!Expander(macros).run(tokens, first, last, out)) return std::nullopt;
  return out;
}

size_t behind_bracket(const std::vector<Token>& tokens, size_t at, size_t last) {
  int depth = 0;
  for (size_t i = at; i < last; ++i) {
    const std::string& text = tokens[i].text;
    depth += text == "(" || text == "[" || text == "{";
    depth -= text == ")" || text == "]" || text == "}";
    if (depth == 0) return i + 1;
  }
  return last;
}

size_t behind_angles(const std::vector<Token>& tokens, size_t at, size_t last) {
  int angles = 0;
  for (size_t i = at; i < last; ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "[") {
      i = behind_bracket(tokens, i, last) - 1;
      continue;
    }
    if (text == ";" || text == "{" || text == "}" || text == "<<<") return at;
    angles += text == "<";
    angles -= text == ">";
    if (angles == 0) return i + 1;
  }
  return at;
}

}  // namespace kw::cuda_source
