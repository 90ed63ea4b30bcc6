// The padding modules of torch.nn: a number for all sides, or one for each. F.pad is in
// ops_joining.cpp.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"

namespace kw::frontend {
namespace {

template <size_t N, graph::PadMode Mode>
Result<Value> pad_around(Call& call) {
  const graph::NodeId x = KW_TRY(call.tensor("input"));
  graph::Shape sides = KW_TRY(call.sizes("padding"));
  if (sides.size() == 1) sides.resize(2 * N, sides[0]);
  if (sides.size() != 2 * N) {
    return input_error("{}: padding must be an int or {} ints, not {}", call.function(), 2 * N,
                       graph::values_text(sides));
  }
  const double value = call.given("value") ? KW_TRY(call.number("value")) : 0;
  return tensor_value(KW_TRY(graph::pad(call.graph(), x, sides, Mode, value)));
}

constexpr char kSides[] = "input, *, padding";

constexpr OpRow kPadRows[] = {
    {"aten.nn.zero_pad1d", kSides, pad_around<1, graph::PadMode::Constant>},
    {"aten.nn.zero_pad2d", kSides, pad_around<2, graph::PadMode::Constant>},
    {"aten.nn.zero_pad3d", kSides, pad_around<3, graph::PadMode::Constant>},
    {"aten.nn.reflection_pad1d", kSides, pad_around<1, graph::PadMode::Reflect>},
    {"aten.nn.reflection_pad2d", kSides, pad_around<2, graph::PadMode::Reflect>},
    {"aten.nn.reflection_pad3d", kSides, pad_around<3, graph::PadMode::Reflect>},
    {"aten.nn.replication_pad1d", kSides, pad_around<1, graph::PadMode::Replicate>},
    {"aten.nn.replication_pad2d", kSides, pad_around<2, graph::PadMode::Replicate>},
    {"aten.nn.replication_pad3d", kSides, pad_around<3, graph::PadMode::Replicate>},
    {"aten.nn.circular_pad1d", kSides, pad_around<1, graph::PadMode::Circular>},
    {"aten.nn.circular_pad2d", kSides, pad_around<2, graph::PadMode::Circular>},
    {"aten.nn.circular_pad3d", kSides, pad_around<3, graph::PadMode::Circular>},
    {"aten.nn.constant_pad1d", "input, *, padding, value", pad_around<1, graph::PadMode::Constant>},
    {"aten.nn.constant_pad2d", "input, *, padding, value", pad_around<2, graph::PadMode::Constant>},
    {"aten.nn.constant_pad3d", "input, *, padding, value", pad_around<3, graph::PadMode::Constant>},
};

}  // namespace

std::span<const OpRow> pad_rows() { return kPadRows; }

}  // namespace kw::frontend
