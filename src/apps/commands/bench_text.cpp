// The report of bench, compare and calibrate as text. A time without its conditions misleads, so
// each line has the interval, the noise and the number of samples. Below are how it was measured,
// the distance to the floor, and device, driver, clock and compiler. A comparison names its least
// detectable difference.
// A shorter text would be easier to read; readers who need only a number have --json. Functions are
// pure, so tests compare text without a GPU.
#include "commands/bench_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "commands/verify_text.h"
#include "core/text.h"

namespace kw::commands {
namespace {

using clock::Relation;
using timing::BenchReport;
using timing::TimedEntry;

std::string us_text(double us) {
  if (us >= 1e4) return fmt::format("{:.2f} ms", us * 1e-3);
  return fmt::format("{:.{}f} us", us, us >= 1000 ? 1 : us >= 100 ? 2 : 3);
}

report::Paint paint_of(Relation relation) {
  switch (relation) {
    case Relation::Faster:
      return report::Paint::Good;
    case Relation::Slower:
      return report::Paint::Error;
    case Relation::Same:
    case Relation::Ambiguous:
      return report::Paint::Warning;
  }
  return report::Paint::Warning;
}

std::string timing_line(const std::string& name, const clock::Measurement& measured) {
  const clock::Summary& s = measured.summary;
  return fmt::format("  {:<28} {:>11}  [{}, {}]  noise {:.2f} %, {} samples\n", name,
                     us_text(s.median), us_text(s.low), us_text(s.high), 100 * s.relative_noise,
                     s.count);
}

std::string comparison_line(const clock::Comparison& c, const report::Style& style) {
  std::string line = fmt::format(
      "    {} {:.3f}x [{:.3f}, {:.3f}], least detectable {:.2g} %, {} pairs, {} processes\n",
      report::paint(style, paint_of(c.relation), clock::relation_name(c.relation)), c.speedup,
      c.low, c.high, 100 * c.detectable, c.pairs, c.workers);
  if (!c.why.empty()) line += "    " + c.why + "\n";
  return line;
}

std::string how_line(const clock::Measurement& measured) {
  const record::TimingSamples& s = measured.samples;
  std::string line = fmt::format("  measured by {}", s.method);
  if (s.calls_per_sample > 1)
    line += fmt::format(" of {} calls over {} sets of buffers", s.calls_per_sample, s.buffer_sets);
  line += ", cold L2";
  if (s.host_us > 0) line += fmt::format("; {} host time", us_text(s.host_us));
  if (s.span_us > 0) line += fmt::format("; {} by the profiling library", us_text(s.span_us));
  if (s.discarded > 0) line += fmt::format("; {} samples discarded", s.discarded);
  if (s.clocks_low) line += "; the SM clock stayed below 75 % of its default";
  line += fmt::format("\n  audit: {} timed calls hashed, {} judged, all as verified\n",
                      measured.audited, measured.judged);
  return line;
}

std::string rate_lines(const BenchReport& report) {
  const double us = report.candidate.measurement->summary.median;
  std::string out;
  if (us <= 0) return out;
  if (report.floor.us > 0) {
    out += fmt::format("  {:.1f} % of the floor: {} ({}-bound", 100 * report.floor.us / us,
                       us_text(report.floor.us), report.floor.bound);
    if (report.floor.bound == "memory")
      out += fmt::format(", {:.0f} GB/s measured at this mix of reads and writes",
                         report.floor.bandwidth);
    out += ")\n";
  }
  out += fmt::format("  {:.0f} GB/s, {:.3g} TFLOP/s ({} at least, {:.3g} GFLOP)\n",
                     report.work.bytes() / us * 1e-3, report.work.flops / us * 1e-6,
                     human_bytes(static_cast<uint64_t>(report.work.bytes())),
                     report.work.flops * 1e-9);
  return out;
}

std::string rival_lines(const TimedEntry& rival, const report::Style& style) {
  std::string out;
  const std::string name = (rival.kind == "torch" ? "PyTorch " : "") + rival.name;
  if (rival.measurement) {
    out += timing_line(name, *rival.measurement);
  } else if (!rival.host_us.empty()) {
    out += fmt::format("  {:<28} {:>11}  host time\n", name,
                       us_text(clock::summarise(rival.host_us).median));
  } else {
    const bool failed = rival.problem.starts_with("failed");
    out += fmt::format("  {:<28} {}{}\n", name, failed ? "" : "not timed: ", rival.problem);
  }
  if (rival.wrong && !rival.wrong->empty())
    out += "    its output is not right: " + *rival.wrong + "\n";
  if (rival.comparison) out += comparison_line(*rival.comparison, style);
  return out;
}

std::string environment_lines(const BenchReport& report) {
  const ports::DeviceInfo& d = report.device;
  std::string out = fmt::format("  {} {}, driver {}\n", d.name, d.uuid, d.driver);
  if (report.candidate.measurement) {
    const record::TimingSamples& s = report.candidate.measurement->samples;
    out += fmt::format("  SM {} MHz (default {}), {} C", s.sm_clock_mhz, d.sm_clock_mhz,
                       s.temperature_c);
    if (s.power_w > 0) out += fmt::format(", {} W", s.power_w);
    out += "\n";
  }
  out += fmt::format("  {} for {}{}{}\n", report.compiler, report.target,
                     report.flags.empty() ? "" : ", ", join(report.flags, " "));
  out += fmt::format("  {} process{}, {} sets of inputs{}{}\n", report.workers,
                     report.workers == 1 ? "" : "es", report.pool,
                     report.quick ? ", quick: not certified" : "",
                     report.replay_seeded ? ", replay-seeded: not certified" : "");
  return out;
}

std::string estimate_lines(const BenchReport& report) {
  const timing::Estimate& e = *report.estimate;
  return fmt::format(
      "\nNo GPU was used. The module was not timed. ESTIMATE from counters of the virtual GPU at "
      "{}:\n"
      "  about {} on an {} ({}-bound; memory {}, L2 {}, issue {}, compute {}, shared memory {})\n"
      "  floor of the task there: {} ({}-bound)\n",
      e.counted_at, us_text(e.us), e.gpu, e.bound, us_text(e.memory_us), us_text(e.l2_us),
      us_text(e.issue_us), us_text(e.compute_us), us_text(e.shared_us), us_text(e.floor.us),
      e.floor.bound);
}

std::string verdict_line(const BenchReport& report, const report::Style& style) {
  const TimedEntry* best = report.best_rival();
  if (best == nullptr) return "";
  const clock::Comparison& c = *best->comparison;
  const std::string what =
      report::paint(style, paint_of(c.relation), clock::relation_name(c.relation));
  return fmt::format("\n{} than the best of the others ({}): {:.3f}x [{:.3f}, {:.3f}]\n", what,
                     best->name, c.speedup, c.low, c.high);
}

}  // namespace

std::string bench_text(const BenchReport& report, const report::Style& style) {
  std::string out = verify_text(report.gate, false, style);
  const bool timed = report.candidate.measurement && report.candidate.problem.empty();
  if (report.estimate) return out + estimate_lines(report);
  if (!timed && record::passed(report.gate.gate.verdict)) {
    out += fmt::format(
        "\n{}: {}\n",
        report::paint(style, report::Paint::Error, record::verdict_name(report.verdict)),
        report.candidate.problem);
    if (const auto* rejected = std::get_if<record::Rejected>(&report.verdict))
      out += "  " + rejected->reason + "\n";
    if (const auto* wrong = std::get_if<record::Wrong>(&report.verdict))
      out += "  " + wrong->reason + "\n";
  }
  if (!timed) return out;
  out += fmt::format("\ntimes at {}:\n", task::dims_text(report.dims));
  out += timing_line(report.candidate.name, *report.candidate.measurement);
  out += rate_lines(report) + how_line(*report.candidate.measurement);
  for (const TimedEntry& rival : report.rivals) out += rival_lines(rival, style);
  out += verdict_line(report, style);
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  return out + "\nmeasured on:\n" + environment_lines(report);
}

std::string compare_text(const timing::CompareReport& report, const report::Style& style) {
  std::string out;
  for (const timing::ComparedModule& module : report.modules) {
    if (module.measurement) out += timing_line(module.name, *module.measurement);
    if (!module.problem.empty()) out += fmt::format("  {}: {}\n", module.name, module.problem);
  }
  if (!report.comparison) return out;
  out += fmt::format("{} against {}:\n", report.modules[0].name, report.modules[1].name);
  out += comparison_line(*report.comparison, style);
  out += "outputs: " + report.outputs + "; not judged: no --reference was given\n";
  return out + fmt::format("on {} {}, driver {}\n", report.device.name, report.device.uuid,
                           report.device.driver);
}

std::string calibration_text(const timing::CalibrationReport& report) {
  const record::Calibration& c = report.calibration;
  std::string out = fmt::format("{} ({}), driver {}, {}\n", c.gpu, c.uuid, c.driver,
                                report.measured ? "measured now" : "measured " + c.date);
  out += fmt::format("  memory    read {:.0f}, 2:1 {:.0f}, 1:1 {:.0f}, write {:.0f} GB/s\n", c.read,
                     c.add, c.copy, c.write);
  for (const record::Peak& peak : c.peaks) {
    out += fmt::format("  {:<9} {:>8.1f} T{}/s by {}\n", peak.precision, peak.tera,
                       peak.precision == "int8" ? "OP" : "FLOP", peak.instruction);
  }
  out += fmt::format("  launch    {:.2f} us in a graph, {:.2f} us host time\n", c.launch_us,
                     c.host_us);
  out +=
      fmt::format("  timer     {:.2f} us between two events with nothing between\n", c.overhead_us);
  out += fmt::format("  at        {} MHz, {} C\n", c.sm_clock_mhz, c.temperature_c);
  return out +
         (report.path.empty() ? "it could not be stored\n" : "stored in " + report.path + "\n");
}

}  // namespace kw::commands
