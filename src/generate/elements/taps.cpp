// The problem: windows with few elements (pools, depthwise convolutions, folds) overlap, and each
// element should be read once. The choice: adjacent threads compute adjacent columns, each a few
// rows of one, with the elements of all its windows unrolled. Elements that windows of adjacent
// rows share stay in registers. If rows are multiples of four, a thread takes four columns: the
// elements below them are read as packs, only those beyond the sides one by one. If windows do not
// overlap and every element needs its window's result, as in the gradient of a pool, a thread takes
// whole windows. The alternative, tiles in shared memory, needs barriers and more index arithmetic.
// The cost: the code grows with the window, so its lines are limited.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "elements/schedules.h"
#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

namespace {

constexpr int64_t kStraight = 64;     // most elements of a window that are unrolled
constexpr int64_t kMostTerms = 1024;  // most terms that one thread computes in a loop
constexpr int64_t kLongProduct = 4096;
constexpr int64_t kFewSums = 4;     // with more rows of a product, tiles are better
constexpr size_t kMostLines = 240;  // lines of one thread
constexpr size_t kMostWideLines = 170;
constexpr int64_t kFewResults = 1 << 18;
constexpr int64_t kPackOf = 4;  // columns of a thread that takes several

int64_t terms_of(const Region& region, const Node& node) {
  const Shape& shape = region.node(node.inputs[0]).shape;
  if (node.op == Op::MatMul || node.op == Op::Fold) return shape.back().value();
  int64_t terms = 1;
  for (const int dim : node.attrs.dims) terms *= shape[static_cast<size_t>(dim)].value();
  return terms;
}

/// The largest divisor of `count` that divides the extent at all dims.
int64_t common_divisor(const Dim& extent, int64_t count) {
  for (const auto& [factors, number] : extent.terms()) count = std::gcd(count, number);
  return count;
}

Dim divided(const Dim& extent, int64_t by) {
  Dim out(0);
  for (const auto& [factors, number] : extent.terms()) {
    Dim term(number / by);
    for (const std::string& factor : factors) term = term * Dim::symbol(factor, 1);
    out = out + term;
  }
  return with_value(out, extent.value() / by);
}

class Taps {
 public:
  /// `rows` and `columns` are the numbers that a thread computes; one column, or a pack of them.
  Taps(const Region& region, int64_t rows, int64_t columns = 1)
      : region_(region), rows_(rows), columns_(columns), e_(region, 1) {
    e_.straight = kStraight;
    e_.budget = 4 * kMostLines;
    domain_ = make_domain(region.root().shape, "i");
    const Domain before =
        make_domain(region.node(before_reshapes(region, region.stores[0].node)).shape, "i");
    if (quotients(before) < quotients(domain_)) domain_ = before;
    if (domain_.dims.empty()) columns_ = 1;
    if (columns_ > 1) {
      e_.on_access = [this](const Access& access, const std::string& condition, int level) {
        return packed(access, condition, level);
      };
    }
    start();
  }

  /// Whether there are rows beside the columns.
  bool has_rows() const { return domain_.dims.size() > 1; }
  /// Whether it reads and writes packs.
  bool is_wide() const { return columns_ > 1 && packs_ && stores_packs_; }
  /// Whether packs fill the columns at the first benchmark shape.
  bool fits_now() const { return column().extent.value() % columns_ == 0; }
  size_t lines() const { return static_cast<size_t>(std::ranges::count(text_, '\n')); }
  bool overflowed() const { return e_.overflowed(); }
  const Emitter& emitter() const { return e_; }
  Emitter& emitter() { return e_; }

  std::string body(const std::string& threads) {
    CudaWriter w(1);
    w.line("const Index i = static_cast<Index>(blockIdx.x) * {} + threadIdx.x;", threads);
    std::string total;
    for (const Axis& axis : axes_) {
      e_.note(axis.extent);
      total += (total.empty() ? "" : " * ") + as_factor(axis.extent);
    }
    w.line("if (i >= {}) return;", total);
    write_parts(axes_, "i", e_, w);
    if (axes_.size() == 1) w.line("const Index {} = i;", axes_[0].name);
    if (rows_ > 1 && row_unit_ == rows_) {
      w.line("const Index upper = tile;");
    } else if (rows_ > 1) {
      const std::string extent = e_.text(divided(row().extent, row_unit_));
      w.line("const Index first = tile * {};", rows_ / row_unit_);
      w.line("const Index upper = first <= {0} - {1} ? first : {0} - {1};", extent,
             rows_ / row_unit_);
    }
    if (columns_ > 1) w.line("const Index left = quad * {};", columns_ / unit_);
    w.raw(e_.at(0).text());
    w.raw(text_);
    return w.text();
  }

