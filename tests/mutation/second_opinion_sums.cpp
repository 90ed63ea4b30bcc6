// Ops that add or multiply elements: reductions, scans, folds, products of matrices, scatters. The
// problem: their order of additions must be one that a reader can see. Every result has one chain,
// and elements join their chains in row-major order of the operand (scatters: of the index). In
// wide arithmetic nothing is rounded between them; in declared arithmetic the chain is fp32, or
// fp64 for fp64. Integers wrap modulo 2^64, and their type keeps the low bits at the end.
#include <cmath>

#include "second_opinion_steps.h"

namespace kw::mutation {

Chain::Chain(const Step& step, bool multiplies)
    : step_(&step), multiplies_(multiplies), sum_(multiplies ? 1 : 0), bits_(multiplies ? 1 : 0) {}

void Chain::join(Real x, uint64_t bits) {
  sum_ = chained(*step_, multiplies_ ? sum_ * x : sum_ + x);
  bits_ = multiplies_ ? bits_ * bits : bits_ + bits;
}

void Chain::take(const WideTensor& x, int64_t at) {
  const auto k = static_cast<size_t>(at);
  join(x.value[k], is_whole(x.dtype) ? static_cast<uint64_t>(x.integers[k]) : 0);
}

void Chain::take(const WideTensor& x, int64_t x_at, const WideTensor& z, int64_t z_at) {
  const auto i = static_cast<size_t>(x_at), j = static_cast<size_t>(z_at);
  const bool whole = is_whole(x.dtype);
  join(x.value[i] * z.value[j],
       whole ? static_cast<uint64_t>(x.integers[i]) * static_cast<uint64_t>(z.integers[j]) : 0);
}

void Chain::write(WideTensor& out, int64_t at) const {
  if (is_whole(out.dtype)) return set_integer(out, at, static_cast<int64_t>(bits_));
  out.value[static_cast<size_t>(at)] = sum_;
}

namespace {

/// One chain per element of the result; target(at) is the result's place for an operand element.
template <class Target>
WideTensor gathered_sums(const Step& step, bool multiplies, Target target) {
  WideTensor out = zeros_of(step);
  std::vector<Chain> chains(out.value.size(), Chain(step, multiplies));
  for_each_element(step.x().shape, [&](int64_t position, const Extents& at) {
    chains[static_cast<size_t>(target(at, out.shape))].take(step.x(), position);
  });
  for (size_t k = 0; k < chains.size(); ++k) chains[k].write(out, static_cast<int64_t>(k));
  return out;
}

/// The place of the result that an element is reduced into.
int64_t reduced_place(const Step& step, const Extents& at, const Extents& shape) {
  Extents place = at;
  for (const int dim : step.node.attrs.dims) place[static_cast<size_t>(dim)] = 0;
  return place_of(shape, place);
}

/// Whether x takes the place of the best so far; the first of equals stays, and so does a NaN.
bool is_better(Real x, Real best, bool largest) {
  if (std::isnan(best)) return false;
  return std::isnan(x) || (largest ? x > best : x < best);
}

/// Max, Min, ArgMax, ArgMin.
WideTensor best_elements(const Step& step) {
  const Op op = step.node.op;
  const bool largest = op == Op::Max || op == Op::ArgMax;
  const WideTensor& x = step.x();
  WideTensor out = zeros_of(step);
  std::vector<int64_t> best(out.value.size(), -1), index(out.value.size(), 0);
  for_each_element(x.shape, [&](int64_t position, const Extents& at) {
    const auto k = static_cast<size_t>(reduced_place(step, at, out.shape));
    const Real v = x.value[static_cast<size_t>(position)];
    if (best[k] >= 0 && !is_better(v, x.value[static_cast<size_t>(best[k])], largest)) return;
    best[k] = position;
    index[k] = at[step.dim()];
  });
  for (size_t k = 0; k < best.size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    if (op == Op::Max || op == Op::Min) {
      copy_element(x, best[k], out, at);
    } else {
      set_integer(out, at, index[k]);
    }
  }
  return out;
}

/// One write of a scatter; half types round at every addition.
void write_into(const Step& step, WideTensor& out, int64_t at, const WideTensor& x, int64_t from) {
  using graph::ScatterMode;
  const auto t = static_cast<size_t>(at), s = static_cast<size_t>(from);
  const ScatterMode mode = step.node.attrs.scatter;
  const Real old = out.value[t], v = x.value[s];
  const bool replaces = mode == ScatterMode::Set ||
                        (mode == ScatterMode::Max && is_better(v, old, true)) ||
                        (mode == ScatterMode::Min && is_better(v, old, false));
  if (replaces) return copy_element(x, from, out, at);
  if (mode != ScatterMode::Add && mode != ScatterMode::Multiply) return;
  const bool adds = mode == ScatterMode::Add;
  if (is_whole(out.dtype)) {
    const auto a = static_cast<uint64_t>(out.integers[t]), b = static_cast<uint64_t>(x.integers[s]);
    return set_integer(out, at, static_cast<int64_t>(adds ? a + b : a * b));
  }
  const Real sum = adds ? old + v : old * v;
  out.value[t] = step.arithmetic == Arithmetic::Declared ? stored(out.dtype, sum) : sum;
}

}  // namespace

Result<WideTensor> reduction(const Step& step) {
  const auto place = [&](const Extents& at, const Extents& shape) {
    return reduced_place(step, at, shape);
  };
  switch (step.node.op) {
    case Op::Sum:
    case Op::Prod:
      return gathered_sums(step, step.node.op == Op::Prod, place);
    case Op::Max:
    case Op::Min:
    case Op::ArgMax:
    case Op::ArgMin:
      return best_elements(step);
    default:
      return step.refuse("is not a known reduction");
  }
}

Result<WideTensor> fold(const Step& step) {
  const int64_t stride = step.node.attrs.steps[0], dilation = step.node.attrs.steps[1];
  return gathered_sums(step, false, [&](const Extents& at, const Extents& shape) {
    Extents place(at.begin(), at.end() - 1);
    place[step.dim()] = at[step.dim()] * stride + at.back() * dilation;
    return place_of(shape, place);
  });
}

Result<WideTensor> product_of_matrices(const Step& step) {
  if (step.node.op != Op::MatMul) return step.refuse("is not a known contraction");
  const WideTensor &x = step.x(), &z = *step.in[1];
  const size_t rank = x.shape.size();
  WideTensor out = zeros_of(step);
  for_each_element(out.shape, [&](int64_t position, const Extents& at) {
    Extents left = at, right = at;
    Chain chain(step, false);
    for (int64_t k = 0; k < x.shape[rank - 1]; ++k) {
      left[rank - 1] = right[rank - 2] = k;
      chain.take(x, place_of(x.shape, left), z, place_of(z.shape, right));
    }
    chain.write(out, position);
  });
  return out;
}

Result<WideTensor> scatter(const Step& step) {
  KW_TRY(check_index(step));
  const WideTensor &index = *step.in[1], &source = *step.in[2];
  WideTensor out = step.x();
  for_each_element(index.shape, [&](int64_t position, const Extents& at) {
    Extents place = at;
    place[step.dim()] = index.integers[static_cast<size_t>(position)];
    write_into(step, out, place_of(out.shape, place), source, position);
  });
  return out;
}

}  // namespace kw::mutation
