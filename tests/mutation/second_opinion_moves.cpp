// Movements. The problem: a dozen ops that put elements elsewhere, each with its own arithmetic of
// positions. Every op is written from the side of the result: a rule says, for the coordinates of a
// result element, which coordinates of the operand it comes from; one loop copies. So each rule is
// the formula of docs/graph.md, and no strides or views exist that could be wrong in common.
#include "second_opinion_steps.h"

namespace kw::mutation {

namespace {

/// rule(at, from): sets `from` to the operand's coordinates for the result's `at`.
template <class Rule>
WideTensor moved(const Step& step, Rule rule) {
  WideTensor out = zeros_of(step);
  Extents from(step.x().shape.size(), 0);
  for_each_element(out.shape, [&](int64_t position, const Extents& at) {
    rule(at, from);
    copy_element(step.x(), place_of(step.x().shape, from), out, position);
  });
  return out;
}

WideTensor reshaped(const Step& step) {
  WideTensor out = step.x();
  out.shape = graph::values_of(step.node.shape);
  return out;
}

WideTensor permuted(const Step& step) {
  return moved(step, [&](const Extents& at, Extents& from) {
    for (size_t d = 0; d < at.size(); ++d)
      from[static_cast<size_t>(step.node.attrs.dims[d])] = at[d];
  });
}

WideTensor expanded(const Step& step) {
  const Extents& shape = step.x().shape;
  return moved(step, [&](const Extents& at, Extents& from) {
    const size_t added = at.size() - shape.size();
    for (size_t d = 0; d < shape.size(); ++d) from[d] = shape[d] == 1 ? 0 : at[added + d];
  });
}

WideTensor sliced(const Step& step) {
  const graph::Attrs& attrs = step.node.attrs;
  return moved(step, [&](const Extents& at, Extents& from) {
    for (size_t d = 0; d < at.size(); ++d)
      from[d] = attrs.starts[d].value() + at[d] * attrs.steps[d];
  });
}

WideTensor flipped(const Step& step) {
  return moved(step, [&](const Extents& at, Extents& from) {
    from = at;
    for (const int dim : step.node.attrs.dims) {
      const auto d = static_cast<size_t>(dim);
      from[d] = step.x().shape[d] - 1 - at[d];
    }
  });
}

WideTensor windows(const Step& step) {
  const int64_t stride = step.node.attrs.steps[0], dilation = step.node.attrs.steps[1];
  return moved(step, [&](const Extents& at, Extents& from) {
    for (size_t d = 0; d < from.size(); ++d) from[d] = at[d];
    from[step.dim()] = at[step.dim()] * stride + at.back() * dilation;
  });
}

WideTensor padded(const Step& step) {
  WideTensor out = zeros_of(step);
  const Real fill = step.node.attrs.number;
  for (int64_t k = 0; k < count_of(out.shape); ++k) {
    if (is_whole(out.dtype)) {
      set_integer(out, k, whole_of(out.dtype, fill));
    } else {
      out.value[static_cast<size_t>(k)] = stored(out.dtype, fill);
    }
  }
  for_each_element(step.x().shape, [&](int64_t position, const Extents& at) {
    Extents place = at;
    for (size_t d = 0; d < at.size(); ++d) place[d] += step.node.attrs.starts[d].value();
    copy_element(step.x(), position, out, place_of(out.shape, place));
  });
  return out;
}

WideTensor joined(const Step& step) {
  WideTensor out = zeros_of(step);
  int64_t before = 0;
  for (const WideTensor* part : step.in) {
    for_each_element(part->shape, [&](int64_t position, const Extents& at) {
      Extents place = at;
      place[step.dim()] += before;
      copy_element(*part, position, out, place_of(out.shape, place));
    });
    before += part->shape[step.dim()];
  }
  return out;
}

/// Gather and IndexSelect: index_at(at) is the place of the index that decides the element at `at`.
template <class IndexAt>
Result<WideTensor> indexed(const Step& step, IndexAt index_at) {
  KW_TRY(check_index(step));
  return moved(step, [&](const Extents& at, Extents& from) {
    from = at;
    from[step.dim()] = step.in[1]->integers[static_cast<size_t>(index_at(at))];
  });
}

}  // namespace

Result<WideTensor> movement(const Step& step) {
  switch (step.node.op) {
    case Op::Reshape:
      return reshaped(step);
    case Op::Permute:
      return permuted(step);
    case Op::Expand:
      return expanded(step);
    case Op::Slice:
      return sliced(step);
    case Op::Pad:
      return padded(step);
    case Op::Flip:
      return flipped(step);
    case Op::Window:
      return windows(step);
    case Op::Concat:
      return joined(step);
    case Op::Gather:
      return indexed(step, [&](const Extents& at) { return place_of(step.in[1]->shape, at); });
    case Op::IndexSelect:
      return indexed(step, [&](const Extents& at) { return at[step.dim()]; });
    default:
      return step.refuse("is not a known movement");
  }
}

}  // namespace kw::mutation
