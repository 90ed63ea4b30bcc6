#include "catalog/catalog.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "catalog/metric.h"

namespace kw::catalog {
namespace {

TEST(Catalog, EveryRowIsWellFormedAndUnique) {
  std::set<std::string> seen;
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.id);
    EXPECT_TRUE(seen.insert(method.id).second) << "twice in the table";
    EXPECT_EQ(method.id.rfind(method.axis + ".", 0), 0u) << "an id starts with its axis";
    EXPECT_TRUE(method.axis == "compute" || method.axis == "memory" || method.axis == "latency");
    EXPECT_FALSE(method.title.empty());
    EXPECT_EQ(method.title.find('\n'), std::string::npos);
    EXPECT_TRUE(method.trigger);
    EXPECT_GE(method.guidance.size(), 150u);
    EXPECT_LE(method.guidance.size(), 700u) << "a paragraph, not an essay";
    EXPECT_LE(method.gain_low, method.gain_high);
    EXPECT_FALSE(arch::targets_with(method.features).empty());
  }
  EXPECT_EQ(seen.size(), 75u);
}

TEST(Catalog, PrioritiesOfAnAxisAreOneToN) {
  std::map<std::string, int> next;
  for (const Method& method : methods())
    EXPECT_EQ(method.priority, ++next[method.axis]) << method.id;
  EXPECT_EQ(next, (std::map<std::string, int>{{"compute", 26}, {"memory", 26}, {"latency", 23}}));
}

TEST(Catalog, AMethodNeverRestsOnOneThatItsTargetsLack) {
  for (const Method& method : methods()) {
    for (const std::string& id : method.needs) {
      const std::vector<std::string> below = arch::targets_with(find(id)->features);
      for (const std::string& target : arch::targets_with(method.features)) {
        EXPECT_NE(std::find(below.begin(), below.end(), target), below.end())
            << method.id << " needs " << id << ", which " << target << " cannot do";
      }
    }
  }
}

TEST(Catalog, ANeededMethodCanBeExpressedWhereverTheOtherCan) {
  for (const Method& method : methods()) {
    for (const std::string& id : method.needs)
      EXPECT_LE(find(id)->expressible, method.expressible) << method.id << " needs " << id;
  }
}

TEST(Catalog, FindsById) {
  ASSERT_NE(find("memory.vectorized_access"), nullptr);
  EXPECT_EQ(find("memory.vectorized_access")->axis, "memory");
  EXPECT_EQ(find("memory.vectorised_access"), nullptr);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(ids().size(), methods().size());
}

TEST(Catalog, FeaturesDecideTheTargets) {
  EXPECT_EQ(arch::targets_with(find("latency.pingpong_warpgroup_schedule")->features),
            std::vector<std::string>{"sm_90a"});
  EXPECT_EQ(arch::targets_with(find("compute.block_scaled_precision")->features).size(), 3u);
  EXPECT_EQ(arch::targets_with(find("memory.vectorized_access")->features).size(),
            arch::targets().size());
}

TEST(Catalog, EveryMetricOfAConditionExists) {
  for (const Method& method : methods()) {
    for (const auto* condition : {&method.trigger, &method.skip}) {
      if (!*condition) continue;
      for (const std::string& name : metrics_of(**condition))
        EXPECT_NE(find_metric(name), nullptr) << method.id << ": " << name;
    }
  }
}

TEST(Catalog, ConditionsSurvivePrinting) {
  for (const Method& method : methods()) {
    const std::string text = to_text(*method.trigger);
    const auto again = parse_expression(text);
    ASSERT_TRUE(again) << method.id;
    EXPECT_EQ(to_text(*again), text);
  }
}

TEST(Catalog, EveryMetricIsUsedOrProfiled) {
  std::set<std::string> used;
  for (const Method& method : methods()) {
    for (const auto* condition : {&method.trigger, &method.skip}) {
      if (*condition)
        for (const std::string& name : metrics_of(**condition)) used.insert(name);
    }
  }
  for (const Metric& metric : metrics()) {
    const bool profiled = !metric.ncu.empty() || !metric.vgpu.empty();
    EXPECT_TRUE(profiled || used.count(metric.id) > 0 || metric.unit != Unit::Flag) << metric.id;
  }
}

struct SassCase {
  const char* name;
  const char* opcodes;
  const char* target;
  const char* instruction;
  bool want;
};

class Signatures : public testing::TestWithParam<SassCase> {};

