// `kernelwright fsck`: checks all that the store knows of a run or of a root: marks and signatures,
// every recorded file, the order of journals, leftovers of killed processes, modes, the index. It
// repairs only what loses nothing: what cannot be used is moved aside and never deleted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::workflows {

struct FsckRequest {
  std::string root;
  std::string run;  // as for inspect_run(); "": all runs, and the index
  bool repair = false;
};

struct FsckFinding {
  std::string where;  // the run's id, "index", "key" or a path in the root
  std::string what;
  std::string todo;       // "" when there is nothing to do
  bool note = false;      // not a fault: a run of another user, a run that is in use
  bool repaired = false;  // by this call
};

struct FsckReport {
  int64_t runs = 0, candidates = 0;  // that were checked
  std::vector<FsckFinding> findings;
  /// Whether a fault is left.
  bool has_faults() const;
};

Result<FsckReport> fsck(const FsckRequest& request);
Json to_json(const FsckReport& report);

}  // namespace kw::workflows
