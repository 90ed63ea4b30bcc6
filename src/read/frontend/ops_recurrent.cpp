// Recurrent networks: single steps, and sequences of a known length. A graph has no loops, so a
// sequence is unrolled. The alternative, an operator per kind of cell, would need rules in every
// later stage. The cost: about twenty nodes per step, at most kLongestSequence steps, and the
// length is a constant of the trace. The input's part of all gates is one matrix product before the
// loop; only the state's part is computed per step. The gates of one step compute wide and round
// once, as in PyTorch's fused kernels. Layers and directions are written in Python
// (library_rows.h), on top of one row per layer.
#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

constexpr int64_t kLongestSequence = 512;  // about twenty nodes per step

enum class Cell : uint8_t { Tanh, Relu, Lstm, Gru };

int64_t gates_of(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }

// The state before a step; only an LSTM has `cell`.
struct CellState {
  NodeId hidden = -1, cell = -1;
};

struct Weights {
  NodeId input = -1, state = -1;
  std::optional<NodeId> input_bias, state_bias;
};

Result<Weights> weights_of(Call& call) {
  Weights w;
  w.input = KW_TRY(call.tensor("w_ih"));
  w.state = KW_TRY(call.tensor("w_hh"));
  w.input_bias = KW_TRY(maybe_tensor(call, "b_ih"));
  w.state_bias = KW_TRY(maybe_tensor(call, "b_hh"));
  if (call.graph().rank(w.state) != 2) return input_error("w_hh must be a matrix");
  return w;
}

// One step; `from_input` is the input's part of every gate. The gates are one kernel.
Result<CellState> step(Call& call, Cell kind, NodeId from_input, const Weights& w,
                       const CellState& old) {
  graph::Builder& g = call.graph();
  const NodeId from_state = KW_TRY(graph::linear(g, old.hidden, w.state, w.state_bias));
  const std::vector<NodeId> left = KW_TRY(graph::chunk(g, from_input, gates_of(kind), -1));
  const std::vector<NodeId> right = KW_TRY(graph::chunk(g, from_state, gates_of(kind), -1));
  Formula f(call);
  const auto in = [&](size_t i) { return wide(f.node(left[i])); };
  const auto state = [&](size_t i) { return wide(f.node(right[i])); };
  const tensor::DType type = g.dtype(from_input);
  CellState next;
  if (kind == Cell::Lstm) {
    // Input, forget, cell and output gate.
    const Term kept = sigmoid(in(1) + state(1)) * wide(f.node(old.cell));
    const Term cell = kept + sigmoid(in(0) + state(0)) * tanh(in(2) + state(2));
    next.hidden = KW_TRY(f.done(sigmoid(in(3) + state(3)) * tanh(cell), type));
    next.cell = KW_TRY(f.done(cell, type));
  } else if (kind == Cell::Gru) {
    // Reset, update and new gate.
    const Term reset = sigmoid(in(0) + state(0)), update = sigmoid(in(1) + state(1));
    const Term fresh = tanh(in(2) + reset * state(2));
    const Term before = wide(f.node(old.hidden));
    next.hidden = KW_TRY(f.done(fresh + update * (before - fresh), type));
  } else {
    const Term sum = in(0) + state(0);
    next.hidden = KW_TRY(f.done(kind == Cell::Tanh ? tanh(sum) : maximum(sum, 0.0), type));
  }
  return next;
}

// The state from hx=, or zeros of that shape.
Result<CellState> state_of(Call& call, Cell kind, const graph::Shape& shape, tensor::DType type) {
  const Value& given = call["hx"];
  CellState state;
  if (given.is_none()) {
    state.hidden = KW_TRY(filled(call.graph(), shape, type, graph::Operand::of(0.0)));
    state.cell = state.hidden;
    return state;
  }
  std::vector<NodeId> parts;
  if (const auto* one = given.get<Tensor>()) parts.push_back(one->node);
  if (items_of(given)) parts = KW_TRY(call.tensors("hx"));
  if (parts.size() != (kind == Cell::Lstm ? 2U : 1U)) {
    return input_error("{}(): argument 'hx' must be {}", call.function(),
                       kind == Cell::Lstm ? "a pair of tensors" : "a tensor");
  }
  for (const NodeId part : parts) {
    if (call.graph()[part].shape == shape) continue;
    return input_error("Expected hidden size {}, got {}", graph::values_text(shape),
                       graph::values_text(call.graph()[part].shape));
  }
  state.hidden = parts[0];
  state.cell = parts.back();
  return state;
}

