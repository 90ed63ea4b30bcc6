// Rules that examine only the outputs. A degenerate output, such as a constant, lets a kernel pass
// without computing. All thresholds are relative: an output of size 1e-6 is fine if it varies as
// much as it is large. Absolute thresholds would reject such tasks. constant_output uses the gate's
// own comparison, so it agrees with the verdict on a real candidate. The rules use the samples
// already drawn and cost no further truth.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gate/pool.h"
#include "inputs/families.h"
#include "lint/rule.h"
#include "metric/metric.h"
#include "ports/bound.h"
#include "tensor/convert.h"

namespace kw::lint {

namespace {

constexpr double kFlat = 1e-3;         // relative to the largest value: less counts as equal
constexpr double kSmallSpread = 0.01;  // relative to the overall deviation
constexpr double kSaturated = 0.99;    // share of the elements

struct Moments {
  double count = 0, sum = 0, squares = 0, low = INFINITY, high = -INFINITY;

  void add(double value) {
    if (!std::isfinite(value)) return;
    count += 1;
    sum += value;
    squares += value * value;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double deviation() const {
    if (count < 2) return 0;
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
  }
  double size() const { return count == 0 ? 0 : std::max(std::fabs(low), std::fabs(high)); }
};

Moments moments_of(const LintCase& at, size_t output) {
  Moments all;
  for (const Sample& sample : at.samples) {
    for (const double value : sample.truths[output].value) all.add(value);
  }
  return all;
}

size_t outputs_of(const LintCase& at) {
  return at.samples.empty() ? 0 : at.samples[0].truths.size();
}

const std::string& name_of(const LintCase& at, size_t output) {
  return at.samples[0].truths[output].name;
}

/// Returns the root mean square, over all lines along `axis`, of the deviation inside a line.
double deviation_along(const ports::Truth& truth, size_t axis) {
  int64_t inner = 1, outer = 1;
  for (size_t d = axis + 1; d < truth.shape.size(); ++d) inner *= truth.shape[d];
  for (size_t d = 0; d < axis; ++d) outer *= truth.shape[d];
  const int64_t extent = truth.shape[axis];
  double sum = 0, lines = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Moments line;
      for (int64_t k = 0; k < extent; ++k) {
        line.add(truth.value[static_cast<size_t>((o * extent + k) * inner + i)]);
      }
      sum += line.deviation() * line.deviation();
      lines += 1;
    }
  }
  return lines == 0 ? 0 : std::sqrt(sum / lines);
}

}  // namespace

Status finite_outputs(LintContext& context, const LintCase& at, Findings* out) {
  if (context.task.precision.nan == task::NanPolicy::Propagate) return Done{};
  for (size_t i = 0; i < outputs_of(at); ++i) {
    int64_t odd = 0, all = 0;
    for (const Sample& sample : at.samples) {
      for (const double value : sample.truths[i].value) {
        odd += std::isfinite(value) ? 0 : 1;
        ++all;
      }
    }
    if (odd == 0) continue;
    report(
        "finite-outputs", Severity::Error, name_of(at, i),
        fmt::format("{} of '{}' is NaN or infinite for ordinary inputs",
                    percent(static_cast<double>(odd) / static_cast<double>(all)), name_of(at, i)),
        at, out);
  }
  return Done{};
}

Status output_range(LintContext&, const LintCase& at, Findings* out) {
  for (size_t i = 0; i < outputs_of(at); ++i) {
    if (!tensor::is_float(at.samples[0].truths[i].dtype)) continue;
    const Moments all = moments_of(at, i);
    if (all.count < 2) continue;
    // A mean of many values is nearly equal for all draws; the rule sampled-answer covers that.
    const bool one_number = at.samples[0].truths[i].value.size() == 1;
    if (all.size() == 0) {
      report("output-range", Severity::Error, name_of(at, i),
             fmt::format("'{}' is zero throughout", name_of(at, i)), at, out);
    } else if (all.high - all.low <= (one_number ? 0 : kFlat * all.size())) {
      report("output-range", Severity::Error, name_of(at, i),
             fmt::format("all of '{}' lies between {:.6g} and {:.6g}", name_of(at, i), all.low,
                         all.high),
             at, out);
    }
  }
  return Done{};
}

