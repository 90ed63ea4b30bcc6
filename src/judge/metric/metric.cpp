// The problem: for a large output, the loop over elements is the whole cost of judging. Values are
// converted in chunks, and rare cases (NaN, infinities, failures) leave the loop for judge_rare().
// Chunks without discontinuities or overflow use the vector loop of metric_fast.cpp first. The
// alternative, one general rule per element, would test every rare case for every element. The
// cost: two loops must give the same numbers; metric_fast_test.cpp checks that.
#include "metric/metric.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "metric/metric_fast.h"
#include "metric/tally.h"
#include "os/parallel.h"
#include "ports/bound.h"
#include "tensor/convert.h"
#include "tensor/npy.h"

namespace kw::metric {

namespace {

using tensor::DType;
using tensor::HostTensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kChunk = kFastChunk;
constexpr int64_t kGrain = 1 << 16;

/// Properties of the output's format.
struct Format {
  DType type = DType::Fp32;
  double unit = 0;              // half a step at 1
  double subnormal = 0;         // smallest positive step of the format
  double smallest_normal = 0;
  double overflow = kInfinity;  // the largest finite magnitude
  bool saturates = false;       // conversions may clip to the largest value
};

Format format_of(DType type) {
  return Format{
      .type = type,
      .unit = ports::unit_roundoff(type),
      .subnormal = ports::smallest_step(type, false),
      .smallest_normal = ports::smallest_step(type, true),
      .overflow = ports::largest_finite(type),
      .saturates = type == DType::Fp8e4m3 || type == DType::Fp8e5m2 || type == DType::Fp4e2m1x2,
  };
}

double ulps_between(double got, double want, const Format& format) {
  if (!std::isfinite(got) || !std::isfinite(want)) return 0;
  const uint64_t exponent = std::bit_cast<uint64_t>(want) & 0x7ff0000000000000;
  const double power = std::bit_cast<double>(exponent);
  const double ulp = std::max(2 * format.unit * power, format.subnormal);
  return ulp > 0 ? std::fabs(got - want) / ulp : 0;
}

/// One element and everything needed to judge it.
struct Element {
  int64_t index = 0;
  double got = 0, want = 0, rounded = 0, bound = 0;
  bool exact = false;
};

class FloatJudge {
 public:
  FloatJudge(const ports::Truth& truth, const HostTensor& got, const CompareOptions& options)
      : truth_(truth),
        got_(got),
        options_(options),
        format_(format_of(truth.dtype)),
        formula_(truth, options.precision.flush),
        has_outer_(options.precision.atol || options.precision.rtol),
        keeps_zero_signs_(options.moves_only && truth.exact) {}

  void run(int64_t begin, int64_t end, Tally* tally) const {
    std::array<double, kChunk> got, rounded;
    tally->smallest_normal = format_.smallest_normal;
    HostTensor scratch{truth_.dtype, {}, std::vector<std::byte>(kChunk * 8)};
    const FastJudge fast = nothing_special() ? fast_judge() : nullptr;
    for (int64_t at = begin; at < end; at += kChunk) {
      const size_t count = std::min<size_t>(kChunk, static_cast<size_t>(end - at));
      if (fast != nullptr && add_fast(fast, static_cast<size_t>(at), count, tally)) continue;
      const std::span<double> got_part(got.data(), count), rounded_part(rounded.data(), count);
      tensor::load_values(got_, at, got_part);
      tensor::store_floats(scratch, 0,
                           std::span(truth_.value).subspan(static_cast<size_t>(at), count));
      tensor::load_values(scratch, 0, rounded_part);
      chunk(at, got_part, rounded_part, tally);
    }
  }

 private:
  bool nothing_special() const {
    return !has_outer_ && !keeps_zero_signs_ && !truth_.exact && truth_.jump.empty() &&
           truth_.may_overflow.empty();
  }

