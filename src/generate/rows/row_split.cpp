// Few long rows: several blocks share each of them. One launch per pass leaves every block's
// partial results in scratch; the next joins them first. The order is always the same, so are the
// bits.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/schedules.h"

namespace kw::generate {

using graph::NodeId;

namespace {

class SplitRows {
 public:
  explicit SplitRows(const Region& region)
      : region_(region), plan_(*plan_rows(region)), online_(plan_online(region, plan_)) {}

  Kernel emit() {
    Kernel kernel;
    if (online_) {
      for (size_t pass = 0; pass <= online_->passes.size(); ++pass)
        online_steps_.push_back(write_pass(kernel, *online_, pass, "_online"));
    }
    for (size_t pass = 0; pass <= plan_.passes.size(); ++pass)
      steps_.push_back(write_pass(kernel, plan_, pass, ""));
    add_knobs(kernel);
    add_scratch(kernel);
    add_variants(kernel);
    return kernel;
  }

 private:
  struct Step {
    std::string name;
    std::vector<std::string> args;
  };

  std::string tune(const char* name) const { return name + region_.suffix; }

  Step write_pass(Kernel& kernel, const RowPlan& plan, size_t pass, const char* kind) {
    RowKernel row(region_, plan, Team::Split, false, nullptr);
    row.only_pass(pass);
    const std::string body = row.body();
    const bool last = pass == plan.passes.size();
    const std::string name = region_.name + kind + (last ? "" : fmt::format("_pass{}", pass + 1));
    auto more = row.parameters();
    more.emplace_back("Index parts", tune("PARTS"));
    const KernelSignature head =
        signature_of(row.emitter(), name, "typename Index, int kVec", tune("THREADS"), more);
    kernel.source +=
        fmt::format("{}// {}\n{} {{\n{}}}\n", kernel.source.empty() ? "" : "\n",
                    last ? "Joins the partial results and stores what follows from them."
                         : "Partial results of one part of a row.",
                    head.text, body);
    const auto& functions = row.emitter().functions();
    kernel.functions.insert(functions.begin(), functions.end());
    kernel.functions.insert("load_pack");
    for (const std::string& condition : row.packs().conditions(tune("VEC"))) {
      aligned_.push_back(condition);
    }
    for (const PackLoad& load : row.packs().loads()) {
      narrowest_ = std::min<int64_t>(narrowest_, tensor::dtype_size(load.buffer.dtype));
    }
    inner_ = row.columns().back().extent;
    return {name, head.args};
  }

  void add_knobs(Kernel& kernel) {
    const int64_t vec = narrowest_ > 16 ? 1 : 16 / narrowest_;
    std::vector<int64_t> vecs = {vec};
    if (vec > 1) vecs.push_back(1);
    kernel.tunes.push_back({tune("THREADS"), {256, 512}, ""});
    kernel.tunes.push_back({tune("VEC"), vecs, ""});
    kernel.tunes.push_back({tune("WAVES"), {4, 2, 8}, ""});
    if (online_) add_online(kernel, region_);
    if (vec > 1) {
      kernel.methods.push_back(
          {"memory.vectorized_access", tune("VEC") + " > 1", tune("VEC") + "=1"});
    }
    kernel.methods.push_back({"memory.split_k_parallel_reduce", "", ""});
    kernel.methods.push_back({"compute.reduction", "", ""});
    kernel.lets.emplace_back(
        tune("PARTS"),
        fmt::format("max(1, min({} * SMS / max({}, 1), ceil_div({}, {} * 4)))", tune("WAVES"),
                    plan_.row_count().text(), plan_.column_count().text(), tune("THREADS")));
  }

  void add_scratch(Kernel& kernel) {
    for (const auto& pass : plan_.passes) {
      for (const NodeId id : pass) {
        const std::string rows = plan_.row_count().text();
        kernel.scratch.push_back({partials_name(region_, id), partial_dtype(region_.node(id).dtype),
                                  fmt::format("{}, {}", rows, tune("PARTS")), ""});
      }
    }
  }

  void add_variants(Kernel& kernel) {
    const std::string vec = tune("VEC");
    const auto launches = [&](const std::vector<Step>& steps, const std::string& index,
                              const std::string& packs) {
      std::vector<Launch> all;
      for (size_t i = 0; i < steps.size(); ++i) {
        const std::string blocks =
            i + 1 == steps.size() && plan_.full_stores.empty()
                ? plan_.row_count().text()
                : fmt::format("{} * {}", as_factor(plan_.row_count()), tune("PARTS"));
        all.push_back({fmt::format("{}<{}, {}>", steps[i].name, index, packs), blocks,
                       tune("THREADS"), "", steps[i].args});
      }
      return all;
    };
    aligned_.push_back(fmt::format("{} % {} == 0", as_factor(inner_), vec));
    aligned_.push_back(fits_int(region_));
    if (online_) {
      std::vector<std::string> once = aligned_;
      once.push_back(tune("ONLINE") + " == 1");
      kernel.variants.push_back({all_of(once), launches(online_steps_, "int", vec)});
    }
    kernel.variants.push_back({all_of(aligned_), launches(steps_, "int", vec)});
    if (const std::string fits = fits_int(region_); !fits.empty()) {
      kernel.variants.push_back({fits, launches(steps_, "int", "1")});
    }
    kernel.variants.push_back({"", launches(steps_, "long long", "1")});
  }

  const Region& region_;
  RowPlan plan_;
  std::optional<RowPlan> online_;
  std::vector<Step> steps_, online_steps_;
  std::vector<std::string> aligned_;
  int64_t narrowest_ = 32;
  Dim inner_{1};
};

}  // namespace

bool split_rows_apply(const Region& region, const TargetContext& context) {
  const std::optional<RowPlan> plan = plan_rows(region);
  if (!plan || plan->lies_across()) return false;
  return plan->row_count().value() < 4 * context.target.default_sms &&
         plan->column_count().value() > 16384;
}

Kernel split_rows_emit(const Region& region, const TargetContext&) {
  return SplitRows(region).emit();
}

}  // namespace kw::generate
