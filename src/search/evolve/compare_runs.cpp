// Evolutions differ in length and settings, so their final times alone cannot be compared. Each run
// keeps a curve: a point whenever the best changed, with the number of proposals. The comparison
// reads all curves at up to eight common numbers of proposals. Wall time would be another axis, but
// it depends on the machine and on the providers. The input is the JSON of reports, not the run
// folders, so old runs can be compared too. The cost: proposals of a model and of an operator count
// the same, although their prices differ; a column shows the cost.
#include "evolve/compare_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/json_writer.h"

namespace kw::evolve {
namespace {

constexpr size_t kColumns = 8;  // of the curve, at most
constexpr size_t kBar = 40;     // characters

Json counts_json(const Population& archive) {
  int64_t refused = 0, judged = 0, refused_there = 0, doubted = 0, repeated = 0;
  for (const Entry& entry : archive.entries()) {
    refused += !entry.alive();
    judged += entry.judged;
    refused_there += entry.judged && !entry.alive();
    doubted += entry.doubted;
    repeated += !entry.same_as.empty();
  }
  JsonWriter v;
  v("candidates", archive.entries().size())("refused", refused)("judged", judged);
  v("refused_by_the_judge", refused_there)("refused_by_readers", doubted);
  return v("same_code", repeated).take();
}

Json niches_json(const Population& archive) {
  std::map<Niche, int64_t> counts;
  for (const Entry& entry : archive.entries()) {
    if (entry.ranked()) ++counts[entry.niche];
  }
  return json_list(archive.elites(), [&counts](auto& v, const Entry* entry) {
    const Niche& niche = entry->niche;
    v("bound", niche.bound)("schedule", niche.schedule)("resources", niche.resources);
    v("candidates", counts[niche])("best", entry->candidate.id)("us", entry->outcome.us);
    v("measured", entry->outcome.measured);
  });
}

double first_us(const Json& one) {
  const Json& curve = one["curve"];
  return curve.items().empty() ? 0 : curve.items().front()["us"].as_double();
}

double last_us(const Json& one) {
  const Json& curve = one["curve"];
  return curve.items().empty() ? 0 : curve.items().back()["us"].as_double();
}

int64_t proposals_to_best(const Json& one) {
  const Json& curve = one["curve"];
  return curve.items().empty() ? 0 : curve.items().back()["proposals"].as_int();
}

std::vector<int64_t> columns_of(const std::vector<ComparedRun>& list) {
  int64_t most = 0;
  for (const ComparedRun& one : list) most = std::max(most, one.summary["proposals_made"].as_int());
  std::vector<int64_t> columns;
  for (size_t i = 1; i <= kColumns; ++i) {
    const int64_t at = (most * static_cast<int64_t>(i) + static_cast<int64_t>(kColumns) - 1) /
                       static_cast<int64_t>(kColumns);
    if (at > 0 && (columns.empty() || columns.back() != at)) columns.push_back(at);
  }
  return columns;
}

std::string us_text(double us) { return us > 0 ? fmt::format("{:.2f}", us) : "-"; }

std::string on_off(const Json& value) {
  return value.is_null() ? "-" : value.as_bool() ? "on" : "off";
}

std::string table(const Rows& rows, bool markdown) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line = markdown ? "|" : "";
    for (size_t i = 0; i < rows[r].size(); ++i) {
      if (markdown)
        line += " " + rows[r][i] + " |";
      else
        line += fmt::format("{}{:<{}}", i == 0 ? "" : "  ", rows[r][i], widths[i]);
    }
    const size_t end = line.find_last_not_of(' ');
    out += line.substr(0, end + 1) + "\n";
    if (markdown && r == 0) {
      out += "|";
      for (size_t i = 0; i < widths.size(); ++i) out += "---|";
      out += "\n";
    }
  }
  return out;
}

