// Kernels without one method: from the champion's own switches, or written by an agent. Internal to
// optimize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimize/classify.h"
#include "optimize/folder.h"

namespace kw::optimize {

struct Ablation {
  std::string method;
  bool claimed = true;  // in methods.json; otherwise only in the kernel's own text
  std::string file;     // "iterv1/ablations/no_memory.vectorized_access/kernel.cu" or ""
  std::string text;
  std::string source;  // "switch", "supplied" or "none"
  std::string note;    // what else changed with it, or why there is none
  Attribution attribution;
};

/// The kernel without one method; its text is empty when there is none. The champion's switch is
/// preferred to a supplied file.
Ablation find_ablation(const Folder& folder, const std::string& champion,
                       const std::string& method);

/// Methods that only the champion's own `method` lines claim, that its parent does not have, and
/// that can be switched off. They count as claims too, up to the limit of claims.
std::vector<std::string> unclaimed_methods(const State& state, const std::string& champion,
                                           const std::vector<std::string>& claimed);

/// Writes and reads attribution.json.
Json attribution_document(const State& state, const std::vector<Ablation>& ablations);
std::vector<Ablation> ablations_of(const Json& document);
/// The ablations as raced with the champion, with their texts read again.
Result<std::vector<Ablation>> read_ablations(const Folder& folder);

}  // namespace kw::optimize
