// A function of tensors rarely says how large they are. A shape chosen dim by dim explodes: four
// dims of a thousand are terabytes. So all dims without a value are scaled together, from large to
// small, until the traced graph fits a budget of bytes and arithmetic. Afterwards single dims grow
// as long as it still fits. Inner dims get larger extents than outer ones, because rows of few
// elements are rare. All extents differ, since equal ones hide which extents belong together.
//
// Some references accept only multiples: a window of 7, a group of 128. The shapes of the inputs
// ("K / 128") and the guards of a trace ("D % 2 == 0") tell such divisors. If the reference refuses
// the first choice, each dim is tried as the smallest one, because one may divide another ("H //
// KH"). If it refuses every power of two, the integers written in its file are tried as divisors.
// Asking the user was the alternative; the file already has the answer. The cost: about ten traces
// of a function without values for its dims.
#include "frontend/assume_dims.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <set>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "graph/cost.h"

namespace kw::frontend {
namespace {

constexpr double kBudgetBytes = 64.0 * (1 << 20);
constexpr double kDeviceFlops = 0x1p37;
/// The virtual GPU runs about 2^28 lane instructions per second on a busy core, checks included.
constexpr double kVirtualWork = 0x1p30;
constexpr double kInstructionsPerWord = 16;
constexpr int kLeastBits = 6, kMostBits = 12;  // 64 … 4096
constexpr int kMostBitsAlone = 26;             // of the only dim of a task
constexpr int kMostTraces = 40;
constexpr int64_t kMostDivisor = 512;

}  // namespace

bool fits_budget(const graph::Cost& cost, const ShapeBudget& budget) {
  const double bytes = cost.read_bytes + cost.write_bytes;
  const double work = cost.flops + kInstructionsPerWord * bytes / 4;
  return bytes <= budget.bytes && cost.flops <= budget.flops &&
         (budget.work == 0 || work <= budget.work);
}

namespace {

class Scaling {
 public:
  Scaling(const TraceEntry& entry, const task::Dims& known, const std::vector<std::string>& missing,
          const ShapeBudget& budget)
      : entry_(entry), known_(known), missing_(missing), budget_(budget) {}

  /// All dims at about 2^bits, the inner ones larger.
  task::Dims at_scale(int bits) const {
    task::Dims dims = known_;
    const int count = static_cast<int>(missing_.size());
    for (int i = 0; i < count; ++i)
      dims[missing_[static_cast<size_t>(i)]] =
          stepped(missing_[static_cast<size_t>(i)], std::max(bits + i - (count - 1) / 2, 1));
    return dims;
  }

  void set_steps(std::map<std::string, int64_t> steps) { steps_ = std::move(steps); }

  /// The largest scale that fits, else the smallest that the reference accepts; not set when it
  /// accepts no scale.
  std::optional<task::Dims> run() {
    std::optional<task::Dims> smallest;
    const int spread = static_cast<int>(missing_.size()) / 2;
    for (int bits = kMostBits - spread; bits >= 1; --bits) {
      const task::Dims dims = at_scale(bits);
      const std::optional<bool> ok = check(dims);
      if (ok.has_value()) smallest = dims;
      if (ok.value_or(false)) return grown(dims);
      if (traces_ > kMostTraces) break;
    }
    return smallest;
  }

  /// Whether the shape fits; not set when the reference refuses it. Tensors beyond all memory are
  /// refused too, so a large shape that is refused says nothing.
  std::optional<bool> check(const task::Dims& dims) {
    ++traces_;
    Result<Trace> trace = trace_entry(entry_, dims);
    if (!trace) return std::nullopt;
    return fits_budget(graph::cost_of(trace->graph), budget_);
  }

 private:
  int64_t step(const std::string& name) const {
    const auto found = steps_.find(name);
    return found == steps_.end() ? 1 : found->second;
  }
  int64_t stepped(const std::string& name, int bits) const {
    const int64_t by = step(name), size = int64_t{1} << bits;
    return std::max<int64_t>(by, size / by * by);
  }
  bool taken(const task::Dims& dims, const std::string& name, int64_t value) const {
    return std::ranges::any_of(
        dims, [&](const auto& one) { return one.first != name && one.second == value; });
  }

