#include "ports/bound.h"

#include <algorithm>
#include <limits>

#include "core/json_writer.h"

namespace kw::ports {

using tensor::DType;

namespace {

// Unit, smallest subnormal, smallest normal, and the magnitude from which rounding gives infinity.
struct FormatRow {
  DType type;
  double unit, subnormal, normal, limit;
};
constexpr FormatRow kFormats[] = {
    {DType::Fp64, 0x1p-53, 0x1p-1074, 0x1p-1022, std::numeric_limits<double>::max()},
    {DType::Fp32, 0x1p-24, 0x1p-149, 0x1p-126, 0x1.fffffefp127},
    {DType::Fp16, 0x1p-11, 0x1p-24, 0x1p-14, 65519.9},
    {DType::Bf16, 0x1p-8, 0x1p-133, 0x1p-126, 0x1.fefp127},
    {DType::Fp8e4m3, 0x1p-4, 0x1p-9, 0x1p-6, 464},
    {DType::Fp8e5m2, 0x1p-3, 0x1p-16, 0x1p-14, 61439.9},
    {DType::Fp4e2m1x2, 0x1p-2, 0.5, 1, 6},
    {DType::E8m0, 1, 0x1p-127, 0x1p-127, 0x1p127},
};

const FormatRow* row_of(DType type) {
  for (const FormatRow& row : kFormats) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

const BoundConstants& bound_constants() {
  static const BoundConstants kConstants;
  return kConstants;
}

void fields(auto& v, BoundConstants& c) {
  v("unit", c.unit)("path_factor", c.path_factor)("sum_root", c.sum_root)("sum_plus", c.sum_plus);
  v("sum_chain", c.sum_chain)("half_sum", c.half_sum)("max_z", c.max_z)("rms_z", c.rms_z);
  v("plain_factor", c.plain_factor)("plain_room", c.plain_room)("max_share", c.max_share);
}

Json to_json(const BoundConstants& constants) { return record_json(constants); }

double chain_units(double n) {
  const BoundConstants& c = bound_constants();
  return std::min(n, c.sum_chain) / c.path_factor;
}

double unit_roundoff(DType type) {
  const FormatRow* row = row_of(type);
  return row == nullptr ? 0 : row->unit;
}

double smallest_step(DType type, bool flush) {
  const FormatRow* row = row_of(type);
  if (row == nullptr) return 0;
  return flush ? row->normal : row->subnormal;
}

double largest_finite(DType type) {
  const FormatRow* row = row_of(type);
  return row == nullptr ? std::numeric_limits<double>::infinity() : row->limit;
}

ElementBound::ElementBound(const Truth& output, bool flush)
    : truth(output),
      path_factor(bound_constants().path_factor),
      unit(unit_roundoff(output.dtype)),
      step(smallest_step(output.dtype,
                         flush && (output.dtype == DType::Fp32 || output.dtype == DType::Bf16))) {}

double bound_at(const Truth& truth, int64_t index, bool flush) {
  return ElementBound(truth, flush).at(static_cast<size_t>(index));
}

}  // namespace kw::ports
