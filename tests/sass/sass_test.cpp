// The catalogue's families of instructions against what the tools really printed for kernels that
// have them, and for kernels that have not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/text.h"
#include "os/files.h"
#include "profile/sass.h"
#include "profile/sass_verdict.h"

namespace kw::profile {
namespace {

using Functions = std::vector<SassFunction>;

std::string file(const std::string& path) {
  const auto text = os::read_file(std::string(KW_SASS_DIR) + "/" + path);
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

Functions recorded(const std::string& name) {
  const auto functions = parse_sass(file("recorded/" + name + ".txt"));
  EXPECT_TRUE(functions) << name << ": " << functions.error().message;
  return functions ? *functions : Functions{};
}

Functions recorded(const std::string& name, const std::string& target) {
  Functions some = recorded(name);
  std::erase_if(some, [&](const SassFunction& one) { return one.target != target; });
  EXPECT_FALSE(some.empty()) << name << " was not recorded for " << target;
  return some;
}

/// The words after "// KEY: " at the top of a probe.
std::vector<std::string> words(const std::string& probe, const std::string& key) {
  for (const std::string_view line : split_lines(probe)) {
    if (!line.starts_with("// " + key + ":")) continue;
    std::vector<std::string> found = split(trim(line.substr(key.size() + 4)), ' ');
    std::erase(found, "");
    return found;
  }
  return {};
}

std::vector<std::string> probes() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KW_SASS_DIR) + "/probes"))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class Probe : public testing::TestWithParam<std::string> {};

TEST_P(Probe, ShowsWhatItHas) {
  const std::string source = file("probes/" + GetParam() + ".cu");
  for (const std::string& target : words(source, "arch")) {
    const Functions functions = recorded(GetParam(), target);
    for (const std::string& id : words(source, "shows")) {
      const catalog::Opcodes* opcodes = catalog::find_opcodes(id);
      ASSERT_NE(opcodes, nullptr) << id;
      const auto count = count_opcodes(*opcodes, functions);
      EXPECT_TRUE(count && *count > 0)
          << id << " on " << target << (count ? ": none" : ": no pattern");
    }
    for (const std::string& id : words(source, "hides")) {
      const catalog::Opcodes* opcodes = catalog::find_opcodes(id);
      ASSERT_NE(opcodes, nullptr) << id;
      EXPECT_EQ(count_opcodes(*opcodes, functions).value_or(0), 0) << id << " on " << target;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Probe, testing::ValuesIn(probes()),
                         [](const auto& one) { return one.param; });

TEST(Families, AreProvenWhereTheyAreKnown) {
  std::set<std::string> shown;  // "wide_global sm_90a"
  for (const std::string& name : probes()) {
    const std::string source = file("probes/" + name + ".cu");
    for (const std::string& target : words(source, "arch"))
      for (const std::string& id : words(source, "shows")) shown.insert(id + " " + target);
  }
  std::string unproven;
  for (const catalog::Opcodes& opcodes : catalog::opcodes())
    for (const char* target : {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"})
      if (opcodes.pattern(target) && shown.count(opcodes.id + " " + target) == 0)
        unproven += opcodes.id + " " + target + "\n";
  EXPECT_EQ(unproven, file("unproven.txt")) << "families without a probe of their own";
}

TEST(SassText, OfBothToolsIsTheSame) {
  const Functions one = recorded("loops", "sm_90a"), other = recorded("loops_cuobjdump");
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].target, "sm_90a");
  EXPECT_EQ(one[0].name, other[0].name);
  ASSERT_EQ(one[0].code.size(), other[0].code.size());
  for (size_t i = 0; i < one[0].code.size(); ++i)
    EXPECT_EQ(one[0].code[i].opcode, other[0].code[i].opcode);
  ASSERT_EQ(one[0].loops.size(), other[0].loops.size());
  for (size_t i = 0; i < one[0].loops.size(); ++i) {
    EXPECT_EQ(one[0].loops[i].first, other[0].loops[i].first);
    EXPECT_EQ(one[0].loops[i].depth, other[0].loops[i].depth);
  }
}

TEST(SassFactsOf, Kernels) {
  const SassFacts loops = sass_facts(recorded("loops", "sm_90a").at(0));
  EXPECT_EQ(loops.loops, 2);
  EXPECT_EQ(loops.deepest, 2);
  EXPECT_EQ(loops.opcodes.at("FFMA"), 1);
  const SassFacts wide = sass_facts(recorded("vectorized_access", "sm_80").at(0));
  EXPECT_EQ(wide.loads, (std::map<int, int>{{16, 1}}));
  EXPECT_EQ(wide.stores, (std::map<int, int>{{16, 1}}));
  EXPECT_EQ(wide.loops, 0);
  const SassFacts spills = sass_facts(recorded("spills", "sm_90a").at(0));
  EXPECT_GT(spills.spill_loads, 50);
  EXPECT_GT(spills.spill_stores, 50);
  EXPECT_EQ(sass_facts(recorded("barriers", "sm_120a").at(0)).barriers, 3);
  for (const char* probe :
       {"tensor_core_f16", "wgmma_bf16", "tcgen05_f16", "tensor_core_int8", "sparse_tensor_core"})
    for (const SassFunction& function : recorded(probe))
      EXPECT_GT(sass_facts(function).tensor, 0) << probe << function.target;
  EXPECT_EQ(sass_facts(recorded("half2_fma", "sm_80").at(0)).tensor, 0)
      << "HFMA2.MMA is no matrix product";
}

TEST(SassText, NamesEveryFunction) {
  const Functions two = recorded("two_kernels", "sm_90a");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].name, "_Z6secondILi3EEvPf");
  EXPECT_EQ(two[1].name, "first");
}