  /// The number of threads, as a plan expression.
  std::string count() const {
    std::string total;
    for (const Axis& axis : axes_) {
      const std::string one =
          axis.name == "tile"   ? fmt::format("ceil_div({}, {})", row().extent.text(), rows_)
          : axis.name == "quad" ? fmt::format("ceil_div({}, {})", column().extent.text(), columns_)
                                : as_factor(axis.extent);
      total += (total.empty() ? "" : " * ") + one;
    }
    return total;
  }

  /// The condition under which all rows of a thread exist and packs are aligned.
  std::string condition() const {
    std::vector<std::string> all;
    if (rows_ > 1) all.push_back(fmt::format("{} >= {}", row().extent.text(), rows_));
    for (const Dim& multiple : multiples_) {
      all.push_back(fmt::format("{} % {} == 0", as_factor(multiple), columns_));
    }
    return all_of(all);
  }

 private:
  const Axis& row() const { return domain_.dims[domain_.dims.size() - 2]; }
  const Axis& column() const { return domain_.dims.back(); }

  /// An element as one of a pack, unless it may lie beyond the sides.
  std::optional<Value> packed(const Access& access, const std::string& condition, int level) {
    for (const Bound& bound : access.bounds) {
      if (mentions(bound.index, "left")) return std::nullopt;
    }
    const auto step = coefficient(access.address, "left");
    if (!access.bounded || !step || !step->is_constant() || step->value() < 1) return std::nullopt;
    const int64_t number = constant_of(access.address);
    const int64_t lane = (number % columns_ + columns_) % columns_;
    const Dim first = access.address - Dim(lane);
    if (!align(first)) return std::nullopt;
    const std::string type =
        fmt::format("Pack<{}, {}>", memory_type(access.buffer.dtype), columns_);
    const std::string load =
        fmt::format("load_pack<{}>({} + {})", columns_, access.buffer.name, e_.text(first));
    const std::string name =
        e_.named(std::max(level, e_.level_of(first)), type, access.buffer.name + "_pack",
                 condition.empty() ? load : fmt::format("{} ? {} : {}{{}}", condition, load, type));
    if (access.buffer.dtype == DType::E8m0) e_.need("from_exponent");
    e_.need("load_pack");
    packs_ = true;
    return Value{{from_memory(access.buffer.dtype, fmt::format("{}.at[{}]", name, lane))},
                 std::max(level, e_.level_of(first))};
  }

  static int64_t constant_of(const Dim& address) {
    const auto found = address.terms().find({});
    return found == address.terms().end() ? 0 : found->second;
  }

  /// Notes what must be a multiple of a pack for the address to be aligned; false if it never is.
  bool align(const Dim& address) {
    const std::vector<Dim> before = multiples_;
    const bool aligned = note_multiples(address);
    if (!aligned) multiples_ = before;
    return aligned;
  }

  bool note_multiples(const Dim& address) {
    for (const auto& [factors, number] : address.terms()) {
      Dim term(std::abs(number));
      bool known = number % columns_ == 0;
      for (const std::string& factor : factors) {
        if (factor.front() == '(' || factor.back() == ']') return false;
        known = known || is_multiple(Dim::symbol(factor, 1)) ||
                (factor == "left" && number % unit_ == 0);
        if (!e_.is_variable(factor)) term = term * Dim::symbol(factor, 1);
      }
      if (known || is_multiple(term)) continue;
      if (term.is_constant()) return false;
      multiples_.push_back(term);
    }
    return true;
  }

  bool is_multiple(const Dim& dim) const {
    return std::ranges::any_of(multiples_, [&](const Dim& other) { return other.same_text(dim); });
  }

  /// The number of divisions that indices over this domain need.
  size_t quotients(const Domain& domain) const {
    Emitter dry(region_);
    dry.ranges = ranges_of(domain);
    std::vector<std::string> names;
    for (const Axis& dim : domain.dims) names.push_back(dim.name);
    dry.open(names, 0);
    write_values(dry, 1, domain, domain.index, false);
    size_t found = 0;
    for (const Dim& used : dry.used().indices) {
      const std::string text = used.text();
      found += text.find('/') != std::string::npos || text.find('%') != std::string::npos;
    }
    return found;
  }

