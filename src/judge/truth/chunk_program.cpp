// The problem: fused nodes must be computed without storing intermediate tensors. The emitter turns
// a node into instructions over chunks of 1024 elements, whose registers stay in cache. View ops
// emit no code: they are chained and change only the addresses of loads. A node that is used twice
// through the same views is emitted once. The alternative, compiling code at run time, would be
// faster but needs a compiler on every machine. The cost is one dispatch per instruction and chunk.
#include "truth/chunk_program.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/check.h"
#include "ports/bound.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

// The view ops between a node and the program's result, innermost first.
struct Chain {
  const Node* op = nullptr;
  const Chain* next = nullptr;
};

class Emitter {
 public:
  Emitter(const Sources& sources, const std::vector<int>& order) : s_(sources), order_(order) {}

  TruthProgram run(NodeId node, bool fresh) {
    const auto id = static_cast<size_t>(node);
    const int result = fresh ? compute(node, nullptr) : emit(node, nullptr);
    TruthProgram program;
    program.tracks = s_.facts[id].tracks;
    program.dtype = s_.graph[node].dtype;
    program.count = count_of(s_.facts[id].shape);
    assign_registers(result, program);
    return program;
  }

 private:
  int emit(NodeId node, const Chain* chain) {
    const auto known = emitted_.find({node, chain});
    if (known != emitted_.end()) return known->second;
    const auto id = static_cast<size_t>(node);
    const int value = s_.plan.whole[id] ? load(node, chain) : compute(node, chain);
    emitted_[{node, chain}] = value;
    return value;
  }

  int compute(NodeId node, const Chain* chain) {
    const Node& n = s_.graph[node];
    if (n.op == Op::Input) return load(node, chain);
    if (n.op == Op::Constant) return constant(node);
    if (n.op == Op::Iota) return iota(node, chain);
    if (is_view_op(n.op)) return emit(n.inputs[0], chained(n, chain));
    KW_CHECK(graph::op_info(n.op).kind == OpKind::Pointwise, "heavy nodes are whole");
    return point(node, chain);
  }

  const Chain* chained(const Node& n, const Chain* next) {
    std::unique_ptr<Chain>& made = chains_[{&n, next}];
    if (!made) made = std::make_unique<Chain>(Chain{&n, next});
    return made.get();
  }

  View seen(const View& view, const Chain* chain) const {
    Layout layout = layout_of(view);
    for (; chain != nullptr; chain = chain->next) {
      auto through = view_layout(*chain->op, layout);
      KW_CHECK(through.has_value(), "the plan keeps what layouts cannot express");
      layout = *std::move(through);
    }
    return coalesced(flat_view(layout, order_));
  }

  Instruction& add(NodeId node, Instruction::Kind kind) {
    Instruction& out = code_.emplace_back();
    out.kind = kind;
    out.out = static_cast<int>(code_.size()) - 1;
    out.tracks = s_.facts[static_cast<size_t>(node)].tracks;
    out.dtype = s_.graph[node].dtype;
    return out;
  }

  int load(NodeId node, const Chain* chain) {
    const auto id = static_cast<size_t>(node);
    const bool input = s_.graph[node].op == Op::Input;
    Instruction& out = add(node, input ? Instruction::Kind::Input : Instruction::Kind::Value);
    out.view = seen(dense_view(s_.facts[id].shape), chain);
    if (input) {
      out.input = &s_.inputs[static_cast<size_t>(s_.graph[node].attrs.integer)];
    } else {
      out.value = &s_.values[id];
    }
    return out.out;
  }

  int iota(NodeId node, const Chain* chain) {
    const Extents& shape = s_.facts[static_cast<size_t>(node)].shape;
    View view{shape, Extents(shape.size(), 0), 0};
    view.strides[static_cast<size_t>(s_.graph[node].attrs.dims[0])] = 1;
    Instruction& out = add(node, Instruction::Kind::Iota);
    out.view = seen(view, chain);
    return out.out;
  }

  int constant(NodeId node) {
    const Node& n = s_.graph[node];
    Instruction& out = add(node, Instruction::Kind::Constant);
    out.integer = n.attrs.integer;
    out.number = n.attrs.number;
    if (s_.mode == Mode::Declared && !is_integer(n.dtype) && n.dtype != DType::Fp64)
      out.number = static_cast<double>(static_cast<float>(out.number));
    out.error = ports::bound_constants().unit * std::fabs(out.number);
    return out.out;
  }

