// The problem: import must separate host code from device code before it understands either. The
// choice: scan the tokens of the top level once, and skip bodies by their brackets. Each item has a
// kind, a name and token ranges for its parameters and its body. The alternative, a C++ parser,
// would be larger than the whole import and reject unusual files. The cost: declarations hidden in
// macros are not seen.
#include "cuda_import/outline.h"

#include <algorithm>
#include <set>

namespace kw::cuda_import {

namespace {

constexpr int kMostNesting = 64;
const std::set<std::string> kAttributes = {"__launch_bounds__", "__attribute__", "alignas",
                                           "__align__",         "decltype",      "__cluster_dims__",
                                           "__maxnreg__",       "__declspec",    "noexcept"};
const std::set<std::string> kTypeWords = {"struct", "class", "union", "enum", "using", "typedef"};

class Scanner {
 public:
  explicit Scanner(const std::vector<cuda_source::Token>& tokens) : tokens_(tokens) {}

  Outline run() {
    scan(0, tokens_.size(), "", false, 0);
    return std::move(out_);
  }

 private:
  bool is(size_t at, std::string_view text, size_t last) const {
    return at < last && tokens_[at].text == text;
  }

  void scan(size_t first, size_t last, const std::string& prefix, bool c_linkage, int depth) {
    for (size_t at = first; at < last;) {
      const size_t space = is(at, "inline", last) && is(at + 1, "namespace", last) ? at + 1 : at;
      if (depth < kMostNesting && is(space, "namespace", last)) {
        at = scan_namespace(space, last, prefix, c_linkage, depth);
      } else if (depth < kMostNesting && is(at, "extern", last) && is(at + 1, "\"C\"", last) &&
                 is(at + 2, "{", last)) {
        const size_t end = cuda_source::behind_bracket(tokens_, at + 2, last);
        for (const size_t token : {at, at + 1, at + 2, end - 1})
          out_.linkage_tokens.push_back(token);
        scan(at + 3, end - 1, prefix, true, depth + 1);
        at = end;
      } else if (is(at, ";", last) || is(at, "}", last)) {
        ++at;
      } else {
        at = scan_item(at, last, prefix, c_linkage);
      }
    }
  }

  size_t scan_namespace(size_t at, size_t last, const std::string& prefix, bool c_linkage,
                        int depth) {
    std::string name = prefix;
    for (++at; at < last && (tokens_[at].identifier() || tokens_[at].is("::")); ++at) {
      if (tokens_[at].identifier()) name += tokens_[at].text + "::";
    }
    if (!is(at, "{", last)) {
      while (at < last && !tokens_[at].is(";")) ++at;
      return at + 1;
    }
    const size_t end = cuda_source::behind_bracket(tokens_, at, last);
    scan(at + 1, end - 1, name, c_linkage, depth + 1);
    return end;
  }

  void read_template(size_t& at, size_t last, Item& item) {
    const size_t end = cuda_source::behind_angles(tokens_, at + 1, last);
    bool takes = true;
    int depth = 0;
    size_t first = at + 2;
    std::string name;
    for (size_t i = at + 2; i < end; ++i) {
      const std::string& text = tokens_[i].text;
      const bool closes = i + 1 == end;
      if (depth == 0 && (text == "," || text == "=" || closes)) {
        if (takes && !name.empty()) {
          item.template_parameters.push_back(name);
          const bool type = tokens_[first].is("typename") || tokens_[first].is("class");
          size_t start = first;
          item.template_types.push_back(
              type ? CType{} : read_type(tokens_, start, i, {}).value_or(unknown_type("?")));
        }
        takes = text == ",";
        if (takes) first = i + 1;
        name.clear();
      }
      depth += text == "<" || text == "(";
      depth -= !closes && (text == ">" || text == ")");
      if (takes && tokens_[i].identifier()) name = text;
    }
    at = std::max(end, at + 2);
  }

  /// Scans from the item's first token; returns the position after its ';' or its body.
  size_t scan_item(size_t at, size_t last, const std::string& prefix, bool c_linkage) {
    Item item;
    item.first = at;
    item.c_linkage = c_linkage;
    while (is(at, "template", last) && is(at + 1, "<", last)) read_template(at, last, item);
    bool kernel = false, device = false, type = at < last && kTypeWords.count(tokens_[at].text);
    bool prototype = false, variable = false;
    for (; at < last; ++at) {
      const cuda_source::Token& token = tokens_[at];
      if (token.is("extern") && is(at + 1, "\"C\"", last)) {
        item.c_linkage = true;
        item.linkage = at;
        ++at;
        continue;
      }
      kernel = kernel || token.is("__global__");
      device = device || token.is("__device__") || token.is("__constant__") ||
               token.is("__shared__") || token.is("__managed__");
      item.is_constexpr = item.is_constexpr || token.is("constexpr") || token.is("const");
      if (token.is(";")) break;
      if (type) {
        if (token.is("{")) at = cuda_source::behind_bracket(tokens_, at, last) - 1;
        continue;
      }
      if (token.is("(") && !prototype && !variable && read_head(at, item)) {
        prototype = true;
      } else if (token.is("(") || token.is("[")) {
        at = cuda_source::behind_bracket(tokens_, at, last) - 1;
      } else if (token.is("=") && !prototype) {
        variable = true;
        name_variable(at, item);
        item.body_first = at + 1;
      } else if (token.is("{")) {
        const size_t end = cuda_source::behind_bracket(tokens_, at, last);
        if (prototype && !variable) {
          item.body_first = at + 1;
          item.body_last = end - 1;
          item.kind = kernel ? Item::Kind::Kernel : device ? Item::Kind::Device : Item::Kind::Host;
          return finish(item, end, prefix, device);
        }
        if (!variable) {
          variable = true;
          name_variable(at, item);
          item.body_first = at;
        }
        at = end - 1;
      }
    }
    if (variable) item.body_last = at;
    item.kind = type                   ? Item::Kind::Type
                : prototype && kernel  ? Item::Kind::Other
                : prototype && !device ? Item::Kind::Prototype
                                       : Item::Kind::Variable;
    if (item.kind == Item::Kind::Variable && item.name.empty()) name_variable(at, item);
    return finish(item, std::min(at + 1, last), prefix, device);
  }

