#include "optimize/bench_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/json_writer.h"
#include "core/text.h"

namespace kw::optimize {
namespace {

Json times_document(const ports::Outcome& raced) {
  if (raced.us <= 0) return Json();
  Json json = Json::object().set("median_ms", raced.us / 1000);
  const std::vector<double>& all = raced.samples_us;
  if (all.empty()) return json;
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  json.set("average_ms", sum / static_cast<double>(all.size()) / 1000);
  json.set("min_ms", *std::ranges::min_element(all) / 1000);
  json.set("max_ms", *std::ranges::max_element(all) / 1000);
  Json samples = Json::array();
  for (const double us : all) samples.push(us / 1000);
  return json.set("samples_ms", std::move(samples));
}

/// The judge's copy of a kernel is deleted later, so the repro command must name the run's own
/// file.
Json with_own_path(const Json& details, const std::string& path) {
  constexpr std::string_view kBegin = "kernelwright verify ", kEnd = "/module.cu ";
  std::string word = Json(shell_quote(path)).dump();
  word = word.substr(1, word.size() - 2);
  std::string text = details.dump();
  for (size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const size_t end = text.find(kEnd, at), space = text.find(' ', at);
    if (end == std::string::npos || space != end + kEnd.size() - 1) continue;
    text.replace(at, space - at, word);
  }
  const Result<Json> read = Json::parse(text);
  return read ? *read : details;
}

}  // namespace

Json bench_document(const State& state, const std::string& file, const ports::Outcome& raced) {
  JsonWriter v;
  v("solution_file", file)("backend", "cuda")("ref_file", state.settings.reference);
  v("has_reference", true)("dims", state.settings.dims)("arch", state.target);
  v.group("correctness", [&](auto& g) {
    g("checked", raced.verdict != "unknown")("passed", passed(raced))("verdict", raced.verdict);
  });
  v("measured", raced.measured)("kernel", times_document(raced));
  v("speedup", raced.ratio, Zero::Omit);
  if (const std::string& problem = problem_of(raced); !problem.empty())
    v.group("error", [&](auto& g) { g("code", raced.verdict)("message", problem); });
  return v("details", with_own_path(raced.documents, state.run_dir + "/" + file)).take();
}

std::string time_text(const std::optional<double>& us, bool measured) {
  if (!us) return "not timed";
  return measured ? fmt::format("{:.4g} us", *us) : fmt::format("about {:.4g} us (estimated)", *us);
}

std::string ratio_text(const Ratio& ratio) {
  return fmt::format("{:.3f}x ({:.3f} to {:.3f})", ratio.value, ratio.low, ratio.high);
}

}  // namespace kw::optimize