  int point(NodeId node, const Chain* chain) {
    const Node& n = s_.graph[node];
    int in[3] = {};
    for (size_t k = 0; k < n.inputs.size(); ++k) in[k] = emit(n.inputs[k], chain);
    Instruction& out = add(node, Instruction::Kind::Point);
    out.operands = static_cast<int>(n.inputs.size());
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      out.in[k] = in[k];
      out.in_tracks[k] = s_.facts[static_cast<size_t>(n.inputs[k])].tracks;
    }
    out.spec = spec_of(node);
    out.spec.same = out.operands == 2 && in[0] == in[1];
    return out.out;
  }

  PointSpec spec_of(NodeId node) const {
    const Node& n = s_.graph[node];
    const NodeFacts& facts = s_.facts[static_cast<size_t>(node)];
    PointSpec spec;
    spec.op = n.op;
    spec.from = s_.graph[n.inputs.back()].dtype;
    spec.to = n.dtype;
    spec.tracks = facts.tracks;
    spec.mode = s_.mode;
    spec.findings = &s_.findings;
    spec.node = node;
    spec.range = range_of(n.dtype, false, nullptr, node);
    if (is_integer(n.dtype)) return spec;
    spec.rounding = rounding_of(n.dtype, s_.flush);
    spec.errors = op_errors(n.op);
    if (n.op == Op::Add || n.op == Op::Sub) {
      spec.joins_x = joined_units(s_.facts[static_cast<size_t>(n.inputs[1])].terms);
      spec.joins_z = joined_units(s_.facts[static_cast<size_t>(n.inputs[0])].terms);
    }
    spec.snaps = facts.snaps;
    const bool narrows = n.op == Op::Cast && !is_integer(spec.from) && spec.from != spec.to;
    if (narrows && spec.from == DType::Fp64) spec.errors.relative = 1;
    const bool rounds =
        n.op == Op::Cast ? narrows : !graph::op_info(n.op).exact && n.op != Op::FloorDiv;
    if (!rounds || spec.snaps) spec.rounding.half_unit = spec.rounding.half_tiny = 0;
    const bool from_integer = n.op == Op::Cast && is_integer(spec.from);
    spec.range =
        range_of(n.dtype, rounds || from_integer || n.op == Op::FloorDiv, s_.overflow, node);
    return spec;
  }

  // Registers are reused after their last use, except those of constants.
  void assign_registers(int result, TruthProgram& program) {
    std::vector<int> last(code_.size(), -1), place(code_.size(), -1), free;
    for (size_t k = 0; k < code_.size(); ++k) {
      for (int p = 0; p < code_[k].operands; ++p)
        last[static_cast<size_t>(code_[k].in[p])] = static_cast<int>(k);
    }
    last[static_cast<size_t>(result)] = static_cast<int>(code_.size());
    for (size_t k = 0; k < code_.size(); ++k) {
      Instruction& at = code_[k];
      const bool pinned = at.kind == Instruction::Kind::Constant;
      if (free.empty() || pinned) {
        place[k] = program.registers++;
      } else {
        place[k] = free.back();
        free.pop_back();
      }
      at.out = place[k];
      for (int p = 0; p < at.operands; ++p) {
        const auto used = static_cast<size_t>(at.in[p]);
        at.in[p] = place[used];
        const bool over = last[used] == static_cast<int>(k);
        if (over && code_[used].kind != Instruction::Kind::Constant) {
          free.push_back(place[used]);
          last[used] = -1;  // x + x frees it once
        }
      }
      (pinned ? program.constants : program.body).push_back(at);
    }
    program.result = place[static_cast<size_t>(result)];
  }

  const Sources& s_;
  const std::vector<int>& order_;
  std::vector<Instruction> code_;
  std::map<std::pair<NodeId, const Chain*>, int> emitted_;
  std::map<std::pair<const Node*, const Chain*>, std::unique_ptr<Chain>> chains_;
};

}  // namespace

NodeRange Sources::range_of(NodeId node) const {
  NodeRange range = truth::range_of(graph[node].dtype, true, overflow, node);
  if (graph[node].op != Op::Sum) return range;
  range.mean = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& reader) {
    if (reader.op != Op::Div || reader.inputs[0] != node) return false;
    NodeId divisor = reader.inputs[1];
    while (graph[divisor].op == Op::Expand) divisor = graph[divisor].inputs[0];
    return graph[divisor].op == Op::Constant;
  });
  return range;
}

TruthProgram make_program(const Sources& sources, NodeId node, const std::vector<int>& order,
                          bool fresh) {
  return Emitter(sources, order).run(node, fresh);
}

int64_t period_of(const TruthProgram& program) {
  int64_t period = 1;
  for (const Instruction& code : program.body) {
    if (code.kind == Instruction::Kind::Point) continue;
    const View& view = code.view;
    const int64_t own = view.strides[0] == 0 ? program.count / view.shape[0] : program.count;
    if (period % own == 0) continue;
    if (own % period != 0) return program.count;
    period = own;
  }
  return period;
}

TruthRunner::TruthRunner(const TruthProgram& program)
    : program_(program), registers_(new VectorLanes[static_cast<size_t>(program.registers)]) {
  for (const Instruction& constant : program.constants) {
    VectorLanes& out = registers_[static_cast<size_t>(constant.out)];
    out.jumps = false;
    std::fill_n(out.t, kChunk, constant.number);
    std::fill_n(out.i, kChunk, constant.integer);
    std::fill_n(out.a, kChunk, constant.error);
    std::fill_n(out.h, kChunk, 0.0);
  }
}

const VectorLanes& TruthRunner::at(int64_t start, int count) {
  for (const Instruction& instruction : program_.body) run(instruction, start, count);
  return registers_[static_cast<size_t>(program_.result)];
}

void TruthRunner::run(const Instruction& code, int64_t start, int count) {
  VectorLanes& out = registers_[static_cast<size_t>(code.out)];
  switch (code.kind) {
    case Instruction::Kind::Input:
      return load(*code.input, code.view, start, count, out);
    case Instruction::Kind::Value:
      return load(*code.value, code.view, start, count, out);
    case Instruction::Kind::Iota:
      out.jumps = false;
      for_runs(code.view, start, count,
               [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
                 for (int64_t k = 0; k < length; ++k) {
                   const int64_t value = address + k * stride;
                   if (code.tracks.integer) {
                     out.i[at + k] = wrapped(code.dtype, value);
                   } else {
                     out.t[at + k] = rounded(code.dtype, static_cast<double>(value));
                   }
                 }
               });
      return;
    case Instruction::Kind::Constant:
      return;
    case Instruction::Kind::Point: {
      ChunkOperand in[3];
      for (int k = 0; k < code.operands; ++k)
        in[k] = {&registers_[static_cast<size_t>(code.in[k])], code.in_tracks[k]};
      run_point(code.spec, {in, static_cast<size_t>(code.operands)}, count, out);
    }
  }
}

}  // namespace kw::truth
