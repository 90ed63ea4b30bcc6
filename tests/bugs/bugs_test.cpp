// Every seeded bug is reported with the right kind on the right line; its mended twin is clean and
// right.
#include <gtest/gtest.h>

#include "bug_file.h"
#include "run.h"
#include "tools.h"
#include "twins.h"
#include "vgpu/scheduler.h"
#include "worker_main.h"

namespace kw::bugs {
namespace {

using record::Finding;
using record::FindingKind;

corpus::Tools& tools() {
  static corpus::Tools opened;
  return opened;
}

struct Run {
  std::string refused;  // why it was never run
  kernel::Program program;
  ports::RunOutcome outcome;
  std::vector<tensor::HostTensor> expected;  // of the twin, when there is a reference
};

ports::RunOptions options_of(const BugFile& bug) {
  ports::RunOptions options;
  options.check_order = bug.order;
  options.max_warp_instructions = bug.budget;
  options.misalign_bytes = bug.misalign;
  return options;
}

Result<Run> run(const BugFile& bug, const std::function<void(corpus::Case&)>& reference,
                uint64_t schedule = 0) {
  Run run;
  corpus::Workbench& bench = tools().virtual_bench("sm_90");
  auto prepared = bench.prepare(bug.module, bug.setting);
  if (!prepared) {
    if (prepared.error().blame != Blame::Input) return std::move(prepared).error();
    run.refused = prepared.error().message;
    return run;
  }
  corpus::Case made(bug.module, prepared->program, bug.setting, 1);
  for (const auto& [name, range] : bug.fills) made.fill_integer(name, range.first, range.second);
  ports::RunOptions options = options_of(bug);
  options.schedule_seed = schedule;
  run.outcome = KW_TRY(bench.run(*prepared, made.inputs(), options));
  run.program = prepared->program;
  if (reference) {
    reference(made);
    run.expected = made.expected();
  }
  return run;
}

/// clang with our own device headers says so where it cannot serve a module.
bool compiler_lacks_header(const Run& run) {
  return run.refused.find("needs NVRTC") != std::string::npos;
}

bool on_line(const Finding& finding, const std::set<int>& lines) {
  return lines.empty() || lines.contains(finding.at.line) ||
         (finding.other_at && lines.contains(finding.other_at->line));
}

bool found(const std::vector<Finding>& findings, FindingKind kind, const std::set<int>& lines,
           bool certain = false) {
  for (const Finding& finding : findings)
    if (finding.kind == kind && on_line(finding, lines) &&
        (!certain || finding.certainty == record::Certainty::Certain))
      return true;
  return false;
}

class Bug : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!tools().problem().empty()) GTEST_SKIP() << tools().problem();
  }
  Result<BugFile> read(const char* suffix) {
    return read_bug(std::string(KW_BUGS_DIR) + "/" + GetParam() + suffix);
  }
};

TEST_P(Bug, IsReported) {
  const auto bug = read(".cu");
  ASSERT_TRUE(bug) << bug.error().message;
  ASSERT_TRUE(!bug->due.empty() || !bug->refused.empty()) << "the file says nothing is due";
  const auto ran = run(*bug, {});
  ASSERT_TRUE(ran) << ran.error().message;
  if (compiler_lacks_header(*ran)) GTEST_SKIP() << ran->refused;
  EXPECT_EQ(ran->refused.empty(), bug->refused.empty()) << ran->refused;
  EXPECT_NE(ran->refused.find(bug->refused), std::string::npos) << ran->refused;
  const std::vector<Finding>& findings = ran->outcome.findings;
  for (const auto& [kind, lines] : bug->due)
    EXPECT_TRUE(found(findings, kind, lines, bug->certain))
        << "no " << record::finding_name(kind) << " on a marked line in\n"
        << corpus::findings_text(findings);
  for (const Finding& finding : findings) {
    EXPECT_TRUE(bug->due.contains(finding.kind) || bug->also.contains(finding.kind))
        << "not asked for: " << corpus::findings_text({finding});
    EXPECT_FALSE(finding.message.empty());
  }
}

// The same in other orders of blocks and warps. Lines and companions may be others.
TEST_P(Bug, IsReportedInAnyOrder) {
  const auto bug = read(".cu"), twin = read(".fixed.cu");
  ASSERT_TRUE(bug && twin);
  for (const uint64_t order : {vgpu::kReverseSeed, vgpu::kPreemptSeed}) {
    const auto ran = run(*bug, {}, order), clean = run(*twin, {}, order);
    ASSERT_TRUE(ran && clean);
    if (compiler_lacks_header(*ran)) GTEST_SKIP() << ran->refused;
    for (const auto& [kind, lines] : bug->due)
      EXPECT_TRUE(found(ran->outcome.findings, kind, {}))
          << "no " << record::finding_name(kind) << " in\n"
          << corpus::findings_text(ran->outcome.findings);
    EXPECT_TRUE(clean->outcome.findings.empty()) << corpus::findings_text(clean->outcome.findings);
  }
}

