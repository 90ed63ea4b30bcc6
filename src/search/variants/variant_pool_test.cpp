#include "variants/variant_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"

namespace kw::variants {
namespace {

std::string shelved_text(const std::string& plan) {
  return "//! kernelwright 1\n//! task t\n//! input x: fp32[N]\n//! output y: fp32[N]\n" + plan +
         "//! launch f grid(N) block(THREADS) args(x, y)\n"
         "__global__ void f(const float* x, float* y);\n";
}

const std::string kPlainPlan = "//! tune THREADS in 256, 128\n";
const std::string kWidePlan =
    "//! tune THREADS in 256, 128, 512\n//! tune VEC in 4, 1\n//! tune STREAM in 0, 1\n"
    "//! method memory.vectorized_access when VEC > 1, off VEC=1\n"
    "//! method memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0\n"
    "//! method compute.reduction\n";
const std::string kEvenPlan =
    "//! tune THREADS in 256, 128\n//! tune VEC in 2, 1\n"
    "//! method memory.vectorized_access when VEC > 1 && N % VEC == 0, off VEC=1\n"
    "//! method memory.split_k_parallel_reduce\n";

VariantPool full_shelf() {
  VariantPool pool;
  pool.add("wide", shelved_text(kWidePlan));
  pool.add("even", shelved_text(kEvenPlan));
  pool.add("itself", shelved_text(kPlainPlan));
  pool.add("rubbish", "int main() {}\n");
  return pool;
}

struct WishCase {
  const char* name;
  std::vector<std::string> methods, inherited;
  int64_t n;
  std::vector<std::string> covered, lost;
  std::set<std::string> origins;  // of all variants
};
class ShelfWish : public testing::TestWithParam<WishCase> {};

TEST_P(ShelfWish, IsMetAsFarAsAnyModuleCan) {
  const WishCase& one = GetParam();
  const VariantPool pool = full_shelf();
  EXPECT_EQ(pool.size(), 3u) << "what is not a module is left out";
  const auto variants = pool.variants({one.methods, one.inherited, {{"N", one.n}}, {}}, 64);
  ASSERT_EQ(variants.empty(), one.covered.empty());
  std::set<std::string> origins;
  for (const Variant& variant : variants) {
    origins.insert(variant.origin);
    EXPECT_EQ(variant.covered, one.covered);
    EXPECT_EQ(variant.lost, one.lost);
    const auto parsed = kernel::parse(variant.text, "v.cu");
    ASSERT_TRUE(parsed.module) << variant.text;
    EXPECT_EQ(*kernel::default_tunes(*parsed.module), variant.tunes) << variant.text;
    const auto has = kernel::active_methods(*parsed.module, variant.tunes);
    for (const std::string& id : variant.covered)
      EXPECT_NE(std::ranges::find(has, id), has.end()) << id << " in\n" << variant.text;
  }
  EXPECT_EQ(origins, one.origins);
}

INSTANTIATE_TEST_SUITE_P(
    All, ShelfWish,
    testing::Values(WishCase{"one_method_of_two_modules",
                             {"memory.vectorized_access"},
                             {},
                             64,
                             {"memory.vectorized_access"},
                             {},
                             {"wide", "even"}},
                    WishCase{"not_at_these_dims",
                             {"memory.vectorized_access"},
                             {},
                             63,
                             {"memory.vectorized_access"},
                             {},
                             {"wide"}},
                    WishCase{"two_together",
                             {"memory.vectorized_access", "memory.ldg_cache_modifier_hint"},
                             {},
                             64,
                             {"memory.vectorized_access", "memory.ldg_cache_modifier_hint"},
                             {},
                             {"wide"}},
                    WishCase{"what_is_proven_stays",
                             {"memory.vectorized_access"},
                             {"compute.reduction"},
                             64,
                             {"memory.vectorized_access"},
                             {},
                             {"wide"}},
                    WishCase{"or_is_named",
                             {"memory.split_k_parallel_reduce"},
                             {"compute.reduction"},
                             64,
                             {"memory.split_k_parallel_reduce"},
                             {"compute.reduction"},
                             {"even"}},
                    WishCase{"not_all_go_together",
                             {"compute.reduction", "memory.split_k_parallel_reduce"},
                             {},
                             64,
                             {"compute.reduction"},
                             {},
                             {"wide"}},
                    WishCase{"any_module_can_be_resized",
                             {"compute.launch_config"},
                             {},
                             64,
                             {"compute.launch_config"},
                             {},
                             {"wide", "even", "itself"}},
                    WishCase{"nobody_has_it", {"compute.tensor_core"}, {}, 64, {}, {}, {}}),
    [](const auto& one) { return one.param.name; });

TEST(VariantPool, OffersWhatSomeValuesClaim) {
  const VariantPool pool = full_shelf();
  EXPECT_TRUE(pool.offers("memory.ldg_cache_modifier_hint", {{"N", 1}})) << "not by default";
  EXPECT_TRUE(pool.offers("compute.launch_config", {}));
  EXPECT_FALSE(pool.offers("memory.async_copy", {}));
  VariantPool rigid;
  rigid.add("rigid", shelved_text("//! tune THREADS in 256\n"));
  EXPECT_FALSE(rigid.offers("compute.launch_config", {})) << "there is nothing to choose";
}

TEST(VariantPool, TheBestGuessComesFirstAndWhatIsKnownNever) {
  const VariantPool pool = full_shelf();
  VariantRequest request{{"memory.vectorized_access"}, {}, {{"N", 64}}, {}};
  const auto all = pool.variants(request, 64);
  ASSERT_GT(all.size(), 4u);
  EXPECT_EQ(all[0].origin, "wide");
  EXPECT_EQ(all[1].origin, "even") << "by turns";
  EXPECT_EQ(all[0].tunes,
            (std::map<std::string, int64_t>{{"STREAM", 0}, {"THREADS", 256}, {"VEC", 4}}));
  const Variant& last = all.back();
  EXPECT_EQ(last.tunes.at("VEC"), last.origin == "wide" ? 4 : 2);
  const auto hinted = pool.variants({{"memory.ldg_cache_modifier_hint"}, {}, {}, {}}, 64);
  ASSERT_EQ(hinted.size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(hinted[i].tunes.at("VEC"), i < 3 ? 4 : 1) << "without the other method comes last";
  request.known.insert(identity(all[0].text));
  const auto rest = pool.variants(request, 64);
  EXPECT_EQ(rest.size(), all.size() - 1);
  for (const Variant& variant : rest) EXPECT_NE(identity(variant.text), identity(all[0].text));
  EXPECT_EQ(pool.variants(request, 2).size(), 2u);
}

TEST(VariantPool, IdentityIsWhatAModuleDoesByDefault) {
  const std::string text = shelved_text(kWidePlan);
  const std::string moved = kernel::with_tunes(text, {{"THREADS", 512}});
  EXPECT_NE(identity(text), identity(moved));
  EXPECT_EQ(identity(moved),
            identity(kernel::with_tunes(kernel::with_tunes(text, {{"THREADS", 128}}),
                                        {{"THREADS", 512}})));
  EXPECT_NE(identity(text), identity(shelved_text(kEvenPlan)));
  EXPECT_NE(identity("rubbish"), identity("other rubbish"));
}

// A resized module names its former block size, so that the choice can be undone.
TEST(VariantPool, AResizedModuleCanBeSwitchedBack) {
  VariantPool pool;
  pool.add("itself", shelved_text(kPlainPlan));
  const auto variants = pool.variants({{"compute.launch_config"}, {}, {}, {}}, 4);
  ASSERT_EQ(variants.size(), 1u);
  const auto parsed = kernel::parse(variants[0].text, "v.cu");
  ASSERT_TRUE(parsed.module) << variants[0].text;
  const auto off = kernel::without_method(*parsed.module, "compute.launch_config");
  ASSERT_TRUE(off) << off.error().message;
  EXPECT_EQ(off->tunes.at("THREADS"), 256);
}

}  // namespace
}  // namespace kw::variants
