#include "emit/finalize.h"

#include <algorithm>

namespace kw::generate {

void finalize(Kernel& kernel, const TargetContext& context) {
  if (context.alone) return;
  for (Tune& tune : kernel.tunes) {
    // All kernels share the tunable STREAM.
    const bool kept = tune.name == "STREAM" || tune.name.starts_with("VEC");
    if (kept && tune.values.size() > 1) {
      const bool off = tune.values.back() == 1 || tune.name == "STREAM";
      tune.values = off ? std::vector<int64_t>{tune.values.front(), tune.values.back()}
                        : std::vector<int64_t>{tune.values.front()};
    }
    if (!kept) tune.values.resize(1);
  }
  for (Method& method : kernel.methods) {
    const size_t equals = method.off.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = method.off.substr(0, equals);
    const auto tune =
        std::ranges::find_if(kernel.tunes, [&](const Tune& one) { return one.name == name; });
    if (tune == kernel.tunes.end() || tune->values.size() > 1) continue;
    method.when = method.off = "";
  }
  // A method is not listed if its tunable now has only the value that switches it off.
  std::erase_if(kernel.methods, [&](const Method& method) {
    return method.when.empty() && method.id == "compute.ilp_unroll_register_tile" &&
           std::ranges::any_of(kernel.tunes, [](const Tune& tune) {
             return tune.name.starts_with("UNROLL") && tune.values == std::vector<int64_t>{1};
           });
  });
}

}  // namespace kw::generate