Rows result_rows(const std::vector<ComparedRun>& list) {
  Rows rows = {{"run", "proposer", "verifiers", "shape info", "profile", "proposals", "on hardware",
                "refused there", "first us", "best us", "gain", "after", "cost"}};
  for (const ComparedRun& one : list) {
    const Json& s = one.summary;
    const double first = first_us(s), best = last_us(s);
    rows.push_back(
        {one.name, s["proposer"].as_string(), on_off(s["verifiers"]), on_off(s["shape_info"]),
         on_off(s["profile_feedback"]), std::to_string(s["proposals_made"].as_int()),
         std::to_string(s["counts"]["judged"].as_int()),
         std::to_string(s["counts"]["refused_by_the_judge"].as_int()), us_text(first),
         us_text(best) + (best > 0 && !s["measured"].as_bool() ? " (est.)" : ""),
         best > 0 ? fmt::format("{:.2f}x", first / best) : "-",
         best > 0 ? std::to_string(proposals_to_best(s)) : "-",
         s["unpriced"].as_int() > 0 ? fmt::format("at least ${:.4f}", s["usd"].as_double())
                                    : fmt::format("${:.4f}", s["usd"].as_double())});
  }
  return rows;
}

Rows curve_rows(const std::vector<ComparedRun>& list) {
  const std::vector<int64_t> columns = columns_of(list);
  Rows rows = {{"best us after"}};
  for (const int64_t at : columns) rows.front().push_back(std::to_string(at));
  for (const ComparedRun& one : list) {
    std::vector<std::string> row = {one.name};
    for (const int64_t at : columns) row.push_back(us_text(best_after(one.summary, at)));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void fields(auto& v, Point& p) {
  v("proposals", p.proposals)("id", p.id)("us", p.us)("measured", p.measured)("usd", p.usd);
}

Json summary(const Settings& settings, const State& state, const std::string& stopped) {
  JsonWriter v;
  v("proposer", authors_name(settings.authors))("mode", mode_name(settings.mode));
  v("generations", settings.generations)("proposals", settings.proposals);
  v("hardware", settings.hardware)("islands", settings.islands)("seed", settings.seed);
  v("verifier", settings.verifier)("generations_done", state.generation());
  v("proposals_made", state.retired())("stopped", stopped)("sessions", state.sessions());
  v("measured", settings.has_clock)("usd", state.usd())("unpriced", state.unpriced());
  v("first", state.first(), Zero::Null)("counts", counts_json(state.archive()));
  v("niches", niches_json(state.archive()))("arms", state.models().arms());
  v("operators", json_list(state.operators().arms(), [](auto& row, const ArmRecord& one) {
      row("operator", one.name)("asked", one.pulls)("right", one.right)("better", one.better);
    }));
  return v("curve", state.curve()).take();
}

double best_after(const Json& one, int64_t proposals) {
  double us = 0;
  for (const Json& point : one["curve"].items()) {
    if (point["proposals"].as_int() <= proposals) us = point["us"].as_double();
  }
  return us;
}

Json comparison_json(const std::vector<ComparedRun>& list) {
  const std::vector<int64_t> columns = columns_of(list);
  JsonWriter v;
  v("runs", json_list(list, [&columns](auto& row, const ComparedRun& one) {
      const Json& s = one.summary;
      row("run", one.name);
      for (const char* name : {"proposer", "verifiers", "shape_info", "profile_feedback",
                               "proposals_made", "measured", "usd", "unpriced", "counts"})
        row(name, s[name]);
      const double first = first_us(s), last = last_us(s);
      row("first_us", first, Zero::Null)("best_us", last, Zero::Null);
      row("gain", last > 0 ? Json(first / last) : Json());
      row("proposals_to_best", last > 0 ? Json(proposals_to_best(s)) : Json());
      Json best = Json::array();
      for (const int64_t column : columns) {
        const double us = best_after(s, column);
        best.push(us > 0 ? Json(us) : Json());
      }
      row("best_us_after", best);
    }));
  return v("after_proposals", columns).take();
}

std::vector<Rows> comparison_rows(const std::vector<ComparedRun>& list) {
  return {result_rows(list), curve_rows(list)};
}

std::string comparison_text(const std::vector<ComparedRun>& list, bool markdown) {
  std::string out;
  for (const Rows& rows : comparison_rows(list))
    out += (out.empty() ? "" : "\n") + table(rows, markdown);
  return out;
}

std::string curve_text(const Json& one) {
  const double first = first_us(one);
  std::string out;
  for (const Json& point : one["curve"].items()) {
    const double us = point["us"].as_double();
    const auto bar = first > 0 ? static_cast<size_t>(kBar * std::min(1.0, us / first)) : 0;
    out += fmt::format("{:>6}  {:>10.2f} us{}  {}\n", point["proposals"].as_int(), us,
                       point["measured"].as_bool() ? "" : " (est.)",
                       std::string(std::max<size_t>(1, bar), '#'));
  }
  return out;
}

}  // namespace kw::evolve
