// Function bodies are the largest part of PTX. Names are resolved to indices while reading, so that
// no user of the data needs to look up a name. Labels may be used before they are declared, so
// their uses are kept and resolved at the end of the body. A second pass over all names would be
// simpler, but would keep every name in memory. After a bad statement the parser skips to the next
// one, so that one message does not hide others. Chains of inlined calls are rebuilt from .loc
// lines. The cost: scopes stay in memory until the end of the body.
#include "ptx/body.h"

#include <limits>

#include <fmt/core.h>

#include "ptx/constant.h"
#include "ptx/declare.h"
#include "ptx/ptx_words.h"

namespace kw::ptx {
namespace {
constexpr uint64_t kMaxLocation = std::numeric_limits<int>::max();
}

BodyParser::BodyParser(Context& context, Function& function)
    : context_(context), lexer_(context.lexer), function_(function), scopes_(function.registers) {
  for (size_t i = 0; i < function.params.size(); ++i) {
    scopes_.declare(function.params[i].name,
                    {Symbol::Kind::Param, static_cast<int>(i), Type::None});
  }
  for (size_t i = 0; i < function.returns.size(); ++i) {
    scopes_.declare(function.returns[i].name,
                    {Symbol::Kind::Result, static_cast<int>(i), Type::None});
  }
}

bool BodyParser::parse() {
  const int first_line = lexer_.peek().line;
  if (!context_.expect("{")) return false;
  while (!context_.stopped()) {
    const Lexer::Mark start = lexer_.mark();
    if (lexer_.peek().kind == Token::Kind::End)
      return context_.fail(first_line, "'{' is never closed");
    if (lexer_.peek().is("}") && scopes_.depth() == 0) break;
    if (statement()) continue;
    lexer_.rewind(start);
    context_.skip_statement();
  }
  if (context_.stopped()) return false;
  resolve_labels();
  lexer_.next();
  return true;
}

bool BodyParser::statement() {
  const Token& token = lexer_.peek();
  if (token.kind == Token::Kind::Name) return lexer_.at_label() ? label() : instruction();
  if (token.kind == Token::Kind::Dotted) return directive();
  if (token.is("@")) return instruction();
  if (lexer_.accept(";")) return true;
  if (token.is("{")) {
    if (scopes_.depth() >= kMaxScopeDepth)
      return context_.over_limit("scopes are nested too deeply");
    if (!context_.count_name()) return false;
    scopes_.open();
    lexer_.next();
    return true;
  }
  if (token.is("}")) {
    scopes_.close();
    lexer_.next();
    return true;
  }
  return context_.fail_expected("an instruction");
}

bool BodyParser::directive() {
  const Token token = lexer_.peek();
  const std::string_view word = token.text;
  if (word == "loc") return location();
  lexer_.next();
  if (word == "reg") return declare_registers();
  if (word == "pragma") {
    while (lexer_.peek().kind == Token::Kind::String || lexer_.peek().is(",")) lexer_.next();
    return context_.expect(";");
  }
  const std::optional<Space> space = find_space(word);
  if (space) return declare_variables(*space);
  return context_.fail(token.line,
                       fmt::format("directive '.{}' is not known inside a function", word));
}

bool BodyParser::declare_registers() {
  Type type = Type::None;
  while (lexer_.peek().kind == Token::Kind::Dotted) {
    const std::string_view word = lexer_.peek().text;
    if (word == "v2" || word == "v4" || word == "v8")
      return context_.fail("vector registers are not supported");
    type = find_type(word);
    if (type == Type::None) return context_.fail(fmt::format("'.{}' is not a type", word));
    lexer_.next();
  }
  if (type == Type::None) return context_.fail_expected("a register type");
  do {
    std::string_view name;
    if (!context_.expect_name(name)) return false;
    bool is_new = true;
    if (lexer_.accept("<")) {
      if (lexer_.peek().kind != Token::Kind::Number) return context_.fail_expected("a number");
      int64_t count = 0;
      for (const char digit : lexer_.next().text) {
        if (digit < '0' || digit > '9' || count > (int64_t{1} << 40))
          return context_.fail("bad register count");
        count = count * 10 + (digit - '0');
      }
      if (!context_.expect(">")) return false;
      is_new = scopes_.declare_range(name, count, type);
    } else {
      is_new = scopes_.declare(name, {Symbol::Kind::Register, -1, type});
    }
    if (!is_new) return context_.fail(fmt::format("'{}' is declared twice in one scope", name));
    if (!context_.count_name()) return false;
  } while (lexer_.accept(","));
  return context_.expect(";");
}

bool BodyParser::declare_variables(Space space) {
  std::vector<Declared> declared;
  if (!parse_variables(context_, space, false, declared) || !context_.expect(";")) return false;
  const bool is_static = space == Space::Global || space == Space::Const;
  for (Declared& one : declared) {
    const int line = one.variable.ptx_line;
    std::vector<Variable>& home = is_static ? context_.module.variables : function_.variables;
    const Symbol symbol{is_static ? Symbol::Kind::ModuleVariable : Symbol::Kind::BodyVariable,
                        static_cast<int>(home.size()), Type::None};
    if (!is_static && (!one.variable.init.empty() || !one.pending.empty())) {
      return context_.fail(line, fmt::format("'{}' cannot have initial values", one.name));
    }
    if (!scopes_.declare(one.name, symbol)) {
      return context_.fail(line, fmt::format("'{}' is declared twice in one scope", one.name));
    }
    for (PendingPatch& patch : one.pending) {
      patch.variable = home.size();
      context_.pending.push_back(patch);
    }
    home.push_back(std::move(one.variable));
  }
  return true;
}

bool BodyParser::label() {
  const Token token = lexer_.next();
  lexer_.next();  // ':'
  if (!context_.count_name()) return false;
  Label label;
  label.name = std::string(token.text);
  label.instruction = static_cast<int>(function_.instructions.size());
  const int index = static_cast<int>(function_.labels.size());
  if (!scopes_.declare_label(token.text, index)) {
    return context_.fail(token.line,
                         fmt::format("label '{}' is declared twice in one scope", token.text));
  }
  function_.labels.push_back(std::move(label));
  return lexer_.peek().kind == Token::Kind::Dotted ? label_directive(function_.labels.back())
                                                   : true;
}

bool BodyParser::label_directive(Label& label) {
  const std::string_view word = lexer_.peek().text;
  const bool is_targets = word == "branchtargets" || word == "calltargets";
  if (!is_targets && word != "callprototype")
    return true;  // an ordinary directive after an ordinary label
  const int line = lexer_.next().line;
  if (word == "callprototype") {
    Prototype prototype;
    std::string_view ignored;
    if (lexer_.peek().is("(") && !parse_params(context_, prototype.returns)) return false;
    if (!context_.expect_name(ignored)) return false;
    if (lexer_.peek().is("(") && !parse_params(context_, prototype.params)) return false;
    while (lexer_.peek().kind == Token::Kind::Dotted || lexer_.peek().kind == Token::Kind::Number)
      lexer_.next();
    label.prototype = static_cast<int>(function_.prototypes.size());
    function_.prototypes.push_back(std::move(prototype));
    return context_.expect(";");
  }
  std::vector<std::string_view> names;
  if (!name_list(names)) return false;
  if (word == "branchtargets") {
    const int index = static_cast<int>(function_.labels.size()) - 1;
    target_lists_.push_back({index, scopes_.current(), line, std::move(names)});
    return true;
  }
  for (const std::string_view name : names) {
    const auto found = context_.globals.find(name);
    if (found == context_.globals.end() || found->second.kind != Symbol::Kind::Function) {
      return context_.fail(line, fmt::format("unknown function '{}'", name));
    }
    label.call_targets.push_back(found->second.index);
  }
  return true;
}

bool BodyParser::name_list(std::vector<std::string_view>& names) {
  do {
    std::string_view name;
    if (!context_.expect_name(name)) return false;
    if (!context_.count_name()) return false;
    names.push_back(name);
  } while (lexer_.accept(","));
  return context_.expect(";");
}

// FILE LINE COLUMN, always plain numbers.
bool BodyParser::position(Position& position) {
  Constant numbers[3];
  for (Constant& number : numbers) {
    const bool plain =
        lexer_.peek().kind == Token::Kind::Number && parse_literal(lexer_.peek().text, number);
    if (!plain || number.kind != Operand::ImmediateKind::Integer || number.bits > kMaxLocation) {
      return context_.fail_expected("a number");
    }
    lexer_.next();
  }
  position = {context_.file_index(static_cast<int64_t>(numbers[0].bits)),
              static_cast<int>(numbers[1].bits), static_cast<int>(numbers[2].bits)};
  return true;
}

// .loc POSITION[, function_name LABEL[+N][, inlined_at POSITION]]
bool BodyParser::location() {
  lexer_.next();
  Position here;
  if (!position(here)) return false;
  file_ = here[0];
  line_ = here[1];
  inlined_at_ = -1;
  while (lexer_.accept(",")) {
    std::string_view word, ignored;
    if (!context_.expect_name(word)) return false;
    if (word == "function_name") {
      if (!context_.expect_name(ignored)) return false;
      if (lexer_.accept("+")) lexer_.next();
    } else if (word == "inlined_at") {
      Position site;
      if (!position(site)) return false;
      inlined_at_ = call_site(site);
    } else {
      return context_.fail(fmt::format("unknown word '{}' in .loc", word));
    }
  }
  if (inlined_at_ >= 0 || !site_of_position_.empty()) site_of_position_[here] = inlined_at_;
  return true;
}

// If a call site was itself inlined, an earlier .loc of the same position tells where.
int BodyParser::call_site(const Position& position) {
  const auto outer = site_of_position_.find(position);
  const int parent = outer == site_of_position_.end() ? -1 : outer->second;
  const auto [row, is_new] = frame_index_.try_emplace(
      {position, parent}, static_cast<int>(function_.inline_frames.size()));
  if (is_new) function_.inline_frames.push_back({position[0], position[1], position[2], parent});
  return row->second;
}

void BodyParser::resolve_labels() {
  const auto resolve = [this](std::string_view name, int scope, int line) {
    const int label = scopes_.find_label(name, scope);
    if (label < 0) context_.fail(line, fmt::format("unknown label '{}'", name));
    return label;
  };
  for (const LabelReference& reference : references_) {
    Operand& operand = function_.instructions[reference.instruction].operands[reference.operand];
    operand.label = resolve(reference.name, reference.scope, reference.line);
  }
  for (const TargetList& list : target_lists_) {
    for (const std::string_view name : list.names) {
      function_.labels[list.label].branch_targets.push_back(resolve(name, list.scope, list.line));
    }
  }
}

}  // namespace kw::ptx
