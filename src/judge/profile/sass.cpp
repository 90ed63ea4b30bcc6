// nvdisasm and cuobjdump print machine code in two layouts, without a stable format. One reader
// accepts both: functions, labels and lines that start with an address. It skips other lines, but a
// line of code that it does not understand is an Error, so no instruction is lost silently. Loops
// are found from branches to a smaller address; building a control flow graph was the alternative.
// The cost: a loop whose branch target is computed at run time is not found.
#include "profile/sass.h"

#include <algorithm>
#include <optional>

#include "core/text.h"

namespace kw::profile {
namespace {

std::optional<uint64_t> hex(std::string_view text) {
  if (text.empty() || text.size() > 16) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint64_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<uint64_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

/// The text between `open` and `close` at the start of `line`. Moves `line` past it.
std::optional<std::string_view> enclosed(std::string_view& line, std::string_view open,
                                         std::string_view close) {
  if (!line.starts_with(open)) return std::nullopt;
  const size_t end = line.find(close, open.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = line.substr(open.size(), end - open.size());
  line = trim(line.substr(end + close.size()));
  return inside;
}

/// "@P0 LDG.E R0, [R2]" without its address, its ';' and its encoding.
SassInstruction instruction(uint64_t address, std::string_view text) {
  SassInstruction made;
  made.address = address;
  text = trim(text.substr(0, text.find(';')));
  if (text.starts_with('@')) {
    const size_t blank = std::min(text.find(' '), text.size());
    made.predicate = text.substr(0, blank);
    text = trim(text.substr(blank));
  }
  const size_t blank = std::min(text.find_first_of(" \t"), text.size());
  made.opcode = text.substr(0, blank);
  made.operands = trim(text.substr(blank));
  return made;
}

bool never(const SassInstruction& one) {
  return one.predicate == "@!PT" || one.predicate == "@!UPT";
}

/// "sm_90a" of ".target sm_90a" or "code for sm_90a".
std::string last_word(std::string_view line) {
  return std::string(trim(line.substr(line.find_last_of(" \t") + 1)));
}

class Reader {
 public:
  Result<std::vector<SassFunction>> read(std::string_view text) {
    int number = 0;
    for (const std::string_view raw : split_lines(text)) {
      ++number;
      if (!take(trim(raw)))
        return input_error("line {} is not machine code as nvdisasm or cuobjdump print it: '{}'",
                           number, trim(raw).substr(0, 80));
    }
    finish();
    if (functions_.empty()) return input_error("there is no function in this machine code");
    return std::move(functions_);
  }

 private:
  /// False: a line of code that is not understood. Lines that are not code are skipped.
  bool take(std::string_view line) {
    if (line.starts_with(".target") || line.starts_with("code for")) {
      target_ = last_word(line);
    } else if (line.starts_with("Function :")) {
      begin(std::string(trim(line.substr(10))));
    } else if (line.starts_with(".text.") && line.ends_with(':')) {
      begin(std::string(line.substr(6, line.size() - 7)));
    } else if (line.starts_with(".L_") && line.ends_with(':')) {
      pending_.push_back(std::string(line.substr(0, line.size() - 1)));
    } else if (line.starts_with("/*")) {
      return take_code(line);
    }
    return true;
  }

  bool take_code(std::string_view line) {
    const auto first = enclosed(line, "/*", "*/");
    if (!first) return false;
    if (line.empty()) return true;  // the second half of an encoding
    const auto address = hex(*first);
    if (!address || functions_.empty() || line.find(';') == std::string_view::npos) return false;
    SassInstruction one = instruction(*address, line);
    if (one.opcode.empty()) return false;
    for (const std::string& label : pending_) labels_[label] = *address;
    pending_.clear();
    if (!never(one)) functions_.back().code.push_back(std::move(one));
    return true;
  }

  void begin(std::string name) {
    finish();
    functions_.push_back({std::move(name), target_, {}, {}});
  }

  /// The target of a branch: "`(.L_x_1)" or "0x140". It is the last operand.
  std::optional<uint64_t> destination(const SassInstruction& one) const {
    const size_t label = one.operands.find("`(");
    if (label != std::string::npos) {
      const size_t end = one.operands.find(')', label);
      const auto known = labels_.find(one.operands.substr(label + 2, end - label - 2));
      return known == labels_.end() ? std::nullopt : std::optional(known->second);
    }
    const size_t number = one.operands.rfind("0x");
    return number == std::string::npos ? std::nullopt
                                       : hex(std::string_view(one.operands).substr(number + 2));
  }

  void find_loops(SassFunction& function) const {
    for (const SassInstruction& one : function.code) {
      if (!one.opcode.starts_with("BRA")) continue;
      const auto to = destination(one);
      // Every function ends with a jump to itself that is never reached. BRA.U.ANY is a jump of the
      // compiler for one elected thread, not a loop of the source.
      if (to && *to < one.address && one.opcode.find(".ANY") == std::string::npos)
        function.loops.push_back({*to, one.address, 1});
    }
    std::sort(function.loops.begin(), function.loops.end(),
              [](const SassLoop& a, const SassLoop& b) {
                return a.first != b.first ? a.first < b.first : a.last > b.last;
              });
    // Two jumps to one address are one loop.
    const auto same = [](const SassLoop& a, const SassLoop& b) { return a.first == b.first; };
    function.loops.erase(std::unique(function.loops.begin(), function.loops.end(), same),
                         function.loops.end());
    for (SassLoop& loop : function.loops) loop.depth = function.depth(loop.first);
  }

  void finish() {
    if (functions_.empty()) return;
    SassFunction& function = functions_.back();
    while (!function.code.empty() && function.code.back().opcode == "NOP") function.code.pop_back();
    find_loops(function);
    labels_.clear();
    pending_.clear();
  }

  std::vector<SassFunction> functions_;
  std::string target_;
  std::map<std::string, uint64_t> labels_;
  std::vector<std::string> pending_;  // labels of the next instruction
};

/// The bytes that a memory instruction moves for each thread.
int width(const std::string& opcode) {
  for (const auto& [suffix, bytes] : {std::pair{"256", 32},
                                      {"128", 16},
                                      {"64", 8},
                                      {"U16", 2},
                                      {"S16", 2},
                                      {"U8", 1},
                                      {"S8", 1}}) {
    for (const std::string& piece : split(opcode, '.')) {
      if (piece == suffix) return bytes;
    }
  }
  return 4;
}

bool is_tensor(const std::string& base) {
  return base.ends_with("MMA") &&
         (base.size() == 4 || base.starts_with("UTC") || base.ends_with("GMMA"));
}

}  // namespace

std::string SassInstruction::text() const {
  std::string all = predicate.empty() ? opcode : predicate + " " + opcode;
  return operands.empty() ? all : all + " " + operands;
}

int SassFunction::depth(uint64_t address) const {
  return static_cast<int>(std::count_if(loops.begin(), loops.end(), [&](const SassLoop& loop) {
    return loop.first <= address && address <= loop.last;
  }));
}

Result<std::vector<SassFunction>> parse_sass(std::string_view text) { return Reader().read(text); }

SassFacts sass_facts(const SassFunction& function) {
  SassFacts facts;
  facts.instructions = static_cast<int>(function.code.size());
  for (const SassInstruction& one : function.code) {
    const std::string base = one.opcode.substr(0, one.opcode.find('.'));
    ++facts.opcodes[base];
    if (base == "LDG") ++facts.loads[width(one.opcode)];
    if (base == "STG") ++facts.stores[width(one.opcode)];
    facts.spill_loads += base == "LDL";
    facts.spill_stores += base == "STL";
    facts.barriers += one.opcode.starts_with("BAR.SYNC") || one.opcode.starts_with("BAR.RED") ||
                      base == "UCGABAR_WAIT";
    facts.tensor += is_tensor(base);
  }
  facts.loops = static_cast<int>(function.loops.size());
  for (const SassLoop& loop : function.loops) facts.deepest = std::max(facts.deepest, loop.depth);
  return facts;
}

}  // namespace kw::profile
