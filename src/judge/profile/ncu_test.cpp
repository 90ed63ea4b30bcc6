#include "profile/ncu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/text.h"
#include "profile/csv.h"
#include "profile/units.h"

namespace kw::profile {
namespace {

constexpr const char* kBase =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\"";
constexpr const char* kOlder =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\","
    "\"Context\",\"Stream\"";

struct Column {
  const char* name;
  const char* unit;
  std::vector<std::string> values;  // one per launch
};

std::string quoted(const std::string& cell) {
  return "\"" + replace_all(cell, "\"", "\"\"") + "\"";
}

/// The raw page: header, units, one row per launch.
std::string raw_page(const std::vector<std::string>& kernels, const std::vector<Column>& columns,
                     const char* base = kBase) {
  const size_t fixed = split(base, ',').size();
  std::string text = base, units = quoted("");
  for (size_t i = 1; i < fixed; ++i) units += "," + quoted("");
  for (const Column& column : columns) {
    text += "," + quoted(column.name);
    units += "," + quoted(column.unit);
  }
  text += "\n" + units + "\n";
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<std::string> cells = {
        std::to_string(k), "77", "kernelwright", "127.0.0.1", kernels[k], "1", "7", "(256, 1, 1)",
        "(64, 2, 1)",      "0",  "9.0"};
    cells.resize(fixed);
    for (const Column& column : columns) cells.push_back(column.values[k]);
    std::vector<std::string> written;
    for (const std::string& cell : cells) written.push_back(quoted(cell));
    text += join(written, ",") + "\n";
  }
  return text;
}

constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

std::string one_kernel(const std::string& value, const char* unit = "%") {
  return raw_page({"k"}, {{kDram, unit, {value}}, {kSm, "%", {"12.5"}}});
}

double value_of(const Result<MetricSet>& metrics, const char* id) {
  return metrics && metrics->knows(id) ? *metrics->get(id) : NAN;
}

std::string complaint(const std::string& text, const std::string& kernel = "k") {
  const auto metrics = import_ncu(text, kernel, "p.csv");
  return metrics ? "" : metrics.error().message;
}

TEST(Ncu, ReadsTheRawPage) {
  const std::string text =
      "==PROF== Connected to process 77\nsome line the program printed, with a comma\n" +
      raw_page({"void rms_norm<(int)256, (int)2>(const __half *, __half *, int, float)"},
               {{"gpu__time_duration.sum", "nsecond", {"12,345"}},
                {kDram, "%", {"91.25"}},
                {"dram__bytes_read.sum", "byte", {"1,048,576"}},
                {"dram__bytes_write.sum", "Kbyte", {"2.5"}},
                {"launch__registers_per_thread", "register/thread", {"32"}},
                {"launch__waves_per_multiprocessor", "", {"1.25"}},
                {"some__other_metric.sum", "parsec", {"3"}}}) +
      "==PROF== Disconnected from process 77\n";
  const auto metrics = import_ncu(text, "rms_norm", "p.csv");
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_DOUBLE_EQ(value_of(metrics, "duration_us"), 12.345);
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_throughput_pct"), 91.25);
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_bytes"), 1048576 + 2500);
  EXPECT_DOUBLE_EQ(value_of(metrics, "registers_per_thread"), 32);
  EXPECT_DOUBLE_EQ(value_of(metrics, "block_threads"), 256);
  EXPECT_DOUBLE_EQ(value_of(metrics, "grid_blocks"), 128);
  EXPECT_DOUBLE_EQ(value_of(metrics, "wave_tail_pct"), 37.5);
  EXPECT_FALSE(metrics->knows("sm_throughput_pct")) << "missing is unknown";
  EXPECT_EQ(metrics->find("dram_throughput_pct")->source, MetricSource::Ncu);
  EXPECT_EQ(metrics->find("dram_throughput_pct")->from, kDram);
}

TEST(Ncu, ReadsOlderHeaders) {
  const auto metrics =
      import_ncu(raw_page({"k(float*)"}, {{kDram, "%", {"40"}}}, kOlder), "k", "p");
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_throughput_pct"), 40);
}

/// One row per metric, with the header of one ncu version.
std::string details_page(const char* last_columns, const std::vector<std::string>& rows) {
  std::string text = std::string(kOlder) + ",\"Section Name\"," + last_columns + "\n";
  for (const std::string& row : rows)
    text += "\"0\",\"1\",\"p\",\"h\",\"k\",\"0\",\"1\",\"7\",\"S\"," + row + "\n";
  return text;
}

TEST(Ncu, ReadsTheDetailsPage) {
  const auto metrics = import_ncu(
      details_page(
          "\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"",
          {"\"DRAM Throughput\",\"%\",\"46.10\"", "\"Memory Throughput\",\"%\",\"50\"",
           "\"Memory Throughput\",\"Gbyte/second\",\"1,905.00\"", "\"Duration\",\"us\",\"12.40\"",
           "\"\",\"\",\"\",\"a rule, with a comma\"", "\"Stall Barrier\",\"inst\",\"3.1\"",
           "\"Achieved Occupancy\",\"%\",\"61.30\""}),
      "k", "p.csv");
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_throughput_pct"), 46.1);
  EXPECT_DOUBLE_EQ(value_of(metrics, "memory_throughput_pct"), 50);
  EXPECT_DOUBLE_EQ(value_of(metrics, "duration_us"), 12.4);
  EXPECT_DOUBLE_EQ(value_of(metrics, "occupancy_pct"), 61.3);
  EXPECT_FALSE(metrics->knows("stall_barrier_pct")) << "cycles per instruction are no share";
}

TEST(Ncu, ReadsSummariesAndOldLabels) {
  const auto metrics = import_ncu(
      details_page("\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"",
                   {"\"SOL DRAM\",\"%\",\"1\",\"3\",\"2\"", "\"SOL SM\",\"%\",\"5\",\"7\",\"6\""}),
      "k", "p.csv");
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_throughput_pct"), 2);
  EXPECT_DOUBLE_EQ(value_of(metrics, "sm_throughput_pct"), 6);
}

TEST(Ncu, TakesTheBusiestTensorPipe) {
  const char* active = ".avg.pct_of_peak_sustained_active";
  const std::string hmma = std::string("sm__pipe_tensor_op_hmma_cycles_active") + active;
  const std::string imma = std::string("sm__pipe_tensor_op_imma_cycles_active") + active;
  const auto metrics = import_ncu(
      raw_page({"k"},
               {{imma.c_str(), "%", {"0"}}, {hmma.c_str(), "%", {"92"}}, {kSm, "%", {"92"}}}),
      "k", "p.csv");
  EXPECT_DOUBLE_EQ(value_of(metrics, "tensor_pipe_pct"), 92);
  EXPECT_DOUBLE_EQ(value_of(metrics, "tensor_int_pipe_pct"), 0);
}

TEST(Ncu, OnlyTheRightKernelCounts) {
  const std::string text = raw_page(
      {"at::fill_kernel(float*)", "void mine<(int)2>(float *)", "void mine<(int)4>(float *)"},
      {{kDram, "%", {"10", "20", "30"}}});
  EXPECT_DOUBLE_EQ(value_of(import_ncu(text, "fill_kernel", "p"), "dram_throughput_pct"), 10);
  EXPECT_DOUBLE_EQ(value_of(import_ncu(text, "mine<2>", "p"), "dram_throughput_pct"), 20);
  EXPECT_DOUBLE_EQ(value_of(import_ncu(text, "mine<4>", "p"), "dram_throughput_pct"), 30);
  EXPECT_NE(complaint(text, "mine").find("several kernels fit 'mine'"), std::string::npos);
  EXPECT_NE(complaint(text, "").find("several kernels fit"), std::string::npos);
  EXPECT_NE(complaint(text, "ine").find("was not profiled; there are: at::fill"),
            std::string::npos);
}

TEST(Ncu, LaunchesAreAveragedSharesByTime) {
  const auto metrics =
      import_ncu(raw_page({"k", "k"}, {{kDram, "%", {"90", "10"}},
                                       {"gpu__time_duration.sum", "us", {"30", "10"}},
                                       {"dram__bytes.sum", "byte", {"100", "300"}}}),
                 "", "p.csv");
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_throughput_pct"), 70);
  EXPECT_DOUBLE_EQ(value_of(metrics, "duration_us"), 20);
  EXPECT_DOUBLE_EQ(value_of(metrics, "dram_bytes"), 200);
}

TEST(Ncu, StallsPerIssueBecomeShares) {
  const std::string begin = "smsp__average_warps_issue_stalled_", end = "_per_issue_active.ratio";
  const std::string lsb = begin + "long_scoreboard" + end, bar = begin + "barrier" + end;
  const std::string sel = begin + "selected" + end;
  std::vector<Column> columns = {{lsb.c_str(), "inst", {"6"}}, {bar.c_str(), "inst", {"3"}}};
  EXPECT_FALSE(
      std::isfinite(value_of(import_ncu(raw_page({"k"}, columns), "k", "p"), "stall_barrier_pct")))
      << "without the whole there is no share";
  columns.push_back({sel.c_str(), "inst", {"1"}});
  const auto metrics = import_ncu(raw_page({"k"}, columns), "k", "p");
  EXPECT_DOUBLE_EQ(value_of(metrics, "stall_long_scoreboard_pct"), 60);
  EXPECT_DOUBLE_EQ(value_of(metrics, "stall_barrier_pct"), 30);
  columns.push_back({"smsp__average_warps_active_per_issue_active.ratio", "warp", {"12"}});
  EXPECT_DOUBLE_EQ(value_of(import_ncu(raw_page({"k"}, columns), "k", "p"), "stall_barrier_pct"),
                   25);
}

TEST(Ncu, SharesThatWereAskedForWin) {
  const auto metrics = import_ncu(
      raw_page({"k"}, {{"smsp__warp_issue_stalled_barrier_per_warp_active.pct", "%", {"11"}},
                       {"smsp__pcsamp_warps_issue_stalled_barrier", "", {"50"}},
                       {"smsp__pcsamp_warps_issue_stalled_barrier_not_issued", "", {"9"}},
                       {"smsp__pcsamp_warps_issue_stalled_wait", "", {"30"}},
                       {"smsp__pcsamp_warps_issue_stalled_selected", "", {"20"}}}),
      "k", "p");
  EXPECT_DOUBLE_EQ(value_of(metrics, "stall_barrier_pct"), 11);
  EXPECT_DOUBLE_EQ(value_of(metrics, "stall_wait_pct"), 30);
}

struct Refusal {
  const char* name;
  std::string text;
  const char* want;
  Blame blame;
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithTheLogAndTheReason) {
  const auto metrics = import_ncu(GetParam().text, "k", "run/p.csv");
  ASSERT_FALSE(metrics);
  EXPECT_NE(metrics.error().message.find(GetParam().want), std::string::npos)
      << metrics.error().message;
  EXPECT_NE(metrics.error().message.find("run/p.csv"), std::string::npos);
  EXPECT_EQ(metrics.error().blame, GetParam().blame);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Refused,
    testing::Values(
        Refusal{"empty", "", "no table of metrics", Blame::Input},
        Refusal{"garbage", "\x01\xff,,\"\n", "no table of metrics", Blame::Input},
        Refusal{"unknown_unit", one_kernel("5", "furlong"), "'furlong', a unit that is not known",
                Blame::Input},
        Refusal{"wrong_unit", one_kernel("5", "byte"), "but is measured in %", Blame::Input},
        Refusal{"no_units",
                std::string(kBase) + ",\"" + kDram +
                    "\"\n\"0\",\"1\",\"p\",\"h\",\"k\",\"1\",\"7\",\"\",\"\",\"0\",\"9\",\"3\"\n",
                "no row of units", Blame::Input},
        Refusal{"header_alone", std::string(kBase) + "\n", "no row of units", Blame::Input},
        Refusal{"no_kernel_column", "\"ID\",\"x\"\n\"\",\"\"\n\"0\",\"1\"\n", "'Kernel Name'",
                Blame::Input},
        Refusal{"no_rows", raw_page({}, {{kDram, "%", {}}}), "no kernel was profiled",
                Blame::Environment},
        Refusal{"nothing_profiled", "==WARNING== No kernels were profiled.\n",
                "no kernel was profiled", Blame::Environment},
        Refusal{"forbidden",
                "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA "
                "GPU Performance Counters on the target device 0.\n",
                "ERR_NVGPUCTRPERM", Blame::Environment},
        Refusal{"forbidden_in_words",
                "==ERROR== The user does not have Permission to read performance counters\n",
                "NVreg_RestrictProfilingToAdminUsers", Blame::Environment},
        Refusal{"all_zero",
                raw_page({"k"}, {{kDram, "%", {"0"}},
                                 {kSm, "%", {"0.0"}},
                                 {"gpu__time_duration.sum", "ns", {"4000"}},
                                 {"launch__registers_per_thread", "register/thread", {"32"}}}),
                "every counter of 'k' is zero", Blame::Environment},
        Refusal{"no_known_metric", raw_page({"k"}, {{"x.sum", "", {"1"}}}, kOlder),
                "no metric of 'k' is known", Blame::Input},
        Refusal{"open_quote", one_kernel("5") + "\"1", "a quote is never closed", Blame::Input},
        Refusal{"two_locales",
                raw_page({"k", "k"}, {{kDram, "%", {"93,5", "93.5"}}, {kSm, "%", {"1", "1"}}}),
                "numbers of two kinds", Blame::Input}),
    [](const auto& c) { return c.param.name; });

struct Number {
  const char* name;
  const char* cell;
  double want;  // NaN: unknown
};

class Numbers : public testing::TestWithParam<Number> {};

TEST_P(Numbers, AreReadOrUnknown) {
  const auto metrics = import_ncu(one_kernel(GetParam().cell), "k", "p");
  ASSERT_TRUE(metrics) << metrics.error().message;
  const double got = value_of(metrics, "dram_throughput_pct");
  if (std::isnan(GetParam().want)) {
    EXPECT_TRUE(std::isnan(got)) << got;
  } else {
    EXPECT_DOUBLE_EQ(got, GetParam().want);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Numbers,
    testing::Values(Number{"plain", "93.5", 93.5}, Number{"grouped", "1,234.5", 1234.5},
                    Number{"grouped_whole", "1,234,567", 1234567}, Number{"huge", "1e308", 1e308},
                    Number{"infinite", "inf", NAN}, Number{"overflow", "1e999", NAN},
                    Number{"not_a_number", "nan", NAN}, Number{"absent", "n/a", NAN},
                    Number{"empty", "", NAN}, Number{"words", "no data", NAN},
                    Number{"negative", "-1.5", -1.5}, Number{"signs", "+-3", NAN},
                    Number{"version", "2024.3.1", NAN}, Number{"half_grouped", "12,34.5", NAN},
                    Number{"spaced", " 7.5 ", 7.5}),
    [](const auto& c) { return c.param.name; });

TEST(Ncu, ReadsOtherLocales) {
  const auto german = import_ncu(raw_page({"k"}, {{kDram, "%", {"93,51"}},
                                                  {"dram__bytes.sum", "byte", {"1.048.576"}},
                                                  {"gpu__time_duration.sum", "us", {"1.234,5"}}}),
                                 "k", "p");
  EXPECT_DOUBLE_EQ(value_of(german, "dram_throughput_pct"), 93.51);
  EXPECT_DOUBLE_EQ(value_of(german, "dram_bytes"), 1048576);
  EXPECT_DOUBLE_EQ(value_of(german, "duration_us"), 1234.5);
  const auto french = import_ncu(raw_page({"k"}, {{kDram, "%", {"93,51"}},
                                                  {"dram__bytes.sum",
                                                   "byte",
                                                   {"1\xe2\x80\xaf"
                                                    "048\xe2\x80\xaf"
                                                    "576"}}}),
                                 "k", "p");
  EXPECT_DOUBLE_EQ(value_of(french, "dram_bytes"), 1048576);
}

TEST(Ncu, AValueThatOverflowsItsUnitIsUnknown) {
  const auto metrics = import_ncu(
      raw_page({"k"}, {{"gpu__time_duration.sum", "second", {"1e308"}}, {kDram, "%", {"5"}}}), "k",
      "p");
  ASSERT_TRUE(metrics);
  EXPECT_FALSE(metrics->knows("duration_us"));
}

// A cut or damaged file gives an Error or fewer metrics, never a crash.
TEST(Ncu, SurvivesCutAndBrokenFiles) {
  const std::string whole =
      "==PROF== x\n" +
      raw_page({"a<1>(int)", "b"}, {{kDram, "%", {"1,234.5", "7"}}, {kSm, "%", {"3", "nan"}}});
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    const auto metrics = import_ncu(whole.substr(0, cut), "b", "p");
    EXPECT_TRUE(metrics || !metrics.error().message.empty());
  }
  uint64_t state = 12345;
  const auto next = [&state](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  constexpr std::string_view kBytes = "\",\n\r()<>0.e-%\xff\0=";
  for (int round = 0; round < 2000; ++round) {
    std::string text = whole;
    for (uint64_t edits = 1 + next(8); edits > 0; --edits)
      text[next(text.size())] = kBytes[next(kBytes.size())];
    const auto metrics = import_ncu(text, "b", "p");
    if (metrics) {
      for (const auto& [id, known] : metrics->all()) EXPECT_TRUE(std::isfinite(known.value)) << id;
    }
  }
}

struct Name {
  const char* name;
  const char* profiled;
  const char* asked;
  bool want;
};

class KernelNames : public testing::TestWithParam<Name> {};

TEST_P(KernelNames, AreComparedByMeaning) {
  EXPECT_EQ(same_kernel(GetParam().profiled, GetParam().asked), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, KernelNames,
    testing::Values(Name{"plain", "rms_norm", "rms_norm", true},
                    Name{"signature", "rms_norm(const float *, int)", "rms_norm", true},
                    Name{"template", "void rms_norm<(int)256, (int)2>(float *)", "rms_norm<256, 2>",
                         true},
                    Name{"other_arguments", "void rms_norm<(int)256, (int)4>(float *)",
                         "rms_norm<256, 2>", false},
                    Name{"base_name", "rms_norm", "rms_norm<256, 2>", true},
                    Name{"type_arguments", "void k<float, (bool)1>(float*)", "k<float, 1>", true},
                    Name{"scope", "void ns::inner::k<int>(int)", "inner::k", true},
                    Name{"anonymous", "void (anonymous namespace)::k(int)", "k", true},
                    Name{"part_of_a_name", "my_rms_norm(float*)", "rms_norm", false},
                    Name{"longer_name", "rms_norm_fast(float*)", "rms_norm", false},
                    Name{"parameter_is_no_name", "other(k *)", "k", false},
                    Name{"empty", "k", "", false}, Name{"odd", "<<<(((", "k", false}),
    [](const auto& c) { return c.param.name; });

struct UnitCase {
  const char* name;
  const char* text;
  catalog::Unit unit;
  double scale;  // 0: does not fit; below 0: unknown
};

class Units : public testing::TestWithParam<UnitCase> {};

TEST_P(Units, AreConvertedOrRefused) {
  const auto unit = parse_unit(GetParam().text);
  ASSERT_EQ(unit.has_value(), GetParam().scale >= 0);
  if (!unit) return;
  ASSERT_EQ(fits(*unit, GetParam().unit), GetParam().scale > 0);
  if (GetParam().scale > 0) {
    EXPECT_DOUBLE_EQ(unit->scale, GetParam().scale);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Units,
    testing::Values(UnitCase{"percent", "%", catalog::Unit::Percent, 1},
                    UnitCase{"nanoseconds", "ns", catalog::Unit::Microseconds, 1e-3},
                    UnitCase{"seconds", "second", catalog::Unit::Microseconds, 1e6},
                    UnitCase{"per_block", "Kbyte/block", catalog::Unit::Bytes, 1e3},
                    UnitCase{"bytes", "Gbyte", catalog::Unit::Bytes, 1e9},
                    UnitCase{"registers", "register/thread", catalog::Unit::Count, 1},
                    UnitCase{"instructions", "inst/cycle", catalog::Unit::Ratio, 1},
                    UnitCase{"thousands", "Kinst", catalog::Unit::Count, 1e3},
                    UnitCase{"short_requests", "sector/req", catalog::Unit::Ratio, 1},
                    UnitCase{"several", "Ksectors", catalog::Unit::Count, 1e3},
                    UnitCase{"none", "", catalog::Unit::Count, 1},
                    UnitCase{"rate_is_no_share", "Gbyte/second", catalog::Unit::Percent, 0},
                    UnitCase{"time_is_no_count", "us", catalog::Unit::Count, 0},
                    UnitCase{"no_unit_is_no_byte", "", catalog::Unit::Bytes, 0},
                    UnitCase{"unknown", "furlong", catalog::Unit::Count, -1},
                    UnitCase{"unknown_below", "byte/furlong", catalog::Unit::Bytes, -1},
                    UnitCase{"odd", "/", catalog::Unit::Count, 1}),
    [](const auto& c) { return c.param.name; });

TEST(Csv, QuotesHoldCommasAndLineBreaks) {
  const auto rows = parse_csv("\"a,b\",\"c\"\"d\"\r\n\n1,,\"x\ny\"\n");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0], (CsvRow{"a,b", "c\"d"}));
  EXPECT_EQ((*rows)[1], (CsvRow{"1", "", "x\ny"}));
  EXPECT_FALSE(parse_csv("a,\"b"));
}

}  // namespace
}  // namespace kw::profile
