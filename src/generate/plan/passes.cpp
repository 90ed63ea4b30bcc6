#include "plan/passes.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"

namespace kw::generate {

namespace {

constexpr Pass kPasses[] = {
    {"fold_constants", "arithmetic on constants is done here", fold_constants},
    {"decompose", "powers and divisions by constants in cheaper words", decompose},
    {"top_one", "a top-k of one as a reduction", top_one},
    {"reciprocal", "softmax divides once per row", reciprocal},
    {"turn_scan", "a scan between two flips from the other end", turn_scan},
    {"turn_products", "a product that is turned, by its operands", turn_products},
    {"unfold", "a transposed convolution as a convolution", unfold},
    {"disjoint", "windows side by side are folded by moving them", disjoint},
    {"kept_signs", "a bound asked of what was bounded", kept_signs},
    {"short_places", "places in windows are kept in a byte", short_places},
    {"late_casts", "halves stay halves until windows are read", late_casts},
    {"simplify", "unused and repeated nodes go", graph::simplify},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

Result<Graph> run_passes(const Graph& graph, const std::vector<std::string>& disabled) {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  for (const std::string& name : disabled) {
    if (contains(names, name)) continue;
    return input_error("there is no pass '{}'{}; the passes are: {}", name,
                       did_you_mean(name, names), join(names, ", "));
  }
  Graph out = graph;
  for (const Pass& pass : kPasses) {
    if (contains(disabled, pass.name)) continue;
    out = pass.run(out);
    if (auto ok = graph::verify(out); !ok) {
      return std::move(ok).error().context(fmt::format("pass {}", pass.name));
    }
  }
  return out;
}

}  // namespace kw::generate
