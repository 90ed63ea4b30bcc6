// The problem: each comparison of a module and each constant of its code may be a limit behind
// which the kernel is wrong, and one module may have hundreds. Comparisons of the plan come first,
// then those of the code that follow from the launch, each with its two extents alone. Constants of
// the code share shapes: one dim takes the largest that is left, the others take the smallest, so
// that all dims meet all extents in few cheap shapes. One shape per constant and dim was the
// alternative; it needs three times as many runs. A module has a variant of its code for each
// launch group and for the template arguments that follow from dims. A constant counts as met only
// at a shape that runs the variant whose code has it. Each kind has room of its own, so that many
// limits of one kind cannot hide one of another.
// The cost: a failure at a shared shape does not tell which of its extents is to blame.
#include "shapes/module_shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "core/text.h"
#include "inputs/families.h"
#include "shapes/reach.h"

namespace kw::shapes {

namespace {

constexpr size_t kMostNamed = 8;        // constants in one message
constexpr int64_t kSmallest = 64;       // extents below this are tried for dims beside a constant
constexpr size_t kMostAbove = 5;        // secret extents for one dim
constexpr double kThresholdWork = 3e8;  // of a shape beside a comparison: a few seconds
constexpr size_t kMostVariants = 128;   // that no other shape runs
constexpr int64_t kEveryExtent = 1024;  // below it, every extent is asked for its variant
constexpr int64_t kNextExtent = 256;    // above, only the next by this share

class ModulePlanner {
 public:
  ModulePlanner(const PlanView& view, const ShapePlan& plan, const std::set<task::Dims>& ran,
                Refused& refused, double most_work, uint64_t secret)
      : view_(view), plan_(plan), refused_shapes_(refused), most_work_(most_work), secret_(secret) {
    for (const ShapeCase& shape : plan.cases) note_known(shape.dims);
    for (const task::Dims& dims : ran) note_known(dims);
    base_ = small_dims(view.task());
  }

  /// Both sides of comparisons of the plan.
  Status add_thresholds(const std::vector<Threshold>& thresholds) {
    room_ = kMostModuleShapes / 2;
    for (const Threshold& threshold : thresholds) KW_TRY(add_sides(threshold, base_, ""));
    return Done{};
  }

  /// Both sides of comparisons of a variant's code, where it runs.
  Status add_code_thresholds(const VariantCode& code) {
    room_ = kMostModuleShapes / 4 * 3;
    const std::string variant = view_.variant_at(code.base);
    for (const Threshold& threshold : code.thresholds)
      KW_TRY(add_sides(threshold, code.base, variant));
    return Done{};
  }

  /// Every variant that some extent of a dim selects beside small ones.
  Status add_variants() {
    room_ = kMostVariants;
    std::set<std::string> ran;
    for (const auto& [dims, variant] : known_) ran.insert(variant);
    for (const auto& [name, range] : view_.task().dims) {
      task::Dims dims = base_;
      for (int64_t extent = range.nearest(1); extent <= range.high;
           extent = range.up(
               extent + std::max<int64_t>(1, extent > kEveryExtent ? extent / kNextExtent : 1))) {
        dims[name] = extent;
        const std::string variant = view_.variant_at(dims);
        if (variant.empty() || !ran.insert(variant).second) continue;
        (void)KW_TRY(add(dims, "runs another variant of the code"));
        if (full()) break;
      }
    }
    if (full())
      out_.open.push_back(
          {fmt::format("some variants of the code were not run: at most {} are tried beside those "
                       "that other shapes run",
                       kMostVariants)});
    return Done{};
  }

  /// Shapes at which conditions of a launch group's code hold that no shape so far fulfils.
  Status add_conditions(int group, const std::vector<LaunchConditions>& conditions) {
    if (view_.task().reference->is_slow()) return Done{};
    room_ = kMostModuleShapes - 2 * kMostAbove;
    std::vector<task::Dims> known;
    for (const auto& [dims, variant] : known_) known.push_back(dims);
    const uint64_t seed = inputs::derive_seed(secret_, 1000 + static_cast<uint64_t>(group));
    for (const task::Dims& dims : condition_shapes(view_, conditions, group, known, seed)) {
      const bool there = KW_TRY(add(dims, "where other conditions of the code meet"));
      if (there) out_.cases.back().secret = true;
    }
    return Done{};
  }