  task::Dims grown(task::Dims dims) {
    const int most = missing_.size() == 1 ? kMostBitsAlone : kMostBits;
    bool more = true;
    while (more) {
      more = false;
      // Extents below 64 first; they are the least plausible ones.
      std::vector<std::string> order(missing_.rbegin(), missing_.rend());
      std::ranges::stable_sort(order, {}, [&](const std::string& name) {
        return dims.at(name) >= int64_t{1} << kLeastBits;
      });
      for (const std::string& name : order) {
        const int64_t value = stepped(name, bits_of(dims.at(name)) + 1);
        if (value > int64_t{1} << most || value <= dims.at(name) || taken(dims, name, value) ||
            traces_ > kMostTraces)
          continue;
        task::Dims other = dims;
        other[name] = value;
        if (!check(other).value_or(false)) continue;
        dims = std::move(other);
        more = true;
      }
    }
    return dims;
  }

  /// The largest power of two that is at most the value.
  static int bits_of(int64_t value) {
    int bits = 0;
    while (value >> (bits + 1) != 0) ++bits;
    return bits;
  }

  const TraceEntry& entry_;
  const task::Dims& known_;
  const std::vector<std::string>& missing_;
  const ShapeBudget& budget_;
  std::map<std::string, int64_t> steps_;
  int traces_ = 0;
};

/// The integers written in the file that may be divisors, those that are not powers of two first.
void find_integers(const Json& node, int depth, std::set<int64_t>& found) {
  if (depth > 200) return;
  for (const Json& item : node.items()) find_integers(item, depth + 1, found);
  if (node["_"].as_string() == "Constant" && node["value"].is_int()) {
    const int64_t value = node["value"].as_int();
    if (value > 1 && value <= kMostDivisor) found.insert(value);
  }
  for (const auto& [key, child] : node.members()) find_integers(child, depth + 1, found);
}

std::vector<int64_t> divisors_of(const Source& source) {
  std::set<int64_t> found;
  find_integers(source.tree, 0, found);
  std::vector<int64_t> list(found.begin(), found.end());
  int64_t all = 1;
  for (const int64_t value : list) all = std::min<int64_t>(std::lcm(all, value), kMostDivisor + 1);
  if (all <= kMostDivisor && list.size() > 1) list.push_back(all);
  std::ranges::stable_sort(list, {}, [](int64_t value) { return (value & (value - 1)) == 0; });
  return list;
}


/// Calls `visit(name, divisor, is_remainder)` for each "NAME / N" and "NAME % N" of a condition.
template <class Visit>
void visit_divisors(const std::string& text, Visit visit) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '/' && text[at] != '%') continue;
    size_t end = at, begin = at;
    while (end > 0 && text[end - 1] == ' ') --end;
    for (begin = end; begin > 0 && is_name_char(text[begin - 1]);) --begin;
    const std::string name = text.substr(begin, end - begin);
    size_t from = at + 1;
    while (from < text.size() && (text[from] == ' ' || text[from] == '/')) ++from;
    size_t to = from;
    while (to < text.size() && std::isdigit(static_cast<unsigned char>(text[to])) != 0) ++to;
    const auto divisor = parse_int(text.substr(from, to - from));
    const bool plain = begin == 0 || text[begin - 1] == ' ' || text[begin - 1] == '(';
    if (divisor && *divisor > 1 && !name.empty() && plain) visit(name, *divisor, text[at] == '%');
  }
}

/// The dims with one of them as the smallest, the last one first; then in reverse. Heads of keys
/// divide heads of queries, but their dim comes later.
std::vector<std::vector<std::string>> other_orders(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> orders;
  for (size_t i = names.size(); i-- > 1;) {
    std::vector<std::string>& order = orders.emplace_back(names);
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  if (names.size() > 2) orders.emplace_back(names.rbegin(), names.rend());
  return orders;
}

/// Whether a refusal depends on extents: other ones are accepted, or refused in other words.
bool about_extents(const TraceEntry& entry, const task::Dims& other, const Error& refused) {
  const Result<Trace> trace = trace_entry(entry, other);
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  return trace || first_line(trace.error().message) != first_line(refused.message) ||
         refused.message.find("assertion fails") != std::string::npos;
}

}  // namespace

ShapeBudget shape_budget(bool gpu) {
  if (gpu) return {kBudgetBytes, kDeviceFlops, 0};
  return {kBudgetBytes, kDeviceFlops, kVirtualWork};
}

std::vector<std::string> names_in_order(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& text) {
    std::vector<std::pair<size_t, std::string>> found;
    for (const std::string& name : names_in(text)) found.emplace_back(text.find(name), name);
    std::ranges::sort(found);
    for (const auto& [at, name] : found) {
      if (!contains(names, name)) names.push_back(name);
    }
  };
  for (const Argument& argument : arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value)) {
      for (const std::string& text : tensor->text.shape) add(text);
      add(tensor->text.legal.below);
    }
    if (std::holds_alternative<DimArgument>(argument.value)) add(argument.name);
  }
  return names;
}

