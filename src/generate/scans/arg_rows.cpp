// The problem: arg_max and arg_min need a row's best element and its position, often with its
// value. The choice: every thread keeps its own best; shuffles combine a warp, shared memory the
// warps. The alternative, a max and then a search, reads the row twice. The cost: three schedules
// by shape:
// - arg_warp: a warp, or a part of one, per row.
// - arg_block: a block per row.
// - arg_split: several blocks per row and a second launch that combines their results.
// If adjacent rows are adjacent in memory, column_reduce.cpp handles them.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "scans/joining.h"
#include "scans/own_row.h"
#include "scans/schedules.h"
#include "scans/siblings.h"

namespace kw::generate {

namespace {

struct Args : Siblings {
  bool largest = true;
};

bool is_search(Op op) { return op == Op::ArgMax || op == Op::ArgMin; }
bool is_largest(Op op) { return op == Op::ArgMax || op == Op::Max; }
bool is_smallest(Op op) { return op == Op::ArgMin || op == Op::Min; }

std::optional<Args> args_of(const Region& region) {
  bool any_place = false;
  const auto found = siblings_of(region, [&](const Node& first, const Node& node) {
    any_place = any_place || is_search(node.op);
    return (is_largest(node.op) || is_smallest(node.op)) && node.attrs.dims.size() == 1 &&
           is_largest(node.op) == is_largest(first.op);
  });
  if (!found || !any_place) return std::nullopt;
  return Args{*found, is_largest(found->first->op)};
}

RowLoop rows_of(const Region& region, const Args& args) {
  Shape results = region.node(args.input).shape;
  results[args.axis()] = Dim(1);
  return RowLoop(region, region.node(args.input).shape, args.axis(), {args.input}, args.nodes,
                 results);
}

enum class Searchers : uint8_t { Warp, Block, Split };

class RowArg : RowFrame {
 public:
  RowArg(const Region& region, const TargetContext& context, Searchers group)
      : RowFrame(region, context, rows_of(region, *args_of(region))),
        group_(group),
        args_(*args_of(region)),
        joining_(region.name, value_type(), args_.largest ? Joining::Kind::Max : Joining::Kind::Min,
                 Joining::Places::First) {}

  /// Whether every store is the result of its row, in the order of rows.
  bool serves() {
    write_values();
    return in_order_;
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    const bool split = group_ == Searchers::Split;
    Parameters more;
    if (split) more = found("");
    if (split) more.insert(more.begin(), {"Index part_length", name("PART")});
    kernel_.device(joining_.definitions(kernel_.functions()));
    std::vector<DeviceFunction> functions = {kernel_.function(
        e_, summary(), region_.name, "typename Index, int kVec", name("THREADS"), body, more)};
    kernel_.need({"load_pack"});
    if (split) {
      functions.push_back(RowArg(region_, context_, Searchers::Warp).write_finish(kernel_));
    }
    add_plan(functions);
    return kernel_.finish();
  }

 private:
  DType value_type() const {
    const DType type = region_.node(args_.input).dtype;
    return in_float(type) ? DType::Fp32 : type;
  }
  /// The results of the blocks of a split row, as parameters.
  Parameters found(const std::string& constness) const {
    return {{fmt::format("{}{}* bests", constness, register_type(joining_.dtype())),
             scratch_name(region_, "bests")},
            {constness + "long long* places", scratch_name(region_, "places")}};
  }
  std::string lanes() const { return name(group_ == Searchers::Warp ? "LANES" : "THREADS"); }

  // Scopes: 1 is the row, 2 a pack, 3 an element of it.
  void write_values() {
    open_row();
    open_pack(3);
    const Value in = e_.value(args_.input, loop_.index());
    e_.at(lane_scope_).line("best = {};", joining_.step("best", in.expr.text, "column + lane"));
    lane_text_ = e_.close();
    pack_text_ = e_.close();
    write_results();
    row_text_ = e_.close();
  }

  /// Writes the stores of a row, computed from `best`.
  void write_results() {
    const int scope = e_.open({}, 1, 1);
    const Index row = loop_.index_at(Dim(0));
    Shape shape = region_.node(args_.input).shape;
    shape[args_.axis()] = Dim(1);
    e_.on_load = nullptr;
    e_.on_node = [this, row, scope](NodeId id, const Index& at) -> std::optional<Value> {
      if (args_.nodes.count(id) == 0) return std::nullopt;
      for (size_t d = 0; d < at.size(); ++d) in_order_ = in_order_ && at[d].same_text(row[d]);
      if (is_search(region_.node(id).op))
        return Value{{fmt::format("static_cast<long long>({})", joining_.place("best"))}, scope};
      return Value{{joining_.value("best")}, scope};
    };
    in_order_ = store_results(e_, scope, shape, row) && in_order_;
    result_text_ = e_.close();
  }