  Status add_constants(const std::vector<int64_t>& extents, bool named) {
    room_ = kMostModuleShapes - 2 * kMostAbove;  // the rest is for secret extents
    std::map<std::string, std::deque<int64_t>> left;
    for (const auto& [name, range] : view_.task().dims) {
      for (const int64_t extent : extents) {
        if (range.takes(extent) && !met_[name].count(extent)) left[name].push_back(extent);
      }
      std::ranges::sort(left[name]);
    }
    std::set<int64_t> costly;
    for (size_t turn = 0; std::ranges::any_of(left, [](auto& one) { return !one.second.empty(); });
         ++turn) {
      auto lead = left.begin();
      std::advance(lead, turn % left.size());
      if (lead->second.empty()) continue;
      const bool there = KW_TRY(add_shared(lead->first, &left));
      if (!there) {
        costly.insert(lead->second.back());
        lead->second.pop_back();
      }
      if (full()) break;
    }
    if (full()) {
      for (const auto& [name, rest] : left) (named ? dropped_ : dropped_others_) += rest.size();
    }
    if (named && !costly.empty()) name_constants(costly);
    return Done{};
  }

  /// A kernel may compare a product of dims. It is a constant where one dim is that constant and
  /// the others are 1, or as small as they can be.
  Status add_products(const std::vector<int64_t>& extents) {
    task::Dims least = least_dims();
    std::string widest;
    for (const auto& [name, range] : view_.task().dims) {
      if (range.multiple <= 1 &&
          (widest.empty() || range.high >= view_.task().dims.at(widest).high))
        widest = name;
    }
    if (widest.empty() || least.size() < 2) return Done{};
    const task::DimRange& range = view_.task().dims.at(widest);
    for (const int64_t extent : extents) {
      if (!range.takes(extent)) continue;
      least[widest] = extent;
      (void)KW_TRY(add(least, "where a product of dims is a constant of the code"));
    }
    return Done{};
  }

  /// The constants of a variant's code at shapes that run it: at others they mean nothing.
  Status add_variant_constants(const VariantCode& code) {
    const std::string variant = view_.variant_at(code.base);
    for (const auto& [name, range] : view_.task().dims) {
      const std::set<int64_t> met = extents_of(variant, name);
      for (const int64_t extent : code.extents.compared) {
        if (!range.takes(extent) || met.count(extent) != 0) continue;
        const task::Dims dims = shrunk(code.base, variant, name, extent);
        if (view_.variant_at(dims) != variant) continue;
        const bool there = KW_TRY(add(dims, "around a constant of this variant's code"));
        if (there) note_reached(name, extent);
      }
    }
    return Done{};
  }

  /// Extents well above what the module compares a dim with, one for each factor of two: at the
  /// threshold itself an error may be too small to show.
  Status add_above() {
    room_ = kMostModuleShapes;
    const auto met = met_;
    for (const auto& [name, extents] : met) {
      const task::DimRange& range = view_.task().dims.at(name);
      int64_t last = range.high;
      size_t made = 0;
      for (auto at = extents.rbegin(); at != extents.rend() && made < kMostAbove; ++at) {
        if (*at > last / 2) continue;
        const auto part = inputs::derive_seed(secret_, ++drawn_) % static_cast<uint64_t>(*at);
        task::Dims dims = base_;
        dims[name] = range.up(*at + 1 + static_cast<int64_t>(part));
        if (dims[name] > range.high || known_.count(dims) != 0) continue;
        const bool there = KW_TRY(add(dims, "a secret extent above the module's thresholds"));
        if (!there) continue;
        out_.cases.back().secret = true;
        last = *at;
        ++made;
      }
    }
    return Done{};
  }

