// Finds flags from opcodes. PTX is read line by line: compilers write one instruction per line.
#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "profile/sources.h"

namespace kw::profile {
namespace {

/// How an opcode starts, what it contains after that, and the flag it sets.
struct OpcodeFlag {
  const char* flag;
  std::string_view begin;
  std::string_view part;  // "": any
};

constexpr OpcodeFlag kOpcodeFlags[] = {
    {"uses_tensor_core", "mma.", ""},
    {"uses_tensor_core", "wmma.", ".mma."},
    {"uses_tensor_core", "wgmma.mma_async", ""},
    {"uses_tensor_core", "tcgen05.mma", ""},
    {"uses_wgmma", "wgmma.mma_async", ""},
    {"uses_shared", "ld", ".shared"},
    {"uses_shared", "st", ".shared"},
    {"uses_shared", "atom", ".shared"},
    {"uses_shared", "red.", ".shared"},
    {"uses_shared", "cp.async", ".shared"},
    {"uses_shared", "wmma.", ".shared"},
    {"uses_async_copy", "cp.async.ca", ""},
    {"uses_async_copy", "cp.async.cg", ""},
    {"uses_async_copy", "cp.async.bulk", ""},
    {"uses_tma", "cp.async.bulk", ""},
    {"uses_mbarrier", "mbarrier.", ""},
    {"uses_ldmatrix", "ldmatrix.", ""},
    {"uses_ldmatrix", "stmatrix.", ""},
    {"uses_shuffle", "shfl.", ""},
    {"uses_shuffle", "redux.", ""},
    {"uses_atomics", "atom", ""},
    {"uses_atomics", "red.", ""},
    {"uses_cluster", "barrier.cluster", ""},
    {"uses_cluster", "mapa.", ""},
    {"uses_barrier", "bar.", ""},
    {"uses_barrier", "barrier.sync", ""},
    {"uses_barrier", "barrier.red", ""},
    {"uses_barrier", "barrier.arrive", ""},
    {"uses_barrier", "barrier.cta", ""},
    {"uses_setmaxnreg", "setmaxnreg.", ""},
    {"uses_exponential", "ex2.", ""},
    {"uses_exponential", "tanh.", ""},
    {"uses_cache_hint", "ld.global", ".cs"},
    {"uses_cache_hint", "ld.global", ".cg"},
    {"uses_cache_hint", "ld.global", ".lu"},
    {"uses_cache_hint", "ld.global", "evict"},
    {"uses_cache_hint", "ld.global", "no_allocate"},
    {"uses_cache_hint", "st.global", ".cs"},
    {"uses_cache_hint", "st.global", ".cg"},
    {"uses_cache_hint", "st.global", ".wt"},
    {"uses_cache_hint", "st.global", "evict"},
    {"uses_read_only_path", "ld.global", ".nc"},
};

constexpr std::string_view kDivisions[] = {"div.s", "div.u", "rem.s", "rem.u"};

/// The instruction of a line without guard, comment and blanks; "" when there is none.
std::string_view instruction_of(std::string_view line) {
  line = trim(line.substr(0, line.find("//")));
  if (!line.empty() && line.front() == '@') {
    const size_t blank = line.find_first_of(" \t");
    line = blank == std::string_view::npos ? std::string_view() : trim(line.substr(blank));
  }
  return line;
}

/// Whether a line opens a body. The body of another kernel's ".entry NAME" is skipped.
enum class Opens : uint8_t { Nothing, Function, Wanted, Other };

Opens opens(std::string_view line, std::string_view entry) {
  if (line.find(".func") != std::string_view::npos) return Opens::Function;
  const size_t at = line.find(".entry");
  if (at == std::string_view::npos) return Opens::Nothing;
  std::string_view name = trim(line.substr(at + 6));
  name = name.substr(0, name.find_first_of(" \t({"));
  return entry.empty() || name == entry ? Opens::Wanted : Opens::Other;
}

class PtxFlags {
 public:
  void read(std::string_view instruction) {
    const std::string_view opcode = instruction.substr(0, instruction.find_first_of(" \t;"));
    for (const OpcodeFlag& row : kOpcodeFlags) {
      if (opcode.starts_with(row.begin) &&
          opcode.substr(row.begin.size()).find(row.part) != std::string_view::npos)
        raise(row.flag);
    }
    // The compiler has turned a division by a literal into a multiplication before it writes PTX.
    if (std::ranges::any_of(kDivisions, [&](std::string_view d) { return opcode.starts_with(d); }))
      raise("uses_division");
  }

  void write(MetricSet& metrics) const {
    for (const OpcodeFlag& row : kOpcodeFlags)
      metrics.set_flag(row.flag, raised(row.flag), MetricSource::Static, "PTX");
    metrics.set_flag("uses_division", raised("uses_division"), MetricSource::Static, "PTX");
  }

 private:
  void raise(const char* flag) {
    if (!raised(flag)) raised_.emplace_back(flag);
  }
  bool raised(std::string_view flag) const { return contains(raised_, flag); }

  std::vector<std::string> raised_;
};

}  // namespace

MetricSet metrics_of_ptx(std::string_view ptx, std::string_view entry) {
  MetricSet metrics;
  PtxFlags flags;
  bool counts = false, found = false;
  for (const std::string_view line : split_lines(ptx)) {
    const std::string_view text = instruction_of(line);
    const Opens kind = text.starts_with(".") ? opens(text, entry) : Opens::Nothing;
    if (kind != Opens::Nothing) counts = kind != Opens::Other;
    found = found || kind == Opens::Wanted;
    if (counts && kind == Opens::Nothing && !text.empty()) flags.read(text);
  }
  metrics.kernel = std::string(entry);
  if (found) flags.write(metrics);
  return metrics;
}

}  // namespace kw::profile
