// A kernel that reads a clock, its SM or the number of its launch can behave in one way when it is
// judged and in another when it is timed. Looking for names in the source does not help: macros,
// pasted names and wrappers in headers hide them. So the compiled PTX is judged. It names each
// special register plainly, whatever compiler made it.
// Refusing all clocks would refuse cuda::barrier and cuda::atomic::wait, which sleep longer the
// longer they wait. So a value that depends on a clock is followed through the registers of its
// function, without regard to the order of instructions. It may decide how long to sleep, and a
// branch whose paths meet again in the same loop, if that loop polls memory and the paths do
// nothing but compute such values and sleep. Everything else that it reaches is refused: memory,
// addresses, other lanes, calls, and branches that leave a loop. So a loop never ends because time
// has passed. The cost: code that passes a clock through a function that is not inlined is refused.
#include "ptx/machine_reads.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "ptx/flow_graph.h"
#include "ptx/parse.h"

namespace kw::ptx {

const char* const kForbiddenReadHint =
    "a result must not depend on time, on the SM or on the launch; a clock may only time the "
    "back-off of a loop that polls memory, and kernelwright does the timing";

namespace {

enum class Rule { Free, Clock, Refused };

struct SpecialRule {
  const char* name;
  Special first, last;
  Rule rule;
};
// Every special register. %envreg1 and %envreg2 hold the address of the grid barrier of a
// cooperative launch. %warpid is not threadIdx / 32: it changes while a warp runs.
constexpr SpecialRule kSpecialRules[] = {
    {"%tid", Special::TidX, Special::NctaidZ, Rule::Free},
    {"%laneid", Special::LaneId, Special::LaneId, Rule::Free},
    {"%warpid", Special::WarpId, Special::WarpId, Rule::Refused},
    {"%nwarpid", Special::NwarpId, Special::NwarpId, Rule::Refused},
    {"%smid", Special::SmId, Special::SmId, Rule::Refused},
    {"%nsmid", Special::NsmId, Special::NsmId, Rule::Refused},
    {"%gridid", Special::GridId, Special::GridId, Rule::Refused},
    {"%lanemask", Special::LanemaskEq, Special::LanemaskGt, Rule::Free},
    {"%clock", Special::Clock, Special::Clock, Rule::Clock},
    {"%clock_hi", Special::ClockHi, Special::ClockHi, Rule::Clock},
    {"%clock64", Special::Clock64, Special::Clock64, Rule::Clock},
    {"%globaltimer", Special::GlobalTimer, Special::GlobalTimer, Rule::Clock},
    {"%globaltimer_lo", Special::GlobalTimerLo, Special::GlobalTimerLo, Rule::Clock},
    {"%globaltimer_hi", Special::GlobalTimerHi, Special::GlobalTimerHi, Rule::Clock},
    {"%smem_size", Special::DynamicSmemSize, Special::AggrSmemSize, Rule::Free},
    {"%cluster", Special::ClusterIdX, Special::IsExplicitCluster, Rule::Free},
};

const SpecialRule kEnvironment = {"%envreg", Special::EnvReg, Special::EnvReg, Rule::Refused};

const SpecialRule& rule_of(const Operand& operand) {
  for (const SpecialRule& row : kSpecialRules) {
    if (operand.special >= row.first && operand.special <= row.last) return row;
  }
  return kEnvironment;
}

bool is_refused(const Operand& operand) {
  if (operand.special == Special::EnvReg) return operand.bits != 1 && operand.bits != 2;
  return rule_of(operand).rule == Rule::Refused;
}

template <typename Visit>
void each_operand(const std::vector<Operand>& operands, const Visit& visit) {
  for (const Operand& operand : operands) {
    visit(operand);
    each_operand(operand.elements, visit);
  }
}

// Instructions that only compute their first operands from the others.
constexpr std::array kComputes = {
    "mov", "add", "sub",  "mul",  "mad", "fma", "div", "rem",  "neg",   "abs",  "min", "max",
    "shl", "shr", "shf",  "and",  "or",  "xor", "not", "cnot", "lop3",  "cvt",  "set", "setp",
    "bfe", "bfi", "prmt", "selp", "clz", "sad", "rcp", "popc", "bfind", "brev", "slct"};

bool computes(const Instruction& in) { return contains(kComputes, in.opcode) && !in.has("cc"); }

// Waits for memory that other threads change.
bool polls(const Instruction& in) {
  if (in.opcode == "ld")
    return in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("mmio");
  return in.opcode == "atom" ||
         (in.opcode == "mbarrier" && (in.has("try_wait") || in.has("test_wait")));
}

const char* what_it_does(const Instruction& in) {
  if (in.opcode == "bra" || in.opcode == "brx" || in.opcode == "exit" || in.opcode == "ret")
    return "decides where to continue by";
  if (in.opcode == "st" && in.space == Space::Param) return "passes to a function or returns";
  if (in.opcode == "st" || in.opcode == "atom" || in.opcode == "red") return "stores";
  if (in.opcode == "ld") return "loads from an address or under a condition that is";
  if (in.opcode == "call") return "calls a function with";
  if (in.opcode == "nanosleep") return "sleeps outside a loop that polls memory for";
  return "uses";
}

/// Follows the clocks that one function reads.
class ClockFlow {
 public:
  explicit ClockFlow(const Function& function)
      : f_(function), graph_(function), by_time_(function.registers.size(), false) {}

