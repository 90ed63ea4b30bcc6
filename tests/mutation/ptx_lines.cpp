// The mutants of a kernel must compile, and a stranger must see what was changed. So they are made
// of PTX text, one instruction at a time: the compiler's own output names every register and every
// line of the source (.loc). The alternative, mutating CUDA source, makes texts that do not compile
// and hides what the optimiser made of them. The reader takes what compilers write: one instruction
// per line. Lines that hold more (inline assembly, calls) are kept and never mutated.
#include "ptx_lines.h"

#include <fmt/core.h>

#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "core/text.h"

namespace kw::mutation {

namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' ||
         c == '%' || c == ':';
}

std::string_view without_comment(std::string_view line) {
  const size_t at = line.find("//");
  return trim(at == std::string_view::npos ? line : line.substr(0, at));
}

/// Splits at commas outside of brackets and braces.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c != ',' || (depth != 0 && i < text.size())) continue;
    const std::string_view operand = trim(text.substr(start, i - start));
    if (!operand.empty()) operands.emplace_back(operand);
    start = i + 1;
  }
  return operands;
}

}  // namespace

bool Instruction::is(std::string_view name) const {
  return opcode == name ||
         (opcode.size() > name.size() && opcode.compare(0, name.size(), name) == 0 &&
          opcode[name.size()] == '.');
}

bool Instruction::has(std::string_view part) const {
  const size_t at = opcode.find(part);
  return at != std::string::npos &&
         (at + part.size() == opcode.size() || opcode[at + part.size()] == '.');
}

std::string_view Instruction::type() const {
  const size_t at = opcode.rfind('.');
  return at == std::string::npos ? std::string_view() : std::string_view(opcode).substr(at + 1);
}

std::string Instruction::place() const {
  return fmt::format("{} {} #{}", source_line, opcode, ordinal);
}

std::string Instruction::text() const {
  std::string text = guard + opcode;
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? " " : ", ") + operands[i];
  return text + ";";
}

std::string Instruction::with(size_t operand, std::string text) const {
  Instruction other = *this;
  other.operands[operand] = std::move(text);
  return other.text();
}

std::string Instruction::with_opcode(std::string text) const {
  Instruction other = *this;
  other.opcode = std::move(text);
  return other.text();
}

PtxLines::PtxLines(std::string_view text) {
  for (const std::string_view line : split_lines(text)) lines_.emplace_back(line);
  for (size_t i = 0; i < lines_.size(); ++i) read_line(i);
}

void PtxLines::read_line(size_t index) {
  const std::string_view line = without_comment(lines_[index]);
  if (line.empty()) return;
  if (line.find(".entry") != std::string_view::npos ||
      line.find(".func") != std::string_view::npos) {
    ++function_;
    register_types_.emplace_back();
    seen_.clear();
    source_line_ = 0;
    return;
  }
  if (function_ < 0) return;
  if (line.compare(0, 5, ".loc\t") == 0 || line.compare(0, 5, ".loc ") == 0) {
    int file = 0;
    (void)std::sscanf(std::string(line.substr(5)).c_str(), "%d %d", &file, &source_line_);
    return;
  }
  if (line.compare(0, 5, ".reg ") == 0 || line.compare(0, 5, ".reg\t") == 0)
    return read_registers(line);
  read_instruction(index, line);
}

// ".reg .b32 %r<17>;" or ".reg .f32 %f1, %f2;"
void PtxLines::read_registers(std::string_view line) {
  std::string_view rest = trim(line.substr(5));
  if (rest.empty() || rest.front() != '.' || rest.back() != ';') return;
  const size_t blank = rest.find_first_of(" \t");
  if (blank == std::string_view::npos) return;
  const std::string type(rest.substr(1, blank - 1));
  for (const std::string& name : split_operands(rest.substr(blank, rest.size() - blank - 1)))
    register_types_.back()[name.substr(0, name.find('<'))] = type;
}

std::string PtxLines::register_type(int function, std::string_view name) const {
  const auto& types = register_types_[static_cast<size_t>(function)];
  std::string_view prefix = name;
  while (!prefix.empty()) {
    const auto at = types.find(prefix);
    if (at != types.end()) return at->second;
    if (std::isdigit(static_cast<unsigned char>(prefix.back())) == 0) break;
    prefix.remove_suffix(1);
  }
  return "";
}

void PtxLines::read_instruction(size_t index, std::string_view line) {
  if (line.back() != ';' || line.find(';') != line.size() - 1 || line.front() == '.' ||
      line.front() == '{')
    return;
  line.remove_suffix(1);
  Instruction made;
  made.line = index;
  if (line.front() == '@') {
    const size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) return;
    made.guard = std::string(line.substr(0, blank)) + " ";
    line = trim(line.substr(blank));
  }
  size_t end = 0;
  while (end < line.size() && is_name_char(line[end])) ++end;
  made.opcode = std::string(line.substr(0, end));
  if (made.opcode.empty() || std::isalpha(static_cast<unsigned char>(made.opcode[0])) == 0 ||
      made.opcode == "call")
    return;
  made.operands = split_operands(line.substr(end));
  made.function = function_;
  made.source_line = source_line_;
  made.ordinal = seen_[fmt::format("{} {}", source_line_, made.opcode)]++;
  instructions_.push_back(std::move(made));
}

