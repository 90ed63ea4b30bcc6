// The known optimisation methods as data: the files of catalog/, compiled in. A method says what it
// needs, when to try it, and how the machine code shows it. This module does not apply methods.
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

/// How a method may change the output values.
enum class Effect : uint8_t {
  None,          // the same bits
  Reassociates,  // adds in another order
  Approximates,  // uses cheaper functions with a larger error
  Precision,     // keeps values in another type
};
inline constexpr const char* kEffectNames[] = {"none", "reassociates", "approximates", "precision"};
const char* effect_name(Effect effect);

/// Where a method can be written.
enum class Expressible : uint8_t {
  Module,   // in a kernel module
  Foreign,  // only in host code: a tensor map, a window, a graph
  No,       // not in a kernel: kernelwright applies it, or it is not supported
};
inline constexpr const char* kExpressibleNames[] = {"module", "foreign", "no"};
const char* expressible_name(Expressible expressible);

/// One pattern to look for in the machine code of a kernel that claims the method.
struct SassCheck {
  /// All kinds except Present and Absent compare with the kernel without the method. Unrolls: fewer
  /// loops, or more code with the same number of loops.
  enum class Kind : uint8_t { Present, Absent, More, Fewer, Unrolls };
  Kind kind = Kind::Present;
  std::string opcodes;  // an Opcodes::id
};
inline constexpr const char* kSassCheckNames[] = {"present", "absent", "more", "fewer", "unrolls"};
const char* sass_check_name(SassCheck::Kind kind);

struct Method {
  std::string id;                                         // "memory.vectorized_access"
  std::string axis;                                       // "compute", "memory" or "latency"
  std::string title;                                      // one line
  int priority = 0;                                       // 1 is tried first on its axis
  std::vector<arch::Feature> features;                    // the target must have all of them
  double gain_low = 1, gain_high = 1;                     // speedup when it works; below 1: slower
  std::optional<Expression> trigger;                      // when to try it
  std::optional<Expression> skip;                         // when not to try it
  std::vector<std::string> needs, conflicts, supersedes;  // ids
  Effect effect = Effect::None;
  std::vector<SassCheck> sass;         // all must hold; empty: no known pattern
  std::vector<std::string> sanitizer;  // which to run: memcheck, racecheck, initcheck, synccheck
  std::vector<std::string> knobs;      // "VEC in 2, 4, 8"
  Expressible expressible = Expressible::Module;
  bool experimental = false;
  std::string guidance;  // a paragraph
};

/// A family of machine instructions, by target.
struct Opcodes {
  struct Row {
    std::vector<std::string> targets;  // or "all"
    std::string pattern;               // a regular expression over an instruction's text
  };
  std::string id, title;
  std::vector<Row> rows;

  /// The pattern for a target; not set when it is unknown there.
  std::optional<std::string> pattern(std::string_view target) const;
};

/// All methods: compute, memory, latency, each sorted by priority.
std::span<const Method> methods();
/// The method with that id, or nullptr.
const Method* find(std::string_view id);
/// All ids, for suggestions.
std::vector<std::string> ids();

std::span<const Opcodes> opcodes();
const Opcodes* find_opcodes(std::string_view id);

Json to_json(const Method& method);

}  // namespace kw::catalog
