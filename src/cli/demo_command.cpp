// The demonstration: a correct kernel, checked against a double-precision reference; then a copy
// with a seeded bug, and what the virtual GPU says about it. The modules are compiled into the
// binary, so it needs no files.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "cli/command.h"
#include "cli/text.h"
#include "engine/devices.h"
#include "engine/json.h"
#include "engine/load.h"
#include "engine/run.h"
#include "kBugText.inc"
#include "kExampleText.inc"
#include "report/findings.h"
#include "tensor/convert.h"

namespace kw::cli {

namespace {

constexpr int64_t kRows = 64, kColumns = 1024;
constexpr double kEpsilon = 1e-5;
// The result is rounded to fp16 once (half an ulp, 2^-11 relative); the fp32 sum before it adds far
// less.
constexpr double kTolerance = 0x1p-10;

using engine::RunReport;

struct Demo {
  kernel::Module good, bad;
  RunReport good_report, bad_report;
  double largest_error = 0;  // relative to the exact value
};

engine::RunRequest request() {
  engine::RunRequest r;
  r.bindings.dims = {{"B", kRows}, {"D", kColumns}};
  return r;
}

std::vector<double> values_of(const tensor::HostTensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor::value_count(tensor)));
  tensor::load_values(tensor, 0, values);
  return values;
}

// The definition, row by row, in double.
std::vector<double> reference(const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < static_cast<size_t>(kRows); ++row) {
    const size_t at = row * static_cast<size_t>(kColumns);
    double sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(kColumns); ++i) sum += x[at + i] * x[at + i];
    const double scale = 1 / std::sqrt(sum / static_cast<double>(kColumns) + kEpsilon);
    for (size_t i = 0; i < static_cast<size_t>(kColumns); ++i) y[at + i] = x[at + i] * scale;
  }
  return y;
}

Result<double> compare(const RunReport& report, const engine::RunRequest& asked) {
  const auto inputs = KW_TRY(engine::make_inputs(report.program, asked.inputs, {}, asked.seed));
  std::vector<double> x, y;
  for (size_t i = 0; i < report.program.buffers.size(); ++i) {
    if (report.program.buffers[i].name == "x") x = values_of(inputs[i]);
    if (report.program.buffers[i].name == "y" && i < report.outcome->buffers.size()) {
      y = values_of(report.outcome->buffers[i]);
    }
  }
  const std::vector<double> want = reference(x);
  KW_CHECK(!want.empty(), "the example has an input x");
  if (y.size() != want.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::abs(y[i] - want[i]) / std::max(std::abs(want[i]), 0x1p-14);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

Result<Demo> play(const Args& args, Io& io) {
  const auto compiler = KW_TRY(engine::open_compiler(args.one("--compiler")));
  const auto device = KW_TRY(engine::open_device({"vgpu", "", 0, {}}));
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  const engine::RunRequest asked = request();
  Demo demo{KW_TRY(engine::parse_module(kExampleText, "rms_norm.cu")), {}, {}, {}, 0};
  demo.bad = KW_TRY(engine::parse_module(kBugText, "rms_norm_bug.cu"));
  demo.good_report = KW_TRY(engine::run_module(demo.good, asked, *compiler, *device, progress));
  if (demo.good_report.passed()) demo.largest_error = KW_TRY(compare(demo.good_report, asked));
  demo.bad_report = KW_TRY(engine::run_module(demo.bad, asked, *compiler, *device, progress));
  return demo;
}

bool good_is_good(const Demo& demo) {
  return demo.good_report.passed() && demo.largest_error <= kTolerance;
}
bool bad_is_caught(const Demo& demo) {
  return !demo.bad_report.compile_failed && !demo.bad_report.passed();
}

std::string good_text(const Demo& demo, const report::Style& style) {
  std::string out =
      report::paint(style, report::Paint::Strong, "1. A correct kernel on the virtual GPU") +
      "\n\n";
  out += run_text(demo.good_report, demo.good, style);
  if (!demo.good_report.passed()) return out;
  out += fmt::format(
      "largest relative error against the double-precision reference: {:.3g} (half an fp16 ulp is "
      "{:.3g}) {}\n",
      demo.largest_error, 0x1p-11,
      good_is_good(demo) ? report::paint(style, report::Paint::Good, "correct")
                         : report::paint(style, report::Paint::Error, "WRONG"));
  return out;
}

}  // namespace

int demo_command(const Args& args, Io& io) {
  const Result<Demo> demo = play(args, io);
  if (!demo) return io.fail(demo.error());
  for (const std::string& note : demo->good_report.notes) io.note(note);
  io.print(good_text(*demo, io.style()));
  io.print("\n" +
           report::paint(io.style(), report::Paint::Strong, "2. The same kernel with a bug in it") +
           "\n\n");
  io.print(run_text(demo->bad_report, demo->bad, io.style()));
  const bool ok = good_is_good(*demo) && bad_is_caught(*demo);
  io.print(ok ? "\nNo GPU was used. Try it on your own: kernelwright run MODULE.cu --dim NAME=N "
                "--device vgpu\n"
              : "\nThe demonstration did not go as it should.\n");
  Json json = Json::object();
  json.set("largest_relative_error", demo->largest_error)
      .set("good", engine::to_json(demo->good_report, demo->good));
  json.set("bad", engine::to_json(demo->bad_report, demo->bad));
  return io.finish(ok ? kOk : kCandidateFailed, json);
}

}  // namespace kw::cli
