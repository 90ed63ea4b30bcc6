#include "optimize/bench_file.h"

#include <gtest/gtest.h>

namespace kw::optimize {
namespace {

std::string repro_of(const std::string& repro) {
  State state;
  state.run_dir = "/runs/my run";
  ports::Outcome raced;
  raced.verdict = "wrong";
  raced.documents = Json::object().set("verdict", Json::object().set("repro", repro));
  const Json document = bench_document(state, "iterv1/branches/b1/kernel.cu", raced);
  return document["details"]["verdict"]["repro"].as_string();
}

TEST(BenchFile, ShowsAFaultAgainWithTheRunsOwnKernel) {
  EXPECT_EQ(
      repro_of("kernelwright verify /tmp/x/judged/candidates/12/module.cu --dims '{\"B\":3}'"),
      "kernelwright verify '/runs/my run/iterv1/branches/b1/kernel.cu' --dims '{\"B\":3}'");
  const std::string other = "kernelwright verify other.cu --reference a/module.cu x";
  EXPECT_EQ(repro_of(other), other);
}

}  // namespace
}  // namespace kw::optimize
