#include "report/counters_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::report {

namespace {

using record::CounterValues;
using record::LaunchCounters;
using record::LineCounters;

std::string ratio(uint64_t part, uint64_t whole, const char* unit) {
  return whole == 0 ? ""
                    : fmt::format("{:.2f} {}",
                                  static_cast<double>(part) / static_cast<double>(whole), unit);
}

// One row: the counter, its value and its meaning. Rows with a count of zero are left out.
class Totals {
 public:
  void add(const char* name, uint64_t value, const std::string& note = "") {
    if (value > 0) table_.add({name, with_commas(value), note});
  }
  void bytes(const char* name, uint64_t value, const std::string& note = "") {
    if (value > 0) table_.add({name, human_bytes(value), note});
  }
  std::string text(const Style& style) const { return table_.text(style); }

 private:
  Table table_{{"", ">", ""}};
};

std::string totals_text(const CounterValues& v, const Style& style) {
  Totals t;
  t.add("warp instructions", v.warp_total, percent(v.lane_efficiency(), 1) + " of lanes active");
  t.add("branches", v.branches,
        percent(static_cast<double>(v.divergent_branches), static_cast<double>(v.branches)) +
            " divergent");
  t.bytes("global loads", v.global_load_bytes,
          ratio(v.global_load_sectors, v.global_load_requests, "sectors per request"));
  t.bytes("global stores", v.global_store_bytes,
          ratio(v.global_store_sectors, v.global_store_requests, "sectors per request"));
  t.bytes("shared loads", v.shared_load_bytes,
          ratio(v.shared_load_wavefronts, v.shared_load_requests, "wavefronts per request"));
  t.bytes("shared stores", v.shared_store_bytes,
          ratio(v.shared_store_wavefronts, v.shared_store_requests, "wavefronts per request"));
  t.add("shared bank conflicts", v.shared_bank_conflicts);
  t.bytes("local memory", v.local_bytes);
  t.add("atomics", v.atomic_requests,
        ratio(v.atomic_serialised, v.atomic_requests, "serialised lanes per request"));
  t.add("barrier arrivals", v.barriers);
  t.add("flops fp16", v.flops_fp16);
  t.add("flops fp32", v.flops_fp32);
  t.add("flops fp64", v.flops_fp64);
  t.add("flops tensor", v.flops_tensor);
  return t.text(style);
}

std::string classes_text(const CounterValues& v) {
  std::vector<std::pair<uint64_t, const char*>> classes;
  for (int i = 0; i < record::kInstClasses; ++i) {
    const uint64_t n = v.warp_instructions[static_cast<size_t>(i)];
    if (n > 0) classes.emplace_back(n, record::inst_class_name(static_cast<record::InstClass>(i)));
  }
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> pieces;
  for (size_t i = 0; i < std::min<size_t>(classes.size(), 8); ++i) {
    pieces.push_back(fmt::format(
        "{} {}", classes[i].second,
        percent(static_cast<double>(classes[i].first), static_cast<double>(v.warp_total))));
  }
  return pieces.empty() ? "" : "  mix: " + join(pieces, ", ") + "\n";
}

std::string hot_text(const LaunchCounters& launch, const std::string& file_name,
                     const std::vector<std::string_view>& source, const Style& style,
                     size_t limit) {
  std::vector<const LineCounters*> hot;
  for (const LineCounters& line : launch.lines) hot.push_back(&line);
  std::stable_sort(hot.begin(), hot.end(), [](const LineCounters* a, const LineCounters* b) {
    return a->values.warp_total > b->values.warp_total;
  });
  Table table({">share", ">warp inst", ">sectors/req", ">conflicts", ">line", "source"});
  for (size_t i = 0; i < std::min(limit, hot.size()); ++i) {
    const CounterValues& v = hot[i]->values;
    const uint64_t requests = v.global_load_requests + v.global_store_requests;
    const uint64_t sectors = v.global_load_sectors + v.global_store_sectors;
    const auto at = static_cast<size_t>(hot[i]->line);
    const bool here = hot[i]->file == file_name && at >= 1 && at <= source.size();
    table.add(
        {percent(static_cast<double>(v.warp_total), static_cast<double>(launch.total.warp_total)),
         with_commas(v.warp_total), requests > 0 ? ratio(sectors, requests, "") : "",
         v.shared_bank_conflicts > 0 ? with_commas(v.shared_bank_conflicts) : "",
         std::to_string(hot[i]->line),
         here ? std::string(trim(source[at - 1]).substr(0, 70)) : hot[i]->file});
  }
  return table.empty() ? "" : table.text(style);
}

}  // namespace

std::string counters_text(const std::vector<LaunchCounters>& launches, const std::string& file_name,
                          std::string_view text, const Style& style, size_t hot_lines) {
  const std::vector<std::string_view> source = split_lines(text);
  std::string out;
  for (const LaunchCounters& launch : launches) {
    out += paint(style, Paint::Strong, "counters of " + launch.kernel) +
           fmt::format("  ({} block{} of {} threads)\n", with_commas(launch.blocks),
                       launch.blocks == 1 ? "" : "s", launch.threads_per_block);
    out += totals_text(launch.total, style) + classes_text(launch.total);
    out += hot_text(launch, file_name, source, style, hot_lines);
  }
  return out;
}

}  // namespace kw::report