  std::vector<ForbiddenRead> run() {
    spread();
    for (int at = 0; at < graph_.end(); ++at) {
      const Instruction& in = f_.instructions[at];
      if (!depends(in) || computes(in) || allowed(at, in)) continue;
      found_.push_back(
          {in.ptx_line, fmt::format("{} a value that depends on {}", what_it_does(in), clock_)});
    }
    return found_;
  }

 private:
  bool is_clock(const Operand& operand) {
    if (operand.kind != Operand::Kind::Special || rule_of(operand).rule != Rule::Clock)
      return false;
    if (clock_.empty()) clock_ = rule_of(operand).name;
    return true;
  }

  bool depends(const Instruction& in) {
    bool found = in.guard >= 0 && by_time_[in.guard];
    each_operand(in.operands, [&](const Operand& operand) {
      // An Address too: its register.
      found = found || is_clock(operand) || (operand.reg >= 0 && by_time_[operand.reg]);
    });
    return found;
  }

  // A computing instruction writes its first operands. To take all of them for written would taint
  // its sources, so the number is exact for those with two.
  bool mark_results(const Instruction& in) {
    size_t results = 1;
    if (in.opcode == "setp")
      results = in.operands.size() - (in.has("and") || in.has("or") || in.has("xor") ? 3 : 2);
    bool changed = false;
    for (size_t i = 0; i < std::min(results, in.operands.size()); ++i) {
      each_operand({in.operands[i]}, [&](const Operand& operand) {
        if (operand.reg < 0 || by_time_[operand.reg]) return;
        by_time_[operand.reg] = changed = true;
      });
    }
    return changed;
  }

  // Marks all registers that depend on a clock, by data or by an allowed branch.
  void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int at = 0; at < graph_.end(); ++at) {
        const Instruction& in = f_.instructions[at];
        if (!depends(in)) continue;
        if (computes(in)) changed = mark_results(in) || changed;
        if (in.opcode != "bra") continue;
        for (const int inside : graph_.between(at)) {
          if (inside < graph_.end() && computes(f_.instructions[inside]))
            changed = mark_results(f_.instructions[inside]) || changed;
        }
      }
    }
  }

  bool allowed(int at, const Instruction& in) {
    if (in.opcode == "nanosleep") return !polling_loop(at).empty();
    if (in.opcode == "mbarrier" && in.has("try_wait")) return time_limit_only(in);
    if (in.opcode != "bra") return false;
    const std::vector<bool> loop = polling_loop(at);
    const int meets = graph_.meeting_point(at);
    if (loop.empty() || meets < 0 || !loop[meets]) return false;
    return std::ranges::all_of(graph_.between(at), [&](int inside) {
      const Instruction& one = f_.instructions[inside];
      return loop[inside] && (computes(one) || one.opcode == "nanosleep" || one.opcode == "bra");
    });
  }

  // mbarrier.try_wait may be told how long to wait: its last operand.
  bool time_limit_only(const Instruction& in) {
    Instruction rest = in;
    if (rest.operands.size() == 4) rest.operands.pop_back();
    return !depends(rest);
  }

  std::vector<bool> polling_loop(int at) const {
    if (graph_.is_tangled()) return {};
    std::vector<bool> loop = graph_.innermost_loop(at);
    for (int i = 0; i < graph_.end() && !loop.empty(); ++i) {
      if (loop[i] && polls(f_.instructions[i])) return loop;
    }
    return {};
  }

  const Function& f_;
  FlowGraph graph_;
  std::vector<bool> by_time_;  // by register
  std::string clock_;
  std::vector<ForbiddenRead> found_;
};