Status seed_spread(LintContext&, const LintCase& at, Findings* out) {
  for (size_t i = 0; i < outputs_of(at); ++i) {
    const size_t count = at.samples[0].truths[i].value.size();
    if (count == 0 || at.samples.size() < 2) continue;
    double squares = 0;
    for (size_t e = 0; e < count; ++e) {
      Moments element;
      for (const Sample& sample : at.samples) element.add(sample.truths[i].value[e]);
      squares += element.deviation() * element.deviation();
    }
    const double spread = std::sqrt(squares / static_cast<double>(count));
    const double overall = moments_of(at, i).deviation();
    if (overall > 0 && spread < kSmallSpread * overall) {
      report("seed-spread", Severity::Error, name_of(at, i),
             fmt::format("'{}' hardly changes with the inputs: {} of its deviation", name_of(at, i),
                         percent(spread / overall)),
             at, out);
    }
  }
  return Done{};
}

Status axis_variation(LintContext&, const LintCase& at, Findings* out) {
  for (size_t i = 0; i < outputs_of(at); ++i) {
    const ports::Truth& truth = at.samples[0].truths[i];
    const double overall = moments_of(at, i).deviation();
    if (overall == 0 || truth.value.empty()) continue;
    for (size_t axis = 0; axis < truth.shape.size(); ++axis) {
      if (truth.shape[axis] < 2) continue;
      const bool varies =
          std::any_of(at.samples.begin(), at.samples.end(), [&](const Sample& sample) {
            return deviation_along(sample.truths[i], axis) >= kSmallSpread * overall;
          });
      if (varies) continue;
      report("axis-variation", Severity::Warning, name_of(at, i),
             fmt::format("'{}' is the same all along dim {}: one slice of it determines the others",
                         truth.name, axis),
             at, out);
    }
  }
  return Done{};
}

// The strictest rule: judges a kernel that writes one constant per output like any candidate.
Status constant_output(LintContext& context, const LintCase& at, Findings* out) {
  for (size_t i = 0; i < outputs_of(at); ++i) {
    const ports::Truth& first = at.samples[0].truths[i];
    if (first.value.size() < 2) continue;
    std::vector<double> sorted(first.value.begin(), first.value.end());
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<int64_t>(sorted.size() / 2),
                     sorted.end());
    const double constant = sorted[sorted.size() / 2];
    bool passes = true;
    for (const Sample& sample : at.samples) {
      tensor::HostTensor fake = KW_TRY(tensor::make_tensor(first.dtype, first.shape));
      for (size_t e = 0; e < sorted.size(); ++e) {
        tensor::set_element(fake, static_cast<int64_t>(e), constant);
      }
      passes = passes && metric::compare(sample.truths[i], fake, {context.task.precision}).pass;
    }
    if (!passes) continue;
    report("constant-output", Severity::Error, name_of(at, i),
           fmt::format("a kernel that fills '{}' with {:.6g} would pass", first.name, constant), at,
           out);
  }
  return Done{};
}

namespace {

/// The two limits of a bounded function; `name` is null for other functions.
struct Limits {
  double low = 0, high = 0;
  const char* name = nullptr;
};

Limits limits_of(const graph::Graph& graph, graph::NodeId id) {
  while (graph[id].op == graph::Op::Cast || graph[id].op == graph::Op::Reshape)
    id = graph[id].inputs[0];
  switch (graph[id].op) {
    case graph::Op::Tanh:
      return {-1, 1, "tanh"};
    case graph::Op::Erf:
      return {-1, 1, "erf"};
    case graph::Op::Sigmoid:
      return {0, 1, "sigmoid"};
    default:
      return {};
  }
}

}  // namespace

