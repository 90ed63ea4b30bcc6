// Turns the cells of an Nsight Compute table into canonical metrics. A profile of the wrong kernel
// or in a wrong unit would mislead every later decision, so any doubt about these is an Error. A
// metric that is only missing stays unknown. Several launches of the kernel become one mean,
// weighted by time for shares. The alternative, to skip cells that are not understood, would hide
// new ncu versions. The cost: a file with one unknown unit is refused as a whole.
#include "profile/ncu.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "catalog/metric.h"
#include "core/contains.h"
#include "core/text.h"
#include "profile/csv.h"
#include "profile/ncu_stalls.h"
#include "profile/ncu_table.h"
#include "profile/units.h"

namespace kw::profile {
namespace {

using catalog::Metric;

/// "(256, 1, 1)" is 256 threads.
std::optional<double> product_of(std::string_view text, Decimal decimal) {
  if (!text.starts_with("(") || !text.ends_with(")")) return std::nullopt;
  double product = 1;
  for (const std::string& part : split(text.substr(1, text.size() - 2), ',')) {
    const auto factor = parse_number(part, decimal);
    if (!factor) return std::nullopt;
    product *= *factor;
  }
  return product;
}

/// The canonical metrics of one launch.
using LaunchValues = std::map<std::string, Known, std::less<>>;

class LaunchReader {
 public:
  LaunchReader(const NcuTable& table, Decimal decimal, const std::string& log)
      : labels_(table.labels), decimal_(decimal), log_(log) {}

  Result<LaunchValues> read(const NcuLaunch& launch, std::vector<std::string>& notes) {
    LaunchValues values;
    by_name_.clear();
    for (const NcuCell& cell : launch.cells) by_name_.emplace(cell.name, &cell);
    for (const Metric& metric : catalog::metrics()) KW_TRY(read_metric(metric, values));
    KW_TRY(read_stalls(launch, values));
    for (const std::string& note : notes_) {
      if (!contains(notes, note)) notes.push_back(note);
    }
    return values;
  }

 private:
  Status read_metric(const Metric& metric, LaunchValues& values) {
    std::vector<std::pair<std::string, double>> found;
    for (const std::string& name : metric.ncu) KW_TRY(collect(name, metric, false, found));
    for (const std::string& name : metric.labels) KW_TRY(collect(name, metric, true, found));
    if (found.empty()) return Done{};
    Known known{found.front().second, MetricSource::Ncu, found.front().first};
    for (size_t i = 1; i < found.size() && metric.combine != Metric::Combine::First; ++i) {
      const double next = found[i].second;
      if (metric.combine == Metric::Combine::Sum) {
        known.value += next;
        known.from += " + " + found[i].first;
      } else if (next > known.value) {
        known = {next, MetricSource::Ncu, found[i].first};
      }
    }
    values[metric.id] = known;
    return Done{};
  }

  Status collect(const std::string& name, const Metric& metric, bool label,
                 std::vector<std::pair<std::string, double>>& found) {
    const auto [begin, end] = by_name_.equal_range(name);
    for (auto at = begin; at != end; ++at) {
      const NcuCell& cell = *at->second;
      // Of the labels, a raw page has only the launch shapes, which are written "(256, 1, 1)".
      if (label && !labels_ && !cell.value.starts_with("(")) continue;
      const auto unit = parse_unit(cell.unit);
      if (!unit)
        return input_error("{}: {} is given in '{}', a unit that is not known", log_, name,
                           cell.unit);
      if (!fits(*unit, metric.unit)) {
        // One label may name two quantities. Only their units differ.
        if (label) continue;
        return input_error("{}: {} is given in '{}', but is measured in {}", log_, name, cell.unit,
                           catalog::unit_name(metric.unit));
      }
      if (const auto value = number(cell)) found.emplace_back(name, *value * unit->scale);
    }
    return Done{};
  }

  std::optional<double> number(const NcuCell& cell) {
    auto value = parse_number(cell.value, decimal_);
    if (!value) value = product_of(cell.value, decimal_);
    if (!value && !cell.value.empty() && cell.value != "n/a")
      notes_.push_back(fmt::format("{}: '{}' is not a number; left out", cell.name, cell.value));
    return value;
  }

  Status read_stalls(const NcuLaunch& launch, LaunchValues& values) {
    StallReader stalls;
    for (const NcuCell& cell : launch.cells) {
      if (!stalls.accepts(cell.name)) continue;
      const auto unit = parse_unit(cell.unit);
      if (!unit)
        return input_error("{}: {} is given in '{}', a unit that is not known", log_, cell.name,
                           cell.unit);
      if (const auto value = number(cell)) stalls.add(cell.name, *value * unit->scale);
    }
    for (const auto& [id, known] : stalls.shares()) values.emplace(id, known);
    return Done{};
  }

