// The virtual GPU needs PTX as data, and the text comes from compilers that process untrusted
// source. So parse() must return a Module or an Error for any bytes, within limits on size and
// number. It reads by recursive descent in one pass and continues after a problem, up to ten
// problems. ptxas could check the text, but it gives no data structure and needs an installation.
// Unknown directives are refused instead of skipped, because skipping could change the meaning. The
// cost: a new PTX version may need a new row or rule here.
#include "ptx/parse.h"

#include <fmt/core.h>

#include "core/text.h"
#include "ptx/body.h"
#include "ptx/declare.h"
#include "ptx/parse_context.h"
#include "ptx/ptx_words.h"

namespace kw::ptx {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : context_(text), lexer_(context_.lexer) {
    context_.module.files.emplace_back();
  }

  Result<Module> run() {
    while (!context_.stopped() && lexer_.peek().kind != Token::Kind::End) {
      if (item()) continue;
      context_.skip_statement();
      lexer_.accept("}");
    }
    if (!context_.stopped()) resolve_patches();
    if (context_.problems.empty() && context_.module.version_major == 0) {
      context_.fail(1, "no .version line: this is not PTX");
    }
    if (!context_.problems.empty()) return input_error(join(context_.problems, "\n"));
    return std::move(context_.module);
  }

 private:
  bool item() {
    const Token token = lexer_.peek();
    if (token.is("@@")) {  // old DWARF lines
      while (lexer_.peek().kind != Token::Kind::End && lexer_.peek().line == token.line)
        lexer_.next();
      return true;
    }
    if (lexer_.accept(";")) return true;
    if (token.kind != Token::Kind::Dotted) return context_.fail_expected("a directive");
    lexer_.next();
    const std::string_view word = token.text;
    if (word == "version") return version();
    if (word == "target") return target();
    if (word == "address_size") return address_size();
    if (word == "file") return file();
    if (word == "section") return section();
    if (word == "pragma") return pragma();
    if (word == "alias") return context_.fail(token.line, ".alias is not supported");
    return linked_item(token);
  }

  // [.visible | .extern | .weak | .common] then a function or a variable.
  bool linked_item(Token token) {
    bool is_extern = false;
    while (token.text == "visible" || token.text == "extern" || token.text == "weak" ||
           token.text == "common") {
      is_extern = is_extern || token.text == "extern";
      if (lexer_.peek().kind != Token::Kind::Dotted)
        return context_.fail_expected("a function or a variable");
      token = lexer_.next();
    }
    if (token.text == "entry" || token.text == "func")
      return function(token.text == "entry", token.line);
    const std::optional<Space> space = find_space(token.text);
    if (space && *space != Space::Param && *space != Space::Local)
      return variables(*space, is_extern);
    return context_.fail(token.line,
                         fmt::format("directive '.{}' is not known at module scope", token.text));
  }

  bool version() {
    const Token token = lexer_.next();
    const std::string text(token.text);
    const size_t dot = text.find('.');
    const auto major = dot == std::string::npos ? std::nullopt : parse_int(text.substr(0, dot));
    const auto minor = dot == std::string::npos ? std::nullopt : parse_int(text.substr(dot + 1));
    if (!major || !minor || *major < 1 || *major > 999 || *minor < 0 || *minor > 999) {
      return context_.fail(token.line, "expected .version MAJOR.MINOR");
    }
    context_.module.version_major = static_cast<int>(*major);
    context_.module.version_minor = static_cast<int>(*minor);
    return true;
  }

  bool target() {
    std::string_view name;
    if (!context_.expect_name(name)) return false;
    context_.module.target = std::string(name);
    while (lexer_.accept(",")) {
      if (!context_.expect_name(name)) return false;
    }
    return true;
  }

  bool address_size() {
    int64_t bits = 0;
    if (!context_.expect_integer(32, 64, bits)) return false;
    return bits == 64 ? true : context_.fail("only .address_size 64 is supported");
  }

  // .file NUMBER "NAME"[, TIME, SIZE]
  bool file() {
    int64_t number = 0;
    if (!context_.expect_integer(0, std::numeric_limits<int>::max(), number)) return false;
    if (lexer_.peek().kind != Token::Kind::String)
      return context_.fail_expected("a file name in quotes");
    const int index = context_.file_index(number);
    context_.module.files[index] = std::string(lexer_.next().text);
    for (int i = 0; i < 2 && lexer_.accept(","); ++i) {
      int64_t ignored = 0;
      if (!context_.expect_integer(0, std::numeric_limits<int64_t>::max(), ignored)) return false;
    }
    return true;
  }

  bool section() {
    while (lexer_.peek().kind == Token::Kind::Dotted || lexer_.peek().kind == Token::Kind::Name)
      lexer_.next();
    return lexer_.peek().is("{") ? context_.skip_block() : context_.fail_expected("'{'");
  }

  bool pragma() {
    while (lexer_.peek().kind == Token::Kind::String || lexer_.peek().is(",")) lexer_.next();
    return context_.expect(";");
  }

  bool variables(Space space, bool is_extern) {
    std::vector<Declared> declared;
    if (!parse_variables(context_, space, is_extern, declared) || !context_.expect(";"))
      return false;
    for (Declared& one : declared) {
      if (!add_variable(std::move(one))) return false;
    }
    return true;
  }

