#include "workflows/evolve.h"

#include <gtest/gtest.h>

#include "core/json_reader.h"
#include "core/json_writer.h"
#include "graph/builder.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

struct EvolveCase {
  const char* name;
  EvolveRequest request;
  const char* problem;  // a part of the message; "": no Error
};

EvolveRequest evolve_with(int64_t EvolveRequest::*value, int64_t number) {
  EvolveRequest request;
  request.*value = number;
  return request;
}

EvolveRequest in_mode(const std::string& mode) {
  EvolveRequest request;
  request.mode = mode;
  return request;
}

EvolveRequest asking(const std::string& arm) {
  EvolveRequest request;
  request.ensemble = {arm};
  return request;
}

class CheckEvolve : public ::testing::TestWithParam<EvolveCase> {};
TEST_P(CheckEvolve, SaysWhatIsWrong) {
  const Status checked = check_evolve(GetParam().request);
  EXPECT_EQ(static_cast<bool>(checked), std::string(GetParam().problem).empty());
  if (checked) return;
  EXPECT_EQ(checked.error().blame, Blame::Input);
  EXPECT_NE(checked.error().message.find(GetParam().problem), std::string::npos)
      << checked.error().message;
}
INSTANTIATE_TEST_SUITE_P(
    Requests, CheckEvolve,
    ::testing::Values(
        EvolveCase{"defaults", {}, ""},
        EvolveCase{"generations", evolve_with(&EvolveRequest::generations, 0), "--generations"},
        EvolveCase{"proposals", evolve_with(&EvolveRequest::proposals, -1), "--proposals"},
        EvolveCase{"hardware", evolve_with(&EvolveRequest::hardware, 9), "no more can be judged"},
        EvolveCase{"islands", evolve_with(&EvolveRequest::islands, 65), "--islands"},
        EvolveCase{"in_flight", evolve_with(&EvolveRequest::in_flight, 0), "--in-flight"},
        EvolveCase{"mode", in_mode("translat"), "did you mean 'translate'"},
        EvolveCase{"arm", asking("openai:x:0.5:high"), ""},
        EvolveCase{"hot", asking("openai:x:3.5"), "0 to 2"}),
    [](const auto& one) { return one.param.name; });

TEST(EvolveRequestJson, ComesBack) {
  EvolveRequest request = evolve_with(&EvolveRequest::generations, 3);
  request.verifiers = request.shape_info = false;
  request.ensemble = {"a:b:0.5", "c:d:high"};
  request.seed = 17;
  request.mode = "optimize";
  const Json json = record_json(request);
  EXPECT_EQ(record_json(read_record<EvolveRequest>(json)).dump(), json.dump());
  EXPECT_EQ(record_json(read_record<EvolveRequest>(Json())).dump(),
            record_json(EvolveRequest{}).dump());
}

/// Accepts every shape with an even B; for a square, both dims are equal.
class EvenRows : public task::Reference {
 public:
  explicit EvenRows(bool square = false) : square_(square) {}
  Result<graph::Graph> trace(const task::Dims& dims) const override {
    if (dims.at("B") % 2 != 0) return input_error("B must be even");
    if (square_ && dims.at("B") != dims.at("D")) return input_error("B must be D");
    graph::Builder builder;
    const graph::NodeId x = builder.input("x", tensor::DType::Fp32,
                                          {graph::Dim(dims.at("B")), graph::Dim(dims.at("D"))});
    const graph::NodeId y = KW_TRY(builder.unary(graph::Op::Exp, x));
    return std::move(builder).finish({{"y", y}});
  }

 private:
  bool square_;
};

double elements_of(const task::Dims& dims) {
  double count = 1;
  for (const auto& [name, value] : dims) count *= static_cast<double>(value);
  return count;
}

task::Task task_of(const task::Dims& tuned, bool square) {
  task::Task task;
  task.inputs.resize(1);
  task.inputs[0].name = "x";
  task.inputs[0].shape = {"B", "D"};
  task.reference = std::make_shared<EvenRows>(square);
  for (const auto& [name, value] : tuned) task.dims[name] = {};
  task.benchmark_shapes = {tuned};
  return task;
}