  bool add_fast(FastJudge judge, size_t at, size_t count, Tally* tally) const {
    FastChunk chunk;
    chunk.dtype = truth_.dtype;
    chunk.got = got_.data.data() + at * static_cast<size_t>(tensor::dtype_size(truth_.dtype));
    chunk.want = truth_.value.data() + at;
    chunk.a = truth_.a.empty() ? nullptr : truth_.a.data() + at;
    chunk.h = truth_.h.empty() ? nullptr : truth_.h.data() + at;
    chunk.count = count;
    chunk.path_factor = formula_.path_factor;
    chunk.unit = formula_.unit;
    chunk.step = formula_.step;
    chunk.format_unit = format_.unit;
    chunk.subnormal = format_.subnormal;
    chunk.smallest_normal = format_.smallest_normal;
    FastSums sums;
    if (!judge(chunk, &sums)) return false;
    tally->elements += static_cast<int64_t>(count);
    tally->telling += sums.telling;
    if (sums.max_z == 0) return true;
    tally->sum_squares += sums.sum_squares;
    tally->max_abs = std::max(tally->max_abs, sums.max_abs);
    tally->max_rel = std::max(tally->max_rel, sums.max_rel);
    tally->max_ulps = std::max(tally->max_ulps, sums.max_ulps);
    if (tally->worst >= 0 && sums.max_z <= tally->worst_z) return true;
    const size_t worst = at + sums.worst;
    double got = 0;
    tensor::load_values(got_, static_cast<int64_t>(worst), std::span(&got, 1));
    tally->worst = static_cast<int64_t>(worst);
    tally->worst_z = sums.max_z;
    tally->worst_got = got;
    tally->worst_want = truth_.value[worst];
    tally->worst_bound = formula_.at(worst);
    tally->worst_ulps = ulps_between(got, truth_.value[worst], format_);
    tally->why = ElementFault::Nothing;
    return true;
  }

  void chunk(int64_t start, std::span<const double> got, std::span<const double> rounded,
             Tally* tally) const {
    tally->elements += static_cast<int64_t>(got.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const auto at = static_cast<size_t>(start) + i;
      const double want = truth_.value[at];
      const double bound = bound_at(at, tally);
      tally->telling += std::fabs(want) > bound ? 1 : 0;
      if (got[i] == rounded[i] && !keeps_zero_signs_) continue;
      const Element element{
          start + static_cast<int64_t>(i), got[i], want, rounded[i], bound, exact_at(at)};
      const double distance = std::fabs(got[i] - want);
      const bool near =
          distance <= bound && !element.exact && !has_outer_ && std::isfinite(rounded[i]);
      const double z = !near ? kInfinity : std::isfinite(bound) ? distance / bound : 0;
      const uint8_t may_be = truth_.may_overflow.empty() ? 0 : truth_.may_overflow[at];
      if (may_be != 0 && judge_overflow(element, may_be, z, tally)) continue;
      near ? add(at, element, z, tally) : judge_rare(element, tally);
    }
  }

  // Also counts elements for the share rules.
  double bound_at(size_t at, Tally* tally) const {
    double bound = formula_.at(at);
    if (std::isnan(bound)) bound = kInfinity;
    const bool near_jump = !truth_.jump.empty() && truth_.jump[at] > 0;
    if (near_jump || bound == kInfinity) ++tally->discontinuous;
    if (!truth_.may_overflow.empty() && truth_.may_overflow[at] != 0) ++tally->overflowed;
    return bound;
  }

  bool exact_at(size_t at) const {
    return truth_.exact && (truth_.jump.empty() || truth_.jump[at] == 0);
  }