  bool labels_;
  Decimal decimal_;
  const std::string& log_;
  std::vector<std::string> notes_;
  std::multimap<std::string_view, const NcuCell*> by_name_;  // of the current launch
};

/// The mean over launches. Shares are weighted by time if the time of every launch is known.
Known mean_of(const std::string& id, const std::vector<LaunchValues>& launches) {
  const bool share = catalog::find_metric(id)->unit == catalog::Unit::Percent;
  const auto duration = [](const LaunchValues& launch) {
    const auto at = launch.find("duration_us");
    return at == launch.end() ? 0.0 : at->second.value;
  };
  const bool timed = std::ranges::all_of(launches, [&](const auto& l) { return duration(l) > 0; });
  Known mean;
  double weights = 0, sum = 0;
  for (const LaunchValues& launch : launches) {
    const auto at = launch.find(id);
    if (at == launch.end()) continue;
    const double weight = share && timed ? duration(launch) : 1;
    if (weights == 0) mean = at->second;
    weights += weight;
    sum += weight * at->second.value;
  }
  mean.value = sum / weights;
  if (launches.size() > 1) mean.from += fmt::format(", mean of {} launches", launches.size());
  return mean;
}

/// If all hardware counters are zero, they were not read. Times and launch shapes do not come from
/// counters.
bool all_zero(const MetricSet& metrics) {
  bool any = false;
  for (const auto& [id, known] : metrics.all()) {
    if (!catalog::find_metric(id)->counted || id == "duration_us") continue;
    any = true;
    if (known.value != 0) return false;
  }
  return any;
}

Result<std::vector<const NcuLaunch*>> launches_of(const NcuTable& table, const std::string& kernel,
                                                  const std::string& log) {
  std::vector<std::string> all, fitting;
  std::vector<const NcuLaunch*> found;
  const auto once = [](std::vector<std::string>& names, const std::string& name) {
    if (!contains(names, name)) names.push_back(name);
  };
  for (const NcuLaunch& launch : table.launches) {
    once(all, launch.kernel);
    if (!kernel.empty() && !same_kernel(launch.kernel, kernel)) continue;
    once(fitting, launch.kernel);
    found.push_back(&launch);
  }
  if (fitting.empty())
    return input_error("{}: kernel '{}' was not profiled; there {}: {}", log, kernel,
                       all.size() == 1 ? "is" : "are", join(all, "; "));
  if (fitting.size() > 1)
    return input_error("{}: several kernels fit '{}': {}; name one of them", log, kernel,
                       join(fitting, "; "));
  return found;
}

Result<NcuTable> profiled_table(std::string_view text, const std::string& log) {
  if (counters_forbidden(text))
    return environment_error("{}: {}", log, counters_forbidden_advice());
  Result<NcuTable> table = read_ncu_table(text, log);
  const bool nothing = text.find("No kernels were profiled") != std::string_view::npos;
  if ((!table && nothing) || (table && table->launches.empty()))
    return environment_error("{}: no kernel was profiled", log);
  return table;
}

}  // namespace

bool counters_forbidden(std::string_view log) {
  if (log.find("ERR_NVGPUCTRPERM") != std::string_view::npos) return true;
  for (const std::string_view line : split_lines(log)) {
    if (!line.starts_with("==")) continue;
    if (line.find("ermission") != std::string_view::npos &&
        line.find("erformance counter") != std::string_view::npos)
      return true;
  }
  return false;
}

std::string counters_forbidden_advice() {
  return "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM): run as root, "
         "give a container the capability SYS_ADMIN, or let an administrator set "
         "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module";
}

Result<MetricSet> import_ncu(std::string_view text, const std::string& kernel,
                             const std::string& log) {
  const NcuTable table = KW_TRY(profiled_table(text, log));
  const std::vector<const NcuLaunch*> launches = KW_TRY(launches_of(table, kernel, log));
  std::vector<std::string_view> cells;
  for (const NcuLaunch& launch : table.launches) {
    for (const NcuCell& cell : launch.cells) cells.push_back(cell.value);
  }
  Result<Decimal> decimal = decimal_of(cells);
  if (!decimal) return std::move(decimal).error().context(log);
  MetricSet metrics;
  metrics.kernel = launches.front()->kernel;
  std::vector<LaunchValues> values;
  LaunchReader reader(table, *decimal, log);
  for (const NcuLaunch* launch : launches)
    values.push_back(KW_TRY(reader.read(*launch, metrics.notes)));
  for (const LaunchValues& launch : values) {
    for (const auto& [id, known] : launch) {
      if (metrics.knows(id)) continue;
      const Known mean = mean_of(id, values);
      metrics.set(id, mean.value, mean.source, mean.from);
    }
  }
  if (metrics.all().empty())
    return input_error("{}: no metric of '{}' is known", log, metrics.kernel);
  if (all_zero(metrics))
    return environment_error("{}: every counter of '{}' is zero, so the profiler read nothing", log,
                             metrics.kernel);
  metrics.derive();
  return metrics;
}

}  // namespace kw::profile