TEST(SassText, LeavesOutWhatNeverRuns) {
  for (const SassFunction& function : recorded("async_copy"))
    for (const SassInstruction& one : function.code) EXPECT_NE(one.predicate, "@!PT") << one.text();
}

struct VerdictCase {
  const char *name, *method, *kernel, *without, *target;
  SassState state;
  const char* why;
};

class Verdicts : public testing::TestWithParam<VerdictCase> {};

TEST_P(Verdicts, AreWhatTheCodeShows) {
  const VerdictCase& at = GetParam();
  const catalog::Method* method = catalog::find(at.method);
  ASSERT_NE(method, nullptr);
  const Functions kernel = recorded(at.kernel, at.target);
  const Functions without = *at.without != '\0' ? recorded(at.without, at.target) : Functions{};
  const SassVerdict verdict =
      sass_verdict(*method, kernel, *at.without != '\0' ? &without : nullptr);
  EXPECT_STREQ(sass_state_name(verdict.state), sass_state_name(at.state)) << verdict.why;
  EXPECT_EQ(verdict.why, at.why);
}

INSTANTIATE_TEST_SUITE_P(
    All, Verdicts,
    testing::Values(
        VerdictCase{"wide", "memory.vectorized_access", "vectorized_access", "scalar_access",
                    "sm_90a", SassState::Verified, "2 of wide_global, 0 without it"},
        VerdictCase{"narrow", "memory.vectorized_access", "scalar_access", "vectorized_access",
                    "sm_90a", SassState::Absent, "0 of wide_global, 2 without it"},
        VerdictCase{"fast_math", "compute.fma_and_fast_math", "fast_exp", "precise_exp", "sm_90a",
                    SassState::Verified, "5 of float_arithmetic, 7 without it"},
        VerdictCase{"precise_math", "compute.fma_and_fast_math", "precise_exp", "fast_exp",
                    "sm_90a", SassState::Absent, "7 of float_arithmetic, 5 without it"},
        VerdictCase{"no_loops", "compute.loop_unroll", "vectorized_access", "loops", "sm_90a",
                    SassState::Verified, "0 loops in 21 instructions, 2 in 34 without it"},
        VerdictCase{"loops_stay", "compute.loop_unroll", "loops", "vectorized_access", "sm_90a",
                    SassState::Absent, "2 loops in 34 instructions, 0 in 21 without it"},
        VerdictCase{"unchanged", "memory.vectorized_access", "vectorized_access",
                    "vectorized_access", "sm_90a", SassState::Absent,
                    "switching it off changes no instruction"},
        VerdictCase{"tensor", "compute.tensor_core", "wgmma_bf16", "", "sm_90a",
                    SassState::Verified, "1 of tensor"},
        VerdictCase{"no_tensor", "compute.tensor_core", "half2_fma", "", "sm_80", SassState::Absent,
                    "0 of tensor"},
        VerdictCase{"nothing_known", "compute.launch_config", "loops", "", "sm_90a",
                    SassState::Unknown, "it is not known how this method shows in machine code"}),
    [](const auto& one) { return one.param.name; });

struct BadText {
  const char *name, *text, *message;
};
class BadTexts : public testing::TestWithParam<BadText> {};

TEST_P(BadTexts, AreRefused) {
  const auto functions = parse_sass(GetParam().text);
  ASSERT_FALSE(functions);
  EXPECT_EQ(functions.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTexts,
    testing::Values(
        BadText{"empty", "", "there is no function in this machine code"},
        BadText{"prose", "cuobjdump info    : File 'x' does not contain device code\n",
                "there is no function in this machine code"},
        BadText{"no_function", "/*0000*/ EXIT ;\n",
                "line 1 is not machine code as nvdisasm or cuobjdump print it: '/*0000*/ EXIT ;'"},
        BadText{"open_comment", ".text.f:\n/*0000 EXIT ;\n",
                "line 2 is not machine code as nvdisasm or cuobjdump print it: '/*0000 EXIT ;'"},
        BadText{"address", ".text.f:\n/*zz*/ EXIT ;\n",
                "line 2 is not machine code as nvdisasm or cuobjdump print it: '/*zz*/ EXIT ;'"},
        BadText{"cut", ".text.f:\n/*0000*/ LDG.E R0, [R2\n",
                "line 2 is not machine code as nvdisasm or cuobjdump print it: '/*0000*/ LDG.E R0, "
                "[R2'"}),
    [](const auto& one) { return one.param.name; });

TEST(SassText, CutAnywhereIsRefusedOrRead) {
  const std::string text = file("recorded/loops.txt");
  for (size_t end = 0; end < text.size(); end += 7)
    (void)parse_sass(std::string_view(text).substr(0, end));
}

}  // namespace
}  // namespace kw::profile