// Finds outputs that are nearly all at the limits of their last function: earlier ops hardly
// matter.
Status saturated_output(LintContext&, const LintCase& at, Findings* out) {
  for (size_t i = 0; i < outputs_of(at); ++i) {
    const Limits limits = limits_of(at.graph, at.graph.outputs[i].node);
    if (limits.name == nullptr) continue;
    double all = 0, ends = 0;
    for (const Sample& sample : at.samples) {
      for (const double value : sample.truths[i].value) {
        all += 1;
        ends += value - limits.low <= kFlat || limits.high - value <= kFlat ? 1 : 0;
      }
    }
    if (all == 0 || ends < kSaturated * all) continue;
    report("saturated-output", Severity::Warning, name_of(at, i),
           fmt::format("{} of '{}' is {:g} or {:g} up to {:g}: {} is saturated for {}",
                       percent(ends / all), name_of(at, i), limits.low, limits.high, kFlat,
                       limits.name, at.drawn),
           at, out);
  }
  return Done{};
}

Status discontinuities(LintContext&, const LintCase& at, Findings* out) {
  const double limit = ports::bound_constants().max_share;
  for (size_t i = 0; i < outputs_of(at); ++i) {
    double elements = 0, jumping = 0;
    for (const Sample& sample : at.samples) {
      const ports::Truth& truth = sample.truths[i];
      elements += static_cast<double>(truth.value.size());
      for (const float jump : truth.jump) jumping += jump > 0 ? 1 : 0;
    }
    if (elements == 0) continue;
    if (jumping > limit * elements) {
      report("discontinuity", Severity::Error, name_of(at, i),
             fmt::format("{} of '{}' rests on values too near a discontinuity to be judged",
                         percent(jumping / elements), name_of(at, i)),
             at, out);
    }
  }
  return Done{};
}

namespace {

/// Returns the share of the elements that overflow decides, or whose value is beyond the type.
double overflowing_share(const ports::Truth& truth) {
  if (!tensor::is_float(truth.dtype) || truth.value.empty()) return 0;
  const double limit = ports::largest_finite(truth.dtype);
  double found = 0;
  for (size_t at = 0; at < truth.value.size(); ++at) {
    const bool decided = !truth.may_overflow.empty() && truth.may_overflow[at] != 0;
    const double size = std::fabs(truth.value[at]);
    found += decided || (size > limit && size < INFINITY) ? 1 : 0;
  }
  return found / static_cast<double>(truth.value.size());
}

void report_overflow(const std::string& family, const ports::Truth& truth, const LintCase& at,
                     Findings* out) {
  const double limit = ports::bound_constants().max_share, share = overflowing_share(truth);
  if (share <= limit) return;
  const bool obligatory = gate::is_obligatory(family);
  const auto kind = obligatory ? Severity::Error : Severity::Warning;
  report("overflow", kind, fmt::format("{} ({})", truth.name, family),
         fmt::format("{} of '{}' leaves the range of its declared precision for inputs of family "
                     "'{}': compute it in a wider type, or limit the inputs",
                     percent(share), truth.name, family),
         at, out);
}

}  // namespace

// Where results overflow, many values are right, so such elements say little about a kernel. One
// draw per family at the first shape.
Status overflow(LintContext& context, const LintCase& at, Findings* out) {
  if (at.samples.empty() || !at.first) return Done{};
  for (const std::string& family : inputs::families_for(context.task)) {
    if (family == "special") continue;  // its infinities are meant to overflow
    const std::vector<tensor::HostTensor> inputs =
        KW_TRY(inputs::draw_inputs(context.task, at.graph, at.dims, family, at.samples[0].seed));
    const std::vector<ports::Truth> truths =
        KW_TRY(context.oracle.truth(at.graph, inputs, context.truth));
    for (const ports::Truth& truth : truths) report_overflow(family, truth, at, out);
  }
  return Done{};
}

}  // namespace kw::lint