  OwnRow own_row() const { return OwnRow(!row_text_.empty()); }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    std::string begin = "0", end = length_;
    switch (group_) {
      case Searchers::Warp:
        w.line("const int member = threadIdx.x % {};", lanes());
        own_row().write(
            w,
            fmt::format("static_cast<Index>(blockIdx.x) * ({0} / {1}) + threadIdx.x / {1}",
                        name("THREADS"), lanes()),
            rows_);
        break;
      case Searchers::Block:
        w.line("const int member = threadIdx.x;");
        w.line("const Index row = blockIdx.x;");
        break;
      case Searchers::Split:
        w.line("const int member = threadIdx.x;");
        write_part(w, length_);
        begin = "begin";
        end = "end";
        break;
    }
    // Whole warps stay for the shuffles; rows that do not exist have no elements.
    if (group_ == Searchers::Warp) {
      w.line("const Index end = {} < {} ? {} : 0;", own_row().name(), rows_, length_);
      end = "end";
    }
    loop_.write_row(e_, w);
    w.raw(row_text_);
    w.line("{} best = {};", joining_.type(), joining_.identity());
    // If no element is better than the identity, the first element is the best.
    w.line("if ({0} + member * kVec < {1}) best.place = {0} + member * kVec;", begin, end);
    write_loop(w, begin, end);
    write_joins(w);
    return w.text();
  }

  void write_loop(CudaWriter& w, const std::string& begin, const std::string& end) {
    const std::string each = fmt::format("for (int u = 0; u < {}; ++u)", name("UNROLL"));
    const std::string column =
        fmt::format("const Index column = start + (u * {} + member) * kVec;", lanes());
    const auto loop = w.block("for (Index start = {}; start < {}; start += {} * {} * kVec)", begin,
                              end, lanes(), name("UNROLL"));
    packs_.write_ahead(
        w, name("UNROLL"), [&] { w.line(column); }, fmt::format("column < {}", end));
    const auto packs = w.unrolled(each);
    w.line(column);
    const auto inside = w.block("if (column < {})", end);
    w.raw(pack_text_);
    const auto elements = w.unrolled("for (int {0} = 0; {0} < kVec; ++{0})", kLane);
    w.raw(lane_text_);
  }

  void write_shuffles(CudaWriter& w, const std::string& width) const {
    w.line("best = {};", joining_.of_warp("best", width));
  }

  void write_joins(CudaWriter& w) {
    write_shuffles(w, group_ == Searchers::Warp ? lanes() : "32");
    if (group_ == Searchers::Warp) {
      const auto one = w.block("if (member == 0 && {} < {})", own_row().name(), rows_);
      w.raw(result_text_);
      return;
    }
    const std::string warps = fmt::format("({} / 32)", name("THREADS"));
    w.line("__shared__ {} bests_of_warps[{}];", joining_.type(), warps);
    w.line("if (member % 32 == 0) bests_of_warps[member / 32] = best;");
    w.line("__syncthreads();");
    w.line("if (member >= 32) return;");
    w.line("best = member < {} ? bests_of_warps[member] : {};", warps, joining_.identity());
    write_shuffles(w, "32");
    const auto one = w.block("if (member == 0)");
    if (group_ == Searchers::Split) {
      w.line("bests[row * parts + part] = best.value;");
      w.line("places[row * parts + part] = best.place;");
    } else {
      w.raw(result_text_);
    }
  }

  std::string summary() const {
    const std::string who = group_ == Searchers::Warp    ? lanes() + " threads search a row"
                            : group_ == Searchers::Block ? "a block searches a row"
                                                         : "a block searches a part of a row";
    return fmt::format("{}: {}.", kernel_.result(), who);
  }