Result<Value> one_step(Call& call, Cell kind) {
  const NodeId x = KW_TRY(call.tensor("input"));
  const Weights w = KW_TRY(weights_of(call));
  graph::Builder& g = call.graph();
  if (g.rank(x) < 1 || g.rank(x) > 2) {
    return input_error("{}: Expected input to be 1D or 2D, got {}D instead", call.function(),
                       g.rank(x));
  }
  graph::Shape shape = g[x].shape;
  shape.back() = g.extent(w.state, 1);
  const CellState old = KW_TRY(state_of(call, kind, shape, g.dtype(x)));
  const NodeId from_input = KW_TRY(graph::linear(g, x, w.input, w.input_bias));
  const CellState next = KW_TRY(step(call, kind, from_input, w, old));
  if (kind == Cell::Lstm) return tensor_tuple({next.hidden, next.cell});
  return tensor_value(next.hidden);
}

Result<Cell> plain_cell(Call& call) {
  const std::string kind = KW_TRY(call.text("nonlinearity"));
  if (kind == "tanh") return Cell::Tanh;
  if (kind == "relu") return Cell::Relu;
  return input_error("Unknown nonlinearity '{}'. Select from 'tanh' or 'relu'.", kind);
}

Result<Value> rnn_cell_module(Call& call) {
  const Cell kind = KW_TRY(plain_cell(call));
  return one_step(call, kind);
}

Result<Cell> cell_named(const std::string& kind) {
  if (kind == "lstm") return Cell::Lstm;
  if (kind == "gru") return Cell::Gru;
  return kind == "rnn_relu" ? Cell::Relu : Cell::Tanh;
}

// One layer of nn.RNN, nn.LSTM or nn.GRU in one direction. The input's part of all steps is
// computed at once, then the steps follow. Returns [T, ..., H] and the last states.
Result<Value> recurrent_layer(Call& call) {
  const std::string name = KW_TRY(call.text("kind"));
  const Cell kind = KW_TRY(cell_named(name));
  const NodeId x = KW_TRY(call.tensor("input"));
  const Weights w = KW_TRY(weights_of(call));
  const bool backwards = KW_TRY(call.boolean("backwards"));
  const std::optional<NodeId> shorter = KW_TRY(maybe_tensor(call, "w_hr"));
  graph::Builder& g = call.graph();
  const int64_t length = concrete(g, g.extent(x, 0));
  if (length < 1 || length > kLongestSequence) {
    return input_error("{}: a sequence of {} steps is not unrolled; at most {} are", name, length,
                       kLongestSequence);
  }
  CellState state;
  state.hidden = KW_TRY(call.tensor("hidden"));
  if (kind == Cell::Lstm) state.cell = KW_TRY(call.tensor("cell"));
  const NodeId all = KW_TRY(graph::linear(g, x, w.input, w.input_bias));
  std::vector<NodeId> outputs(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = backwards ? length - 1 - i : i;
    const NodeId now = KW_TRY(graph::select(g, all, 0, Dim(at)));
    state = KW_TRY(step(call, kind, now, w, state));
    if (shorter) state.hidden = KW_TRY(graph::linear(g, state.hidden, *shorter, std::nullopt));
    outputs[static_cast<size_t>(at)] = state.hidden;
  }
  const Value joined = tensor_value(KW_TRY(graph::stack(g, outputs, 0)));
  const Value cell = kind == Cell::Lstm ? tensor_value(state.cell) : Value();
  return make_tuple({joined, tensor_value(state.hidden), cell});
}

constexpr char kCell[] = "input, hx, w_ih, w_hh, b_ih=None, b_hh=None";
constexpr char kCellModule[] = "input, hx=None, *, w_ih, w_hh, b_ih, b_hh";
constexpr OpRow kRecurrentRows[] = {
    {"torch.rnn_tanh_cell", kCell, [](Call& call) { return one_step(call, Cell::Tanh); }},
    {"torch.rnn_relu_cell", kCell, [](Call& call) { return one_step(call, Cell::Relu); }},
    {"torch.lstm_cell", kCell, [](Call& call) { return one_step(call, Cell::Lstm); }},
    {"torch.gru_cell", kCell, [](Call& call) { return one_step(call, Cell::Gru); }},
    {"aten.nn.rnn_cell", "input, hx=None, *, w_ih, w_hh, b_ih, b_hh, nonlinearity",
     rnn_cell_module},
    {"aten.nn.lstm_cell", kCellModule, [](Call& call) { return one_step(call, Cell::Lstm); }},
    {"aten.nn.gru_cell", kCellModule, [](Call& call) { return one_step(call, Cell::Gru); }},
    {"aten.nn.recurrent_layer",
     "input, hidden, cell, *, kind, w_ih, w_hh, b_ih, b_hh, w_hr, backwards", recurrent_layer},
};

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRecurrentRows; }

}  // namespace kw::frontend