TEST_P(Bug, HasACleanTwin) {
  const auto twin = read(".fixed.cu");
  ASSERT_TRUE(twin) << twin.error().message;
  const auto reference = twins().find(GetParam());
  const bool known = reference != twins().end();
  const auto ran = run(*twin, known ? reference->second.reference : nullptr);
  ASSERT_TRUE(ran) << ran.error().message;
  if (compiler_lacks_header(*ran)) GTEST_SKIP() << ran->refused;
  EXPECT_EQ(ran->refused, "");
  EXPECT_EQ(ran->outcome.status, ports::RunStatus::Completed) << ran->outcome.message;
  EXPECT_TRUE(ran->outcome.findings.empty()) << corpus::findings_text(ran->outcome.findings);
  if (!known) return;
  corpus::Entry entry;
  entry.tolerance = reference->second.tolerance;
  const auto against = corpus::compare_outputs(ran->program, ran->outcome, ran->expected, entry);
  EXPECT_TRUE(against.within) << against.first;
}

INSTANTIATE_TEST_SUITE_P(Seeded, Bug, testing::ValuesIn(bug_names(KW_BUGS_DIR)),
                         [](const auto& name) { return name.param; });

TEST(Bugs, CoverEveryKind) {
  // Bad launches are below; an unsupported instruction is refused before it runs.
  std::set<FindingKind> covered = {FindingKind::LaunchError, FindingKind::UnsupportedInstruction};
  for (const std::string& name : bug_names(KW_BUGS_DIR)) {
    const auto bug = read_bug(std::string(KW_BUGS_DIR) + "/" + name + ".cu");
    ASSERT_TRUE(bug) << bug.error().message;
    for (const auto& [kind, lines] : bug->due) covered.insert(kind);
  }
  for (int k = 0; k <= static_cast<int>(FindingKind::StateAcrossCalls); ++k)
    EXPECT_TRUE(covered.contains(static_cast<FindingKind>(k)))
        << record::finding_name(static_cast<FindingKind>(k));
}

TEST(Bugs, TwinsExistForEveryReference) {
  const auto names = bug_names(KW_BUGS_DIR);
  for (const auto& [name, twin] : twins())
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

/// A launch that no device would accept, made behind the back of the module's own checks.
struct BadLaunch {
  const char* name;
  void (*spoil)(kernel::Launch&);
};

class Launches : public testing::TestWithParam<BadLaunch> {};

TEST_P(Launches, AreLaunchErrors) {
  if (!tools().problem().empty()) GTEST_SKIP() << tools().problem();
  const auto bug = read_bug(std::string(KW_BUGS_DIR) + "/oob_tail.fixed.cu");
  ASSERT_TRUE(bug) << bug.error().message;
  corpus::Workbench& bench = tools().virtual_bench("sm_90");
  auto prepared = bench.prepare(bug->module, bug->setting);
  ASSERT_TRUE(prepared) << prepared.error().message;
  GetParam().spoil(prepared->program.launches[0]);
  const corpus::Case made(bug->module, prepared->program, bug->setting, 1);
  const auto outcome = bench.run(*prepared, made.inputs());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(found(outcome->findings, FindingKind::LaunchError, {}))
      << corpus::findings_text(outcome->findings);
}

const BadLaunch kBadLaunches[] = {
    {"TooManyThreads",
     [](kernel::Launch& launch) {
       launch.block = {2048, 1, 1};
     }},
    {"TooDeepBlock",
     [](kernel::Launch& launch) {
       launch.block = {1, 1, 65};
     }},
    {"NoThreads",
     [](kernel::Launch& launch) {
       launch.block = {0, 1, 1};
     }},
    {"NoBlocks",
     [](kernel::Launch& launch) {
       launch.grid = {0, 1, 1};
     }},
    {"TallGrid",
     [](kernel::Launch& launch) {
       launch.grid = {1, 65536, 1};
     }},
    {"TooMuchShared", [](kernel::Launch& launch) { launch.shared_bytes = 1 << 20; }},
    {"NoSuchKernel", [](kernel::Launch& launch) { launch.entry = "nobody"; }},
    {"ArgumentMissing", [](kernel::Launch& launch) { launch.params.pop_back(); }},
    {"ArgumentTooWide", [](kernel::Launch& launch) { launch.params.back().bytes.resize(8); }},
};

INSTANTIATE_TEST_SUITE_P(Bad, Launches, testing::ValuesIn(kBadLaunches),
                         [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace kw::bugs

int main(int argc, char** argv) {
  if (const auto code = kw::corpus::serve_as_worker(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
