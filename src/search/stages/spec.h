// The specification of a kernel, fixed before an author writes it: names, dtypes, symbolic shapes,
// tolerance, priority. Its JSON has a schema and a hash, and is checked when read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::stages {

struct TensorArg {
  std::string name;
  std::string dtype;                // "fp16"
  std::vector<std::string> shape;   // "B", "2 * D", "128"
  std::string layout_hint = "any";  // "row_major", "col_major", "any"
};

struct KernelSpec {
  std::string name, target_arch;
  std::vector<TensorArg> inputs, outputs;
  std::optional<double> rtol, atol;  // an outer bound, by the task or the user; never by a model
  std::string optimization_priority = "balanced";  // "latency", "throughput", "balanced"
  std::string notes;
};

inline constexpr const char* kSpecSchema = "kernelwright kernel spec 1";

/// With "schema" and "hash"; the hash covers everything else.
Json to_json(const KernelSpec& spec);
std::string spec_hash(const KernelSpec& spec);
/// Layout hints are normalised ("contiguous" is row_major); a missing priority is balanced. Input
/// Errors: unknown dtypes, priorities or layouts; a hash that does not match.
Result<KernelSpec> spec_from_json(const Json& json);

/// "latency", "throughput" or "balanced"; not set for other words.
std::optional<std::string> priority_word(const std::string& word);

}  // namespace kw::stages
