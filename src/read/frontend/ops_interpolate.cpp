// Resizing of sequences, images and volumes. All modes except area, which is adaptive pooling, work
// on one dim at a time: nearest selects, linear and cubic blend a few neighbours. A formula over
// all dims at once would have 4, 8 or 16 terms per element. Intermediate results stay in the wide
// type, so that rounding happens once. A scale factor must be a ratio of small numbers, because an
// extent of the graph is an integer expression. Antialiasing is refused.
#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_interpolate.h"
#include "graph/compose_pool.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

struct Resizing {
  NodeId x = -1;
  int first = 2;  // the first dim that is resized
  std::vector<graph::Resize> dims;
};

// One number for all dims, or one per dim.
Result<std::vector<double>> factors_of(Call& call, const char* name, size_t n) {
  const Value& value = call[name];
  const std::vector<Value> single(n, value);
  const std::vector<Value>* items = items_of(value);
  std::vector<double> factors;
  for (const Value& item : items ? *items : single) {
    const auto number = as_number(item);
    if (!number) return input_error("{}(): {} must be numbers", call.function(), name);
    factors.push_back(*number);
  }
  if (factors.size() == n) return factors;
  return input_error(
      "Input and {} must have the same number of spatial dimensions, but got input with {} and {} "
      "of {} values",
      name, n, name, factors.size());
}

Result<std::vector<graph::Resize>> by_factors(Call& call, NodeId x, bool recompute) {
  graph::Builder& g = call.graph();
  const auto n = static_cast<size_t>(g.rank(x) - 2);
  std::vector<graph::Resize> dims;
  const std::vector<double> factors = KW_TRY(factors_of(call, "scale_factor", n));
  for (size_t i = 0; i < n; ++i) {
    const Dim& extent = g.extent(x, static_cast<int>(i) + 2);
    const auto to = graph::resize_by(extent, factors[i]);
    if (!to)
      return input_error(
          "interpolate(): scale_factor {} is not a ratio of small numbers; give a size",
          factors[i]);
    dims.push_back(recompute ? graph::resize_to(extent, to->size) : *to);
  }
  return dims;
}

Result<Resizing> read_resizing(Call& call) {
  Resizing r;
  r.x = KW_TRY(call.tensor("input"));
  graph::Builder& g = call.graph();
  if (g.rank(r.x) < 3 || g.rank(r.x) > 5) {
    return input_error("Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D)",
                       g.rank(r.x));
  }
  if (is_integral(g.dtype(r.x))) return not_implemented(call, g.dtype(r.x));
  if (call.given("size") && call.given("scale_factor"))
    return input_error("only one of size or scale_factor should be defined");
  if (!call.given("size") && !call.given("scale_factor"))
    return input_error("either size or scale_factor should be defined");
  const bool recompute =
      call.given("recompute_scale_factor") && KW_TRY(call.boolean("recompute_scale_factor"));
  const auto n = static_cast<size_t>(g.rank(r.x) - 2);
  if (call.given("scale_factor")) {
    r.dims = KW_TRY(by_factors(call, r.x, recompute));
  } else {
    graph::Shape sizes = KW_TRY(call.sizes("size"));
    if (sizes.size() == 1) sizes.resize(n, sizes[0]);
    if (sizes.size() != n) {
      return input_error(
          "Input and output must have the same number of spatial dimensions, but got input with {} "
          "and output size of {} values",
          n, sizes.size());
    }
    for (size_t i = 0; i < n; ++i) {
      const Dim& extent = g.extent(r.x, static_cast<int>(i) + 2);
      if (sizes[i].value() < 1) break;
      r.dims.push_back(graph::resize_to(extent, sizes[i]));
    }
  }
  for (const graph::Resize& one : r.dims) {
    if (one.size.value() < 1) r.dims.clear();
  }
  if (r.dims.size() == n) return r;
  return input_error("Input and output sizes should be greater than 0");
}

enum class Between : uint8_t { Nearest, NearestExact, Linear, Cubic, Area };

