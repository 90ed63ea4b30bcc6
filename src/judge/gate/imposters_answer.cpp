// The problem: a task is weak if an obviously wrong output passes its cells. These imposters change
// the truth itself: zeros, the mean, an input, half, the wrong sign, one row, no tail, old data.
// They need no run and no compiler; each costs one pass over the outputs. The alternative, real
// wrong kernels, would need a compile per task and would test the same comparison. The cost: they
// cannot imitate a wrong formula; imposters_formula.cpp does that.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gate/imposter_kinds.h"
#include "tensor/convert.h"

namespace kw::gate {

namespace {

using ports::Truth;
using tensor::DType;
using tensor::HostTensor;

HostTensor like(const Truth& truth) {
  const auto bytes = truth.value.size() * static_cast<size_t>(tensor::dtype_size(truth.dtype));
  return {truth.dtype, truth.shape, std::vector<std::byte>(bytes)};
}

void store(HostTensor* tensor, int64_t at, double value) {
  if (tensor::is_float(tensor->dtype))
    tensor::store_floats(*tensor, at, std::span(&value, 1));
  else
    tensor::store_int(*tensor, at, static_cast<int64_t>(value));
}

HostTensor mapped(const Truth& truth, double (*change)(double)) {
  HostTensor tensor = like(truth);
  for (size_t i = 0; i < truth.value.size(); ++i)
    store(&tensor, static_cast<int64_t>(i), change(truth.value[i]));
  return tensor;
}

Result<ImposterOutputs> zero(const ImposterCell& cell) {
  ImposterOutputs imposed;
  for (const Truth& truth : cell.set.truths) imposed.outputs.push_back(like(truth));
  return imposed;
}

Result<ImposterOutputs> constant(const ImposterCell& cell) {
  const bool single = std::ranges::all_of(
      cell.set.truths, [](const Truth& truth) { return truth.value.size() <= 1; });
  if (single) return not_applicable("outputs of one number are their own mean");
  ImposterOutputs imposed;
  for (const Truth& truth : cell.set.truths) {
    double sum = 0;
    int64_t count = 0;
    for (const double value : truth.value) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    HostTensor tensor = like(truth);
    const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
    for (size_t i = 0; i < truth.value.size(); ++i) store(&tensor, static_cast<int64_t>(i), mean);
    imposed.outputs.push_back(std::move(tensor));
  }
  return imposed;
}

Result<ImposterOutputs> identity(const ImposterCell& cell) {
  ImposterOutputs imposed;
  for (const Truth& truth : cell.set.truths) {
    const auto input = std::ranges::find_if(
        cell.set.inputs, [&](const HostTensor& tensor) { return tensor.shape == truth.shape; });
    if (input == cell.set.inputs.end())
      return not_applicable("no input has the shape of the output");
    HostTensor tensor = like(truth);
    std::vector<double> values(truth.value.size());
    tensor::load_values(*input, 0, values);
    for (size_t i = 0; i < values.size(); ++i)
      store(&tensor, static_cast<int64_t>(i), std::isfinite(values[i]) ? values[i] : 0);
    imposed.outputs.push_back(std::move(tensor));
  }
  return imposed;
}

bool all_bool(const ImposterCell& cell) {
  return std::ranges::all_of(cell.set.truths,
                             [](const Truth& truth) { return truth.dtype == DType::Bool; });
}

Result<ImposterOutputs> half_scaled(const ImposterCell& cell) {
  if (all_bool(cell)) return not_applicable("truth values have no half");
  ImposterOutputs imposed;
  for (const Truth& truth : cell.set.truths)
    imposed.outputs.push_back(mapped(truth, [](double value) { return value / 2; }));
  return imposed;
}

Result<ImposterOutputs> sign_flipped(const ImposterCell& cell) {
  const bool any_signed = std::ranges::any_of(cell.set.truths, [](const Truth& truth) {
    return tensor::is_float(truth.dtype) || tensor::is_signed_int(truth.dtype);
  });
  if (!any_signed) return not_applicable("the outputs have no sign");
  ImposterOutputs imposed;
  for (const Truth& truth : cell.set.truths)
    imposed.outputs.push_back(mapped(truth, [](double value) { return -value; }));
  return imposed;
}

Result<ImposterOutputs> first_row(const ImposterCell& cell) {
  ImposterOutputs imposed;
  bool any = false;
  for (const Truth& truth : cell.set.truths) {
    HostTensor tensor = rounded(truth);
    const int64_t rows = truth.shape.empty() ? 1 : truth.shape[0];
    if (rows > 1) {
      any = true;
      const auto bytes = static_cast<int64_t>(tensor.data.size()) / rows;
      for (int64_t row = 1; row < rows; ++row)
        std::copy_n(tensor.data.begin(), bytes, tensor.data.begin() + row * bytes);
    }
    imposed.outputs.push_back(std::move(tensor));
  }
  return any ? imposed : not_applicable("the outputs have one row");
}

// Zeroes the elements after the last whole warp of every row.
Result<ImposterOutputs> dropped_tail(const ImposterCell& cell) {
  ImposterOutputs imposed;
  bool any = false;
  for (const Truth& truth : cell.set.truths) {
    HostTensor tensor = rounded(truth);
    const int64_t extent = truth.shape.empty() ? 1 : truth.shape.back();
    const int64_t kept = extent <= 32 ? extent - 1 : (extent - 1) / 32 * 32;
    if (extent > 1) {
      any = true;
      for (int64_t i = 0; i < static_cast<int64_t>(truth.value.size()); ++i) {
        if (i % extent >= kept) store(&tensor, i, 0);
      }
    }
    imposed.outputs.push_back(std::move(tensor));
  }
  return any ? imposed : not_applicable("the outputs have one element per row");
}

Result<ImposterOutputs> stale_buffer(const ImposterCell& cell) {
  if (cell.earlier == nullptr) return not_applicable("every shape has only one set of inputs");
  ImposterOutputs imposed;
  for (const Truth& truth : cell.earlier->truths) imposed.outputs.push_back(rounded(truth));
  return imposed;
}

constexpr ImposterKind kAnswers[] = {
    {"zero", zero},
    {"constant", constant},
    {"identity", identity},
    {"half-scaled", half_scaled},
    {"sign-flipped", sign_flipped},
    {"first-row-only", first_row},
    {"dropped-tail", dropped_tail},
    {"stale-buffer", stale_buffer},
};

}  // namespace

std::span<const ImposterKind> answer_imposters() { return kAnswers; }

HostTensor rounded(const Truth& truth) {
  HostTensor tensor = like(truth);
  if (tensor::is_float(truth.dtype)) {
    tensor::store_floats(tensor, 0, truth.value);
    return tensor;
  }
  for (size_t i = 0; i < truth.value.size(); ++i) {
    tensor::store_int(
        tensor, static_cast<int64_t>(i),
        truth.integers.empty() ? static_cast<int64_t>(truth.value[i]) : truth.integers[i]);
  }
  return tensor;
}

}  // namespace kw::gate