TEST_P(Signatures, MatchInstructionsNotTheirNeighbours) {
  const SassCase& c = GetParam();
  const Opcodes* found = find_opcodes(c.opcodes);
  ASSERT_NE(found, nullptr);
  const auto pattern = found->pattern(c.target);
  ASSERT_TRUE(pattern);
  EXPECT_EQ(std::regex_search(std::string(c.instruction), std::regex(*pattern)), c.want)
      << *pattern;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Signatures,
    testing::Values(
        SassCase{"hmma", "mma", "sm_80", "HMMA.16816.F32 R4, R8, R2, R4 ;", true},
        SassCase{"hgmma", "wgmma", "sm_90a", "HGMMA.64x256x16.F32 R24, gdesc[UR8], R24 ;", true},
        SassCase{"qgmma", "fp8_mma", "sm_90a", "QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR4] ;",
                 true},
        SassCase{"arrive_is_no_product", "wgmma", "sm_90a", "WARPGROUP.ARRIVE ;", false},
        SassCase{"tcgen05", "tensor", "sm_100a", "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4] ;",
                 true},
        SassCase{"tf32", "tf32_mma", "sm_80", "HMMA.1688.F32.TF32 R4, R8, R2, R4 ;", true},
        SassCase{"fp16_is_not_tf32", "tf32_mma", "sm_80", "HMMA.16816.F32 R4, R8, R2, R4 ;", false},
        SassCase{"sparse", "sparse_mma", "sm_80", "HMMA.SP.16832.F16 R4, R8, R2, R4, R1, 0x0 ;",
                 true},
        SassCase{"sparse_behind", "sparse_mma", "sm_80", "HMMA.16816.F16.SP.TID R4, R8, R2 ;",
                 true},
        SassCase{"dense", "sparse_mma", "sm_80", "HMMA.16816.F16 R4, R8, R2, R4 ;", false},
        SassCase{"ldgsts", "async_copy", "sm_80", "LDGSTS.E.BYPASS.128 [R5], [R2.64] ;", true},
        SassCase{"tma_is_async", "async_copy", "sm_90", "UTMALDG.2D [UR8], [UR4] ;", true},
        SassCase{"multicast", "tma_multicast", "sm_90", "UTMALDG.2D.MULTICAST [UR8], [UR4], UR6 ;",
                 true},
        SassCase{"phase", "mbarrier", "sm_90", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3 ;",
                 true},
        SassCase{"named_arrive", "barrier_arrive", "sm_90", "BAR.ARV 0x1, 0x100 ;", true},
        SassCase{"sync_is_no_arrive", "barrier_arrive", "sm_90", "BAR.SYNC.DEFER_BLOCKING 0x0 ;",
                 false},
        SassCase{"maxreg", "setmaxnreg", "sm_90a", "USETMAXREG.DEALLOC.CTAPOOL 0x28 ;", true},
        SassCase{"preexit", "pdl", "sm_90", "PREEXIT ;", true},
        SassCase{"next_work", "cluster_launch_control", "sm_100", "UGETNEXTWORKID.SELFCAST [UR4] ;",
                 true},
        SassCase{"wide", "wide_global", "sm_90", "LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;", true},
        SassCase{"wide_store", "wide_global", "sm_90", "@P0 STG.E.64 desc[UR4][R2.64], R6 ;", true},
        SassCase{"narrow", "wide_global", "sm_90", "LDG.E.CONSTANT R4, desc[UR4][R2.64] ;", false},
        SassCase{"address_is_no_width", "wide_global", "sm_80", "LDG.E R4, [R2.64] ;", false},
        SassCase{"constant", "read_only_load", "sm_90", "LDG.E.128.CONSTANT R4, [R2.64] ;", true},
        SassCase{"evict_first", "hinted_access", "sm_90", "LDG.E.EF.128 R4, desc[UR4][R2.64] ;",
                 true},
        SassCase{"red", "atomic", "sm_90", "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2], R5 ;",
                 true},
        SassCase{"redux_is_no_atomic", "atomic", "sm_90", "REDUX.SUM UR5, R3 ;", false},
        SassCase{"shared_atomic", "atomic", "sm_90", "ATOMS.ADD RZ, [R4], R5 ;", true},
        SassCase{"local", "local_access", "sm_90", "STL.64 [R1], R2 ;", true},
        SassCase{"global_is_not_local", "local_access", "sm_90", "LDG.E R1, [R2] ;", false},
        SassCase{"division", "integer_division", "sm_90", "I2F.U32.RP R0, UR4 ;", true},
        SassCase{"int_to_float", "integer_division", "sm_90", "I2FP.F32.S32 R0, R4 ;", false},
        SassCase{"branch", "branch", "sm_90", "@P0 BRA 0x150 ;", true}),
    [](const auto& c) { return c.param.name; });

TEST(Catalog, SignaturesAreUnknownWhereNotKnown) {
  EXPECT_FALSE(find_opcodes("wgmma")->pattern("sm_100a"));
  EXPECT_FALSE(find_opcodes("mbarrier")->pattern("sm_80"));
  EXPECT_FALSE(find_opcodes("shuffle")->rows.empty());
  EXPECT_EQ(find_opcodes("mbarriers"), nullptr);
}

TEST(Catalog, JsonHasEverything) {
  const Json json = to_json(*find("compute.tensor_core"));
  EXPECT_EQ(json["trigger"].as_string(), "has_matmul and tensor_pipe_pct < 60 worst 20");
  EXPECT_EQ(json["priority"].as_int(), 1);
  EXPECT_EQ(json["sass"].items().front()["patterns"].members().size(), arch::targets().size());
  EXPECT_EQ(json["effect"].as_string(), "reassociates");
  EXPECT_EQ(json["expressible"].as_string(), "module");
}

}  // namespace
}  // namespace kw::catalog