Result<NodeId> resized(Call& call, const Resizing& r, Between how, bool corners) {
  graph::Builder& g = call.graph();
  const tensor::DType type = g.dtype(r.x);
  if (how == Between::Area) {
    graph::BinCounts sizes;
    for (const graph::Resize& one : r.dims) sizes.emplace_back(one.size);
    return graph::adaptive_avg_pool(g, r.x, sizes);
  }
  const bool picks = how == Between::Nearest || how == Between::NearestExact;
  NodeId x = picks ? r.x : g.cast(r.x, graph::opmath(type));
  for (size_t i = r.dims.size(); i-- > 0;) {
    const int dim = r.first + static_cast<int>(i);
    if (picks)
      x = KW_TRY(graph::nearest(g, x, dim, r.dims[i], how == Between::NearestExact));
    else
      x = KW_TRY((how == Between::Linear ? graph::linear_between : graph::cubic_between)(
          g, x, dim, r.dims[i], corners));
  }
  return g.cast(x, type);
}

// A mode, and the rank it needs; 0: any rank.
struct Mode {
  const char* name;
  Between how;
  int rank;
};
constexpr Mode kModes[] = {
    {"nearest", Between::Nearest, 0}, {"nearest-exact", Between::NearestExact, 0},
    {"area", Between::Area, 0},       {"linear", Between::Linear, 3},
    {"bilinear", Between::Linear, 4}, {"trilinear", Between::Linear, 5},
    {"bicubic", Between::Cubic, 4},
};

Result<Value> interpolate_as(Call& call, const std::string& name, bool corners,
                             bool corners_given) {
  const Resizing r = KW_TRY(read_resizing(call));
  for (const Mode& mode : kModes) {
    if (name != mode.name) continue;
    const int rank = call.graph().rank(r.x);
    if (mode.rank != 0 && rank != mode.rank) {
      return input_error("Got {}D input, but {} mode needs {}D input", rank, name, mode.rank);
    }
    if (corners_given && mode.rank == 0) {
      return input_error(
          "align_corners option can only be set with the interpolating modes: linear | bilinear | "
          "bicubic | trilinear");
    }
    return tensor_value(KW_TRY(resized(call, r, mode.how, corners)));
  }
  return input_error(
      "Input Error: Only 3D, 4D and 5D input Tensors supported for the modes: nearest | linear | "
      "bilinear | bicubic | trilinear | area | nearest-exact (got {})",
      name);
}

Result<Value> interpolate(Call& call) {
  const std::string mode = KW_TRY(call.text("mode"));
  const bool given = call.given("align_corners");
  const bool corners = given && KW_TRY(call.boolean("align_corners"));
  const bool smooth = KW_TRY(call.boolean("antialias"));
  if (smooth) return input_error("interpolate(): antialias=True is not supported");
  return interpolate_as(call, mode, corners, given);
}

template <Between How>
Result<Value> aten_upsample(Call& call) {
  constexpr bool kPicks = How == Between::Nearest || How == Between::NearestExact;
  const bool corners = !kPicks && KW_TRY(call.boolean("align_corners"));
  const Resizing r = KW_TRY(read_resizing(call));
  return tensor_value(KW_TRY(resized(call, r, How, corners)));
}

constexpr char kInterpolate[] =
    "input, size=None, scale_factor=None, mode='nearest', align_corners=None, "
    "recompute_scale_factor=None, antialias=False";
constexpr char kPick[] = "input, size, scale_factor=None, recompute_scale_factor=None";
constexpr char kBlend[] =
    "input, size, align_corners, scale_factor=None, recompute_scale_factor=None";

constexpr OpRow kInterpolateRows[] = {
    {"F.interpolate F.upsample", kInterpolate, interpolate},
    {"F.upsample_nearest", "input, size=None, scale_factor=None",
     [](Call& call) { return interpolate_as(call, "nearest", false, false); }},
    {"F.upsample_bilinear", "input, size=None, scale_factor=None",
     [](Call& call) { return interpolate_as(call, "bilinear", true, true); }},
    {"aten.upsample_nearest", kPick, aten_upsample<Between::Nearest>},
    {"aten.upsample_nearest_exact", kPick, aten_upsample<Between::NearestExact>},
    {"aten.upsample_linear", kBlend, aten_upsample<Between::Linear>},
    {"aten.upsample_bicubic", kBlend, aten_upsample<Between::Cubic>},
};

}  // namespace

std::span<const OpRow> interpolate_rows() { return kInterpolateRows; }

}  // namespace kw::frontend