  size_t finish(Item& item, size_t end, const std::string& prefix, bool device) {
    item.last = end;
    item.on_device = device;
    item.name = prefix + item.name;
    out_.items.push_back(std::move(item));
    return end;
  }

  /// Whether the '(' at `at` opens a parameter list. If so, reads the name before it and moves `at`
  /// to its end.
  bool read_head(size_t& at, Item& item) {
    if (at == item.first) return false;
    const cuda_source::Token& before = tokens_[at - 1];
    const bool is_operator =
        at >= item.first + 2 && (tokens_[at - 2].is("operator") || before.is("operator"));
    if (!before.identifier() && !is_operator) return false;
    if (kAttributes.count(before.text)) return false;
    item.name = is_operator ? "operator" : before.text;
    const size_t end = cuda_source::behind_bracket(tokens_, at, tokens_.size());
    item.parameters_first = at + 1;
    item.parameters_last = std::max(at + 1, end - 1);
    at = end - 1;
    return true;
  }

  void name_variable(size_t at, Item& item) const {
    for (size_t i = at; i > item.first; --i) {
      if (tokens_[i - 1].is("]")) continue;
      if (tokens_[i - 1].identifier()) {
        item.name = tokens_[i - 1].text;
        return;
      }
    }
  }

  const std::vector<cuda_source::Token>& tokens_;
  Outline out_;
};

}  // namespace

Outline outline(const std::vector<cuda_source::Token>& tokens) { return Scanner(tokens).run(); }

TypeNames type_names(const std::vector<cuda_source::Token>& tokens, const Outline& outline) {
  TypeNames names;
  for (const Item& item : outline.items) {
    if (item.kind != Item::Kind::Type || item.last < item.first + 4) continue;
    size_t at = item.first;
    const size_t last = item.last - 1;
    const bool is_using = tokens[at].is("using") && tokens[at + 2].is("=");
    if (!is_using && !tokens[at].is("typedef")) continue;
    std::string name = is_using ? tokens[at + 1].text : tokens[last - 1].text;
    at += is_using ? 3 : 1;
    const size_t end = is_using ? last : last - 1;
    const auto type = read_type(tokens, at, end, names);
    if (!type || at != end) {
      names[name] = unknown_type("the alias " + name);
      continue;
    }
    add_type_name(names, name, *type);
  }
  return names;
}

void add_type_name(TypeNames& names, const std::string& name, const CType& type) {
  std::vector<cuda_source::Token> word(1);
  word[0].kind = cuda_source::SourceKind::Identifier;
  word[0].text = name;
  size_t at = 0;
  const auto before = read_type(word, at, 1, names);
  const bool taken = names.count(name) > 0 || is_type_word(name);
  const bool same = before && before->dtype == type.dtype && before->size == type.size &&
                    before->pointers == type.pointers && before->base == type.base;
  const bool alike = before && before->dtype && before->dtype == type.dtype &&
                     before->size == type.size && before->pointers == type.pointers;
  names[name] = taken && !same && !alike ? unknown_type("the alias " + name) : type;
}

std::set<std::string> class_names(const std::vector<cuda_source::Token>& tokens) {
  std::set<std::string> out;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool opens = tokens[i].is("struct") || tokens[i].is("class") || tokens[i].is("union");
    if (!opens || (i > 0 && tokens[i - 1].is("enum"))) continue;
    std::string name;
    for (size_t at = i + 1; at < tokens.size(); ++at) {
      const cuda_source::Token& token = tokens[at];
      if (token.is("(")) {
        at = cuda_source::behind_bracket(tokens, at, tokens.size()) - 1;  // of an attribute
      } else if (token.is("{") || token.is(":")) {
        if (!name.empty()) out.insert(name);
        break;
      } else if (!token.identifier() && !token.is("::")) {
        break;
      } else if (token.identifier() && !token.is("final")) {
        name = token.text;
      }
    }
  }
  return out;
}

std::set<std::string> enum_names(const std::vector<cuda_source::Token>& tokens) {
  std::set<std::string> out;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("enum")) continue;
    const size_t at = tokens[i + 1].is("class") || tokens[i + 1].is("struct") ? i + 2 : i + 1;
    if (at < tokens.size() && tokens[at].identifier()) out.insert(tokens[at].text);
  }
  return out;
}

}  // namespace kw::cuda_import
