// The problem: an instruction may tell code about the machine, or act on what is not its own. A
// list of refused instructions misses the next one of a new ISA, so this is a list of those
// allowed. The text is read by statements, not parsed, because every compilation is checked, and
// the parser takes instructions for errors that are merely unknown to it. The cost: rules go by the
// first part of the name alone.
#include "ptx/instruction_rules.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "core/contains.h"
#include "ptx/lexer.h"

namespace kw::ptx {

namespace {

// What computes, moves data between registers and memory, and orders threads. Of these, the virtual
// GPU watches each access. activemask, elect, match and vote say which lanes run together, isspacep
// and mapa where memory lies, getctarank whose it is: libraries (CUB, cooperative groups) need
// them, and other orders of warps must give the same bits. nanosleep cannot be measured without a
// clock. createpolicy, applypriority, discard and prefetch are hints about lines of own memory.
// clusterlaunchcontrol and griddepcontrol order blocks and launches.
constexpr std::string_view kFree =
    " abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra "
    "brev "
    "brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a "
    "dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep ld ldmatrix ldu lg2 "
    "lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 nanosleep "
    "neg not or popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg "
    "setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc szext tanh "
    "tcgen05 testp trap vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax "
    "vmax2 "
    "vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor ";

struct Refusal {
  std::string_view opcodes, why;
};
constexpr std::array kRefused = {
    Refusal{" pmevent ", "triggers a performance monitor, which outlives the launch"},
    Refusal{" brkpt ", "stops in a debugger"},
    Refusal{" multimem ", "acts on the memory of other GPUs"},
    Refusal{" tensormap ", "changes which memory a tensor map names"},
    Refusal{" tex tld4 txq suld sust sured suq istypep ",
            "uses textures or surfaces, which a module does not have"},
};

// They have no ';'.
constexpr std::array<std::string_view, 5> kOfOneLine = {"loc", "file", "version", "target",
                                                        "address_size"};
constexpr std::array<std::string_view, 4> kPragmas = {"nounroll", "used_bytes_mask",
                                                      "enable_smem_spilling", "frequency"};

bool lists(std::string_view words, std::string_view word) {
  const std::string whole = fmt::format(" {} ", word);
  return words.find(whole) != std::string_view::npos;
}

/// Goes over the statements of a text.
class Statements {
 public:
  Statements(std::string_view text, const std::vector<std::string>& kernels)
      : lexer_(text), kernels_(kernels) {}

  std::vector<RefusedInstruction> run() {
    while (lexer_.peek().kind != Token::Kind::End && lexer_.peek().kind != Token::Kind::Bad) {
      if (lexer_.accept("@")) {
        lexer_.accept("!");
        lexer_.next();
      } else if (lexer_.peek().kind == Token::Kind::Dotted) {
        read_directive();
      } else if (lexer_.peek().kind != Token::Kind::Name) {
        lexer_.next();
      } else if (lexer_.at_label()) {
        lexer_.next();
      } else {
        const int line = lexer_.peek().line;
        const std::string_view name = lexer_.next_opcode();
        judge(name.substr(0, name.find('.')), line);
        skip_to_semicolon();
      }
    }
    return std::move(found_);
  }

 private:
  void read_directive() {
    const Token word = lexer_.next();
    if (word.text == "pragma") judge_pragma();
    if (contains(kOfOneLine, word.text)) {
      while (lexer_.peek().kind != Token::Kind::End && lexer_.peek().line == word.line)
        lexer_.next();
    } else if (word.text == "section") {
      skip_body();
    } else {
      read_declaration(word.text == "entry");
    }
  }

  // Up to the ';' of a variable, or the '{' of a function.
  void read_declaration(bool entry) {
    bool value = false;
    while (lexer_.peek().kind != Token::Kind::End && !lexer_.accept(";")) {
      if (!value && lexer_.peek().is("{")) {
        if (!looked_at_) skip_body();
        looked_at_ = true;
        return;
      }
      const Token token = lexer_.next();
      value = value || token.is("=");
      if (entry && token.kind == Token::Kind::Name)
        looked_at_ = kernels_.empty() || contains(kernels_, std::string(token.text));
      entry = token.kind == Token::Kind::Dotted && token.text == "entry";
    }
  }

  // A section of debugging data, or a kernel that no launch names.
  void skip_body() {
    while (lexer_.peek().kind != Token::Kind::End && !lexer_.peek().is("{")) lexer_.next();
    int depth = 0;
    do {
      depth += lexer_.peek().is("{") ? 1 : lexer_.peek().is("}") ? -1 : 0;
      lexer_.next();
    } while (depth > 0 && lexer_.peek().kind != Token::Kind::End);
  }

  void skip_to_semicolon() {
    while (lexer_.peek().kind != Token::Kind::End && !lexer_.accept(";")) lexer_.next();
  }

  void judge_pragma() {
    const Token text = lexer_.peek();
    const size_t end = text.text.find_first_of(" \t=");
    if (text.kind != Token::Kind::String || contains(kPragmas, text.text.substr(0, end))) return;
    add(text.line,
        fmt::format("has the pragma '{}', which is not on the list of those allowed", text.text),
        text.text);
  }

  void judge(std::string_view opcode, int line) {
    const InstructionVerdict verdict = rule_of_instruction(opcode);
    if (verdict.rule == InstructionRule::Free) return;
    add(line,
        verdict.rule == InstructionRule::Refused
            ? fmt::format("has the instruction '{}', which {}", opcode, verdict.why)
            : fmt::format("has the instruction '{}', which is not on the list of those allowed",
                          opcode),
        opcode);
  }

  void add(int line, std::string message, std::string_view name) {
    if (told_.insert(name).second) found_.push_back({line, std::move(message)});
  }

  Lexer lexer_;
  const std::vector<std::string>& kernels_;
  bool looked_at_ = true;  // the function whose head was read last
  std::set<std::string_view> told_;
  std::vector<RefusedInstruction> found_;
};

}  // namespace

InstructionVerdict rule_of_instruction(std::string_view opcode) {
  if (lists(kFree, opcode)) return {InstructionRule::Free, {}};
  for (const Refusal& row : kRefused) {
    if (lists(row.opcodes, opcode)) return {InstructionRule::Refused, row.why};
  }
  return {};
}

std::vector<RefusedInstruction> refused_instructions(std::string_view text,
                                                     const std::vector<std::string>& kernels) {
  return Statements(text, kernels).run();
}

}  // namespace kw::ptx