  void add_plan(const std::vector<DeviceFunction>& functions) {
    using Values = std::vector<int64_t>;
    const int64_t vec = packs_.width();
    const int64_t packs = (loop_.length().value() + vec - 1) / vec;
    if (vec > 1) kernel_.vectors({vec, 1});
    if (group_ == Searchers::Warp) {
      int64_t width = 4;
      while (width < 32 && width < packs) width *= 2;
      kernel_.tune("THREADS", {256, 128});
      kernel_.tune("LANES", width > 4 ? Values{width, width / 2} : Values{width});
      kernel_.unroll(packs / width >= 4 ? Values{4, 2, 8, 1} : Values{1, 2});
    } else {
      kernel_.tune("THREADS", packs > 512 ? Values{256, 512, 128} : Values{128, 256, 64});
      kernel_.unroll({4, 2, 1});
    }
    kernel_.methods({"compute.reduction", "compute.warp_shuffle"});
    const std::string rows = as_factor(loop_.rows());
    if (group_ == Searchers::Split) {
      cut_rows(
          kernel_, as_factor(loop_.length()),
          fmt::format("{} * {} * {}", name("THREADS"), name("UNROLL"), vec > 1 ? name("VEC") : "1"),
          rows);
      const std::string extent = fmt::format("{} * {}", rows, name("PARTS"));
      kernel_.scratch(scratch_name(region_, "bests"), joining_.dtype(), extent);
      kernel_.scratch(scratch_name(region_, "places"), DType::Int64, extent);
    }
    kernel_.each_variant(vec > 1, packs_, as_factor(loop_.length()),
                         [&](const Instance& instance) { return launches(functions, instance); });
  }

  std::vector<Launch> launches(const std::vector<DeviceFunction>& functions,
                               const Instance& instance) const {
    const std::string rows = loop_.rows().text(), threads = name("THREADS");
    if (group_ == Searchers::Split) {
      return {functions[0].launch(instance.types(),
                                  fmt::format("{} * {}", as_factor(loop_.rows()), name("PARTS")),
                                  threads),
              functions[1].launch(instance.index, rows, "32")};
    }
    const bool warp = group_ == Searchers::Warp;
    return {functions[0].launch(
        instance.types(),
        warp ? fmt::format("ceil_div({}, {} / {})", rows, threads, lanes()) : rows, threads)};
  }

  /// The second launch: a warp per row combines the results of the parts.
  DeviceFunction write_finish(KernelBuilder& kernel) {
    e_.open(loop_.row_variables(), 0, 0);
    rows_ = e_.text(loop_.rows());
    write_results();
    row_text_ = e_.close();
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("const Index row = blockIdx.x;");
    loop_.write_row(e_, w);
    w.raw(row_text_);
    w.line("{} best = {};", joining_.type(), joining_.identity());
    {
      const auto loop = w.block("for (Index p = threadIdx.x; p < parts; p += 32)");
      w.line("best = {};",
             joining_.join("best", joining_.of("bests[row * parts + p]",
                                               "static_cast<Index>(places[row * parts + p])")));
    }
    write_shuffles(w, "32");
    {
      const auto one = w.block("if (threadIdx.x == 0)");
      w.raw(result_text_);
    }
    Parameters more = found("const ");
    more.insert(more.begin(), {"Index parts", name("PARTS")});
    return kernel.function(e_, kernel.result() + ": the best of all parts.",
                           region_.name + "_finish", "typename Index", "32", w.text(), more);
  }

  Searchers group_;
  Args args_;
  Joining joining_;
  bool in_order_ = true;
  std::string result_text_;
};

/// Empty if the region's rows lie across memory, or if it is not a search.
std::optional<RowLoop> loop_of(const Region& region, const TargetContext& context) {
  const auto args = args_of(region);
  if (!args) return std::nullopt;
  RowLoop loop = rows_of(region, *args);
  if (loop.rows_are_adjacent() || !RowArg(region, context, Searchers::Warp).serves())
    return std::nullopt;
  return loop;
}

bool arg_rows_applies(const Region& region, const TargetContext& context) {
  return loop_of(region, context).has_value();
}

bool arg_split_applies(const Region& region, const TargetContext& context) {
  const auto loop = loop_of(region, context);
  return loop && loop->rows().value() < 2 * context.target.default_sms &&
         loop->length().value() >= 16384;
}

}  // namespace

Schedules arg_schedules() {
  return {
      {"arg_split", "several blocks search a row", arg_split_applies,
       emit_by<RowArg, Searchers::Split>},
      {"arg_warp", "a warp or a part of one searches a row", arg_rows_applies,
       emit_by<RowArg, Searchers::Warp>},
      {"arg_block", "a block searches a row", arg_rows_applies, emit_by<RowArg, Searchers::Block>}};
}

}  // namespace kw::generate
