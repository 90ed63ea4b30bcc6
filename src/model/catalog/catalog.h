// The known optimisation methods, as data: the files of catalog/, compiled in. Says what may be
// claimed, what it needs, when it is worth trying and how to see it in the machine code; trying it
// is not done here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/features.h"
#include "catalog/expression.h"
#include "core/json.h"

namespace kw::catalog {

/// What a method may do to the numbers that come out.
enum class Effect : uint8_t {
  None,          // bit for bit the same
  Reassociates,  // sums in another order
  Approximates,  // cheaper functions with larger error
  Precision,     // values kept in another type
};
const char* effect_name(Effect effect);

/// Where a method can be written down at all.
enum class Expressible : uint8_t {
  Module,   // in a kernel module
  Foreign,  // only with host code of its own: a tensor map, a window, a graph
  No,       // not by whoever writes a kernel: the engine does it, or nothing here can
};
const char* expressible_name(Expressible expressible);

/// One thing to look for in the machine code of the kernel that claims the method.
struct SassCheck {
  /// All but the first two compare with the kernel without the method. Unrolls: fewer loops, or more
  /// code where there are as many.
  enum class Kind : uint8_t { Present, Absent, More, Fewer, Unrolls };
  Kind kind = Kind::Present;
  std::string opcodes;  // an Opcodes::id
};
const char* sass_check_name(SassCheck::Kind kind);

struct Method {
  std::string id;                       // "memory.vectorized_access"
  std::string axis;                     // "compute", "memory" or "latency"
  std::string title;                    // one line
  int priority = 0;                     // 1 is looked at first on its axis
  std::vector<arch::Feature> features;  // the target must have them all
  double gain_low = 1, gain_high = 1;   // times faster, where it works; below 1: costs speed
  std::optional<Expression> trigger;    // the evidence for it
  std::optional<Expression> skip;       // what rules it out
  std::vector<std::string> needs, conflicts, supersedes;  // ids
  Effect effect = Effect::None;
  std::vector<SassCheck> sass;         // all must hold; none: not known how it shows
  std::vector<std::string> sanitizer;  // of memcheck, racecheck, initcheck, synccheck: what to run
  std::vector<std::string> knobs;      // "VEC in 2, 4, 8"
  Expressible expressible = Expressible::Module;
  bool experimental = false;
  std::string guidance;  // a paragraph
};

/// A family of machine instructions, by architecture.
struct Opcodes {
  struct Row {
    std::vector<std::string> targets;  // or "all"
    std::string pattern;               // a regular expression over an instruction's text
  };
  std::string id, title;
  std::vector<Row> rows;

  /// The pattern for a target; nothing: not known there.
  std::optional<std::string> pattern(std::string_view target) const;
};

/// All methods: compute, memory, latency, each by priority.
std::span<const Method> methods();
/// The method of that id, or nullptr.
const Method* find(std::string_view id);
/// All ids, for suggestions.
std::vector<std::string> ids();

std::span<const Opcodes> opcodes();
const Opcodes* find_opcodes(std::string_view id);

Json to_json(const Method& method);

}  // namespace kw::catalog