bool reads_clock(const Function& function) {
  bool found = false;
  for (const Instruction& in : function.instructions) {
    each_operand(in.operands, [&](const Operand& operand) {
      found =
          found || (operand.kind == Operand::Kind::Special && rule_of(operand).rule == Rule::Clock);
    });
  }
  return found;
}


// Registers of compilers, and special registers that may be read: no need to parse the text.
constexpr std::array<std::string_view, 32> kPlainNames = {"r",
                                                          "rd",
                                                          "f",
                                                          "fd",
                                                          "p",
                                                          "rs",
                                                          "rl",
                                                          "h",
                                                          "hh",
                                                          "b",
                                                          "rq",
                                                          "SP",
                                                          "SPL",
                                                          "tid",
                                                          "ntid",
                                                          "ctaid",
                                                          "nctaid",
                                                          "laneid",
                                                          "lanemask_eq",
                                                          "lanemask_le",
                                                          "lanemask_lt",
                                                          "lanemask_ge",
                                                          "lanemask_gt",
                                                          "dynamic_smem_size",
                                                          "total_smem_size",
                                                          "aggr_smem_size",
                                                          "clusterid",
                                                          "nclusterid",
                                                          "cluster_ctaid",
                                                          "cluster_nctaid",
                                                          "cluster_ctarank",
                                                          "cluster_nctarank"};

struct NamedPlace {
  std::string_view name;
  int line = 0;
};

// The %names of a text that are not in the list above.
std::vector<NamedPlace> unusual_names(std::string_view text) {
  std::vector<NamedPlace> found;
  int line = 1;
  size_t counted = 0;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && is_name_char(text[end])) ++end;
    size_t stem = end;
    while (stem > at + 1 && text[stem - 1] >= '0' && text[stem - 1] <= '9') --stem;
    if (stem == at + 1 || contains(kPlainNames, text.substr(at + 1, stem - at - 1))) continue;
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    found.push_back({text.substr(at, end - at), line});
  }
  return found;
}

}  // namespace

std::vector<ForbiddenRead> forbidden_reads(const Module& module,
                                           const std::vector<std::string>& kernels) {
  std::vector<ForbiddenRead> found;
  for (const Function& function : module.functions) {
    if (function.is_entry && !kernels.empty() && !contains(kernels, function.name)) continue;
    for (const Instruction& in : function.instructions) {
      each_operand(in.operands, [&](const Operand& operand) {
        if (operand.kind != Operand::Kind::Special || !is_refused(operand)) return;
        found.push_back({in.ptx_line, fmt::format("reads {}", rule_of(operand).name)});
      });
    }
    if (!reads_clock(function)) continue;
    for (ForbiddenRead& read : ClockFlow(function).run()) found.push_back(std::move(read));
  }
  return found;
}

std::vector<ForbiddenRead> forbidden_reads(std::string_view text,
                                           const std::vector<std::string>& kernels) {
  const std::vector<NamedPlace> names = unusual_names(text);
  if (names.empty()) return {};
  if (const Result<Module> module = parse(text)) return forbidden_reads(*module, kernels);
  std::vector<ForbiddenRead> found;
  for (const NamedPlace& place : names) {
    for (const std::string_view start :
         {"%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid", "%pm",
          "%envreg", "%current_graph_exec", "%reserved_smem"}) {
      if (!place.name.starts_with(start)) continue;
      found.push_back({place.line, fmt::format("reads {}", place.name)});
      break;
    }
  }
  return found;
}

}  // namespace kw::ptx