  void start() {
    axes_ = domain_.dims;
    if (axes_.empty()) axes_.push_back({"column", Dim(1)});
    std::vector<std::string> names = {"i"};
    for (const Axis& axis : axes_) names.push_back(axis.name);
    e_.ranges = ranges_of(domain_);
    if (columns_ > 1) {
      const Dim extent = column().extent;
      axes_.back() = {"quad", Dim::symbol(fmt::format("({} / {})", as_factor(extent), columns_),
                                          extent.value() / columns_)};
      for (const char* name : {"left", "quad"}) names.emplace_back(name);
      unit_ = common_divisor(extent, columns_);
      e_.ranges.insert_or_assign("left", divided(extent, unit_) - Dim(columns_ / unit_ - 1));
      if (!extent.is_constant()) multiples_.push_back(extent);
      stores_packs_ = !extent.is_constant() || extent.value() % columns_ == 0;
    }
    if (rows_ == 1) {
      const int scope = e_.open(names, 0, 0);
      write_columns(scope, domain_.index);
      text_ = e_.close();
      return;
    }
    const std::string own = row().name;
    const Dim extent = row().extent;
    axes_[axes_.size() - 2] = {
        "tile", Dim::symbol(fmt::format("(({} + {}) / {})", extent.text(), rows_ - 1, rows_),
                            (extent.value() + rows_ - 1) / rows_)};
    for (const char* name : {"upper", "first", "tile"}) names.emplace_back(name);
    const int scope = e_.open(names, 0, 0);
    row_unit_ = common_divisor(extent, rows_);
    e_.ranges.insert_or_assign("upper", divided(extent, row_unit_) - Dim(rows_ / row_unit_ - 1));
    for (int64_t r = 0; r < rows_; ++r) {
      guard_ = "";
      if (r < row_unit_ && row_unit_ < rows_) guard_ = "if (upper >= first) ";
      if (r >= row_unit_ && r < rows_ - row_unit_) {
        guard_ = fmt::format("if (upper + {} >= first) ", r / row_unit_);
      }
      write_columns(scope,
                    substituted(domain_.index, own, Dim(row_unit_) * variable("upper") + Dim(r)));
    }
    text_ = e_.close();
  }

  static Index substituted(Index index, const std::string& name, const Dim& by) {
    for (Dim& dim : index) dim = substitute(dim, {{name, by}});
    return index;
  }

  /// Writes the columns of one row.
  void write_columns(int scope, const Index& index) {
    if (columns_ == 1) {
      write_values(e_, scope, domain_, index, true);
      return;
    }
    for (const Store& store : region_.stores) {
      const Shape& shape = region_.node(store.node).shape;
      const std::string name = e_.fresh(store.to.name + "_pack");
      e_.at(scope).line("Pack<{}, {}> {};", memory_type(store.to.dtype), columns_, name);
      Dim first(0);
      for (int64_t c = 0; c < columns_; ++c) {
        const Index here =
            substituted(index, column().name, Dim(unit_) * variable("left") + Dim(c));
        const Index at = reshaped(domain_.shape, here, shape, e_.ranges);
        if (c == 0) first = linear(shape, at);
        const Value value = e_.value(store.node, at);
        e_.at(scope).line("{}.at[{}] = {};", name, c, e_.stored(value, store.to.dtype));
      }
      const auto step = coefficient(first, "left");
      stores_packs_ = stores_packs_ && step && step->same_text(Dim(unit_)) && align(first);
      e_.touch(store.to);
      e_.need("store_pack");
      e_.at(scope).line("{}store_pack({} + {}, {});", guard_, store.to.name, e_.text(first), name);
    }
  }

  void write_values(Emitter& e, int scope, const Domain& domain, const Index& index,
                    bool stores) const {
    for (const Store& store : region_.stores) {
      const Shape& shape = region_.node(store.node).shape;
      if (!graph::count_of(shape).same_text(graph::count_of(domain.shape))) return;
      const Index at = reshaped(domain.shape, index, shape, e.ranges);
      const Value value = e.value(store.node, at);
      if (!stores) continue;
      e.touch(store.to);
      e.at(scope).line("{}{}[{}] = {};", guard_, store.to.name, e.text(linear(shape, at)),
                       e.stored(value, store.to.dtype));
    }
  }

