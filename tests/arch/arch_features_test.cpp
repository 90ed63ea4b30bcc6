#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arch/features.h"
#include "os/files.h"
#include "os/process.h"

namespace kw::arch {
namespace {

struct Probe {
  Feature feature;
  const char* instruction;
};

// An instruction that only targets with the feature take. Access policy windows are set by the host
// and have none.
constexpr Probe kProbes[] = {
    {Feature::TensorCore,
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r1,%r2},{%r3},"
     "{%f0,%f1,%f2,%f3};"},
    {Feature::Int8TensorCore,
     "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2},{%r3},{%r4},{%r1,%r2};"},
    {Feature::Tf32TensorCore,
     "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3},{%r1,%r2},{%r3},"
     "{%f0,%f1,%f2,%f3};"},
    {Feature::StructuredSparsity,
     "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},"
     "{%r1,%r2},{%r3,%r4},{%f0,%f1,%f2,%f3},%r5,0x0;"},
    {Feature::Fp8TensorCore,
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3},{%r1,%r2,%r3,%r4},"
     "{%r5,%r6},{%f0,%f1,%f2,%f3};"},
    {Feature::Ldmatrix, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1},[%r7];"},
    {Feature::Stmatrix, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7],{%r1};"},
    {Feature::CpAsync, "cp.async.ca.shared.global [%r7],[%d2],16;"},
    {Feature::L2Prefetch, "prefetch.global.L2 [%d2];"},
    {Feature::Redux, "redux.sync.add.s32 %r1,%r2,0xffffffff;"},
    {Feature::Mbarrier, "mbarrier.init.shared.b64 [%r7],1;"},
    {Feature::MbarrierTryWait, "mbarrier.try_wait.shared.b64 %p1,[%r7],%d1;"},
    {Feature::Cluster, "barrier.cluster.arrive; barrier.cluster.wait;"},
    {Feature::DistributedShared,
     "mapa.shared::cluster.u32 %r1,%r7,%r2; ld.shared::cluster.u32 %r3,[%r1];"},
    {Feature::Tma,
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
     "[%r7],[%d2,{%r1,%r2}],[%r7];"},
    {Feature::Pdl, "griddepcontrol.launch_dependents; griddepcontrol.wait;"},
    {Feature::Wgmma, "wgmma.fence.sync.aligned;"},
    {Feature::Setmaxnreg, "setmaxnreg.dec.sync.aligned.u32 40;"},
    {Feature::Tcgen05, "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"},
    {Feature::ClusterLaunchControl,
     "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
     "[%r7],[%r7];"},
};

// Two chips, two forms.
constexpr const char* kBlockScaled[] = {
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32."
    "ue8m0 {%f0,%f1,%f2,%f3},{%r1,%r2,%r3,%r4},{%r5,%r6},{%f0,%f1,%f2,%f3},%r1,{%h1,%h2},%r2,"
    "{%h1,%h2};",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1],%d1,%d1,%r2,[%r3],[%r4],%p1;"};

std::string ptx_of(const Target& target, const std::string& instruction) {
  return std::string(".version 9.0\n.target ") + target.name +
         "\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
         ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .pred %p<4>;\n"
         ".shared .align 128 .b8 s[1024];\nmov.u32 %r7, s;\nld.param.u64 %d2, [p];\n" +
         instruction + "\nret;\n}\n";
}

std::string ptxas() {
  const std::string found = os::find_program("ptxas");
  const std::string usual = "/usr/local/cuda/bin/ptxas";
  return !found.empty() ? found : std::filesystem::exists(usual) ? usual : "";
}

class NvccFeatures : public testing::TestWithParam<const Target*> {
 protected:
  void SetUp() override {
    if (ptxas().empty()) GTEST_SKIP() << "no ptxas here";
    path_ = testing::TempDir() + "kw_feature_" + GetParam()->name + ".ptx";
    if (!accepts("add.u32 %r1, %r7, 1;")) GTEST_SKIP() << "ptxas does not know this target";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  bool accepts(const std::string& instruction) const {
    std::ofstream(path_) << ptx_of(*GetParam(), instruction);
    const auto done = os::run_process(
        {ptxas(), std::string("-arch=") + GetParam()->name, path_, "-o", "/dev/null"});
    return done && done->exit_code == 0;
  }

  std::string path_;
};

TEST_P(NvccFeatures, AreWhatTheAssemblerAccepts) {
  for (const Probe& probe : kProbes)
    EXPECT_EQ(accepts(probe.instruction), has(*GetParam(), probe.feature))
        << feature_name(probe.feature);
  EXPECT_EQ(accepts(kBlockScaled[0]) || accepts(kBlockScaled[1]),
            has(*GetParam(), Feature::BlockScaling));
}

std::vector<const Target*> all_targets() {
  std::vector<const Target*> all;
  for (const Target& target : targets()) all.push_back(&target);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Targets, NvccFeatures, testing::ValuesIn(all_targets()),
                         [](const auto& c) { return std::string(c.param->name); });

}  // namespace
}  // namespace kw::arch
