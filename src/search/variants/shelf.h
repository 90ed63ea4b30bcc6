// Modules on a shelf, to be set so that they use the methods that are asked for: which variants
// there are and which of them to look at first. Knows no device; whether a variant is right or fast
// is found out elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel/module.h"

namespace kw::variants {

/// What a variant should have.
struct Wish {
  std::vector<std::string> methods;     // at least one of them
  std::vector<std::string> inherited;   // should stay
  std::map<std::string, int64_t> dims;  // of the shape that counts, by the task's names
  std::set<std::string> known;          // identities of what was tried
};

/// A module with its tunables decided.
struct Variant {
  std::string origin;  // "rms_norm=block_per_row", "the kernel itself"
  std::string text;    // the values first in their `tune` lines
  std::map<std::string, int64_t> tunes;
  std::vector<std::string> covered;  // of the methods wished for
  std::vector<std::string> lost;     // of those inherited
};

/// The same for texts that are the same module with the same values, however their `tune` lines
/// are ordered and whatever they claim.
std::string identity(const std::string& text);

class Shelf {
 public:
  /// A text that is no module is left out.
  void add(const std::string& origin, const std::string& text);
  size_t size() const { return modules_.size(); }

  /// Whether some values of some module make it claim the method at these dims.
  bool offers(const std::string& method, const std::map<std::string, int64_t>& dims) const;
  /// At most `most`, all with the same methods: as many as any has of what is wished for and
  /// inherited, of the former at least one. By turns from every module, nearest to its best guess
  /// first.
  std::vector<Variant> variants(const Wish& wish, size_t most) const;

 private:
  struct Shelved {
    std::string origin;
    kernel::Module module;
    std::vector<std::map<std::string, int64_t>> assignments;  // the first is the best guess
    std::set<std::string> shape_tunes;                        // those that blocks are made of
  };
  /// How an assignment meets a wish; the fewer missing the better.
  struct Fit {
    size_t missing = 0;
    std::vector<std::string> covered, lost;
  };
  static bool resizes(const Shelved& one, const std::map<std::string, int64_t>& tunes);
  static Fit fit(const Shelved& one, const std::map<std::string, int64_t>& tunes, const Wish& wish);
  static std::vector<Variant> fitting(const Shelved& one, const Fit& best, const Wish& wish);
  static Variant made(const Shelved& one, const std::map<std::string, int64_t>& tunes, Fit fit);

  std::vector<Shelved> modules_;
};

}  // namespace kw::variants
