// A module names its own limits: in the guards and grids of its plan, and in its code. Each is
// worth a shape on both sides. But the code is known only as far as it was compiled, and a shape
// may bring a variant that no other ran, with limits of its own. So shapes are planned in rounds,
// until no round brings new code. The alternative, compiling every variant first, compiles what no
// shape reaches. The cost: a module of many variants is planned many times; what was refused once
// is not asked again.
#include <fmt/core.h>

#include <set>
#include <utility>

#include "core/contains.h"
#include "gate/gate_stages.h"
#include "shapes/module_shapes.h"

namespace kw::gate {

using record::Stage;

Result<Stop> SuggestedShapes::run(const shapes::PlanView& view) {
  for (const std::string& name : view.unknown())
    gate_.report_.skipped.push_back(
        fmt::format("shapes at the module's thresholds: the module's '{}' does not follow from the "
                    "task's dims by a simple rule",
                    name));
  if (!view.usable()) return Stop();
  const shapes::ShapeLimits limits =
      bench_.at->device->info().is_virtual ? shapes::virtual_limits() : shapes::device_limits();
  const Pool& pool = *bench_.at->pool;
  const bool replayed = pool.replayable() && !pool.cells().empty();
  const uint64_t secret = replayed ? pool.cells().front().seed : KW_TRY(gate_.request_.entropy());
  const Coverage& covered = gate_.covered_;
  const shapes::ModuleShapes others =
      KW_TRY(shapes::plan_variants(view, pool.shapes(), covered.dims, limits.work));
  Stop stop = KW_TRY(run_all(others, limits.work));
  std::set<std::pair<int, ports::ImageId>> planned;
  shapes::Refused refused;
  std::vector<shapes::Threshold> thresholds = shapes::plan_thresholds(gate_.module_);
  while (!stop && !covered.out_of_time()) {
    std::vector<shapes::VariantCode> variants;
    for (const auto& [code, shape] : covered.least) {
      if (planned.insert(code).second)
        variants.push_back(
            KW_TRY(gate_.virtual_.programs.code_at(gate_.matching_, gate_.task(), *shape)));
    }
    if (variants.empty()) break;
    const shapes::ModuleShapes made =
        KW_TRY(shapes::plan_module_shapes(view, pool.shapes(),
                                          {covered.dims, refused, std::exchange(thresholds, {}),
                                           std::move(variants), limits.work, secret}));
    stop = KW_TRY(run_all(made, limits.work));
  }
  if (ran_ > 0) gate_.say(fmt::format("{} shapes that the module suggests", ran_));
  if (!stop) stop = KW_TRY(gate_.plant_constants(bench_, limits.work));
  if (stop) return stop;
  return gate_.run_groups(bench_, view, limits.work);
}

Result<Stop> SuggestedShapes::run_all(const shapes::ModuleShapes& made, double most_work) {
  Coverage& covered = gate_.covered_;
  for (const std::string& line : made.left_out) {
    if (!contains(gate_.report_.skipped, line)) gate_.report_.skipped.push_back(line);
  }
  for (const shapes::ModuleShapes::Open& open : made.open) {
    covered.note_missing(open.text, open.elements);
    if (open.elements > 0) covered.limit_to(count_text(open.elements) + " elements", open.elements);
  }
  size_t here = 0;
  for (const shapes::ShapeCase& shape : made.cases) {
    if (covered.out_of_time()) break;
    ++here;
    for (const std::string& family : cover_families(gate_.task(), shape.graph)) {
      Stop stop = KW_TRY(gate_.run_extra(bench_, shape, family));
      if (stop) return stop;
      if (shape.work > most_work) break;  // for one family there is time
    }
  }
  ran_ += here;
  if (here < made.cases.size())
    covered.note_missing(fmt::format(
        "{} of {} shapes that the module suggests were not run: there was no time within "
        "--budget-seconds {:g}",
        made.cases.size() - here, made.cases.size(), gate_.request_.budget_seconds));
  return Stop();
}

}  // namespace kw::gate