  // Returns whether the element is what some way to overflow gives, and closer to that than
  // `own_z`.
  bool judge_overflow(const Element& e, uint8_t may_be, double own_z, Tally* tally) const {
    if (!std::isfinite(e.got)) {
      const uint8_t kind = std::isnan(e.got) ? ports::kMayBeNan
                           : e.got > 0       ? ports::kMayBeUp
                                             : ports::kMayBeDown;
      if ((may_be & kind) == 0) return false;
      ++tally->overflow_classes;
      return true;
    }
    // A kernel that clips gives the largest value for the infinity.
    const uint8_t side = std::signbit(e.got) ? ports::kMayBeDown : ports::kMayBeUp;
    if (format_.saturates && (may_be & (side | ports::kMayBeNan)) != 0 && at_largest(e.got))
      return true;
    if ((may_be & ports::kMayBeOther) == 0) return false;
    const auto first =
        std::ranges::lower_bound(truth_.others, e.index, {}, &ports::OtherValue::index);
    for (auto other = first; other != truth_.others.end() && other->index == e.index; ++other) {
      const double distance = std::fabs(e.got - other->value);
      if (!(distance <= other->bound)) continue;
      const double z = std::isfinite(other->bound) ? distance / other->bound : 0;
      if (z >= own_z) continue;
      if (z > 0)
        tally->add(e.index, e.got, other->value, other->bound, z,
                   ulps_between(e.got, other->value, format_));
      ++tally->overflow_values;
      return true;
    }
    return false;
  }

  bool at_largest(double got) const {
    return std::fabs(got) * (1 + 2 * format_.unit) > format_.overflow;
  }

  void judge_rare(const Element& e, Tally* tally) const {
    const auto fail = [&](ElementFault why) {
      tally->add(e.index, e.got, e.want, e.bound, kInfinity, ulps_between(e.got, e.want, format_),
                 why);
    };
    if (std::isnan(e.want)) {
      if (!std::isnan(e.got)) fail(ElementFault::NumberForNan);
      return;
    }
    // Next to a pole the precision decides neither the value nor its class.
    if (std::isfinite(e.want) && e.bound == kInfinity && !std::isfinite(e.got)) return;
    if (std::isnan(e.got)) {
      if (!saturated(e)) fail(ElementFault::NanForNumber);
      return;
    }
    if (!std::isfinite(e.want)) {
      if (std::isfinite(e.got))
        saturated(e) ? void() : fail(ElementFault::NumberForInfinity);
      else if (e.got != e.want)
        fail(ElementFault::OtherInfinity);
      return;
    }
    if (!std::isfinite(e.got)) {
      const bool near = std::fabs(e.want) + e.bound >= format_.overflow;
      if (!near) return fail(ElementFault::InfinityForNumber);
      if (std::signbit(e.got) != std::signbit(e.want)) fail(ElementFault::OtherInfinity);
      return;
    }
    judge_finite(e, tally);
  }

  void judge_finite(const Element& e, Tally* tally) const {
    const double distance = std::fabs(e.got - e.want);
    const double ulps = ulps_between(e.got, e.want, format_);
    if (e.exact) {
      if (e.got == e.rounded && !(keeps_zero_signs_ && zero_sign_lost(e))) return;
      const bool flushed =
          options_.precision.flush && e.got == 0 && std::fabs(e.want) < formula_.step;
      if (flushed) return;
      return tally->add(e.index, e.got, e.want, 0, kInfinity, ulps, ElementFault::NotEqual);
    }
    if (e.got == e.rounded) return;
    if (saturated(e) && std::fabs(e.got) >= std::fabs(e.rounded)) return;
    if (!std::isfinite(e.rounded) && std::fabs(e.want) - e.bound >= format_.overflow)
      return tally->add(e.index, e.got, e.want, e.bound, kInfinity, ulps,
                        ElementFault::NumberForInfinity);
    const double z = std::isfinite(e.bound) ? distance / e.bound : 0;
    const double outer = outer_at(e);
    if (z <= constants_.max_z && has_outer_ && distance > outer)
      return tally->add(e.index, e.got, e.want, outer, kInfinity, ulps, ElementFault::OuterBound);
    add(static_cast<size_t>(e.index), e, z, tally);
  }

