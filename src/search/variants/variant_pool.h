// Kernel modules whose tunables can be set so that they use the requested methods. Finds the
// variants and their order; it does not verify or time them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel/module.h"

namespace kw::variants {

/// What a variant should use.
struct VariantRequest {
  std::vector<std::string> methods;     // at least one must be used
  std::vector<std::string> inherited;   // should still be used
  std::map<std::string, int64_t> dims;  // of the shape that counts, by the task's names
  std::set<std::string> known;          // identities of the variants tried before
};

/// A module with a value for each tunable.
struct Variant {
  std::string origin;  // "rms_norm=block_per_row", "the kernel itself"
  std::string text;    // chosen values come first in their `tune` lines
  std::map<std::string, int64_t> tunes;
  std::vector<std::string> covered;  // of the requested methods
  std::vector<std::string> lost;     // of the inherited methods
};

/// Equal for texts that are the same module with the same chosen values. The allowed values in
/// `tune` lines and the `method` lines make no difference.
std::string identity(const std::string& text);

class VariantPool {
 public:
  /// A text that does not parse as a module is ignored.
  void add(const std::string& origin, const std::string& text);
  size_t size() const { return modules_.size(); }

  /// Whether some values of some module make it claim the method at these dims.
  bool offers(const std::string& method, const std::map<std::string, int64_t>& dims) const;
  /// At most `most` variants, all covering and losing the same methods. They miss as few requested
  /// and inherited methods as possible and cover at least one requested method. From every module
  /// in turn, nearest to its best guess first.
  std::vector<Variant> variants(const VariantRequest& request, size_t most) const;

 private:
  struct PoolEntry {
    std::string origin;
    kernel::Module module;
    std::vector<std::map<std::string, int64_t>> assignments;  // the first is the best guess
    std::set<std::string> shape_tunes;                        // tunables that set the block size
  };
  /// Which methods an assignment covers and loses; fewer missing is better.
  struct Fit {
    size_t missing = 0;
    std::vector<std::string> covered, lost;
  };
  static bool resizes(const PoolEntry& one, const std::map<std::string, int64_t>& tunes);
  static Fit fit(const PoolEntry& one, const std::map<std::string, int64_t>& tunes,
                 const VariantRequest& request);
  static std::vector<Variant> fitting(const PoolEntry& one, const Fit& best,
                                      const VariantRequest& request);
  static Variant made(const PoolEntry& one, const std::map<std::string, int64_t>& tunes, Fit fit);

  std::vector<PoolEntry> modules_;
};

}  // namespace kw::variants
