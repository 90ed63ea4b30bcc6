// Tests exact quotients, and names that several traces use for different things.
#include "plan/even.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "plan/distinct.h"

namespace kw::generate {
namespace {

Graph of_shape(const Shape& shape) {
  Graph graph;
  Node input;
  input.op = Op::Input;
  input.shape = shape;
  graph.nodes.push_back(input);
  return graph;
}

TEST(EvenQuotients, MakeTheDimAMultiple) {
  const Dim d = Dim::symbol("D", 4096);
  const auto even = with_even_quotients(
      of_shape({d, floor_div(d, Dim(4)), floor_div(d, Dim(2)), Dim::symbol("B", 3)}),
      {{"B", 3}, {"D", 4096}});
  ASSERT_TRUE(even);
  const Shape& shape = even->nodes[0].shape;
  EXPECT_EQ(graph::shape_text(shape), "[4 * (D / 4), (D / 4), 2 * (D / 4), B]");
  EXPECT_EQ(graph::values_text(shape), "[4096, 1024, 2048, 3]");
  EXPECT_EQ(even->guards, std::vector<std::string>{"D % 4 == 0"});
}

TEST(EvenQuotients, AreNoneWhereARestIsLeft) {
  const Dim d = Dim::symbol("D", 4097);
  EXPECT_FALSE(with_even_quotients(of_shape({d, floor_div(d, Dim(4))}), {{"D", 4097}}));
  const Dim six = Dim::symbol("D", 6);
  EXPECT_FALSE(with_even_quotients(of_shape({six, floor_div(six, Dim(2)), floor_div(six, Dim(3))}),
                                   {{"D", 6}}))
      << "neither quotient is a multiple of the other";
  EXPECT_FALSE(with_even_quotients(of_shape({six}), {{"D", 6}}));
}

Sequence with_lets(const std::string& packs) {
  Kernel kernel;
  kernel.lets = {{"PACKS", packs}, {"ITEMS", "1 + (PACKS > 1)"}};
  kernel.scratch = {{"parts", DType::Fp32, packs, ""}};
  kernel.variants = {{"PACKS <= 16", {Launch{"PACKS<int, ITEMS>", "PACKS", "256", "", {"parts"}}}}};
  Sequence sequence;
  sequence.kernels = {kernel};
  return sequence;
}

TEST(DistinctNames, AreGivenWhereMeaningsDiffer) {
  std::vector<Sequence> all = {with_lets("B"), with_lets("B"), with_lets("D")};
  make_distinct(all);
  const Kernel &same = all[1].kernels[0], &other = all[2].kernels[0];
  EXPECT_EQ(same.lets[0].first, "PACKS");
  EXPECT_EQ(same.scratch[0].name, "parts");
  const std::vector<std::pair<std::string, std::string>> lets = {
      {"PACKS_S2", "D"}, {"ITEMS_S2", "1 + (PACKS_S2 > 1)"}};
  EXPECT_EQ(other.lets, lets);
  EXPECT_EQ(other.variants[0].when, "PACKS_S2 <= 16");
  const Launch& launch = other.variants[0].launches[0];
  EXPECT_EQ(launch.kernel, "PACKS<int, ITEMS_S2>") << "a function keeps its name";
  EXPECT_EQ(launch.grid, "PACKS_S2");
  EXPECT_EQ(launch.args, std::vector<std::string>{"parts_S2"});
}

}  // namespace
}  // namespace kw::generate
