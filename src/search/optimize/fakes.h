// Fake tools and a fake author for tests. Comments in a kernel's text say how it behaves, for
// all tunables or for one value of one:
//   // fake us 100            // fake us VEC=1 130
//   // fake verdict VEC=1 wrong    // fake sass VEC=4 LDG.E.128    // fake metric VEC=1 ipc 0.5
#pragma once

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "optimize/optimize_tools.h"
#include "os/files.h"
#include "ports/fakes.h"

namespace kw::optimize {

/// A module that claims two methods, with these lines of behaviour.
inline std::string fake_kernel(const std::vector<std::string>& behaviour,
                               const std::string& claims =
                                   "//! method  memory.vectorized_access when VEC > 1, off VEC=1\n"
                                   "//! method  compute.warp_shuffle when UNROLL > 1, off "
                                   "UNROLL=1\n") {
  std::string text =
      "//! kernelwright 1\n//! task    scale\n//! input   x: fp32[N]\n//! output  y: fp32[N]\n"
      "//! tune    VEC in 4, 1\n//! tune    UNROLL in 4, 1\n" +
      claims +
      "//! launch  k grid(1) block(32) args(x, y, N)\n"
      "__global__ void k(const float* x, float* y, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i] * VEC * UNROLL;\n}\n";
  for (const std::string& line : behaviour) text += "// fake " + line + "\n";
  return text;
}

class FakeTools : public OptimizeTools, public ports::FakeJudge, public profile::Examiner {
 public:
  double mde_pct = 1, spread = 0.002;           // of ratios, to each side
  profile::Roofline roofline;                   // of every kernel, except its time
  std::vector<std::vector<std::string>> races;  // without those of copies
  int examined = 0;

  FakeTools() {
    clock = true;
    judge = this;
    examiner = this;
    facts = {"sm_90a", "scale", "hash of the task",
             [] { return Json::object().set("gpu", "a pretended one"); }};
    roofline.gaps = {0.15, 0.6, 0.3};
    roofline.budget = profile::axis_budget(roofline.gaps);
    roofline.bottleneck = profile::Bottleneck::Dram;
    roofline.floor_us = 10;
  }

  Result<std::vector<ports::Outcome>> race(const ports::Candidates& candidates,
                                           const ports::RaceOptions&) override {
    std::vector<std::string> kernels;
    for (const record::Candidate& candidate : candidates) kernels.push_back(candidate.text);
    const bool copies = kernels.size() > 1 && std::set(kernels.begin(), kernels.end()).size() == 1;
    if (!copies) races.push_back(kernels);
    std::vector<ports::Outcome> raced;
    for (const std::string& text : kernels) {
      ports::Outcome one = run(text);
      if (one.measured && !raced.empty() && raced.front().us > 0)
        one.ratio = ratio(copies ? 1 / 1.002 : raced.front().us / one.us);
      raced.push_back(std::move(one));
    }
    return raced;
  }

  Result<profile::Examined> evidence(const std::string& kernel, std::optional<double> us,
                                     const std::string& report) override {
    ++examined;
    profile::Examined seen;
    for (const std::vector<std::string>& words : behaviour(kernel, "metric"))
      seen.metrics.set(words[0], std::atof(words[1].c_str()), profile::MetricSource::Ncu, "fake");
    seen.roofline = roofline;
    seen.roofline.time_us = us;
    seen.roofline.estimated = !clock;
    seen.counters = clock;
    seen.no_counters = clock ? "" : "there is no GPU";
    if (clock && !report.empty()) {
      seen.ncu_report = report;
      if (!os::write_file(report, "a report", os::Sync::No)) seen.ncu_report.clear();
    }
    seen.sass = code(kernel);
    if (seen.sass.empty()) seen.no_sass = "no disassembler";
    return seen;
  }

  Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
      const std::string& kernel) override {
    auto functions = code(kernel);
    if (functions.empty()) return std::optional<std::vector<profile::SassFunction>>();
    return std::optional(std::move(functions));
  }

 private:
  Ratio ratio(double value) const {
    Ratio r{value, value * (1 - spread), value * (1 + spread), "SAME", mde_pct / 100, 4};
    if (r.low > 1 || r.high < 1) r.relation = r.low > 1 ? "FASTER" : "SLOWER";
    return r;
  }

  /// The lines of one kind that apply to the module's tunables.
  static std::vector<std::vector<std::string>> behaviour(const std::string& text,
                                                         const std::string& kind) {
    std::map<std::string, int64_t> tunes;
    const kernel::ParseOutcome parsed = kernel::parse(text, "kernel.cu");
    if (parsed.module) tunes = kernel::default_tunes(*parsed.module).value();
    std::vector<std::vector<std::string>> found;
    for (const std::string_view line : split_lines(text)) {
      if (!line.starts_with("// fake ")) continue;
      std::vector<std::string> words = split(line.substr(8), ' ');
      if (words.size() < 2 || words[0] != kind) continue;
      words.erase(words.begin());
      if (const size_t equals = words[0].find('='); equals != std::string::npos) {
        const auto tune = tunes.find(words[0].substr(0, equals));
        if (tune == tunes.end() || std::to_string(tune->second) != words[0].substr(equals + 1))
          continue;
        words.erase(words.begin());
      }
      found.push_back(words);
    }
    return found;
  }

  static std::vector<profile::SassFunction> code(const std::string& text) {
    profile::SassFunction function;
    function.name = "k";
    function.target = "sm_90a";
    for (const std::vector<std::string>& words : behaviour(text, "sass")) {
      profile::SassInstruction one;
      one.address = 16 * function.code.size();
      one.opcode = words[0];
      if (one.opcode == "BRA") function.loops.push_back({0, one.address, 1});
      function.code.push_back(std::move(one));
    }
    if (function.code.empty()) return {};
    return {function};
  }

  ports::Outcome run(const std::string& text) const {
    ports::Outcome raced;
    raced.verdict = kernel::parse(text, "kernel.cu").module ? "passed" : "rejected";
    if (raced.verdict == "rejected") raced.refused = "it is not a kernel module";
    for (const auto& words : behaviour(text, "verdict")) {
      raced.verdict = words[0];
      raced.refused = words[0] + " by design";
    }
    if (raced.verdict != "passed") return raced;
    raced.refused.clear();
    for (const auto& words : behaviour(text, "us")) raced.us = std::atof(words[0].c_str());
    raced.measured = clock && raced.us > 0;
    if (raced.measured) raced.samples_us = {raced.us, raced.us};
    return raced;
  }
};

/// Returns what a test put in.
class FakeAuthor : public Author {
 public:
  std::vector<BranchResult> answers;  // taken from the front; then empty answers
  std::map<std::string, std::string> never;
  std::vector<Assignment> asked;

  std::string name() const override { return "somebody"; }
  Result<BranchResult> write(const Assignment& assignment) override {
    asked.push_back(assignment);
    if (answers.empty()) return BranchResult{};
    BranchResult written = std::move(answers.front());
    answers.erase(answers.begin());
    if (written.applied == std::vector<std::string>{"all"}) written.applied = assignment.methods;
    return written;
  }
  std::string cannot_apply(const std::string& method, const std::string&) override {
    const auto found = never.find(method);
    return found == never.end() ? "" : found->second;
  }
};

}  // namespace kw::optimize