std::map<std::string, int64_t> steps_in_shapes(const std::vector<Argument>& arguments) {
  std::map<std::string, int64_t> steps;
  for (const Argument& argument : arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument.value);
    if (!tensor) continue;
    for (const std::string& text : tensor->text.shape) {
      visit_divisors(text, [&](const std::string& name, int64_t divisor, bool) {
        int64_t& step = steps.emplace(name, 1).first->second;
        step = std::lcm(step, divisor);
      });
    }
  }
  return steps;
}

Result<task::Dims> assume_dims(const TraceEntry& entry, const task::Dims& known,
                               const std::vector<std::string>& missing, const ShapeBudget& budget) {
  const std::map<std::string, int64_t> from_shapes = steps_in_shapes(entry.arguments);
  const auto chosen = [&](const std::map<std::string, int64_t>& steps) {
    Scaling scaling(entry, known, missing, budget);
    scaling.set_steps(steps);
    return scaling.run();
  };
  Scaling plain(entry, known, missing, budget);
  plain.set_steps(from_shapes);
  // A refusal that does not change with the extents is about something else. Tracing may be slow.
  const Result<Trace> first = trace_entry(entry, plain.at_scale(kLeastBits));
  if (!first && !about_extents(entry, plain.at_scale(kLeastBits + 1), first.error()))
    return first.error();
  if (const auto dims = chosen(from_shapes)) return *dims;
  for (const std::vector<std::string>& order : other_orders(missing)) {
    Scaling other(entry, known, order, budget);
    other.set_steps(from_shapes);
    if (!other.check(other.at_scale(kLeastBits))) continue;
    if (const auto found = other.run()) return *found;
  }
  for (const int64_t divisor : divisors_of(*entry.source)) {
    std::map<std::string, int64_t> steps = from_shapes;
    for (const std::string& name : missing)
      steps[name] = std::lcm(steps.emplace(name, 1).first->second, divisor);
    Scaling probe(entry, known, missing, budget);
    probe.set_steps(steps);
    const task::Dims small = probe.at_scale(kLeastBits);
    if (!probe.check(small)) continue;
    bool divides = true;  // the next multiple is accepted too; one may be accepted by chance
    for (const std::string& name : missing) {
      const int64_t least = from_shapes.count(name) > 0 ? from_shapes.at(name) : 1;
      task::Dims other = small;
      other[name] += least;
      if (probe.check(other)) {
        steps[name] = least;  // this dim does not need the divisor
        continue;
      }
      other[name] = small.at(name) + steps[name];
      divides = divides && probe.check(other).has_value();
    }
    if (!divides) continue;
    if (const auto found = chosen(steps)) return *found;
  }
  if (first) return plain.at_scale(kLeastBits);
  Error error = first.error();
  error.message += fmt::format(
      "\n  hint: these extents were assumed; pass --dims with some that it accepts for {}",
      join(missing, ", "));
  return error;
}

std::map<std::string, task::DimRange> dim_ranges(const TraceEntry& entry, const task::Dims& dims,
                                                 const graph::Graph& graph) {
  std::map<std::string, task::DimRange> ranges;
  for (const auto& [name, value] : dims) ranges[name] = {};
  const auto demand = [&](const std::string& name, int64_t divisor) {
    const auto range = ranges.find(name);
    if (range == ranges.end() || dims.at(name) % divisor != 0) return;
    range->second.multiple = std::lcm(range->second.multiple, divisor);
    range->second.low = std::max(range->second.low, range->second.multiple);
  };
  for (const auto& [name, step] : steps_in_shapes(entry.arguments)) demand(name, step);
  for (const std::string& guard : graph.guards) {
    visit_divisors(guard, [&](const std::string& name, int64_t divisor, bool remainder) {
      const auto range = ranges.find(name);
      if (range == ranges.end() || range->second.multiple % divisor == 0) return;
      if (remainder && guard == name + " % " + std::to_string(divisor) + " == 0")
        return demand(name, divisor);
      // Any other condition: the reference shows whether it accepts a remainder.
      task::Dims other = dims;
      other[name] += range->second.multiple;
      if (other[name] % divisor != 0 && !trace_entry(entry, other)) demand(name, divisor);
    });
  }
  return ranges;
}

}  // namespace kw::frontend