  const Region& region_;
  int64_t rows_, columns_;
  int64_t row_unit_ = 1, unit_ = 1;  // units of "upper" and "left"
  Emitter e_;
  bool packs_ = false, stores_packs_ = true;
  std::vector<Dim> multiples_;  // numbers that must be multiples of a pack
  Domain domain_;
  std::vector<Axis> axes_;
  std::string guard_, text_;
};

bool looks_through_windows(const Region& region, const Node& node) {
  return std::ranges::any_of(node.inputs,
                             [&](NodeId input) { return reads_windows(region, input); });
}

/// Whether it has a product in a loop: further rows and columns would have their own loops and
/// share nothing.
bool has_loop(const Region& region) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  return std::ranges::any_of(heavy, [&](NodeId id) {
    const Node& node = region.node(id);
    return node.op == Op::MatMul && terms_of(region, node) > kStraight;
  });
}

bool is_window_op(const Region& region, NodeId id) {
  const Node& node = region.node(id);
  switch (node.op) {
    case Op::Sum:
    case Op::Prod:
    case Op::Max:
    case Op::Min:
    case Op::ArgMax:
    case Op::ArgMin:
      break;
    case Op::Fold:
      return terms_of(region, node) <= kStraight;
    case Op::MatMul:
      if (node.shape[node.shape.size() - 2].value() > kFewSums) return false;
      if (terms_of(region, node) > kStraight && !in_float(node.dtype)) return false;
      return terms_of(region, node) <= kLongProduct && looks_through_windows(region, node);
    default:
      return false;
  }
  return terms_of(region, node) <= kMostTerms && looks_through_windows(region, node);
}

/// Whether it is computed without any load.
bool is_made_up(const Region& region, NodeId node) {
  std::set<NodeId> loads;
  for (const auto& [id, buffer] : region.loads) loads.insert(id);
  return !depends_on(region, node, loads);
}

/// Whether each result of a window is used once, by one thread.
bool is_wanted_once(const Region& region, NodeId id, const Emitter& e) {
  const auto times = e.used().instances.find(id);
  if (times == e.used().instances.end() || times->second != 1) return false;
  return graph::count_of(region.node(id).shape).value() >=
             graph::count_of(region.root().shape).value() ||
         is_made_up(region, id);
}

/// Rows and packs of columns that are whole windows, if each element needs its window's result.
/// Empty if no thread can have a whole window.
struct Whole {
  int64_t rows, columns;
  bool shares = true;
};
std::optional<Whole> whole_windows(const Region& region, const std::vector<NodeId>& heavy) {
  const int64_t results = graph::count_of(region.root().shape).value();
  for (const Whole whole : {Whole{2, 4}, Whole{2, 2}, Whole{4, 4}}) {
    if (!Taps(region, 1).has_rows()) return std::nullopt;
    const Taps taps(region, whole.rows, whole.columns);
    if (!taps.is_wide() || !taps.fits_now()) continue;
    if (taps.overflowed() || taps.lines() > kMostWideLines) continue;
    const auto wanted_here = [&](NodeId id) {
      const auto times = taps.emitter().used().instances.find(id);
      return times != taps.emitter().used().instances.end() &&
             times->second * results <=
                 graph::count_of(region.node(id).shape).value() * whole.rows * whole.columns;
    };
    if (std::ranges::all_of(heavy, wanted_here)) return whole;
  }
  return std::nullopt;
}

/// The largest number of rows per thread that still reduces its reads.
int64_t rows_for(const Region& region) {
  const Taps one(region, 1);
  if (!one.has_rows() || has_loop(region)) return 1;
  for (const int64_t rows : {4, 2}) {
    const Taps several(region, rows);
    if (several.overflowed() || several.lines() > kMostLines) continue;
    if (8 * several.lines() < 7 * static_cast<size_t>(rows) * one.lines()) return rows;
  }
  return 1;
}

/// The number of rows of a pack of columns per thread; empty if one column per thread is better.
std::optional<Whole> wide_for(const Region& region) {
  if (has_loop(region)) return std::nullopt;
  const std::vector<NodeId> heavy = heavy_nodes(region);
  const Taps one(region, 1);
  const bool once = std::ranges::all_of(
      heavy, [&](NodeId id) { return is_wanted_once(region, id, one.emitter()); });
  if (!once) {
    if (const auto whole = whole_windows(region, heavy)) return whole;
  }
  for (const int64_t rows : {2, 1}) {
    if (rows > 1 && !one.has_rows()) continue;
    const Taps wide(region, rows, kPackOf);
    if (wide.is_wide() && !wide.overflowed() && wide.lines() <= kMostWideLines) {
      return Whole{rows, kPackOf, false};
    }
  }
  return std::nullopt;
}