  // A definition replaces an earlier .extern declaration of the same name.
  bool add_variable(Declared one) {
    std::vector<Variable>& home = context_.module.variables;
    const Symbol symbol{Symbol::Kind::ModuleVariable, static_cast<int>(home.size()), Type::None};
    const auto [row, is_new] = context_.globals.emplace(one.name, symbol);
    const auto index = static_cast<size_t>(row->second.index);
    if (!is_new) {
      const bool redeclares = row->second.kind == Symbol::Kind::ModuleVariable &&
                              (home[index].is_extern || one.variable.is_extern);
      if (!redeclares) {
        return context_.fail(one.variable.ptx_line,
                             fmt::format("'{}' is declared twice", one.name));
      }
      if (one.variable.is_extern) return true;
    }
    for (PendingPatch& patch : one.pending) {
      patch.variable = index;
      context_.pending.push_back(patch);
    }
    if (is_new)
      home.push_back(std::move(one.variable));
    else
      home[index] = std::move(one.variable);
    return true;
  }

  bool function(bool is_entry, int line) {
    Function function;
    function.is_entry = is_entry;
    function.ptx_line = line;
    std::string_view name;
    if (!function_attributes(function)) return false;
    if (lexer_.peek().is("(") && !parse_params(context_, function.returns)) return false;
    if (!context_.expect_name(name)) return false;
    function.name = std::string(name);
    if (lexer_.peek().is("(") && !parse_params(context_, function.params)) return false;
    if (!function_attributes(function)) return false;
    function.is_declaration = !lexer_.peek().is("{");
    if (function.is_declaration && !context_.expect(";")) return false;
    Function* home = add_function(name, std::move(function), line);
    if (home == nullptr) return false;
    if (home->is_declaration) return true;
    return BodyParser(context_, *home).parse();
  }

  // The stored function, or nullptr when it is defined twice.
  Function* add_function(std::string_view name, Function function, int line) {
    std::vector<Function>& home = context_.module.functions;
    const Symbol symbol{Symbol::Kind::Function, static_cast<int>(home.size()), Type::None};
    const auto [row, is_new] = context_.globals.emplace(name, symbol);
    if (!context_.count_name()) return nullptr;
    if (is_new) return &home.emplace_back(std::move(function));
    const auto index = static_cast<size_t>(row->second.index);
    const bool defines_again = row->second.kind != Symbol::Kind::Function ||
                               (!home[index].is_declaration && !function.is_declaration);
    if (defines_again) {
      context_.fail(line, fmt::format("'{}' is declared twice", name));
      return nullptr;
    }
    if (home[index].is_declaration) home[index] = std::move(function);
    return &home[index];
  }

  bool function_attributes(Function& function) {
    while (lexer_.peek().kind == Token::Kind::Dotted) {
      const Token token = lexer_.next();
      if (!function_attribute(token, function)) return false;
    }
    return true;
  }

  bool function_attribute(const Token& token, Function& function) {
    const std::string_view word = token.text;
    if (word == "maxntid") return dimensions(function.max_threads);
    if (word == "reqntid") return dimensions(function.required_threads);
    if (word == "reqnctapercluster") return dimensions(function.required_cluster);
    if (word == "minnctapersm" || word == "maxnctapersm") return number(function.min_blocks);
    if (word == "maxnreg") return number(function.max_registers);
    if (word == "pragma") return pragma();
    if (word == "explicitcluster") return function.explicit_cluster = true;
    if (word == "noreturn") return function.is_noreturn = true;
    if (word == "blocksareclusters" || word == "abi_preserve_control") return true;
    int ignored = 0;
    if (word == "abi_preserve" || word == "maxclusterrank") return number(ignored);
    if (word == "attribute") return attribute();
    return context_.fail(token.line,
                         fmt::format("directive '.{}' of a function is not known", word));
  }

  bool attribute() {
    if (!context_.expect("(")) return false;
    for (int depth = 1; depth > 0;) {
      const Token token = lexer_.next();
      if (token.kind == Token::Kind::End) return context_.fail("'.attribute(' is never closed");
      depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
    }
    return true;
  }

  bool number(int& value) {
    int64_t wide = 0;
    if (!context_.expect_integer(0, std::numeric_limits<int>::max(), wide)) return false;
    value = static_cast<int>(wide);
    return true;
  }

  bool dimensions(int (&sizes)[3]) {
    if (!number(sizes[0])) return false;
    sizes[1] = sizes[2] = 1;
    for (int i = 1; i < 3 && lexer_.accept(","); ++i) {
      if (!number(sizes[i])) return false;
    }
    return true;
  }

  void resolve_patches() {
    for (const PendingPatch& one : context_.pending) {
      Variable::Patch& patch = context_.module.variables[one.variable].patches[one.patch];
      const auto found = context_.globals.find(one.name);
      if (found == context_.globals.end()) {
        context_.fail(one.line, fmt::format("unknown name '{}' in an initialiser", one.name));
      } else if (found->second.kind == Symbol::Kind::Function) {
        patch.function = found->second.index;
      } else {
        patch.variable = found->second.index;
      }
    }
  }

  Context context_;
  Lexer& lexer_;
};

}  // namespace

Result<Module> parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) return input_error("ptx line 1: the text is larger than 256 MB");
  return ModuleParser(text).run();
}

}  // namespace kw::ptx
