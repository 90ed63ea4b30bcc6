// Which names an expression may use where, and the check that it uses only those. Used by the
// parser only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/draft.h"

namespace kw::kernel {

/// What a name stands for, as bits, so that sets of them are numbers.
enum NameKind : unsigned {
  kDim = 1,
  kIntegerScalar = 2,
  kTune = 4,
  kBuiltin = 8,  // SMS, L2_BYTES, SMEM_MAX
  kHas = 16,
  kBlocksPerSm = 32,  // known only after compiling
  kRepeat = 64,
  kTensor = 128,
  kFloatScalar = 256,
  kTensormap = 512,
  kUnknown = 1024,
};
inline constexpr unsigned kInterface = kDim | kIntegerScalar;
inline constexpr unsigned kBeforeCompile = kInterface | kTune | kBuiltin | kHas;
inline constexpr unsigned kAfterCompile = kBeforeCompile | kBlocksPerSm;

class NameChecker {
 public:
  explicit NameChecker(Draft& draft);

  /// Reports names that do not exist or may not be used in `place` ("a shape", "'when'", …).
  void check(const Expr& expr, unsigned allowed, std::string_view place,
             const std::string& repeat = "");
  /// One value of args(…): a tensor, a pick() of tensors, a scalar, or an integer expression.
  void check_argument(const Expr& expr, const std::string& repeat);
  /// Names inside a kernel's template arguments that are integers of the plan, and what is unknown
  /// there.
  void check_template_arguments(const LaunchDecl& launch, const std::set<std::string>& source_names,
                                const std::string& repeat);
  /// Everything the name stands for; for a let, everything its value uses.
  unsigned kinds_of(const std::string& name, const std::string& repeat = "") const;
  /// Refuses lets that need themselves. Must come before all other checks.
  void check_lets();
  const std::vector<std::string>& dims() const { return dims_; }

 private:
  bool is_pointer(const Expr& expr, int node) const;
  void report(const Expr& expr, const ExprNode& node, std::string message, std::string hint = "");
  void check_node(const Expr& expr, const ExprNode& node, unsigned allowed, std::string_view place,
                  const std::string& repeat);
  void check_blocks_per_sm(const Expr& expr, const ExprNode& node);
  unsigned let_kinds(const std::string& name, std::set<std::string>& open);
  std::vector<std::string> known_names() const;

  Draft& draft_;
  std::vector<std::string> dims_;
  std::map<std::string, unsigned> let_kinds_;  // filled by check_lets()
};

}  // namespace kw::kernel
