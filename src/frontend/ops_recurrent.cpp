// One step of a recurrent network. Whole sequences are the evaluator's business: it unrolls them.
#include <fmt/core.h>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

// What a cell works with: the input's and the state's part of every gate.
struct Gates {
  std::vector<NodeId> input, state;
  bool batched = true;
};

Result<NodeId> state_of(Call& call, NodeId x, const Value& given, const Dim& width) {
  if (const auto* tensor = given.get<Tensor>()) return tensor->node;
  if (!given.is_none())
    return input_error(fmt::format("{}(): argument 'hx' must be a tensor", call.function()));
  graph::Builder& g = call.graph();
  graph::Shape shape = g[x].shape;
  shape.back() = width;
  return filled(g, shape, g.dtype(x), graph::Operand::of(0.0));
}

Result<Gates> gates_of(Call& call, NodeId x, NodeId state, int64_t count) {
  graph::Builder& g = call.graph();
  const NodeId from_input = KW_TRY(call.tensor("w_ih")), from_state = KW_TRY(call.tensor("w_hh"));
  const std::optional<NodeId> b_ih = KW_TRY(maybe_tensor(call, "b_ih"));
  const std::optional<NodeId> b_hh = KW_TRY(maybe_tensor(call, "b_hh"));
  const NodeId left = KW_TRY(graph::linear(g, x, from_input, b_ih));
  const NodeId right = KW_TRY(graph::linear(g, state, from_state, b_hh));
  Gates gates;
  gates.input = KW_TRY(graph::chunk(g, left, count, -1));
  gates.state = KW_TRY(graph::chunk(g, right, count, -1));
  return gates;
}

Result<Dim> width_of(Call& call) {
  const NodeId weight = KW_TRY(call.tensor("w_hh"));
  graph::Builder& g = call.graph();
  if (g.rank(weight) != 2) return input_error("w_hh must be a matrix");
  return g.extent(weight, 1);
}

template <bool Tanh>
Result<Value> rnn_cell(Call& call) {
  const NodeId x = KW_TRY(call.tensor("input"));
  const Dim width = KW_TRY(width_of(call));
  const NodeId state = KW_TRY(state_of(call, x, call["hx"], width));
  const Gates gates = KW_TRY(gates_of(call, x, state, 1));
  Formula f(call);
  const Term sum = f.node(gates.input[0]) + f.node(gates.state[0]);
  return f.result(Tanh ? tanh(sum) : maximum(sum, 0.0));
}

Result<Value> rnn_cell_module(Call& call) {
  const std::string kind = KW_TRY(call.text("nonlinearity"));
  if (kind == "tanh") return rnn_cell<true>(call);
  if (kind == "relu") return rnn_cell<false>(call);
  return input_error(fmt::format("Unknown nonlinearity: {}", kind));
}

// Input, forget, cell and output gate, in this order. The gates are one kernel.
Result<Value> lstm_cell(Call& call) {
  const NodeId x = KW_TRY(call.tensor("input"));
  const Dim width = KW_TRY(width_of(call));
  const std::vector<Value>* given = items_of(call["hx"]);
  if (!call["hx"].is_none() && (!given || given->size() != 2))
    return input_error("lstm_cell(): argument 'hx' must be a pair of tensors");
  const NodeId state = KW_TRY(state_of(call, x, given ? (*given)[0] : Value(), width));
  const NodeId cell = KW_TRY(state_of(call, x, given ? (*given)[1] : Value(), width));
  const Gates gates = KW_TRY(gates_of(call, x, state, 4));
  Formula f(call);
  const auto gate = [&](size_t i) {
    return wide(f.node(gates.input[i])) + wide(f.node(gates.state[i]));
  };
  const Term kept = sigmoid(gate(1)) * wide(f.node(cell));
  const Term next = kept + sigmoid(gate(0)) * tanh(gate(2));
  const Term out = sigmoid(gate(3)) * tanh(next);
  const tensor::DType type = f.dtype(f.node(x));
  return f.results({cast(out, type), cast(next, type)});
}

// Reset, update and new gate.
Result<Value> gru_cell(Call& call) {
  const NodeId x = KW_TRY(call.tensor("input"));
  const Dim width = KW_TRY(width_of(call));
  const NodeId state = KW_TRY(state_of(call, x, call["hx"], width));
  const Gates gates = KW_TRY(gates_of(call, x, state, 3));
  Formula f(call);
  const auto part = [&](const std::vector<NodeId>& from, size_t i) {
    return wide(f.node(from[i]));
  };
  const Term reset = sigmoid(part(gates.input, 0) + part(gates.state, 0));
  const Term update = sigmoid(part(gates.input, 1) + part(gates.state, 1));
  const Term fresh = tanh(part(gates.input, 2) + reset * part(gates.state, 2));
  const Term old = wide(f.node(state));
  return f.result(fresh + update * (old - fresh), f.dtype(f.node(x)));
}

constexpr char kCell[] = "input, hx, w_ih, w_hh, b_ih=None, b_hh=None";
constexpr char kCellModule[] = "input, hx=None, *, w_ih, w_hh, b_ih, b_hh";

constexpr OpRow kRecurrentRows[] = {
    {"torch.rnn_tanh_cell", kCell, rnn_cell<true>},
    {"torch.rnn_relu_cell", kCell, rnn_cell<false>},
    {"torch.lstm_cell", kCell, lstm_cell},
    {"torch.gru_cell", kCell, gru_cell},
    {"aten.nn.rnn_cell", "input, hx=None, *, w_ih, w_hh, b_ih, b_hh, nonlinearity",
     rnn_cell_module},
    {"aten.nn.lstm_cell", kCellModule, lstm_cell},
    {"aten.nn.gru_cell", kCellModule, gru_cell},
};

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRecurrentRows; }

}  // namespace kw::frontend
