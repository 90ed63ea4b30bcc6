#include "arch/features.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::arch {
namespace {

struct FeatureCase {
  const char* feature;
  const char* targets;  // for which ptxas 13.0 accepts such an instruction
};

constexpr const char* kFrom75 =
    "sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a";
constexpr const char* kFrom80 =
    "sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a";
constexpr const char* kFrom90 = "sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a";

class Features : public testing::TestWithParam<FeatureCase> {};

TEST_P(Features, AreThoseThatPtxasAccepts) {
  const auto feature = feature_from_name(GetParam().feature);
  ASSERT_TRUE(feature);
  EXPECT_STREQ(feature_name(*feature), GetParam().feature);
  EXPECT_EQ(join(targets_with(std::vector{*feature}), " "), GetParam().targets);
}

INSTANTIATE_TEST_SUITE_P(
    All, Features,
    testing::Values(
        FeatureCase{"tensor_core", kFrom75}, FeatureCase{"int8_tensor_core", kFrom75},
        FeatureCase{"tf32_tensor_core", kFrom80}, FeatureCase{"structured_sparsity", kFrom80},
        FeatureCase{"fp8_tensor_core",
                    "sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a"},
        FeatureCase{"ldmatrix", kFrom75}, FeatureCase{"stmatrix", kFrom90},
        FeatureCase{"cp_async", kFrom80}, FeatureCase{"l2_persistence", kFrom80},
        FeatureCase{"l2_prefetch", kFrom75}, FeatureCase{"redux", kFrom80},
        FeatureCase{"mbarrier", kFrom80}, FeatureCase{"mbarrier_try_wait", kFrom90},
        FeatureCase{"cluster", kFrom90}, FeatureCase{"distributed_shared", kFrom90},
        FeatureCase{"tma", kFrom90}, FeatureCase{"pdl", kFrom90}, FeatureCase{"wgmma", "sm_90a"},
        FeatureCase{"setmaxnreg", "sm_90a sm_100a sm_103a sm_120a"},
        FeatureCase{"tcgen05", "sm_100a sm_103a"},
        FeatureCase{"block_scaling", "sm_100a sm_103a sm_120a"},
        FeatureCase{"cluster_launch_control", "sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a"}),
    [](const auto& c) { return std::string(c.param.feature); });

TEST(Features, LackingNamesEveryMissingOne) {
  const std::vector<Feature> wanted = {Feature::TensorCore, Feature::Wgmma, Feature::Tma};
  EXPECT_EQ(lacking(*find_target("sm_90a"), wanted).size(), 0u);
  EXPECT_EQ(lacking(*find_target("sm_90"), wanted), std::vector{Feature::Wgmma});
  EXPECT_EQ(lacking(*find_target("sm_80"), wanted).size(), 2u);
  EXPECT_EQ(feature_from_name("warp_drive"), std::nullopt);
  EXPECT_EQ(feature_names().size(), static_cast<size_t>(kFeatures));
}

}  // namespace
}  // namespace kw::arch
