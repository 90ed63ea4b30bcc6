// Variables of PTX may have initial values, as nested or flat lists, with addresses of other
// variables inside. The values become bytes at once, because the interpreter needs only bytes.
// Addresses are not known while parsing, so each becomes a patch. The name of a patch may be
// declared later and is resolved at the end of the module. Keeping the values as a tree would need
// an encoder later. Bytes are counted against a limit over the whole module, so that a short text
// cannot allocate gigabytes. The cost: patches of less than 8 bytes are allowed only for one byte
// of an address.
#include "ptx/declare.h"

#include <bit>

#include <fmt/core.h>

#include "ptx/constant.h"
#include "ptx/ptx_words.h"

namespace kw::ptx {
namespace {

// The words before the name.
struct Base {
  Space space = Space::Global;
  Type type = Type::None;
  int align = 0;
  int vector = 1;
};

bool skip_attribute(Context& context) {
  if (!context.expect("(")) return false;
  for (int depth = 1; depth > 0;) {
    const Token token = context.lexer.next();
    if (token.kind == Token::Kind::End) return context.fail("'.attribute(' is never closed");
    depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
  }
  return true;
}

bool parse_align(Context& context, int& align) {
  int64_t value = 0;
  if (!context.expect_integer(1, 1 << 20, value)) return false;
  if (!std::has_single_bit(static_cast<uint64_t>(value))) {
    return context.fail(fmt::format("alignment {} is not a power of two", value));
  }
  align = static_cast<int>(value);
  return true;
}

// ".ptr .global .align 16" describes the target of a pointer parameter. The parser does not need
// it.
bool skip_pointee(Context& context) {
  while (context.lexer.peek().kind == Token::Kind::Dotted) {
    const std::string_view word = context.lexer.next().text;
    int align = 0;
    if (word == "align" && !parse_align(context, align)) return false;
    if (word != "align" && !find_space(word)) {
      return context.fail(fmt::format("unknown word '.{}' after .ptr", word));
    }
  }
  return true;
}

bool parse_base_word(Context& context, std::string_view word, Base& base) {
  if (word == "align") return parse_align(context, base.align);
  if (word == "attribute") return skip_attribute(context);
  if (word == "ptr") return skip_pointee(context);
  if (word == "v2" || word == "v4" || word == "v8") {
    base.vector = word[1] - '0';
    return true;
  }
  const Type type = find_type(word);
  if (type == Type::None || type_size(type) == 0) {
    return context.fail(fmt::format("'.{}' is not a type a variable can have", word));
  }
  base.type = type;
  return true;
}

bool parse_base(Context& context, Base& base) {
  while (context.lexer.peek().kind == Token::Kind::Dotted) {
    const std::string_view word = context.lexer.next().text;
    if (!parse_base_word(context, word, base)) return false;
  }
  if (base.type == Type::None) return context.fail("a variable without a type");
  return true;
}

// Reads values into the bytes of one variable.
class Initialiser {
 public:
  Initialiser(Context& context, Declared& declared, const Base& base, std::vector<int64_t> dims)
      : context_(context), declared_(declared), base_(base), dims_(std::move(dims)) {
    if (base.vector > 1) dims_.push_back(base.vector);
  }

  bool parse() {
    if (!context_.lexer.peek().is("{")) {
      return dims_.empty() ? element(0) : context_.fail_expected("'{'");
    }
    return list(0, 0);
  }
  /// The number of elements in the outermost list, for `x[] = {…}`.
  int64_t outer_count() const { return outer_count_; }

 private:
  int64_t stride(size_t level) const {
    int64_t bytes = type_size(base_.type);
    for (size_t i = level + 1; i < dims_.size(); ++i) bytes *= dims_[i];
    return bytes;
  }

