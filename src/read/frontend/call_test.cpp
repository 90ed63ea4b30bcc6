#include "frontend/call.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw::frontend {
namespace {

using graph::Dim;

constexpr const char* kSignature = "input, dim=None, *, keepdim=False, mode='mean'";

struct BindCase {
  const char* name;
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
  const char* error;  // "" if the call binds
};

class Bind : public testing::TestWithParam<BindCase> {};

TEST_P(Bind, AsPythonDoes) {
  graph::Builder graph;
  const auto call =
      Call::bind(graph, "torch.total", kSignature, GetParam().positional, GetParam().keywords);
  EXPECT_EQ(call ? "" : call.error().message, GetParam().error);
}

const BindCase kBindCases[] = {
    {"all", {1.0, Dim(1)}, {{"keepdim", true}, {"mode", "sum"}}, ""},
    {"numpy_names", {1.0}, {{"axis", Dim(0)}, {"keepdims", true}}, ""},
    {"irrelevant", {1.0}, {{"device", "cuda"}, {"requires_grad", true}}, ""},
    {"missing", {}, {}, "total() missing required argument 'input'"},
    {"too_many", {1.0, Dim(1), true}, {}, "total() takes 2 positional arguments but 3 were given"},
    {"unknown",
     {1.0},
     {{"kepdim", true}},
     "total() got an unexpected keyword argument 'kepdim' (did you mean 'keepdim'?)"},
    {"twice", {1.0}, {{"input", 2.0}}, "total() got multiple values for argument 'input'"},
};
INSTANTIATE_TEST_SUITE_P(All, Bind, testing::ValuesIn(kBindCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(BindRest, TakesATupleOrManyArguments) {
  graph::Builder graph;
  for (const auto& positional :
       {std::vector<Value>{1.0, Dim(2), Dim(3)}, {1.0, make_tuple({Dim(2), Dim(3)})}}) {
    auto call = Call::bind(graph, "view", "input, *shape", positional, {});
    ASSERT_TRUE(call);
    const auto sizes = call->sizes("shape");
    ASSERT_TRUE(sizes);
    EXPECT_EQ(graph::values_of(*sizes), (std::vector<int64_t>{2, 3}));
  }
  auto by_name =
      Call::bind(graph, "view", "input, *shape", {1.0}, {{"shape", make_list({Dim(4), Dim(-1)})}});
  ASSERT_TRUE(by_name);
  EXPECT_EQ(graph::values_of(*by_name->sizes("shape")), (std::vector<int64_t>{4, -1}));
  auto none = Call::bind(graph, "view", "input, *shape", {1.0}, {});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->sizes("shape")->empty());
}

TEST(BindDefaults, AreNotGiven) {
  graph::Builder graph;
  auto call =
      Call::bind(graph, "f", "a, b=2.5, c=-3, d=None, e='x', f=inf", {Dim(1)}, {{"d", None{}}});
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->given("a"));
  EXPECT_FALSE(call->given("b"));
  EXPECT_FALSE(call->given("d"));
  EXPECT_EQ(*call->number("b"), 2.5);
  EXPECT_EQ(*call->integer("c"), -3);
  EXPECT_EQ(*call->text("e"), "x");
  EXPECT_EQ(*call->number("f"), INFINITY);
}

struct TypeCase {
  const char* name;
  Value value;
  std::string (*get)(Call&);
  const char* error;
};

template <typename T>
std::string message(const Result<T>& result) {
  return result ? "" : result.error().message;
}

class Types : public testing::TestWithParam<TypeCase> {};

TEST_P(Types, AreCheckedByName) {
  graph::Builder graph;
  graph.input("t", tensor::DType::Fp32, {Dim(2), Dim(3)});
  auto call = Call::bind(graph, "f", "a", {GetParam().value}, {});
  ASSERT_TRUE(call);
  EXPECT_EQ(GetParam().get(*call), GetParam().error);
}

const TypeCase kTypeCases[] = {
    {"tensor", 1.0, [](Call& c) { return message(c.tensor("a")); },
     "f(): argument 'a' must be Tensor, not float"},
    {"operand", "s", [](Call& c) { return message(c.operand("a")); },
     "f(): argument 'a' must be Tensor or Number, not str"},
    {"integer", 1.5, [](Call& c) { return message(c.integer("a")); },
     "f(): argument 'a' must be int, not float"},
    {"integer_of_tensor", Tensor(0), [](Call& c) { return message(c.integer("a")); },
     "f(): argument 'a' must be an int known before the run, not a tensor's value"},
    {"number", None{}, [](Call& c) { return message(c.number("a")); },
     "f(): argument 'a' must be Number, not NoneType"},
    {"boolean", 1.5, [](Call& c) { return message(c.boolean("a")); },
     "f(): argument 'a' must be bool, not float"},
    {"text", Dim(1), [](Call& c) { return message(c.text("a")); },
     "f(): argument 'a' must be str, not int"},
    {"dtype", Dim(1), [](Call& c) { return message(c.dtype("a")); },
     "f(): argument 'a' must be torch.dtype, not int"},
    {"dims_twice", make_tuple({Dim(1), Dim(-1)}), [](Call& c) { return message(c.dims("a", 0)); },
     "f(): dim 1 appears multiple times in argument 'a'"},
    {"dims_kind", make_tuple({Dim(1), 2.0}), [](Call& c) { return message(c.dims("a", 0)); },
     "f(): argument 'a' must be int or tuple of ints, not tuple"},
    {"sizes_kind", make_tuple({Dim(1), 2.0}), [](Call& c) { return message(c.sizes("a")); },
     "f(): argument 'a' must be a tuple of ints, but element 1 is float"},
    {"tensors_kind", make_list({Tensor(0), 2.0}), [](Call& c) { return message(c.tensors("a")); },
     "f(): expected Tensor as element 1 in argument 'a', but got float"},
};
INSTANTIATE_TEST_SUITE_P(All, Types, testing::ValuesIn(kTypeCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(CallDims, WrapSortAndMeanAll) {
  graph::Builder graph;
  graph.input("t", tensor::DType::Fp32, {Dim(2), Dim(3), Dim(4)});
  const auto dims_of = [&](Value value) {
    return *Call::bind(graph, "f", "a", {std::move(value)}, {})->dims("a", 0);
  };
  EXPECT_EQ(dims_of(None{}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(dims_of(make_tuple({})), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(dims_of(Dim(-1)), (std::vector<int>{2}));
  EXPECT_EQ(dims_of(make_tuple({Dim(-1), Dim(0)})), (std::vector<int>{0, 2}));
}

}  // namespace
}  // namespace kw::frontend
