#include "vgpu/order_check.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "tensor/convert.h"

namespace kw::vgpu {
namespace {

constexpr double kRounding = 1e-2;   // relative; sums of many terms in half precision stay below
constexpr double kCancelled = 1e-4;  // of the largest element: the rest after terms cancel

double largest_of(const tensor::HostTensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor::value_count(tensor); ++i) {
    const double size = std::fabs(tensor::get_element(tensor, i));
    if (std::isfinite(size)) largest = std::fmax(largest, size);
  }
  return largest;
}

/// Sums whose order depends on blocks and warps (atomics, locks, look-back) differ by rounding
/// only.
bool is_rounding(double a, double b, double largest) {
  // Where such a sum overflows, the order decides between infinities, NaN and a number. No order of
  // finite parts gives NaN, so a number or NaN is another mistake.
  if (!std::isfinite(a) && !std::isfinite(b)) return true;
  if (std::isnan(a) || std::isnan(b)) return false;
  if (std::isinf(a) || std::isinf(b)) return true;
  return std::fabs(a - b) <= kRounding * std::fmax(std::fabs(a), std::fabs(b)) ||
         std::fabs(a - b) <= kCancelled * largest;
}

}  // namespace

std::optional<record::Finding> compare_orders(const kernel::Program& program,
                                              const ports::RunOutcome& natural,
                                              const ports::RunOutcome& permuted) {
  if (natural.buffers.size() != permuted.buffers.size()) return std::nullopt;
  for (size_t i = 0; i < natural.buffers.size(); ++i) {
    const tensor::HostTensor &a = natural.buffers[i], &b = permuted.buffers[i];
    if (a.data == b.data || a.data.size() != b.data.size()) continue;
    const auto size = static_cast<size_t>(tensor::dtype_size(a.dtype));
    int64_t first = -1, differing = 0;
    bool rounding = tensor::is_float(a.dtype);
    const double largest = rounding ? largest_of(a) : 0;
    for (size_t e = 0; e < a.data.size() / size; ++e) {
      if (std::memcmp(&a.data[e * size], &b.data[e * size], size) == 0) continue;
      const auto index = static_cast<int64_t>(e);
      if (differing++ == 0) first = index;
      rounding = rounding &&
                 is_rounding(tensor::get_element(a, index), tensor::get_element(b, index), largest);
    }
    const kernel::Buffer& buffer = program.buffers[i];
    record::Finding finding;
    finding.kind = record::FindingKind::OrderDependence;
    finding.certainty = rounding ? record::Certainty::Warning : record::Certainty::Certain;
    finding.buffer = buffer.name;
    finding.element = first;
    finding.count = differing;
    finding.launch = static_cast<int>(program.launches.size()) - 1;
    finding.kernel = program.launches.back().kernel;
    finding.at = {program.module_name, program.launches.back().line, 0};
    finding.message = fmt::format(
        "{} elements of {} change when blocks and warps run in another order{}: {}[{}] is {} or {}",
        differing, buffer.name, rounding ? " (rounding)" : "", buffer.name, first,
        tensor::get_element(a, first), tensor::get_element(b, first));
    return finding;
  }
  return std::nullopt;
}

}  // namespace kw::vgpu
