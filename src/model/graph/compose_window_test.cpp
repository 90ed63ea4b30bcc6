// Convolutions, pools and resizing: shapes as expressions, their guards, and refusals. The tests of
// the op table check the values.
#include <gtest/gtest.h>

#include "graph/compose_attention.h"
#include "graph/compose_conv.h"
#include "graph/compose_interpolate.h"
#include "graph/compose_pool.h"
#include "graph/graph.h"

namespace kw::graph {
namespace {

struct Case {
  const char* name;
  Result<NodeId> (*make)(Builder& b);
  const char* shape;                // of the result; "" when refused
  std::vector<std::string> guards;  // or the message of the Error
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

NodeId image(Builder& b, DType type = DType::Fp32) {
  return b.input(
      "x", type,
      {Dim::symbol("N", 2), Dim::symbol("C", 4), Dim::symbol("H", 9), Dim::symbol("W", 8)});
}

Conv plain(size_t n, int64_t stride, int64_t pad) {
  Conv how;
  how.stride.assign(n, stride);
  how.dilation.assign(n, 1);
  how.before.assign(n, Dim(pad));
  how.after = how.before;
  return how;
}

Pool pool_of(int64_t size, int64_t stride, int64_t pad, bool ceil) {
  return {{size, size}, {stride, stride}, {pad, pad}, {1, 1}, ceil};
}

Result<NodeId> padded_conv(Builder& b) {
  const NodeId x = image(b);
  const NodeId w = b.input("w", DType::Fp32, {Dim::symbol("K", 5), Dim::symbol("C", 4), 3, 3});
  return conv(b, x, w, {}, plain(2, 1, 1));
}

Result<NodeId> strided_half_conv(Builder& b) {
  const NodeId x = image(b, DType::Fp16);
  const NodeId w = b.input("w", DType::Fp16, {Dim::symbol("K", 5), Dim::symbol("C", 4), 3, 3});
  const NodeId bias = b.input("b", DType::Fp16, {Dim::symbol("K", 5)});
  return conv(b, x, w, bias, plain(2, 2, 0));
}

Result<NodeId> depthwise(Builder& b) {
  const NodeId x = image(b);
  const NodeId w = b.input("w", DType::Fp32, {Dim::symbol("C", 4), 1, 3, 3});
  Conv how = plain(2, 1, 1);
  how.groups = Dim::symbol("C", 4);
  return conv(b, x, w, {}, how);
}

Result<NodeId> channels_by_chance(Builder& b) {
  const NodeId x = image(b);
  const NodeId w = b.input("w", DType::Fp32, {5, Dim::symbol("D", 4), 1, 1});
  return conv(b, x, w, {}, plain(2, 1, 0));
}

Result<NodeId> transposed(Builder& b) {
  const NodeId x = image(b);
  const NodeId w = b.input("w", DType::Fp32, {Dim::symbol("C", 4), Dim::symbol("K", 5), 3, 3});
  return conv_transpose(b, x, w, {}, {{2, 2}, {1, 1}, {1, 1}, {1, 1}, 1});
}

Result<NodeId> too_small(Builder& b) {
  const NodeId x = b.input("x", DType::Fp32, {1, 4, 2, 2});
  const NodeId w = b.input("w", DType::Fp32, {5, 4, 3, 3});
  return conv(b, x, w, {}, plain(2, 1, 0));
}

Result<NodeId> no_groups(Builder& b) {
  const NodeId x = image(b);
  const NodeId w = b.input("w", DType::Fp32, {5, 4, 3, 3});
  Conv how = plain(2, 1, 0);
  how.groups = 0;
  return conv(b, x, w, {}, how);
}

Result<NodeId> integers(Builder& b) {
  const NodeId x = image(b, DType::Int64);
  const NodeId w = b.input("w", DType::Int64, {5, 4, 3, 3});
  return conv(b, x, w, {}, plain(2, 1, 0));
}

Result<NodeId> halves(Builder& b) { return max_pool(b, image(b), pool_of(2, 2, 0, false)); }
Result<NodeId> ceiled(Builder& b) { return max_pool(b, image(b), pool_of(3, 2, 0, true)); }
Result<NodeId> wide_pad(Builder& b) { return max_pool(b, image(b), pool_of(3, 1, 2, false)); }
Result<NodeId> global(Builder& b) { return adaptive_avg_pool(b, image(b), {Dim(1), Dim(1)}); }
Result<NodeId> even_bins(Builder& b) { return adaptive_avg_pool(b, image(b), {Dim(3), Dim(4)}); }
Result<NodeId> uneven_bins(Builder& b) { return adaptive_max_pool(b, image(b), {Dim(4), {}}); }
Result<NodeId> no_bins(Builder& b) { return adaptive_max_pool(b, image(b), {Dim(0), {}}); }

Result<NodeId> doubled(Builder& b) {
  const NodeId x = image(b);
  return nearest(b, x, 3, *resize_by(b.extent(x, 3), 2.0), false);
}

Result<NodeId> half_again(Builder& b) {
  const NodeId x = image(b);
  return linear_between(b, x, 2, *resize_by(b.extent(x, 2), 1.5), false);
}

Result<NodeId> shared_heads(Builder& b) {
  const Dim length = Dim::symbol("L", 6), width = Dim::symbol("E", 8);
  const NodeId q = b.input("q", DType::Fp16, {2, 6, length, width});
  const NodeId k = b.input("k", DType::Fp16, {2, 3, length, width});
  Attention how;
  how.grouped = how.causal = true;
  return attention(b, q, k, k, how);
}

Result<NodeId> odd_heads(Builder& b) {
  const NodeId q = b.input("q", DType::Fp16, {2, 6, 5, 8});
  const NodeId k = b.input("k", DType::Fp16, {2, 4, 5, 8});
  Attention how;
  how.grouped = true;
  return attention(b, q, k, k, how);
}

class Sliding : public testing::TestWithParam<Case> {};

TEST_P(Sliding, HasItsShapeAndGuards) {
  const Case& one = GetParam();
  Builder b;
  const Result<NodeId> made = one.make(b);
  if (one.shape[0] == '\0') {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().blame, Blame::Input);
    for (const std::string& words : one.guards) {
      EXPECT_NE(made.error().message.find(words), std::string::npos) << made.error().message;
    }
    return;
  }
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(shape_text(b[*made].shape), one.shape);
  const Graph graph = std::move(b).finish({{"y", *made}});
  const Status sound = verify(graph);
  EXPECT_TRUE(sound) << sound.error().message;
  EXPECT_EQ(graph.guards, one.guards);
}

INSTANTIATE_TEST_SUITE_P(
    All, Sliding,
    testing::Values(
        Case{"padded_conv", padded_conv, "[N, K, H, W]", {"3 <= H + 2", "3 <= W + 2"}},
        Case{"strided",
             strided_half_conv,
             "[N, K, ((H + 1) / 2) - 1, ((W + 1) / 2) - 1]",
             {"3 <= H", "3 <= W"}},
        Case{"depthwise", depthwise, "[N, C, H, W]", {"3 <= H + 2", "3 <= W + 2"}},
        Case{"channels", channels_by_chance, "[N, 5, H, W]", {"C == D", "1 <= H", "1 <= W"}},
        Case{"transposed", transposed, "[N, K, 2 * H, 2 * W]", {}},
        Case{"too_small", too_small, "", {"(2 x 2)", "(3 x 3)", "can't be greater"}},
        Case{"no_groups", no_groups, "", {"non-positive groups"}},
        Case{"integers", integers, "", {"not implemented for 'Long'"}},
        Case{"halves", halves, "[N, C, (H / 2), (W / 2)]", {"2 <= H", "2 <= W"}},
        Case{"ceiled",
             ceiled,
             "[N, C, ((H + 1) / 2) - 1, (W / 2)]",
             {"2 * (H / 2) - 1 <= H", "2 * (W / 2) - 1 <= W", "3 <= 2 * (H / 2) + 1",
              "2 * (H / 2) + 1 - H == 0", "3 <= 2 * (W / 2) + 1", "1 <= 2 * (W / 2) + 1 - W"}},
        Case{"wide_pad", wide_pad, "", {"at most half of effective kernel size"}},
        Case{"global", global, "[N, C, 1, 1]", {}},
        Case{"even_bins", even_bins, "[N, C, 3, 4]", {"H % 3 == 0", "W % 4 == 0"}},
        Case{"uneven_bins", uneven_bins, "[N, C, 4, W]", {}},
        Case{"no_bins", no_bins, "", {"greater than zero"}},
        Case{"doubled", doubled, "[N, C, H, 2 * W]", {}},
        Case{"half_again", half_again, "[N, C, (H / 2) + H, W]", {}},
        Case{"shared_heads", shared_heads, "[2, 6, L, E]", {}},
        Case{"odd_heads", odd_heads, "", {"must divide the number of heads"}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Sliding, FactorsAreRatiosOfSmallNumbers) {
  EXPECT_EQ(resize_by(10, 2.5)->size.value(), 25);
  EXPECT_EQ(resize_by(10, 1.0 / 3)->size.value(), 3);
  EXPECT_EQ(resize_by(7, 0.3)->size.value(), 2);
  EXPECT_FALSE(resize_by(7, 0.0));
  EXPECT_FALSE(resize_by(7, -1.0));
  EXPECT_FALSE(resize_by(7, 1e9));
  EXPECT_FALSE(resize_by(7, 3.14159265358979));
}

// Half types are rounded once. With a bias the product is fp32; without one it is the half type.
TEST(Sliding, AConvolutionRoundsOnce) {
  Builder b;
  const NodeId y = strided_half_conv(b).value();
  EXPECT_EQ(b.dtype(y), DType::Fp16);
  int products = 0;
  for (NodeId i = 0; i <= y; ++i) {
    if (b[i].op != Op::MatMul) continue;
    ++products;
    EXPECT_EQ(b.dtype(i), DType::Fp32);
  }
  EXPECT_EQ(products, 1);
}

}  // namespace
}  // namespace kw::graph