  ModuleShapes take() {
    for (const auto& [text, why] : unsolved_)
      out_.left_out.push_back(fmt::format("{}: one side was not run: {}", text, why));
    if (dropped_ > 0)
      out_.open.push_back(
          {fmt::format("{} more shapes at the module's thresholds were not run: at "
                       "most {} are run",
                       dropped_, kMostModuleShapes)});
    if (dropped_others_ > 0)
      out_.left_out.push_back(
          fmt::format("{} more shapes around constants of arithmetic: at most {} are run",
                      dropped_others_, kMostModuleShapes));
    return std::move(out_);
  }

 private:
  void note_known(const task::Dims& dims) { known_.emplace(dims, view_.variant_at(dims)); }

  /// The extents of a dim at the planned shapes that run this variant.
  std::set<int64_t> extents_of(const std::string& variant, const std::string& name) const {
    std::set<int64_t> extents;
    for (const auto& [dims, runs] : known_) {
      const auto at = dims.find(name);
      if (at != dims.end() && runs == variant) extents.insert(at->second);
    }
    return extents;
  }

  /// The shape with this extent, the other dims as small as the variant allows.
  task::Dims shrunk(task::Dims dims, const std::string& variant, const std::string& name,
                    int64_t extent) const {
    dims[name] = extent;
    for (const auto& [other, range] : view_.task().dims) {
      if (other == name) continue;
      for (int64_t small = range.nearest(1); small < std::min(dims[other], kSmallest);
           small += range.multiple) {
        task::Dims less = dims;
        less[other] = small;
        if (view_.variant_at(less) != variant) continue;
        dims = std::move(less);
        break;
      }
    }
    return dims;
  }

  task::Dims least_dims() const {
    task::Dims least;
    for (const auto& [name, range] : view_.task().dims) least[name] = range.nearest(1);
    return least;
  }

  bool full() const { return out_.cases.size() >= room_; }

  void note_reached(const std::string& name, int64_t extent) { met_[name].insert(extent); }

  /// `variant`: only shapes that run it count; "": all.
  Status add_sides(const Threshold& threshold, const task::Dims& near, const std::string& variant) {
    for (const auto& [name, range] : view_.task().dims) {
      const std::optional<Sides> sides = sides_of(threshold, view_, near, name);
      if (!sides) continue;
      for (const int64_t extent : {sides->first, sides->second}) {
        task::Dims dims = near;
        dims[name] = extent;
        if (!variant.empty() && view_.variant_at(dims) != variant) continue;
        const bool there = KW_TRY(add(dims, threshold.text, kThresholdWork));
        if (there) note_reached(name, extent);
        if (!there) unsolved_.emplace(threshold.text, refused_);
        // Below a limit, smaller extents stand for the one beside it. A launch group that does not
        // run is named anyway.
        if (there || !costly_ || extent != sides->second) continue;
        task::Dims below = dims;
        below[name] = sides->first;
        if (view_.group_at(below) != view_.group_at(dims)) continue;
        out_.open.push_back({fmt::format("{}: one side was not run: it needs {}", threshold.text,
                                         task::dims_text(dims)),
                             largest_tensor(view_.task(), dims)});
      }
    }
    return Done{};
  }

  /// Whether this shape is judged; otherwise `refused_` says why not.
  Result<bool> add(const task::Dims& dims, const std::string& why, double most_work = 0) {
    costly_ = false;
    if (known_.count(dims) != 0) return true;
    if (full()) {
      ++dropped_;
      refused_ = "too many thresholds";
      return false;
    }
    const double most = std::max(most_work, most_work_);
    const auto known = refused_shapes_.find(dims);
    if (known != refused_shapes_.end() &&
        (!known->second.costly || known->second.most_work >= most)) {
      refused_ = known->second.why;
      costly_ = known->second.costly;
      return false;
    }
    DerivedShape made = KW_TRY(derive_shape(view_.task(), plan_, dims, why, most));
    refused_ = made.refused;
    costly_ = made.costly;
    if (!made.shape) {
      refused_shapes_[dims] = {refused_, costly_, most};
      return false;
    }
    note_known(dims);
    out_.cases.push_back(std::move(*made.shape));
    return true;
  }

