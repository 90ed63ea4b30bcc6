// The names that an expression may use in each place, and the check for it. Used by the parser
// only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kernel/draft.h"

namespace kw::kernel {

// The kind of a name as a bit, so that a set of kinds is a number.
inline constexpr unsigned kDim = 1;
inline constexpr unsigned kIntegerScalar = 2;
inline constexpr unsigned kTune = 4;
inline constexpr unsigned kBuiltin = 8;  // SMS, L2_BYTES, SMEM_MAX
inline constexpr unsigned kHas = 16;
inline constexpr unsigned kBlocksPerSm = 32;  // known only after compiling
inline constexpr unsigned kRepeat = 64;
inline constexpr unsigned kTensor = 128;
inline constexpr unsigned kFloatScalar = 256;
inline constexpr unsigned kTensormap = 512;
inline constexpr unsigned kUnknown = 1024;
inline constexpr unsigned kNumber = 2048;  // a let with a dtype
inline constexpr unsigned kInterface = kDim | kIntegerScalar;
inline constexpr unsigned kBeforeCompile = kInterface | kTune | kBuiltin | kHas;
inline constexpr unsigned kAfterCompile = kBeforeCompile | kBlocksPerSm;

class NameChecker {
 public:
  explicit NameChecker(Draft& draft);

  /// Reports names that do not exist or are not allowed in `place` ("a shape", "'when'", …).
  void check(const Expr& expr, unsigned allowed, std::string_view place,
             const std::string& repeat = "");
  /// The names that a let with a dtype uses: scalars, dims and integer lets.
  void check_number(const NumberExpr& expr);
  /// One value of args(…): a tensor, a pick() of tensors, a scalar, or an integer expression.
  void check_argument(const Expr& expr, const std::string& repeat);
  /// Checks the names in a kernel's template arguments: integers of the plan are allowed, unknown
  /// names are reported.
  void check_template_arguments(const LaunchDecl& launch, const std::set<std::string>& source_names,
                                const std::string& repeat);
  /// All kinds of a name; for a let, all kinds that its value uses.
  unsigned kinds_of(const std::string& name, const std::string& repeat = "") const;
  /// Reports lets that need their own value. Must be called before all other checks.
  void check_lets();

 private:
  bool is_pointer(const Expr& expr, int node) const;
  void report(const Expr& expr, const ExprNode& node, std::string message, std::string hint = "");
  void check_node(const Expr& expr, const ExprNode& node, unsigned allowed, std::string_view place,
                  const std::string& repeat);
  void check_blocks_per_sm(const Expr& expr, const ExprNode& node);
  unsigned let_kinds(const LetDecl& let, std::set<std::string>& open);
  std::string suggest(const std::string& name) const;

  Draft& draft_;
  std::map<std::string, unsigned> kinds_;  // lets are added by check_lets()
  std::map<std::string, const LetDecl*> lets_;
};

}  // namespace kw::kernel
