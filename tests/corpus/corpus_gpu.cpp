// The corpus on a real GPU and on the virtual one, outputs compared bit for bit: one row per
// kernel, and a Markdown table for the documentation. Exits with 77 where there is no GPU or no
// compiler to make its code.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "binding/load.h"
#include "core/text.h"
#include "corpus.h"
#include "machine/devices.h"
#include "os/files.h"
#include "run.h"
#include "tools.h"
#include "worker_main.h"

namespace kw::corpus {
namespace {

constexpr int kSkipped = 77;

struct Row {
  std::string name;
  int settings = 0;
  Comparison devices;    // virtual against real
  Comparison real;       // real against the reference
  Comparison simulated;  // virtual against the reference
  std::set<std::string> open_bits;
  std::vector<std::string> problems;

  std::string why_open(const Entry& entry) const {
    std::vector<std::string> words(open_bits.begin(), open_bits.end());
    if (entry.any_order) words.push_back("order of atomics");
    return join(words, ", ");
  }
};

Status run_setting(Row& row, const Entry& entry, const kernel::Module& module,
                   const Setting& setting, Workbench& real, Workbench& simulated) {
  const Prepared on_real = KW_TRY(real.prepare(module, setting));
  const Prepared on_virtual = KW_TRY(simulated.prepare(module, setting));
  Case made(module, on_virtual.program, setting, 1);
  if (entry.fill) entry.fill(made);
  const ports::RunOutcome a = KW_TRY(real.run(on_real, made.inputs()));
  const ports::RunOutcome b = KW_TRY(simulated.run(on_virtual, made.inputs()));
  if (a.status != ports::RunStatus::Completed) return input_error("the GPU: " + a.message);
  if (b.status != ports::RunStatus::Completed || !unexpected(entry, b.findings).empty())
    return input_error("the virtual GPU: " + b.message + "\n" + findings_text(b.findings));
  entry.reference(made);
  row.devices += compare_outputs(on_virtual.program, b, a.buffers, entry);
  row.real += compare_outputs(on_real.program, a, made.expected(), entry);
  row.simulated += compare_outputs(on_virtual.program, b, made.expected(), entry);
  row.open_bits.insert(on_virtual.open_bits.begin(), on_virtual.open_bits.end());
  if (a.printed != b.printed)
    return input_error("printed '" + a.printed + "' and '" + b.printed + "'");
  ++row.settings;
  return Done{};
}

Row run_entry(const Entry& entry, Workbench& real, Workbench& simulated) {
  Row row;
  row.name = entry.name;
  const auto module = binding::load_module(module_path(entry));
  if (!module) {
    row.problems.push_back(module.error().message);
    return row;
  }
  for (const Setting& setting : entry.settings) {
    auto ran = run_setting(row, entry, *module, setting, real, simulated);
    if (!ran) row.problems.push_back(setting.text() + ": " + ran.error().message);
  }
  if (!row.devices.bits_equal && row.why_open(entry).empty())
    row.problems.push_back("bits differ although the ISA defines them");
  if (!row.real.within) row.problems.push_back("the GPU against the reference: " + row.real.first);
  if (!row.simulated.within)
    row.problems.push_back("the virtual GPU against the reference: " + row.simulated.first);
  return row;
}

std::string table(const std::vector<Row>& rows, const ports::DeviceInfo& info,
                  const std::string& compiler) {
  std::string text =
      fmt::format("{}, driver {}, {}, {}\n\n", info.name, info.driver, info.target, compiler);
  text += "| kernel | runs | bit-equal | max ulp |";
  for (int k = 0; k < kUlpBuckets; ++k) text += fmt::format(" {} ulp |", ulp_bucket_name(k));
  text += " error GPU | error virtual | bits left open by |\n|---|---|---|---|";
  for (int k = 0; k < kUlpBuckets; ++k) text += "---|";
  text += "---|---|---|\n";
  for (const Row& row : rows) {
    text += fmt::format("| {} | {} | {} | {} |", row.name, row.settings,
                        row.devices.bits_equal ? "yes" : "no", row.devices.max_ulp);
    for (int64_t count : row.devices.histogram) text += fmt::format(" {} |", count);
    text += fmt::format(" {:.2g} | {:.2g} | {} |\n", row.real.max_error, row.simulated.max_error,
                        row.why_open(*find_entry(row.name)));
  }
  return text;
}

int compare_devices(const std::string& output, const std::set<std::string>& only) {
  Tools tools;
  auto device = machine::open_device({.kind = "gpu", .target = {}, .notice = {}});
  if (!device || !tools.problem().empty()) {
    fmt::print("skipped: {}\n", device ? tools.problem() : device.error().message);
    return kSkipped;
  }
  const ports::DeviceInfo info = (*device)->info();
  Workbench real(tools.compiler(), **device, info.target);
  Workbench& simulated = tools.virtual_bench(info.target);
  std::vector<Row> rows;
  size_t bad = 0;
  for (const Entry& entry : entries()) {
    if ((!only.empty() && !only.contains(entry.name)) || !tools.can_compile(entry)) continue;
    rows.push_back(run_entry(entry, real, simulated));
    const Row& row = rows.back();
    bad += !row.problems.empty();
    fmt::print("{:22} {:9} max {} ulp, error {:.2g} / {:.2g} {}\n", row.name,
               row.devices.bits_equal ? "bit-equal" : "differs", row.devices.max_ulp,
               row.real.max_error, row.simulated.max_error, row.why_open(entry));
    for (const std::string& problem : row.problems) fmt::print("  PROBLEM {}\n", problem);
  }
  const auto equal = std::count_if(rows.begin(), rows.end(),
                                   [](const Row& row) { return row.devices.bits_equal; });
  fmt::print("{} kernels, {} bit-equal, {} with problems\n", rows.size(), equal, bad);
  if (auto written = os::write_file(output, table(rows, info, tools.compiler().name())); !written)
    fmt::print("{}\n", written.error().message);
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kw::corpus

int main(int argc, char** argv) {
  if (const auto code = kw::corpus::serve_as_worker(argc, argv)) return *code;
  const std::string output = argc > 1 ? argv[1] : "corpus_gpu.md";
  return kw::corpus::compare_devices(output, {argv + std::min(argc, 2), argv + argc});
}
