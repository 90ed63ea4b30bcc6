#include "arch/features.h"

#include <algorithm>
#include <iterator>

namespace kw::arch {
namespace {

// The targets of a feature are a rule over the rows of arch.cpp, so a new target needs no second
// table. Exceptions to such a rule are written out.
struct FeatureRow {
  const char* name;
  int from;       // 10 * major + minor of the oldest target
  bool specific;  // only 'a' targets
  int until;      // the newest target; 0: no limit
};

constexpr int kEvery = 75;
constexpr FeatureRow kFeatureRows[] = {
    {"tensor_core", kEvery, false, 0},
    {"int8_tensor_core", kEvery, false, 0},
    {"tf32_tensor_core", 80, false, 0},
    {"structured_sparsity", 80, false, 0},
    {"fp8_tensor_core", 89, false, 0},
    {"ldmatrix", kEvery, false, 0},
    {"stmatrix", 90, false, 0},
    {"cp_async", 80, false, 0},
    {"l2_persistence", 80, false, 0},
    {"l2_prefetch", kEvery, false, 0},
    {"redux", 80, false, 0},
    {"mbarrier", 80, false, 0},
    {"mbarrier_try_wait", 90, false, 0},
    {"cluster", 90, false, 0},
    {"distributed_shared", 90, false, 0},
    {"tma", 90, false, 0},
    {"pdl", 90, false, 0},
    {"wgmma", 90, true, 90},
    {"setmaxnreg", 90, true, 0},
    {"tcgen05", 100, true, 103},
    {"block_scaling", 100, true, 0},
    {"cluster_launch_control", 100, false, 0},
};
static_assert(std::size(kFeatureRows) == kFeatures, "one row per feature, in the enum's order");

const FeatureRow& row_of(Feature feature) { return kFeatureRows[static_cast<size_t>(feature)]; }

}  // namespace

const char* feature_name(Feature feature) { return row_of(feature).name; }

std::optional<Feature> feature_from_name(std::string_view name) {
  for (int i = 0; i < kFeatures; ++i) {
    if (name == kFeatureRows[i].name) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const FeatureRow& row : kFeatureRows) names.emplace_back(row.name);
  return names;
}

bool has(const Target& target, Feature feature) {
  const FeatureRow& row = row_of(feature);
  const int sm = 10 * target.major + target.minor;
  return sm >= row.from && (row.until == 0 || sm <= row.until) &&
         (!row.specific || target.specific);
}

std::vector<Feature> lacking(const Target& target, std::span<const Feature> features) {
  std::vector<Feature> missing;
  std::ranges::copy_if(features, std::back_inserter(missing),
                       [&](Feature feature) { return !has(target, feature); });
  return missing;
}

std::vector<std::string> targets_with(std::span<const Feature> features) {
  std::vector<std::string> names;
  for (const Target& target : targets()) {
    if (lacking(target, features).empty()) names.emplace_back(target.name);
  }
  return names;
}

}  // namespace kw::arch