  bool list(size_t level, int64_t base) {
    if (!context_.expect("{")) return false;
    const int64_t step = level < dims_.size() ? stride(level) : type_size(base_.type);
    // Values may also be listed flat, without braces for the inner dimensions.
    const int64_t flat = type_size(base_.type);
    int64_t at = base, count = 0;
    while (!context_.lexer.peek().is("}")) {
      const bool nested = context_.lexer.peek().is("{");
      if (nested && level + 1 >= dims_.size())
        return context_.fail("initialiser has too many braces");
      if (!(nested ? list(level + 1, at) : element(at))) return false;
      at += nested ? step : flat;
      count = (at - base + step - 1) / step;
      if (at - base > kMaxVariableBytes) return context_.over_limit("initialiser larger than 1 GB");
      if (!context_.lexer.accept(",")) break;
    }
    if (level == 0) outer_count_ = count;
    if (level < dims_.size() && dims_[level] > 0 && count > dims_[level]) {
      return context_.fail(fmt::format("{} initial values for {} elements", count, dims_[level]));
    }
    return context_.expect("}");
  }

  bool element(int64_t at) {
    const Lexer::Mark start = context_.lexer.mark();
    if (at_constant(context_.lexer)) {
      Constant value;
      std::string why;
      if (!parse_constant(context_.lexer, value, why)) return context_.fail(start.line, why);
      if (!context_.lexer.peek().is("(")) return store(at, value);
      return masked_address(at, value);
    }
    return address(at, 0, type_size(base_.type));
  }

  // 0xFF00(symbol): one byte of an address.
  bool masked_address(int64_t at, const Constant& mask) {
    const int shift = std::countr_zero(mask.bits);
    const bool is_byte = mask.kind == Operand::ImmediateKind::Integer && shift < 64 &&
                         shift % 8 == 0 && mask.bits >> shift == 0xFF;
    if (!is_byte) return context_.fail("only a mask of one byte may select part of an address");
    if (!context_.expect("(") || !address(at, shift, 1)) return false;
    return context_.expect(")");
  }

  bool address(int64_t at, int shift, int bytes) {
    Variable::Patch patch;
    patch.at = at;
    patch.shift = shift;
    patch.bytes = bytes;
    std::string_view name;
    const int line = context_.lexer.peek().line;
    if (!context_.expect_name(name)) return false;
    if (name == "generic") {
      patch.generic = true;
      if (!context_.expect("(") || !context_.expect_name(name) || !context_.expect(")"))
        return false;
    }
    if (context_.lexer.peek().is("+") || context_.lexer.peek().is("-")) {
      if (!context_.expect_integer(-kMaxVariableBytes, kMaxVariableBytes, patch.offset))
        return false;
    }
    if (bytes < 8 && shift == 0 && type_size(base_.type) != 1) {
      return context_.fail(line, "an address needs an element of 64 bits");
    }
    declared_.pending.push_back({0, declared_.variable.patches.size(), name, line});
    declared_.variable.patches.push_back(patch);
    return reserve(at + bytes);
  }

  bool reserve(int64_t end) {
    std::vector<uint8_t>& init = declared_.variable.init;
    if (end <= static_cast<int64_t>(init.size())) return true;
    context_.variable_bytes += end - static_cast<int64_t>(init.size());
    if (context_.variable_bytes > kMaxVariableBytes)
      return context_.over_limit("initial values larger than 1 GB");
    init.resize(static_cast<size_t>(end));
    return true;
  }

  uint64_t encode(const Constant& value) const {
    if (base_.type == Type::F64) return std::bit_cast<uint64_t>(value.as_double());
    if (base_.type == Type::F32 && value.kind != Operand::ImmediateKind::Float32) {
      return std::bit_cast<uint32_t>(static_cast<float>(value.as_double()));
    }
    return value.bits;
  }

  bool store(int64_t at, const Constant& value) {
    const int size = type_size(base_.type);
    if (!reserve(at + size)) return false;
    const uint64_t bits = encode(value);
    for (int i = 0; i < size && i < 8; ++i) {
      declared_.variable.init[static_cast<size_t>(at + i)] = static_cast<uint8_t>(bits >> (8 * i));
    }
    return true;
  }

