// Fuzzes ptx::parse: any bytes must give a Module whose indices are all in range, or an Error that
// names lines. Plain program: ptx_parse_fuzz CORPUS_DIR SEED ITERATIONS. With -DKW_LIBFUZZER it is
// a libFuzzer target instead.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ptx/parse.h"

namespace {

using kw::ptx::Function;
using kw::ptx::Module;
using kw::ptx::Operand;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "ptx_parse_fuzz: %s\n", what);
  std::abort();
}

bool below(int index, size_t size) { return index < static_cast<int>(size); }

void check_operand(const Module& module, const Function& function, const Operand& operand) {
  require(below(operand.reg, function.registers.size()), "register index");
  require(below(operand.symbol,
                operand.local_symbol ? function.variables.size() : module.variables.size()),
          "symbol index");
  require(below(operand.param, function.params.size()), "parameter index");
  require(below(operand.result, function.returns.size()), "result index");
  require(below(operand.function, module.functions.size()), "function index");
  require(below(operand.label, function.labels.size()), "label index");
  require(operand.kind != Operand::Kind::Register || operand.reg >= 0, "register without index");
  require(operand.kind != Operand::Kind::Label || operand.label >= 0, "label without index");
  for (const Operand& element : operand.elements) check_operand(module, function, element);
}

void check_function(const Module& module, const Function& function) {
  for (const auto& label : function.labels) {
    require(label.instruction >= 0 &&
                label.instruction <= static_cast<int>(function.instructions.size()),
            "label position");
    for (const int target : label.branch_targets) {
      require(target >= 0 && below(target, function.labels.size()), "branch target");
    }
  }
  for (size_t i = 0; i < function.inline_frames.size(); ++i) {
    require(function.inline_frames[i].inlined_at < static_cast<int>(i), "frames form a chain");
  }
  for (const auto& instruction : function.instructions) {
    require(!instruction.opcode.empty() && below(instruction.guard, function.registers.size()),
            "opcode and guard");
    require(below(instruction.inlined_at, function.inline_frames.size()), "frame index");
    require(instruction.file >= 0 && below(instruction.file, module.files.size()), "file index");
    for (const Operand& operand : instruction.operands) check_operand(module, function, operand);
  }
}

void check(std::string_view text) {
  const kw::Result<Module> module = kw::ptx::parse(text);
  if (!module) {
    require(module.error().message.rfind("ptx line ", 0) == 0, "an error without a line");
    return;
  }
  for (const auto& variable : module->variables) {
    require(static_cast<int64_t>(variable.init.size()) <= variable.bytes, "initial values fit");
    for (const auto& patch : variable.patches) {
      require(patch.at >= 0 && patch.at + patch.bytes <= static_cast<int64_t>(variable.init.size()),
              "patch fits");
      require((patch.variable >= 0) != (patch.function >= 0), "patch has one target");
    }
  }
  for (const Function& function : module->functions) check_function(*module, function);
}

#ifndef KW_LIBFUZZER

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string text = window(seeds_[below_random(seeds_.size())]);
    for (size_t i = 1 + below_random(8); i-- > 0;) mutate(text);
    return text;
  }

 private:
  size_t below_random(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  // Short texts mutate more meaningfully per second; the head keeps .version and the declarations.
  std::string window(const std::string& seed) {
    const size_t head = seed.find(".visible .entry");
    if (seed.size() < 3000 || head == std::string::npos || below_random(10) == 0) return seed;
    const size_t start = head + below_random(seed.size() - head);
    return ".version 8.3\n.target sm_90\n" + seed.substr(head, 1200) + seed.substr(start, 1500) +
           "\n}\n";
  }

  void mutate(std::string& text) {
    static const char* const kWords[] = {"{",
                                         "}",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         ";",
                                         ",",
                                         ":",
                                         "@",
                                         "!",
                                         "|",
                                         "<",
                                         ">",
                                         "%r1",
                                         "%tid.x",
                                         "_",
                                         "0x",
                                         "0f",
                                         "-",
                                         ".reg .b32 %r<99999999999>;",
                                         ".loc 1 2 3",
                                         ", inlined_at 1 2 3",
                                         ".b8",
                                         ".align",
                                         "18446744073709551615",
                                         "/*",
                                         "//",
                                         "\"",
                                         "$L__BB0_1:",
                                         ".branchtargets",
                                         "call",
                                         "bra",
                                         "generic(",
                                         "= {",
                                         "[]",
                                         "[1000000000]",
                                         ".global",
                                         ".shared",
                                         ".param",
                                         ".func",
                                         ".entry x",
                                         ".callprototype",
                                         "\0",
                                         "\xff",
                                         "1e999",
                                         "WARP_SZ"};
    const size_t at = below_random(text.size() + 1);
    switch (below_random(6)) {
      case 0:
        text.insert(at, kWords[below_random(std::size(kWords))]);
        break;
      case 1:
        text.erase(at, 1 + below_random(40));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 3:
        text.insert(at, text.substr(below_random(text.size() + 1), below_random(200)));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        splice(text, at);
    }
  }

  // Exchanges the word at `at` for another word of the same text.
  void splice(std::string& text, size_t at) {
    const char* const kBlank = " \t\n,;";
    const auto word = [&](size_t near) {
      const size_t start = std::min(text.find_first_not_of(kBlank, near), text.size());
      const size_t end = std::min(text.find_first_of(kBlank, start), text.size());
      return std::pair(start, end - start);
    };
    const auto [from, length] = word(below_random(text.size() + 1));
    const std::string other = text.substr(from, length);
    const auto [to, old_length] = word(at);
    text.replace(to, old_length, other);
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

#endif

}  // namespace

#ifdef KW_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}
#else
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR SEED ITERATIONS\n", argv[0]);
    return 2;
  }
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() != ".ptx") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    seeds.push_back(text.str());
  }
  require(!seeds.empty(), "no .ptx in the corpus folder");
  std::sort(seeds.begin(), seeds.end());
  Mutator mutator(std::move(seeds), std::strtoull(argv[2], nullptr, 10));
  const long iterations = std::strtol(argv[3], nullptr, 10);
  for (long i = 0; i < iterations; ++i) check(mutator.next());
  std::printf("%ld texts parsed or refused\n", iterations);
  return 0;
}
#endif