TEST(UnseenShapes, ChangeOneDimAtATime) {
  const task::Dims tuned = {{"B", 4096}, {"D", 1024}};
  const task::Task task = task_of(tuned, false);
  const std::vector<task::Dims> want = {
      {{"B", 2048}, {"D", 1024}}, {{"B", 4096}, {"D", 2048}}, {{"B", 4096}, {"D", 821}}};
  EXPECT_EQ(unseen_shapes(task, tuned, 5), want) << "an odd B is refused, so D is odd";
}

TEST(UnseenShapes, OfOneDimAreSmallerLargerAndOdd) {
  task::Task task = task_of({{"B", 2}, {"D", 1000}}, false);
  task.dims.erase("B");
  const std::vector<task::Dims> want = {
      {{"B", 2}, {"D", 500}}, {{"B", 2}, {"D", 2000}}, {{"B", 2}, {"D", 801}}};
  EXPECT_EQ(unseen_shapes(task, {{"B", 2}, {"D", 1000}}, 5), want);
}

TEST(UnseenShapes, AreNoLargerThanMemoryAllows) {
  const task::Dims tuned = {{"B", 1 << 15}, {"D", 26000}};  // 6.8 GB, read and written
  for (const task::Dims& dims : unseen_shapes(task_of(tuned, false), tuned, 5))
    EXPECT_LE(8 * elements_of(dims), 8.6e9) << task::dims_text(dims);
}

TEST(UnseenShapes, ChangeTogetherWhereTheyMust) {
  const task::Dims tuned = {{"B", 512}, {"D", 512}};
  const std::vector<task::Dims> shapes = unseen_shapes(task_of(tuned, true), tuned, 5);
  ASSERT_FALSE(shapes.empty());
  EXPECT_EQ(shapes.front(), (task::Dims{{"B", 256}, {"D", 256}}));
}

TEST(UnseenShapes, AreOthersThatTheReferenceTakes) {
  task::Task task = task_of({{"B", 64}, {"D", 4096}}, false);
  task.dims["B"] = {};
  task.dims["D"] = {8, 4096, 8};
  const task::Dims tuned = {{"B", 64}, {"D", 4096}};
  task.benchmark_shapes = {tuned, {{"B", 2}, {"D", 8}}};
  const std::vector<task::Dims> shapes = unseen_shapes(task, tuned, 4);
  ASSERT_GE(shapes.size(), 3u);
  EXPECT_EQ(shapes[0], task.benchmark_shapes[1]) << "the task's own come first";
  for (const task::Dims& dims : shapes) {
    EXPECT_NE(dims, tuned);
    EXPECT_EQ(dims.at("B") % 2, 0);
    EXPECT_EQ(dims.at("D") % 8, 0);
    EXPECT_LE(dims.at("D"), 4096);
  }
  EXPECT_EQ(unseen_shapes(task, tuned, 1).size(), 1u);
  task.dims.clear();
  task.benchmark_shapes = {tuned};
  EXPECT_TRUE(unseen_shapes(task, tuned, 4).empty()) << "nothing may change";
}

TEST(EvolutionText, FlagsWhatDoesNotGeneralise) {
  UnseenShape bad;
  bad.dims = "N=7";
  bad.us = 2;
  bad.baseline_us = 1;
  bad.relative = 0.5;
  bad.flagged = true;
  UnseenShape unknown;
  unknown.dims = "N=8";
  unknown.problem = "no shape is small enough";
  Json evolution = Json::object();
  evolution.set("unseen_shapes", Json::array().push(to_json(bad)).push(to_json(unknown)));
  evolution.set(
      "arms",
      Json::array().push(Json::object().set("arm", "a:b").set("asked", 3).set("gone", "no key")));
  const std::string text = evolution_text(evolution, false);
  EXPECT_NE(text.find("N=7: 2.00 us, compared with 1.00 us"), std::string::npos) << text;
  EXPECT_NE(text.find("does not generalise"), std::string::npos);
  EXPECT_NE(text.find("N=8: unknown, no shape is small enough"), std::string::npos);
  EXPECT_NE(text.find("a:b: asked 3 times"), std::string::npos);
  EXPECT_NE(text.find("no key"), std::string::npos);
  EXPECT_NE(evolution_text(evolution, true).find("## "), std::string::npos);
}

}  // namespace
}  // namespace kw::workflows