  // The leading dim takes its largest extent; the others take their smallest ones with it, if the
  // reference accepts that.
  Result<bool> add_shared(const std::string& lead,
                          std::map<std::string, std::deque<int64_t>>* left) {
    task::Dims alone = base_;
    alone[lead] = (*left)[lead].back();
    task::Dims shared = alone;
    for (auto& [name, extents] : *left) {
      if (name != lead && !extents.empty()) shared[name] = extents.front();
    }
    const char* why = "around a constant of the code";
    const bool together = KW_TRY(add(shared, why));
    bool there = together || (shared != alone && KW_TRY(add(alone, why)));
    if (!there && costly_) {
      task::Dims slim = least_dims();
      slim[lead] = alone[lead];
      there = KW_TRY(add(slim, why));
    }
    if (!there) return false;
    for (auto& [name, extents] : *left) {
      if (extents.empty() || (name != lead && !together)) continue;
      note_reached(name, name == lead ? extents.back() : extents.front());
      if (name == lead)
        extents.pop_back();
      else
        extents.pop_front();
    }
    return true;
  }

  void name_constants(const std::set<int64_t>& extents) {
    std::vector<std::string> names;
    for (const int64_t extent : extents) {
      if (names.size() == kMostNamed) {
        names.emplace_back("…");
        break;
      }
      names.push_back(std::to_string(extent));
    }
    out_.left_out.push_back(fmt::format(
        "constants of the code ({}): no dim of this extent was run: it costs too much on this "
        "device, or the reference refuses it",
        join(names, ", ")));
  }

  const PlanView& view_;
  const ShapePlan& plan_;
  Refused& refused_shapes_;
  double most_work_;
  uint64_t secret_;
  uint64_t drawn_ = 0;
  task::Dims base_;
  std::map<task::Dims, std::string> known_;       // with the variant of the code that they run
  std::map<std::string, std::set<int64_t>> met_;  // by dim: extents that are run
  std::map<std::string, std::string> unsolved_;   // by threshold
  std::string refused_;
  bool costly_ = false;                      // that is why
  size_t dropped_ = 0, dropped_others_ = 0;  // of thresholds, of other constants
  size_t room_ = kMostModuleShapes;
  ModuleShapes out_;
};

}  // namespace

Result<ModuleShapes> plan_variants(const PlanView& view, const ShapePlan& plan,
                                   const std::set<task::Dims>& ran, double most_work) {
  Refused refused;
  ModulePlanner planner(view, plan, ran, refused, most_work, 0);
  KW_TRY(planner.add_variants());
  return planner.take();
}

Result<ModuleShapes> plan_module_shapes(const PlanView& view, const ShapePlan& plan,
                                        const ModuleShapesRequest& request) {
  CodeExtents code;
  for (const VariantCode& variant : request.variants) code.merge(variant.extents);
  ModulePlanner planner(view, plan, request.ran, request.refused, request.most_work,
                        request.secret);
  KW_TRY(planner.add_thresholds(request.thresholds));
  for (const VariantCode& variant : request.variants) KW_TRY(planner.add_code_thresholds(variant));
  KW_TRY(planner.add_constants(code.compared, true));
  for (const VariantCode& variant : request.variants)
    KW_TRY(planner.add_variant_constants(variant));
  KW_TRY(planner.add_products(code.compared));
  KW_TRY(planner.add_constants(code.behind, false));
  KW_TRY(planner.add_constants(code.other, false));
  std::map<int, std::vector<LaunchConditions>> conditions;  // by launch group
  for (const VariantCode& variant : request.variants) {
    auto& all = conditions[view.group_at(variant.base).value_or(-1)];
    all.insert(all.end(), variant.conditions.begin(), variant.conditions.end());
  }
  for (const auto& [group, all] : conditions) KW_TRY(planner.add_conditions(group, all));
  KW_TRY(planner.add_above());
  return planner.take();
}

}  // namespace kw::shapes
