#include "binding/probe.h"

#include "core/hash.h"

namespace kw::binding {

namespace {

// Common powers of two first, so that examples look natural; then sizes that guards often exclude.
constexpr int64_t kSizes[] = {1024, 64, 4096,  256, 128, 32,   1,     1000, 33,
                              7,    3,  16384, 2,   100, 8192, 65536, 12,   5};
constexpr size_t kRandomTries = 400;

std::vector<std::map<std::string, int64_t>> candidates(const std::vector<std::string>& names) {
  std::vector<std::map<std::string, int64_t>> tries;
  if (names.empty()) return {{}};
  for (const int64_t size : kSizes) {
    std::map<std::string, int64_t> dims;
    for (const std::string& name : names) dims[name] = size;
    tries.push_back(dims);
  }
  for (const std::string& odd : names) {
    for (const int64_t size : kSizes) {
      std::map<std::string, int64_t> dims = tries[0];
      dims[odd] = size;
      tries.push_back(dims);
    }
  }
  for (size_t i = 0; names.size() > 1 && i < kRandomTries; ++i) {
    std::map<std::string, int64_t> dims;
    for (const std::string& name : names) dims[name] = kSizes[hash64(name, i) % std::size(kSizes)];
    tries.push_back(dims);
  }
  return tries;
}

}  // namespace

Result<std::vector<Probe>> probe_groups(const kernel::Module& module,
                                        const kernel::Bindings& fixed) {
  std::vector<std::string> open;
  for (const std::string& name : module.dims()) {
    if (fixed.dims.count(name) == 0) open.push_back(name);
  }
  std::map<int, Probe> found;
  Error reason = input_error("the module has no launch group");
  for (const std::map<std::string, int64_t>& dims : candidates(open)) {
    kernel::Bindings bindings = fixed;
    bindings.dims.insert(dims.begin(), dims.end());
    Result<kernel::Selection> selection = kernel::select(module, bindings);
    if (!selection) {
      reason = std::move(selection).error();
      continue;
    }
    const int group = selection->group;
    found.emplace(group, Probe{std::move(bindings), std::move(selection).value()});
    if (found.size() == module.groups.size()) break;
  }
  if (found.empty()) return reason;
  std::vector<Probe> probes;
  for (auto& [group, probe] : found) probes.push_back(std::move(probe));
  return probes;
}

}  // namespace kw::binding
