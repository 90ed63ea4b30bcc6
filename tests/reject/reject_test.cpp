// Runs every module in this folder as far as it gets and compares what is said with the .expected
// file beside it. Lines "// bind: …" in a module say what it meets after parsing:
//   dim B=4 | tune VEC=2 | scalar k=3 | fscalar eps=1e-5 | absent bias | target sm_80 | sms 132
//   kernel NAME ; SIGNATURE [; registers ; static shared bytes [; launch bound]]
#include <gtest/gtest.h>

#include <cstdlib>

#include "arch/arch.h"
#include "core/text.h"
#include "kernel/instantiate.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"
#include "os/files.h"

namespace kw::kernel {
namespace {

struct Scenario {
  Bindings bindings;
  std::vector<KernelInfo> kernels;
};

std::pair<std::string, std::string> assignment(std::string_view text) {
  const size_t equals = text.find('=');
  return {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
}

KernelInfo kernel_info(std::string_view text) {
  const std::vector<std::string> cells = split(text, ';');
  KernelInfo info;
  info.expression = trim(cells.at(0));
  info.entry = "entry";
  info.signature = trim(cells.at(1));
  if (cells.size() > 2) info.registers = static_cast<int>(*parse_int(trim(cells[2])));
  if (cells.size() > 3) info.static_shared = *parse_int(trim(cells[3]));
  if (cells.size() > 4) info.max_threads = static_cast<int>(*parse_int(trim(cells[4])));
  return info;
}

void read_bind_line(std::string_view line, Scenario& scenario) {
  const size_t blank = line.find(' ');
  const std::string_view word = line.substr(0, blank), rest = trim(line.substr(blank));
  Bindings& b = scenario.bindings;
  const auto [name, value] = assignment(rest);
  if (word == "dim") b.dims[name] = *parse_int(value);
  if (word == "tune") b.tunes[name] = *parse_int(value);
  if (word == "scalar") b.integer_scalars[name] = *parse_int(value);
  if (word == "fscalar") b.scalars[name] = *parse_double(value);
  if (word == "absent") b.absent.insert(std::string(rest));
  if (word == "target") b.target = *arch::find_target(rest);
  if (word == "sms") b.sms = static_cast<int>(*parse_int(rest));
  if (word == "kernel") scenario.kernels.push_back(kernel_info(rest));
}

Scenario read_scenario(std::string_view text) {
  Scenario scenario;
  scenario.bindings.target = *arch::find_target("sm_90");
  for (const std::string_view line : split_lines(text)) {
    constexpr std::string_view kMark = "// bind: ";
    if (line.starts_with(kMark)) read_bind_line(line.substr(kMark.size()), scenario);
  }
  return scenario;
}

std::string what_is_said(const std::string& text, const std::string& name) {
  const ParseOutcome outcome = parse(text, name);
  if (!outcome.module) return render_diagnostics(outcome.diagnostics, text, name);
  const Scenario scenario = read_scenario(text);
  const Result<Selection> selection = select(*outcome.module, scenario.bindings);
  if (!selection) return "select: " + selection.error().message + "\n";
  const Result<Program> program =
      instantiate(*outcome.module, scenario.bindings, *selection, scenario.kernels);
  if (!program) return "instantiate: " + program.error().message + "\n";
  return "ACCEPTED\n";
}

TEST(Reject, EveryModuleGetsItsMessage) {
  const std::string folder = KW_REJECT_DIR;
  const bool update = std::getenv("KW_UPDATE_GOLDEN") != nullptr;
  int cases = 0;
  for (const std::string& path : os::glob(folder + "/*.cu")) {
    const std::string name = path.substr(folder.size() + 1);
    SCOPED_TRACE(name);
    ++cases;
    const auto text = os::read_file(path);
    ASSERT_TRUE(text) << text.error().message;
    const std::string said = what_is_said(*text, name);
    EXPECT_NE(said, "ACCEPTED\n");
    const std::string golden = path.substr(0, path.size() - 3) + ".expected";
    if (update) {
      ASSERT_TRUE(os::write_file(golden, said));
      continue;
    }
    const auto expected = os::read_file(golden);
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(said, *expected);
  }
  EXPECT_GE(cases, 45);
}

}  // namespace
}  // namespace kw::kernel
