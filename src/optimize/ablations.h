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
  std::string file;  // "iterv1/ablations/no_memory.vectorized_access/kernel.cu"; "" when none
  std::string text;
  std::string source;  // "switch", "supplied" or "none"
  std::string note;    // what else changed with it, or why there is none
  Attribution attribution;
};

/// The kernel without one method, if there is one. A switch of the champion counts more than a
/// supplied file.
Ablation find_ablation(const Folder& folder, const std::string& champion,
                       const std::string& method);

/// attribution.json, and back.
Json attribution_document(const State& state, const std::vector<Ablation>& ablations);
std::vector<Ablation> ablations_of(const Json& document);
/// As raced with the champion; the texts are read again.
Result<std::vector<Ablation>> read_ablations(const Folder& folder);

}  // namespace kw::optimize
