// The problem: a flat reference gets one-dimensional buffers, and their lengths are not written
// anywhere. The choice: every length is a product of dims, found by tracing the reference with
// candidates. The usual length of the convention is tried first, then all combinations, the
// smallest first. The alternative, reading lengths from index expressions, fails for views and
// reshapes. The cost: up to kMaxTries combinations are traced. If there are more, only the usual
// length is tried.
#include "task_formats/load_optimizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "core/text.h"

namespace kw::task_formats {
namespace {

constexpr size_t kMaxTries = 3000;

struct Length {
  std::string text;  // "K * M"
  double size = 1;
};

/// Every product of distinct dims.
std::vector<Length> possible_lengths(const task::Dims& dims) {
  std::vector<Length> lengths = {};
  const std::vector<std::pair<std::string, int64_t>> list(dims.begin(), dims.end());
  for (size_t chosen = 1; chosen < size_t{1} << std::min<size_t>(list.size(), 6); ++chosen) {
    Length length;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!(chosen >> i & 1)) continue;
      length.text += (length.text.empty() ? "" : " * ") + list[i].first;
      length.size *= static_cast<double>(list[i].second);
    }
    lengths.push_back(std::move(length));
  }
  return lengths;
}

/// The rule of the convention: the only dim, or the product of the two largest.
std::string usual_length(const task::Dims& dims) {
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [name, value] : dims) sorted.emplace_back(value, name);
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted.size() == 1) return sorted[0].second;
  return std::min(sorted[0].second, sorted[1].second) + " * " +
         std::max(sorted[0].second, sorted[1].second);
}

/// Different values for every dim, and each dim is the largest once, so that only the right lengths
/// fit. Multiples of 4, because many references halve an extent.
std::vector<task::Dims> distinct(const task::Dims& dims) {
  std::vector<task::Dims> result(dims.size());
  for (size_t turn = 0; turn < dims.size(); ++turn) {
    size_t place = turn;
    for (const auto& [name, value] : dims)
      result[turn][name] = 12 + 8 * static_cast<int64_t>(place++ % dims.size());
  }
  return result;
}

class Search {
 public:
  Search(frontend::TaskDraft& draft, const std::vector<std::string>& tensors,
         const LauncherParameters& launcher)
      : draft_(draft), launcher_(launcher) {
    for (const std::string& name : tensors)
      places_.push_back(static_cast<size_t>(
          std::find_if(draft.entry.arguments.begin(), draft.entry.arguments.end(),
                       [&](const frontend::Argument& one) { return one.name == name; }) -
          draft.entry.arguments.begin()));
  }

  bool try_usual(const std::string& length, const std::vector<task::Dims>& all) {
    for (const size_t place : places_) set(place, length);
    return runs(all);
  }

  /// Tries all combinations, the smallest buffers first, so that no buffer is longer than its used
  /// part.
  bool try_all(const std::vector<task::Dims>& all) {
    const std::vector<Length> lengths = possible_lengths(all[0]);
    std::vector<std::vector<size_t>> combinations = {{}};
    for (size_t i = 0; i < places_.size(); ++i) {
      std::vector<std::vector<size_t>> longer;
      for (const auto& one : combinations) {
        for (size_t which = 0; which < lengths.size(); ++which) {
          longer.push_back(one);
          longer.back().push_back(which);
        }
      }
      combinations = std::move(longer);
      if (combinations.size() > kMaxTries) return false;
    }
    const auto total = [&](const std::vector<size_t>& one) {
      double sum = 0;
      for (const size_t which : one) sum += lengths[which].size;
      return sum;
    };
    std::stable_sort(combinations.begin(), combinations.end(),
                     [&](const auto& a, const auto& b) { return total(a) < total(b); });
    for (const auto& one : combinations) {
      for (size_t i = 0; i < places_.size(); ++i) set(places_[i], lengths[one[i]].text);
      if (runs(all)) return true;
    }
    return false;
  }

  const Error& last_error() const { return *error_; }

 private:
  void set(size_t place, const std::string& length) {
    frontend::TensorText text;
    text.shape = {length};
    const auto known = launcher_.buffers.find(draft_.entry.arguments[place].name);
    if (known != launcher_.buffers.end()) text.dtype = known->second;
    draft_.entry.arguments[place].value = frontend::TensorArgument{text, false};
  }

  bool runs(const std::vector<task::Dims>& all) {
    for (const task::Dims& dims : all) {
      auto trace = frontend::trace_entry(draft_.entry, dims);
      if (!trace && !error_) error_ = trace.error();
      if (!trace) return false;
    }
    return true;
  }

  frontend::TaskDraft& draft_;
  const LauncherParameters& launcher_;
  std::vector<size_t> places_;
  std::optional<Error> error_;
};

}  // namespace

Status check_numbers(const frontend::TaskDraft& draft, const std::vector<std::string>& parameters,
                     const LauncherParameters& launcher) {
  std::vector<std::string> flags, names;
  for (const std::string& name : parameters) {
    const bool real = launcher.reals.count(name) > 0;
    if (!real && launcher.integers.count(name) == 0) continue;
    names.push_back(name);
    flags.push_back(real ? fmt::format("--input {}=1.0", name)
                         : fmt::format("--dims '{{\"{}\": 1024}}'", name));
  }
  if (names.empty()) return Done{};
  return input_error("{}: no value for {}\n  hint: pass {}", draft.entry.source->name,
                     join(names, ", "), join(flags, " "));
}

Result<task::Task> load_flat(frontend::TaskDraft draft, const std::vector<std::string>& tensors,
                             const LauncherParameters& launcher) {
  draft.format = "optimizer";
  draft.entry.writes_only = true;
  for (const std::string& name : tensors)
    draft.entry.arguments.push_back({name, true, frontend::TensorArgument{}});
  for (frontend::Argument& argument : draft.entry.arguments) argument.by_keyword = true;
  Search search(draft, tensors, launcher);
  const std::vector<task::Dims> apart = distinct(draft.given);
  const std::vector<task::Dims> given = {draft.given};
  const std::string usual = usual_length(draft.given);
  const bool found = search.try_usual(usual, apart) || search.try_all(apart) ||
                     search.try_usual(usual, given) || search.try_all(given);
  if (!found) {
    std::string flags;
    for (const std::string& name : tensors) flags += fmt::format(" --input '{}:fp32[N]'", name);
    Error error = search.last_error();
    error.message += fmt::format(
        "\n  hint: no lengths of the flat buffers {} were found at which it runs; pass{}, and for "
        "those that are numbers a value: --dims '{{\"{}\": 1024}}'",
        join(tensors, ", "), flags, tensors.back());
    return error;
  }
  for (const frontend::Argument& argument : draft.entry.arguments) {
    if (const auto* tensor = std::get_if<frontend::TensorArgument>(&argument.value))
      draft.notes.push_back(fmt::format("{}: flat {} buffer of {} elements", argument.name,
                                        tensor::dtype_name(tensor->text.dtype),
                                        tensor->text.shape.empty() ? "1" : tensor->text.shape[0]));
  }
  return frontend::make_task(std::move(draft));
}

}  // namespace kw::task_formats
