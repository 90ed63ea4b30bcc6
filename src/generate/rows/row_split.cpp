// Few long rows: several blocks share each row. One launch per pass writes every block's partial
// results to scratch; the next launch combines them first. The order is fixed, so the bits are the
// same in every run.
#include <fmt/core.h>

#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/schedules.h"

namespace kw::generate {

namespace {

class SplitRows : ScheduleFrame {
 public:
  SplitRows(const Region& region, const TargetContext& context)
      : ScheduleFrame(region, context),
        plan_(*plan_rows(region)),
        online_(plan_online(region, plan_)) {}

  Kernel emit() {
    if (online_) {
      for (size_t pass = 0; pass <= online_->passes.size(); ++pass)
        online_steps_.push_back(write_pass(*online_, pass, "_online"));
    }
    for (size_t pass = 0; pass <= plan_.passes.size(); ++pass)
      steps_.push_back(write_pass(plan_, pass, ""));
    add_knobs();
    add_scratch();
    add_variants();
    return kernel_.take();
  }

 private:
  DeviceFunction write_pass(const RowPlan& plan, size_t pass, const char* kind) {
    RowKernel row(region_, plan, Team::Split, false, nullptr);
    row.only_pass(pass);
    const std::string body = row.body();
    const bool last = pass == plan.passes.size();
    const std::string function =
        region_.name + kind + (last ? "" : fmt::format("_pass{}", pass + 1));
    auto more = row.parameters();
    more.emplace_back("Index parts", name("PARTS"));
    kernel_.need({"load_pack"});
    for (const std::string& condition : row.packs().conditions(name("VEC"))) {
      aligned_.push_back(condition);
    }
    narrowest_ = row.packs().narrowest(narrowest_);
    inner_ = row.columns().back().extent;
    return kernel_.function(row.emitter(),
                            last ? "Joins the partial results and stores what follows from them."
                                 : "Partial results of one part of a row.",
                            function, "typename Index, int kVec", name("THREADS"), body, more);
  }

  void add_knobs() {
    const int64_t vec = narrowest_ > 16 ? 1 : 16 / narrowest_;
    kernel_.tune("THREADS", {256, 512});
    kernel_.tune("VEC", vec > 1 ? std::vector<int64_t>{vec, 1} : std::vector<int64_t>{1});
    kernel_.tune("WAVES", {4, 2, 8});
    if (online_) kernel_.switch_method("latency.online_recomputation", "ONLINE");
    if (vec > 1) kernel_.method_of("memory.vectorized_access", "VEC");
    kernel_.methods({"memory.split_k_parallel_reduce", "compute.reduction"});
    kernel_.let("PARTS", fmt::format("max(1, min({} * SMS / max({}, 1), ceil_div({}, {} * 4)))",
                                     name("WAVES"), plan_.row_count().text(),
                                     plan_.column_count().text(), name("THREADS")));
  }

  void add_scratch() {
    for (const auto& pass : plan_.passes) {
      for (const NodeId id : pass) {
        kernel_.scratch(partials_name(region_, id), partial_dtype(region_.node(id).dtype),
                        fmt::format("{}, {}", plan_.row_count().text(), name("PARTS")));
      }
    }
  }

  void add_variants() {
    const std::string rows = plan_.row_count().text(), vec = name("VEC");
    const std::string parts = fmt::format("{} * {}", as_factor(plan_.row_count()), name("PARTS"));
    const auto launches = [&](const std::vector<DeviceFunction>& steps, const std::string& types) {
      std::vector<Launch> all;
      for (const DeviceFunction& step : steps) {
        const bool whole = &step == &steps.back() && plan_.full_stores.empty();
        all.push_back(step.launch(types, whole ? rows : parts, name("THREADS")));
      }
      return all;
    };
    const std::string fits = fits_int(region_);
    aligned_.push_back(fmt::format("{} % {} == 0", as_factor(inner_), vec));
    aligned_.push_back(fits);
    if (online_) {
      std::vector<std::string> once = aligned_;
      once.push_back(name("ONLINE") + " == 1");
      kernel_.variant(once, launches(online_steps_, "int, " + vec));
    }
    kernel_.variant(aligned_, launches(steps_, "int, " + vec));
    if (!fits.empty()) kernel_.variant({fits}, launches(steps_, "int, 1"));
    kernel_.variant({}, launches(steps_, "long long, 1"));
  }

  RowPlan plan_;
  std::optional<RowPlan> online_;
  std::vector<DeviceFunction> steps_, online_steps_;
  std::vector<std::string> aligned_;
  int64_t narrowest_ = 32;
  Dim inner_{1};
};

bool split_rows_apply(const Region& region, const TargetContext& context) {
  const std::optional<RowPlan> plan = plan_rows(region);
  if (!plan || plan->lies_across()) return false;
  return plan->row_count().value() < 4 * context.target.default_sms &&
         plan->column_count().value() > 16384;
}

}  // namespace

Schedules split_row_schedules() {
  return {{"split_rows", "several blocks per row, one launch per pass", split_rows_apply,
           emit_by<SplitRows>}};
}

}  // namespace kw::generate
