// What a hostile PTX text may try: use more memory, time or output than allowed.
#include <sys/resource.h>

#include <chrono>
#include <functional>

#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using ports::RunStatus;
using testing::Bench;
using testing::entry;
using testing::FindingKind;

std::string repeat(int count, const std::function<std::string(int)>& piece) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece(i);
  return text;
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

const char* const kPrintf =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";

// Prints the variable `text` with one 8-byte argument.
std::string print(const std::string& argument) {
  return ".local .align 8 .b8 args[8];\n.param .b64 f;\n.param .b64 v;\n.param .b32 q;\n"
         "mov.u64 %rd1, args;\nmov.b64 %rd2, " +
         argument +
         ";\nst.local.b64 [%rd1], %rd2;\n"
         "cvta.local.u64 %rd3, %rd1;\nmov.u64 %rd4, text;\n"
         "st.param.b64 [f], %rd4;\nst.param.b64 [v], %rd3;\ncall (q), vprintf, (f, v);\n";
}
std::string text_variable(const std::string& format) {
  std::string bytes;
  for (const char c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
  return std::string(kPrintf) + ".global .align 1 .b8 text[" + std::to_string(format.size() + 1) +
         "] = {" + bytes + "0};\n";
}

TEST(Limits, AGridOfBillionsTakesNoMemory) {
  for (const uint64_t seed : {0, 1, 99}) {
    Bench bench(entry("", ""));
    bench.launch("k", {2147483647}, {32});
    bench.options.max_warp_instructions = 20000;
    bench.options.schedule_seed = seed;
    const long before = peak_kib();
    bench.run();
    EXPECT_EQ(bench.outcome.status, RunStatus::Stopped);
    EXPECT_NE(bench.found(FindingKind::InstructionBudget), nullptr) << bench.findings();
    EXPECT_LT(peak_kib() - before, 1 << 20);
  }
}

struct Endless {
  const char* name;
  std::string before, body;
};

TEST(Limits, TheTimeLimitEndsEveryLoop) {
  const std::string flood = text_variable(std::string(4000, 'x'));
  const Endless cases[] = {
      {"empty", "", "L: bra L;"},
      {"divergent", "",
       "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
       "@%p1 bra M;\nL: bra L;\nM: bra M;"},
      {"barrier", "", "L: bar.sync 0;\nbra L;"},
      {"shuffle", "", "L: shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;\nbra L;"},
      {"printf", flood, "L:\n" + print("0") + "bra L;"},
      {"fences", ".global .u32 flag;",
       "mov.u64 %rd1, flag;\nL: st.global.u32 [%rd1], %r1;\nmembar.gl;\n"
       "atom.global.add.u32 %r1, [%rd1], 1;\nbra L;"},
      {"copies", ".global .align 16 .b8 from[16];",
       ".shared .align 16 .b8 to[16];\nmov.u64 %rd1, from;\nmov.u32 %r1, to;\n"
       "L: cp.async.cg.shared.global [%r1], [%rd1], 16;\nbra L;"},
  };
  for (const Endless& c : cases) {
    Bench bench(entry("", c.body, c.before));
    bench.launch("k", {2}, {64});
    bench.options.timeout_seconds = 0.5;
    const auto start = std::chrono::steady_clock::now();
    bench.run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(bench.outcome.status, RunStatus::Hung) << c.name;
    EXPECT_EQ(bench.found(FindingKind::InstructionBudget), nullptr) << "time is no finding";
    EXPECT_NE(bench.outcome.message.find("after 0.5 s (k"), std::string::npos)
        << bench.outcome.message;
    EXPECT_LT(taken.count(), 10) << c.name;
    EXPECT_LT(bench.outcome.printed.size(), size_t{2} << 20) << c.name;
  }
  EXPECT_LT(peak_kib(), 3 << 20);
}

// A kernel that works too fast for the clock inside its blocks, of which there are too many.
TEST(Limits, TheTimeLimitEndsAGridOfShortBlocks) {
  for (const int threads : {1, 2}) {
    Bench bench(entry("", ""));
    bench.launch("k", {2147483647}, {32});
    bench.options.timeout_seconds = 0.2;
    bench.options.threads = threads;
    bench.run();
    EXPECT_EQ(bench.outcome.status, RunStatus::Hung) << bench.findings();
    EXPECT_NE(bench.outcome.message.find("after 0.2 s (k, after"), std::string::npos)
        << bench.outcome.message;
  }
}

// Findings and printed text cost more than an instruction, and the work limit knows it.
TEST(Limits, TheWorkLimitCountsFindingsAndPrints) {
  const Endless cases[] = {
      {"races", ".global .u32 x;",
       "mov.u64 %rd1, x;\nmov.u32 %r1, %tid.x;\n"
       "L: st.global.u32 [%rd1], %r1;\nbra L;"},
      {"printf", text_variable("ho"), "L:\n" + print("0") + "bra L;"},
  };
  for (const Endless& c : cases) {
    Bench bench(entry("", c.body, c.before));
    bench.launch("k", {2}, {64});
    bench.options.max_warp_instructions = 4000000;
    bench.run();
    EXPECT_NE(bench.found(FindingKind::InstructionBudget), nullptr) << c.name << bench.findings();
    for (const record::Finding& finding : bench.outcome.findings)
      EXPECT_LT(finding.count, 4000000 / 16) << finding.message;
    EXPECT_LT(bench.outcome.printed.size(), 4000000U / 32) << c.name;
  }
}

TEST(Limits, PrintfObeysNoAbsurdWidth) {
  struct Row {
    const char *format, *argument;
    size_t longest;
  };
  for (const Row& row :
       {Row{"%999999999d", "5", 1000}, Row{"%.999999999f", "5", 1100},
        Row{"%*******d", "2000000000", 1000}, Row{"%-5.3d|", "7", 6}, Row{"%.*f", "-1", 20}}) {
    Bench bench(entry("", print(row.argument), text_variable(row.format)));
    bench.launch("k", {1}, {1});
    bench.run();
    EXPECT_EQ(bench.outcome.status, RunStatus::Completed) << bench.findings();
    EXPECT_LE(bench.outcome.printed.size(), row.longest) << row.format;
    EXPECT_FALSE(bench.outcome.printed.empty()) << row.format;
  }
}

TEST(Limits, RefusesTextsThatNeedTooMuch) {
  const auto number = [](int i) { return std::to_string(i); };
  const std::string chain = repeat(400, [&](int i) {
    return ".func f" + number(i) + "()\n{\n" + (i == 0 ? "" : "call f" + number(i - 1) + ";\n") +
           "ret;\n}\n";
  });
  const std::string cases[] = {
      entry("", repeat(2100, [&](int i) { return ".param .b8 a" + number(i) + "[65536];\n"; })),
      entry("", "call f399;\n", chain),
      entry(".param .b8 huge[1000000]", ""),
      entry("", ".local .b8 a[1073741824];\n"),
      entry("", ".shared .b8 a[1073741824];\n"),
  };
  for (const std::string& text : cases)
    EXPECT_NE(Bench(text).load_error, "") << text.substr(0, 300);
}

TEST(Limits, EndlessRecursionIsRefusedOrEnds) {
  Bench bench(entry("", "call f;\n", ".func f()\n{\ncall f;\nret;\n}\n"));
  if (!bench.load_error.empty()) return;
  bench.launch("k", {1}, {64});
  bench.options.max_warp_instructions = 100000000;
  bench.run();
  EXPECT_NE(bench.outcome.status, RunStatus::Completed);
  EXPECT_FALSE(bench.outcome.findings.empty());
  EXPECT_LT(peak_kib(), 3 << 20);
}

TEST(Limits, RefusesLaunchesThatNeedTooMuch) {
  const std::string local =
      ".local .align 4 .b8 a[500000];\nmov.u64 %rd1, a;\n"
      "st.local.u32 [%rd1], %r1;\n";
  struct Row {
    const char* name;
    std::string text;
    kernel::Dim3 grid, block;
    int64_t shared;
    bool cooperative;
    RunStatus status;
  };
  const std::string statics = ".shared .b8 a[50176];\nmov.u32 %r1, a;\n";
  const std::string constants = ".const .b8 a[40000];\n.const .b8 b[40000];\n";
  std::string globals, uses;
  for (int i = 0; i < 300; ++i) {
    globals += ".global .b8 g" + std::to_string(i) + "[1073741824];\n";
    uses += "mov.u64 %rd1, g" + std::to_string(i) + ";\n";
  }
  const Row rows[] = {
      {"local", entry("", ".local .b8 a[600000];\n"), {1}, {32}, 0, false, RunStatus::Refused},
      {"shared", entry("", ""), {1}, {32}, int64_t{1} << 40, false, RunStatus::Refused},
      {"static shared", entry("", statics), {1}, {32}, 1024, false, RunStatus::Refused},
      {"constants", entry("", "", constants), {1}, {32}, 0, false, RunStatus::Refused},
      {"cooperative", entry("", local), {100}, {1024}, 0, true, RunStatus::OutOfMemory},
      {"variables", entry("", uses, globals), {1}, {32}, 0, false, RunStatus::OutOfMemory},
  };
  for (const Row& row : rows) {
    Bench bench(row.text);
    kernel::Launch& launch = bench.launch("k", row.grid, row.block);
    launch.shared_bytes = row.shared;
    launch.cooperative = row.cooperative;
    bench.run();
    EXPECT_EQ(bench.outcome.status, row.status) << row.name << ": " << bench.outcome.message;
  }
}

TEST(Limits, TablesAndAddressesOutOfRangeAreFindings) {
  struct Row {
    const char* body;
    FindingKind kind;
  };
  const Row rows[] = {
      {"mov.u32 %r1, 77;\nbrx.idx %r1, T;\nA: ret;\nT: .branchtargets A, A;",
       FindingKind::InvalidAddress},
      {"mov.u64 %rd1, 12345678901234;\ncall %rd1, P;\nret;\nP: .callprototype _ ();",
       FindingKind::InvalidAddress},
      {"mov.u64 %rd1, 3;\nld.global.u64 %rd2, [%rd1];", FindingKind::NullPointer},
      {"mov.u32 %r1, 4294967295;\nld.shared.u32 %r2, [%r1];", FindingKind::OutOfBoundsShared},
      {"mov.u64 %rd1, -1;\nld.local.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];",
       FindingKind::OutOfBoundsLocal},
  };
  for (const Row& row : rows) {
    Bench bench(entry("", row.body));
    bench.launch("k", {1}, {33});
    bench.run();
    EXPECT_NE(bench.found(row.kind), nullptr) << row.body << "\n" << bench.findings();
  }
}

}  // namespace
}  // namespace kw::vgpu