std::string PtxLines::replaced(const std::map<size_t, std::string>& lines) const {
  std::string text;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const auto at = lines.find(i);
    text += at == lines.end() ? lines_[i] : "\t" + at->second;
    text += '\n';
  }
  return text;
}

bool is_register(std::string_view operand) {
  return operand.size() > 2 && operand.front() == '%' &&
         operand.find('.') == std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(operand.back())) != 0;
}

bool is_integer(std::string_view operand, long long* value) {
  if (operand.empty() ||
      (operand.size() > 1 && operand[0] == '0' && (operand[1] == 'f' || operand[1] == 'd')))
    return false;
  const std::string text(operand);
  char* end = nullptr;
  *value = std::strtoll(text.c_str(), &end, 0);
  return end != text.c_str() && (*end == '\0' || std::string_view(end) == "U");
}

bool is_float(std::string_view operand, double* value) {
  if (operand.size() == 10 && operand.substr(0, 2) == "0f") {
    *value = std::bit_cast<float>(
        static_cast<uint32_t>(std::strtoul(std::string(operand.substr(2)).c_str(), nullptr, 16)));
    return true;
  }
  if (operand.size() == 18 && operand.substr(0, 2) == "0d") {
    *value = std::bit_cast<double>(
        static_cast<uint64_t>(std::strtoull(std::string(operand.substr(2)).c_str(), nullptr, 16)));
    return true;
  }
  return false;
}

std::string float_literal(double value, bool is_double) {
  if (is_double) return fmt::format("0d{:016X}", std::bit_cast<uint64_t>(value));
  return fmt::format("0f{:08X}", std::bit_cast<uint32_t>(static_cast<float>(value)));
}

namespace {

/// Whether an instruction does nothing but set its first operand.
bool only_sets(const Instruction& instruction) {
  static constexpr const char* kPure[] = {
      "add", "sub",  "mul",  "mad",  "fma", "div",  "rem",      "abs",  "neg",  "min",  "max",
      "and", "or",   "xor",  "not",  "shl", "shr",  "mov",      "cvt",  "setp", "selp", "set",
      "ex2", "lg2",  "rcp",  "sqrt", "sin", "cos",  "rsqrt",    "tanh", "bfe",  "bfi",  "prmt",
      "ld",  "cvta", "popc", "clz",  "shf", "lop3", "copysign", "testp"};
  if (instruction.has(".volatile") || instruction.has(".acquire")) return false;
  for (const char* name : kPure) {
    if (instruction.is(name)) return true;
  }
  return false;
}

void add_registers(std::string_view text, std::set<std::string>* names) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    size_t end = i + 1;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    names->insert(std::string(text.substr(i, end - i)));
    i = end - 1;
  }
}

/// The lines of a text that are not dead: what does not only set registers, and what sets used
/// ones.
std::vector<std::string> live_lines(std::string_view text) {
  const PtxLines lines(text);
  std::map<size_t, const Instruction*> by_line;
  for (const Instruction& one : lines.instructions()) by_line[one.line] = &one;
  const auto all = split_lines(text);
  std::vector<bool> dead(all.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> used;  // of all functions: registers of two functions may have one name
    for (size_t i = 0; i < all.size(); ++i) {
      const auto at = by_line.find(i);
      if (dead[i] || trim(all[i]).substr(0, 4) == ".reg") continue;
      if (at == by_line.end() || !only_sets(*at->second)) {
        add_registers(all[i], &used);
        continue;
      }
      add_registers(at->second->guard, &used);
      for (size_t k = 1; k < at->second->operands.size(); ++k)
        add_registers(at->second->operands[k], &used);
    }
    for (const auto& [i, one] : by_line) {
      if (dead[i] || !only_sets(*one) || one->operands.empty()) continue;
      std::set<std::string> sets;
      add_registers(one->operands[0], &sets);
      bool needed = sets.empty();
      for (const std::string& name : sets) needed = needed || used.count(name) != 0;
      if (needed) continue;
      dead[i] = changed = true;
    }
  }
  std::vector<std::string> live;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!dead[i] && trim(all[i]).substr(0, 4) != ".loc") live.emplace_back(trim(all[i]));
  }
  return live;
}

}  // namespace

bool same_live_code(std::string_view one, std::string_view other) {
  return live_lines(one) == live_lines(other);
}

}  // namespace kw::mutation
