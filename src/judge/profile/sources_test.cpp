#include "profile/sources.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catalog/metric.h"
#include "core/contains.h"
#include "core/text.h"
#include "graph/builder.h"
#include "graph/compose_norm.h"

namespace kw::profile {
namespace {

using graph::Op;
using tensor::DType;

double number_of(const MetricSet& metrics, const char* id) { return metrics.get(id).value_or(NAN); }

record::LaunchCounters counted() {
  record::LaunchCounters c;
  c.kernel = "k";
  c.blocks = 8;
  c.threads_per_block = 256;
  record::CounterValues& v = c.total;
  v.warp_total = 1000;
  v.lane_total = 16000;
  v.branches = 100;
  v.divergent_branches = 25;
  v.global_load_requests = 10;
  v.global_load_sectors = 40;
  v.global_load_bytes = 1280;  // 4 bytes per lane, all sectors used
  v.global_store_requests = 10;
  v.global_store_sectors = 320;
  v.global_store_bytes = 1280;  // each lane uses its own sector
  v.shared_load_wavefronts = 30;
  v.shared_store_wavefronts = 10;
  v.shared_load_requests = 10;
  v.shared_bank_conflicts = 10;
  v.warp_instructions[static_cast<size_t>(record::InstClass::Special)] = 50;
  v.barriers = 20;
  return c;
}

TEST(ProfileCounters, BecomeMetrics) {
  const MetricSet m = metrics_of_counters(counted());
  EXPECT_DOUBLE_EQ(number_of(m, "load_sectors_per_request"), 4);
  EXPECT_DOUBLE_EQ(number_of(m, "load_efficiency_pct"), 100);
  EXPECT_DOUBLE_EQ(number_of(m, "store_efficiency_pct"), 12.5);
  EXPECT_DOUBLE_EQ(number_of(m, "load_bytes_per_thread"), 4);
  EXPECT_DOUBLE_EQ(number_of(m, "bank_conflict_pct"), 25);
  EXPECT_DOUBLE_EQ(number_of(m, "lane_efficiency_pct"), 50);
  EXPECT_DOUBLE_EQ(number_of(m, "divergent_branch_pct"), 25);
  EXPECT_DOUBLE_EQ(number_of(m, "special_pct"), 5);
  EXPECT_DOUBLE_EQ(number_of(m, "barrier_arrivals_pct"), 2);
  EXPECT_TRUE(*m.is("uses_shared"));
  EXPECT_FALSE(*m.is("uses_atomics"));
  EXPECT_FALSE(m.knows("atomic_serialised_pct")) << "a share of nothing";
  EXPECT_EQ(m.find("store_efficiency_pct")->source, MetricSource::Vgpu);
  EXPECT_EQ(m.kernel, "k");
}

TEST(ProfileCounters, OfAnEmptyLaunchLeaveSharesUnknown) {
  const MetricSet m = metrics_of_counters({});
  for (const char* id : {"load_efficiency_pct", "lane_efficiency_pct", "special_pct"})
    EXPECT_FALSE(m.knows(id)) << id;
  EXPECT_DOUBLE_EQ(number_of(m, "warp_instructions"), 0);
}

// The catalogue names counters of the virtual GPU. Each must exist.
TEST(ProfileCounters, TheCatalogueSpeaksOfCountersThatExist) {
  record::LaunchCounters counters;
  counters.total.warp_instructions.fill(1);
  const Json total = to_json(counters)["total"];
  for (const catalog::Metric& metric : catalog::metrics()) {
    for (const std::string& name : metric.vgpu) {
      const bool by_class = name.starts_with("by_class.");
      const Json& where = by_class ? total["by_class"] : total;
      EXPECT_TRUE(where.contains(by_class ? name.substr(9) : name)) << metric.id << ": " << name;
    }
  }
}

TEST(Launches, GiveOccupancyAndWaves) {
  ports::KernelResources resources;
  resources.registers = 64;
  resources.static_shared = 1024;
  resources.spill_load_bytes = 8;
  resources.spill_store_bytes = 4;
  const arch::Target h200 = *arch::find_target("sm_90");
  const MetricSet m = metrics_of_launch(resources, {660, 256, 0, 132}, h200);
  EXPECT_DOUBLE_EQ(number_of(m, "theoretical_occupancy_pct"), 50);
  EXPECT_DOUBLE_EQ(number_of(m, "waves"), 1.25);
  EXPECT_DOUBLE_EQ(number_of(m, "wave_tail_pct"), 37.5);
  EXPECT_DOUBLE_EQ(number_of(m, "spill_bytes"), 12);
  EXPECT_TRUE(*m.is("register_limited"));
  EXPECT_FALSE(*m.is("shared_limited"));
  EXPECT_FALSE(*m.is("is_persistent"));
}

TEST(Launches, UnreportedResourcesStayUnknown) {
  const arch::Target h200 = *arch::find_target("sm_90");
  const MetricSet nothing = metrics_of_launch({}, {660, 256, 0, 132}, h200);
  EXPECT_FALSE(nothing.knows("theoretical_occupancy_pct"));
  EXPECT_FALSE(nothing.knows("spill_bytes"));
  EXPECT_DOUBLE_EQ(number_of(nothing, "grid_blocks"), 660);
  ports::KernelResources ptx;  // the virtual GPU's PTX has no registers
  ptx.static_shared = 0;
  EXPECT_FALSE(metrics_of_launch(ptx, {660, 256, 0, 132}, h200).knows("waves"));
  ptx.registers = 32;
  EXPECT_FALSE(metrics_of_launch(ptx, {660, 4096, 0, 132}, h200).knows("waves")) << "never fits";
}

TEST(CallFacts, GiveRatios) {
  MetricSet m = metrics_of_counters(counted());
  add_call_facts(
      m, {.bytes_min = 2560, .output_bytes = 1280, .launches = 3, .launch_us = 2, .call_us = 10});
  EXPECT_DOUBLE_EQ(number_of(m, "traffic_ratio"), 4.5);
  EXPECT_DOUBLE_EQ(number_of(m, "write_ratio"), 8);
  EXPECT_DOUBLE_EQ(number_of(m, "launches"), 3);
  EXPECT_DOUBLE_EQ(number_of(m, "launch_overhead_pct"), 60);
  MetricSet empty;
  add_call_facts(empty, {});
  EXPECT_TRUE(empty.all().empty());
}

TEST(Sets, TheBetterSourceWinsAndKeepsItsName) {
  MetricSet a, b;
  a.set("waves", 1, MetricSource::Static, "calculator");
  b.set("waves", 2, MetricSource::Ncu, "launch__waves_per_multiprocessor");
  b.set("ipc", 3, MetricSource::Ncu, "x");
  a.merge(b);
  EXPECT_DOUBLE_EQ(number_of(a, "waves"), 2);
  b.merge(a);
  MetricSet c;
  c.set("waves", 9, MetricSource::Vgpu, "y");
  a.merge(c);
  EXPECT_DOUBLE_EQ(number_of(a, "waves"), 2);
  EXPECT_EQ(to_json(a)["metrics"]["waves"]["source"].as_string(), "ncu");
}

TEST(Sets, WhatIsNoNumberIsUnknown) {
  MetricSet m;
  m.set("ipc", NAN, MetricSource::Ncu, "x");
  m.set("waves", INFINITY, MetricSource::Ncu, "x");
  EXPECT_TRUE(m.all().empty());
  m.set("ipc", 2, MetricSource::Ncu, "x");
  m.set("ipc", NAN, MetricSource::Ncu, "x");
  EXPECT_FALSE(m.knows("ipc"));
}

struct PtxCase {
  const char* name;
  const char* line;
  const char* flag;  // "": no flag
};

class PtxLines : public testing::TestWithParam<PtxCase> {};

TEST_P(PtxLines, RaiseTheirFlagAlone) {
  const std::string ptx = std::string(".visible .entry k(\n.param .u64 p\n)\n{\n\t") +
                          GetParam().line + "\n\tret;\n}\n";
  const MetricSet m = metrics_of_ptx(ptx, "k");
  EXPECT_FALSE(m.all().empty());
  const std::vector<std::string> want = split(GetParam().flag, ' ');
  for (const auto& [id, known] : m.all()) {
    const bool expected = contains(want, id);
    EXPECT_EQ(known.value > 0, expected) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PtxLines,
    testing::Values(
        PtxCase{"nothing", "add.f32 %f1, %f2, %f3;", ""},
        PtxCase{"mma", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1};",
                "uses_tensor_core"},
        PtxCase{"wgmma", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1;",
                "uses_tensor_core uses_wgmma"},
        PtxCase{"cp_async", "cp.async.cg.shared.global [%r1], [%rd1], 16;",
                "uses_shared uses_async_copy"},
        PtxCase{"guarded", "@%p1 st.shared.f32 [%r1], %f1;", "uses_shared"},
        PtxCase{"shuffle", "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", "uses_shuffle"},
        PtxCase{"reduction", "red.global.add.f32 [%rd1], %f1;", "uses_atomics"},
        PtxCase{"redux_is_no_atomic", "redux.sync.add.s32 %r1, %r2, -1;", "uses_shuffle"},
        PtxCase{"barrier", "bar.sync 0;", "uses_barrier"},
        PtxCase{"cluster_barrier", "barrier.cluster.arrive;", "uses_cluster"},
        PtxCase{"division", "div.u32 %r1, %r2, %r3;", "uses_division"},
        PtxCase{"float_division", "div.rn.f32 %f1, %f2, %f3;", ""},
        PtxCase{"exponential", "ex2.approx.ftz.f32 %f1, %f2;", "uses_exponential"},
        PtxCase{"read_only", "ld.global.nc.v4.f32 {%f1}, [%rd1];", "uses_read_only_path"},
        PtxCase{"streaming", "ld.global.cs.u32 %r1, [%rd1];", "uses_cache_hint"},
        PtxCase{"comment", "// shfl.sync.bfly.b32", ""}, PtxCase{"label", "$L__BB0_2:", ""}),
    [](const auto& c) { return c.param.name; });

TEST(Ptx, OtherEntriesDoNotCount) {
  const char* ptx =
      ".entry a()\n{\nbar.sync 0;\n}\n.func f()\n{\nshfl.sync.idx.b32 %r1, %r2, 0, 31, -1;\n}\n"
      ".entry b()\n{\nret;\n}\n";
  EXPECT_FALSE(*metrics_of_ptx(ptx, "b").is("uses_barrier"));
  EXPECT_TRUE(*metrics_of_ptx(ptx, "b").is("uses_shuffle")) << "a function it may call";
  EXPECT_TRUE(*metrics_of_ptx(ptx, "a").is("uses_barrier"));
  EXPECT_TRUE(*metrics_of_ptx(ptx, "").is("uses_barrier"));
  EXPECT_TRUE(metrics_of_ptx(ptx, "c").all().empty()) << "not there: nothing is known";
  EXPECT_TRUE(metrics_of_ptx("no ptx at all", "").all().empty());
}

graph::Shape matrix() { return {graph::Dim(64), graph::Dim(64)}; }

/// The flags that are set, in order.
std::string flags_of(graph::Builder& b, graph::NodeId out) {
  graph::Graph graph;
  for (graph::NodeId i = 0; i <= out; ++i) {
    graph.nodes.push_back(b[i]);
    if (b[i].op == Op::Input) graph.inputs.push_back({"in" + std::to_string(i), i});
  }
  graph.outputs.push_back({"y", out});
  std::vector<std::string> set;
  const MetricSet m = metrics_of_graph(graph);
  for (const auto& [id, known] : m.all()) {
    if (known.value > 0) set.push_back(id);
  }
  return join(set, " ");
}

TEST(Graphs, Pointwise) {
  graph::Builder b;
  const auto x = b.input("x", DType::Fp32, matrix());
  EXPECT_EQ(flags_of(b, *b.unary(Op::Abs, x)), "is_elementwise");
  EXPECT_EQ(flags_of(b, *b.unary(Op::Exp, x)), "has_exponential is_elementwise");
}

TEST(Graphs, TransposeIsALayoutChange) {
  graph::Builder b;
  const auto x = b.input("x", DType::Fp16, matrix());
  EXPECT_EQ(flags_of(b, *b.permute(x, {1, 0})), "has_layout_change narrow_inputs");
}

TEST(Graphs, NormalisationsAreSeen) {
  graph::Builder b;
  const auto x = b.input("x", DType::Fp32, matrix());
  const std::string flags = flags_of(b, *graph::layer_norm(b, x, {graph::Dim(64)}, {}, {}, 1e-5));
  EXPECT_NE(flags.find("has_normalisation"), std::string::npos) << flags;
  EXPECT_NE(flags.find("has_reduction"), std::string::npos) << flags;
  EXPECT_EQ(flags.find("has_matmul"), std::string::npos) << flags;
}

TEST(Graphs, AttentionIsAProductOfASoftmaxOfAProduct) {
  graph::Builder b;
  const auto q = b.input("q", DType::Fp32, matrix()), k = b.input("k", DType::Fp32, matrix());
  const auto v = b.input("v", DType::Fp32, matrix());
  const auto p = *graph::softmax(b, *b.matmul(q, k), 1);
  const std::string flags = flags_of(b, *b.matmul(p, v));
  EXPECT_NE(flags.find("has_attention"), std::string::npos) << flags;
  EXPECT_NE(flags.find("has_epilogue"), std::string::npos) << flags;
}

TEST(Graphs, AProductOfASoftmaxOfAnInputIsNoAttention) {
  graph::Builder b;
  const auto x = b.input("x", DType::Fp32, matrix()), v = b.input("v", DType::Fp32, matrix());
  const std::string flags = flags_of(b, *b.matmul(*graph::softmax(b, x, 1), v));
  EXPECT_EQ(flags.find("has_attention"), std::string::npos) << flags;
  EXPECT_EQ(flags.find("has_epilogue"), std::string::npos) << flags;
}

TEST(Graphs, EpiloguesWithFurtherTensorsAreGraphs) {
  graph::Builder b;
  const auto x = b.input("x", DType::Fp32, matrix()), w = b.input("w", DType::Fp32, matrix());
  const auto r = b.input("r", DType::Fp32, matrix());
  const auto product = *b.matmul(x, w);
  const std::string simple = flags_of(b, *b.unary(Op::Abs, product));
  EXPECT_NE(simple.find("has_epilogue"), std::string::npos);
  EXPECT_EQ(simple.find("has_epilogue_graph"), std::string::npos) << simple;
  const std::string residual =
      flags_of(b, *b.binary(Op::Add, graph::Operand::tensor(product), graph::Operand::tensor(r)));
  EXPECT_NE(residual.find("has_epilogue_graph"), std::string::npos) << residual;
}

TEST(Graphs, QuantisedOperandsAreSeen) {
  graph::Builder b;
  const auto x = b.input("x", DType::Fp32, matrix()), w = b.input("w", DType::Int8, matrix());
  const std::string flags = flags_of(b, *b.matmul(x, b.cast(w, DType::Fp32)));
  EXPECT_NE(flags.find("has_quantised_operand"), std::string::npos) << flags;
}

}  // namespace
}  // namespace kw::profile