DeviceFunction write_taps(KernelBuilder& kernel, Taps& taps, const std::string& name,
                          const char* what, int64_t columns, int64_t rows) {
  const std::string threads = kernel.name("THREADS"), body = taps.body(threads);
  return kernel.function(taps.emitter(),
                         fmt::format("{}: every thread computes {}.", kernel.result(),
                                     fmt::format(fmt::runtime(what), columns, rows)),
                         name, "typename Index", threads, body);
}

bool taps_apply(const Region& region, const TargetContext&) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  if (heavy.empty() || !region.in_place.empty()) return false;
  const Dim count = graph::count_of(region.root().shape);
  for (const Store& store : region.stores) {
    if (!graph::count_of(store.to.shape).same_text(count)) return false;
  }
  for (const NodeId id : heavy) {
    if (!is_window_op(region, id)) return false;
  }
  const Taps one(region, 1);
  if (one.overflowed() || one.lines() > kMostLines) return false;
  std::set<NodeId> below;
  for (const NodeId id : heavy) {
    for (const NodeId other : heavy) {
      if (other == id || !depends_on(region, id, {other})) continue;
      if (region.node(id).op != Op::Fold || region.node(other).op != Op::Fold) return false;
      below.insert(other);
    }
  }
  const bool once = std::ranges::all_of(heavy, [&](NodeId id) {
    return below.count(id) > 0 || is_wanted_once(region, id, one.emitter());
  });
  return once || (below.empty() && whole_windows(region, heavy));
}

bool taps_preferred(const Region& region, const TargetContext& context) {
  if (!taps_apply(region, context)) return false;
  for (const NodeId id : heavy_nodes(region)) {
    const bool few = graph::count_of(region.root().shape).value() < kFewResults;
    if (few && terms_of(region, region.node(id)) > kStraight) return false;
  }
  return true;
}

/// Launches one thread for each part that `taps` computes.
std::vector<Launch> launch_taps(const DeviceFunction& function, const Taps& taps,
                                const std::string& index, const std::string& threads) {
  return {function.launch(index, fmt::format("ceil_div({}, {})", taps.count(), threads), threads)};
}

void add_wide(KernelBuilder& kernel, const Region& region, const Whole& size) {
  Taps wide(region, size.rows, size.columns);
  const bool many = size.shares || graph::count_of(region.root().shape).value() >= 4 * kFewResults;
  using Values = std::vector<int64_t>;
  const std::string columns =
      kernel.tune("COLUMNS", many ? Values{size.columns, 1} : Values{1, size.columns});
  const std::string on = fmt::format("{} == {}", columns, size.columns);
  kernel.method("memory.vectorized_access", on, columns + "=1");
  const DeviceFunction function = write_taps(kernel, wide, region.name + "_wide",
                                             "{} columns of {} rows", size.columns, size.rows);
  kernel.variant({on, wide.condition(), fits_int(region)},
                 launch_taps(function, wide, "int", kernel.name("THREADS")));
}

Kernel taps_emit(const Region& region, const TargetContext& context) {
  KernelBuilder kernel(region, context);
  const std::string threads = kernel.tune("THREADS", {256, 128, 512});
  const int64_t rows = rows_for(region);
  kernel.methods({"memory.coalesced_access", "memory.kernel_fusion"});
  if (const auto size = wide_for(region)) add_wide(kernel, region, *size);
  if (rows > 1) {
    Taps several(region, rows);
    const DeviceFunction function =
        write_taps(kernel, several, region.name, "{1} rows of a column", 1, rows);
    kernel.method("compute.ilp_unroll_register_tile");
    kernel.variant({fits_int(region), several.condition()},
                   launch_taps(function, several, "int", threads));
  }
  Taps one(region, 1);
  const DeviceFunction function = write_taps(
      kernel, one, rows > 1 ? region.name + "_single" : region.name, "one element", 1, 1);
  kernel.each_index([&](const Instance& instance) {
    return launch_taps(function, one, instance.index, threads);
  });
  return kernel.finish();
}

}  // namespace

Schedules taps_schedules() {
  return {{"taps", "every thread computes windows of a few rows of one column", taps_apply,
           taps_emit, taps_preferred}};
}

}  // namespace kw::generate
