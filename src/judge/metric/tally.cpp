// The problem: every thread compares its own piece, but the verdict needs one summary and one
// reason. Each thread fills a tally; the pieces are added in element order, so the first worst
// element wins. A comparison fails if one element exceeds the limit, or if the rms of all z does.
// The rms rule finds a lower precision that no single element shows; one limit per element alone
// would miss it. The cost is one more sum per element.
#include "metric/tally.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/text.h"
#include "ports/bound.h"

namespace kw::metric {

namespace {

const char* why_text(ElementFault why) {
  constexpr const char* kTexts[] = {
      "",
      "NaN where the truth is a number",
      "a number where the truth is NaN",
      "infinity where the truth is finite",
      "finite where the truth is infinite",
      "infinity of the wrong sign",
      "not equal where only exact operations are asked for",
      "beyond the task's own atol/rtol",
      "index out of range",
      "the same index twice",
      "points at a worse value than the right one",
      "not the first of equal values",
  };
  return kTexts[static_cast<size_t>(why)];
}

std::vector<int64_t> unravel(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t extent = std::max<int64_t>(shape[i], 1);
    index[i] = element % extent;
    element /= extent;
  }
  return index;
}

Tally sum(const std::vector<Tally>& pieces) {
  Tally all;
  for (const Tally& piece : pieces) {
    all.sum_squares += piece.sum_squares;
    all.max_abs = std::max(all.max_abs, piece.max_abs);
    all.max_rel = std::max(all.max_rel, piece.max_rel);
    all.max_ulps = std::max(all.max_ulps, piece.max_ulps);
    all.elements += piece.elements;
    all.discontinuous += piece.discontinuous;
    all.overflowed += piece.overflowed;
    all.overflow_values += piece.overflow_values;
    all.overflow_classes += piece.overflow_classes;
    all.failures += piece.failures;
    all.telling += piece.telling;
    if (piece.worst < 0 || (all.worst >= 0 && piece.worst_z <= all.worst_z)) continue;
    all.worst = piece.worst;
    all.worst_z = piece.worst_z;
    all.worst_got = piece.worst_got;
    all.worst_want = piece.worst_want;
    all.worst_bound = piece.worst_bound;
    all.worst_ulps = piece.worst_ulps;
    all.why = piece.why;
  }
  return all;
}

void add_lint(const char* what, int64_t count, int64_t elements, std::vector<std::string>* lint) {
  const double share = ports::bound_constants().max_share;
  if (count <= std::max(1.0, share * static_cast<double>(elements))) return;
  lint->push_back(fmt::format("{} of {} elements {}; with more than {:g} % a pass says little",
                              count, elements, what, share * 100));
}

/// Formats print the sign of a NaN, which means nothing.
double unsigned_nan(double value) {
  return value != value ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::string failure_text(const ports::Truth& truth, const Tally& all, const record::Worst& worst) {
  const std::string where = element_text(worst);
  const std::string values = fmt::format("got {:.9g}, expected {:.9g}", worst.got, worst.want);
  const std::string others =
      all.failures > 1 ? fmt::format("; {} of {} elements fail", all.failures, all.elements) : "";
  if (!worst.why.empty()) return fmt::format("{}: {} ({}){}", where, worst.why, values, others);
  if (!tensor::is_float(truth.dtype)) return fmt::format("{}: {}{}", where, values, others);
  return fmt::format("{}: {}, allowed ±{:.3g} (z {:.3g}, {:.3g} ulps){}", where, values,
                     worst.bound, worst.z, worst.ulps, others);
}

}  // namespace

double rms_limit(int64_t elements) {
  const ports::BoundConstants& constants = ports::bound_constants();
  const double one =
      constants.max_z * constants.max_z / static_cast<double>(std::max<int64_t>(elements, 1));
  return std::sqrt(constants.rms_z * constants.rms_z + one);
}

Comparison conclude(const ports::Truth& truth, const std::vector<Tally>& pieces) {
  const Tally all = sum(pieces);
  Comparison result;
  record::ErrorSummary& summary = result.summary;
  summary.max_z = all.worst_z;
  summary.rms_z =
      all.elements == 0 ? 0 : std::sqrt(all.sum_squares / static_cast<double>(all.elements));
  summary.max_abs = all.max_abs;
  summary.max_rel = all.max_rel;
  summary.max_ulps = all.max_ulps;
  summary.elements = all.elements;
  summary.discontinuous = all.discontinuous;
  summary.overflowed = all.overflowed;
  summary.overflow_values = all.overflow_values;
  summary.overflow_classes = all.overflow_classes;
  result.telling = all.telling;
  add_lint("rest on a discontinuity", all.discontinuous, all.elements, &result.lint);
  add_lint("overflow in the declared precision", all.overflowed, all.elements, &result.lint);
  if (all.worst < 0) return result;
  summary.worst = record::Worst{truth.name,
                                unravel(all.worst, truth.shape),
                                unsigned_nan(all.worst_got),
                                unsigned_nan(all.worst_want),
                                all.worst_bound,
                                all.worst_z,
                                all.worst_ulps,
                                why_text(all.why)};
  if (all.failures > 0) {
    result.pass = false;
    result.reason = failure_text(truth, all, *summary.worst);
  } else if (summary.rms_z > rms_limit(all.elements)) {
    result.pass = false;
    result.reason = fmt::format(
        "{}: rms z {:.3g} over {} elements is above {:.3g}: every element is close, but the errors "
        "are those of a lower precision",
        truth.name, summary.rms_z, all.elements, rms_limit(all.elements));
  } else if (truth.plain_z > 0 &&
             summary.rms_z > ports::bound_constants().plain_factor * truth.plain_z) {
    result.pass = false;
    result.reason = fmt::format(
        "{}: the errors are {:.3g} times as large as those of a plain fp32 evaluation; {:g} times "
        "are allowed: products or sums have a lower precision",
        truth.name, summary.rms_z / truth.plain_z, ports::bound_constants().plain_factor);
  }
  return result;
}

void merge(const record::ErrorSummary& part, record::ErrorSummary* into) {
  const bool worse = part.worst && (!into->worst || part.worst->z > into->worst->z);
  into->max_z = std::max(into->max_z, part.max_z);
  into->rms_z = std::max(into->rms_z, part.rms_z);
  into->max_abs = std::max(into->max_abs, part.max_abs);
  into->max_rel = std::max(into->max_rel, part.max_rel);
  into->max_ulps = std::max(into->max_ulps, part.max_ulps);
  into->elements += part.elements;
  into->discontinuous += part.discontinuous;
  into->overflowed += part.overflowed;
  into->overflow_values += part.overflow_values;
  into->overflow_classes += part.overflow_classes;
  if (!worse) return;
  into->worst = part.worst;
  into->cell = part.cell;
}

std::string element_text(const record::Worst& worst) {
  std::vector<std::string> parts;
  for (const int64_t i : worst.index) parts.push_back(std::to_string(i));
  return worst.index.empty() ? worst.output : worst.output + "[" + join(parts, ", ") + "]";
}

int64_t integer_at(const tensor::HostTensor& tensor, int64_t index) {
  const int size = tensor::dtype_size(tensor.dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data() + index * size, static_cast<size_t>(size));
  if (!tensor::is_signed_int(tensor.dtype) || size == 8) return static_cast<int64_t>(bits);
  const int unused = 64 - 8 * size;
  return static_cast<int64_t>(bits << unused) >> unused;
}

}  // namespace kw::metric