  // What the task states, but never less than plain evaluations need on these inputs: an atol is
  // written for other magnitudes than some families have.
  double outer_at(const Element& e) const {
    const double stated = options_.precision.atol.value_or(0) +
                          options_.precision.rtol.value_or(0) * std::fabs(e.want);
    if (!std::isfinite(e.bound)) return stated;
    return std::max(stated, constants_.plain_room * truth_.plain_max_z * e.bound);
  }

  void add(size_t at, const Element& e, double z, Tally* tally) const {
    const double ulps = ulps_between(e.got, e.want, format_);
    if (!truth_.jump.empty() && truth_.jump[at] > 0)
      return tally->add_beside_step(e.index, e.got, e.want, e.bound, z, ulps);
    tally->add(e.index, e.got, e.want, e.bound, z, ulps);
  }

  static bool zero_sign_lost(const Element& e) {
    return e.got == 0 && std::signbit(e.got) != std::signbit(e.want);
  }

  // For small formats, CUDA's conversions clip; PyTorch's give NaN or infinity.
  bool saturated(const Element& e) const {
    return format_.saturates && std::fabs(e.want) + e.bound >= format_.overflow &&
           (std::isnan(e.got) || std::signbit(e.got) == std::signbit(e.want));
  }

  const ports::Truth& truth_;
  const HostTensor& got_;
  const CompareOptions& options_;
  const Format format_;
  const ports::ElementBound formula_;
  const bool has_outer_;
  const bool keeps_zero_signs_;
  const ports::BoundConstants& constants_ = ports::bound_constants();
};

void judge_integers(const ports::Truth& truth, const HostTensor& got, int64_t begin, int64_t end,
                    Tally* tally) {
  tally->elements += end - begin;
  for (int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<size_t>(i);
    const double jump = truth.jump.empty() ? 0 : static_cast<double>(truth.jump[at]);
    if (jump > 0) ++tally->discontinuous;
    const int64_t have = integer_at(got, i);
    const int64_t want =
        truth.integers.empty() ? static_cast<int64_t>(truth.value[at]) : truth.integers[at];
    tally->telling += want != 0 ? 1 : 0;
    if (have == want) continue;
    const double distance = std::fabs(static_cast<double>(have) - static_cast<double>(want));
    const double z = jump > 0 ? distance / jump : kInfinity;
    tally->add_beside_step(i, static_cast<double>(have), static_cast<double>(want), jump, z,
                           distance);
  }
}

Comparison mismatch(const ports::Truth& truth, std::string reason) {
  Comparison result;
  result.pass = false;
  result.reason = truth.name + ": " + std::move(reason);
  result.summary.max_z = result.summary.rms_z = kInfinity;
  return result;
}

}  // namespace

Comparison compare(const ports::Truth& truth, const HostTensor& got,
                   const CompareOptions& options) {
  if (got.dtype != truth.dtype) {
    return mismatch(truth, fmt::format("is {} where {} is expected", tensor::dtype_name(got.dtype),
                                       tensor::dtype_name(truth.dtype)));
  }
  if (got.shape != truth.shape) {
    return mismatch(truth,
                    fmt::format("has shape {} where {} is expected", tensor::shape_text(got.shape),
                                tensor::shape_text(truth.shape)));
  }
  const auto count = static_cast<int64_t>(truth.value.size());
  if (tensor::value_count(got) != count) {
    return mismatch(truth, fmt::format("holds {} values where {} are expected",
                                       tensor::value_count(got), count));
  }
  if (truth.scores) return compare_indices(truth, got, options);
  const int pieces = os::thread_count(count, kGrain, options.threads);
  std::vector<Tally> tallies(static_cast<size_t>(pieces));
  const FloatJudge judge(truth, got, options);
  os::in_pieces(count, pieces, [&](int piece, int64_t begin, int64_t end) {
    Tally local;  // separate cache lines per thread
    if (tensor::is_float(truth.dtype))
      judge.run(begin, end, &local);
    else
      judge_integers(truth, got, begin, end, &local);
    tallies[static_cast<size_t>(piece)] = local;
  });
  return conclude(truth, tallies);
}

}  // namespace kw::metric
