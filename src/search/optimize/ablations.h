// Kernels without one method: from the champion's own switches, or as an agent wrote them. Internal
// to optimize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimize/classify.h"
#include "optimize/folder.h"

namespace kw::optimize {

struct Ablation {
  std::string method;
  bool claimed = true;  // in methods.json; else only by the kernel's own text
  std::string file;     // "iterv1/ablations/no_memory.vectorized_access/kernel.cu"; "" when none
  std::string text;
  std::string source;  // "switch", "supplied" or "none"
  std::string note;    // what else changed with it, or why there is none
  Attribution attribution;
};

/// The kernel without one method, if there is one. A switch of the champion counts more than a
/// supplied file.
Ablation find_ablation(const Folder& folder, const std::string& champion,
                       const std::string& method);

/// Methods that only the champion's own `method` lines claim, that its parent has not, and that can
/// be switched off: claims too, as many as there is room for beside the others.
std::vector<std::string> unclaimed_methods(const State& state, const std::string& champion,
                                           const std::vector<std::string>& claimed);

/// attribution.json, and back.
Json attribution_document(const State& state, const std::vector<Ablation>& ablations);
std::vector<Ablation> ablations_of(const Json& document);
/// As raced with the champion; the texts are read again.
Result<std::vector<Ablation>> read_ablations(const Folder& folder);

}  // namespace kw::optimize