  Context& context_;
  Declared& declared_;
  const Base base_;
  std::vector<int64_t> dims_;
  int64_t outer_count_ = 0;
};

// "[4][8]"; an empty first dimension becomes 0.
bool parse_dims(Context& context, std::vector<int64_t>& dims) {
  while (context.lexer.accept("[")) {
    int64_t size = 0;
    const bool open = context.lexer.peek().is("]");
    if (open && !dims.empty()) return context.fail("only the first dimension may be left open");
    if (!open && !context.expect_integer(0, kMaxVariableBytes, size)) return false;
    if (!context.expect("]")) return false;
    dims.push_back(size);
    if (dims.size() > 16) return context.fail("more than 16 dimensions");
  }
  return true;
}

bool multiply_out(Context& context, int64_t element, const std::vector<int64_t>& dims,
                  Variable& variable) {
  variable.bytes = element;
  for (const int64_t dim : dims) {
    variable.bytes *= dim;
    if (variable.bytes > kMaxVariableBytes) {
      return context.fail(variable.ptx_line,
                          fmt::format("variable '{}' is larger than 1 GB", variable.name));
    }
  }
  return true;
}

bool parse_variable(Context& context, const Base& base, bool is_extern, Declared& declared) {
  Variable& variable = declared.variable;
  variable.ptx_line = context.lexer.peek().line;
  if (!context.expect_name(declared.name)) return false;
  variable.name = std::string(declared.name);
  variable.space = base.space;
  variable.type = base.type;
  variable.is_extern = is_extern;
  const int natural = type_size(base.type) * base.vector;
  variable.align = base.align != 0 ? base.align : natural;
  std::vector<int64_t> dims;
  if (!parse_dims(context, dims)) return false;
  const bool open = !dims.empty() && dims[0] == 0;
  if (open) dims[0] = 1;
  if (!multiply_out(context, natural, dims, variable)) return false;
  if (open) dims[0] = 0;
  if (context.lexer.accept("=")) {
    Initialiser initialiser(context, declared, base, dims);
    if (!initialiser.parse()) return false;
    if (open) dims[0] = initialiser.outer_count();
  }
  if (open && !multiply_out(context, natural, dims, variable)) return false;
  if (static_cast<int64_t>(variable.init.size()) > variable.bytes) {
    return context.fail(variable.ptx_line,
                        fmt::format("too many initial values for '{}'", declared.name));
  }
  return true;
}

}  // namespace

bool parse_variables(Context& context, Space space, bool is_extern,
                     std::vector<Declared>& declared) {
  Base base;
  base.space = space;
  if (!parse_base(context, base)) return false;
  do {
    declared.emplace_back();
    if (!parse_variable(context, base, is_extern, declared.back())) return false;
    if (!context.count_name()) return false;
  } while (context.lexer.accept(","));
  return true;
}

bool parse_params(Context& context, std::vector<Variable>& params) {
  if (!context.expect("(")) return false;
  if (context.lexer.accept(")")) return true;
  do {
    if (context.lexer.peek().kind == Token::Kind::Dotted && context.lexer.peek().text == "reg") {
      return context.fail("parameters in registers (.reg) are not supported; use .param");
    }
    if (context.lexer.peek().kind != Token::Kind::Dotted || context.lexer.peek().text != "param") {
      return context.fail_expected("'.param'");
    }
    context.lexer.next();
    Base base;
    base.space = Space::Param;
    Declared declared;
    if (!parse_base(context, base) || !parse_variable(context, base, false, declared)) return false;
    if (!context.count_name()) return false;
    params.push_back(std::move(declared.variable));
  } while (context.lexer.accept(","));
  return context.expect(")");
}

}  // namespace kw::ptx
