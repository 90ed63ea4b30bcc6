// What the built-in author writes for plain kernels: every branch passes the gate, claims what it
// was asked for, and is still right with each of its methods switched off.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "catalog/catalog.h"
#include "compile/compile_worker.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "machine/devices.h"
#include "os/files.h"
#include "workflows/claimed_methods.h"
#include "workflows/task_tools.h"

namespace kw {
namespace {

struct Plain {
  const char* name;
  std::map<std::string, int64_t> dims;  // small, so that the virtual GPU is quick
  std::vector<std::string> methods;     // that must be on offer
  int branches = 1;
};

std::ostream& operator<<(std::ostream& out, const Plain& plain) { return out << plain.name; }

const Plain kPlain[] = {
    {"softmax",
     {{"B", 16}, {"D", 1024}},
     {"memory.vectorized_access", "compute.ilp_unroll_register_tile", "compute.warp_shuffle",
      "memory.ldg_cache_modifier_hint", "compute.launch_config"},
     2},
    {"layernorm",
     {{"B", 64}, {"D", 1024}},
     {"memory.vectorized_access", "compute.ilp_unroll_register_tile", "compute.warp_shuffle"}},
    {"batchnorm",
     {{"N", 64}, {"C", 4}, {"H", 56}, {"W", 56}},
     {"memory.vectorized_access", "memory.split_k_parallel_reduce", "compute.reduction"}},
    {"transpose",
     {{"M", 256}, {"N", 256}},
     {"memory.coalesced_access", "memory.tiling_smem", "memory.bank_conflict"}},
    {"reduction",
     {{"N", 65536}},
     {"memory.vectorized_access", "memory.split_k_parallel_reduce", "compute.reduction"}},
    {"histogram", {{"N", 65536}}, {"latency.atomic_optimize"}},
    {"scan",
     {{"B", 64}, {"D", 1024}},
     {"memory.vectorized_access", "compute.warp_shuffle", "compute.ilp_unroll_register_tile"}},
    {"gemm",
     {{"M", 64}, {"N", 64}, {"K", 32}},
     {"memory.tiling_smem", "compute.ilp_unroll_register_tile", "compute.overlap_compute_memory"}},
};

/// The first, with one branch; KW_AUTHOR_ALL=1 tries all eight.
std::vector<Plain> asked_for() {
  if (!os::env("KW_AUTHOR_ALL").empty()) return {std::begin(kPlain), std::end(kPlain)};
  Plain first = kPlain[0];
  first.branches = 1;
  return {first};
}

class AuthorOf : public testing::TestWithParam<Plain> {
 protected:
  void SetUp() override {
    if (const auto compiler = machine::open_compiler(""); !compiler)
      GTEST_SKIP() << compiler.error().message;
    const std::string folder = std::string(KW_PLAIN) + "/" + GetParam().name;
    workflows::TaskToolsRequest request;
    request.reference = folder + "/reference.py";
    request.dims = GetParam().dims;
    request.device = "vgpu";
    request.target = "sm_90a";
    request.cross_check = "never";
    request.seed = 7;
    auto opened = workflows::open_task_tools(request);
    ASSERT_TRUE(opened) << opened.error().message;
    tools = std::move(opened).value();
    auto made = workflows::builtin_author(*tools);
    ASSERT_TRUE(made) << made.error().message;
    author = std::move(made).value();
    auto text = os::read_file(folder + "/kernel.cu");
    ASSERT_TRUE(text) << text.error().message;
    parent = std::move(text).value();
  }
  std::vector<std::string> offered() {
    std::vector<std::string> ids;
    for (const catalog::Method& method : catalog::methods()) {
      if (author->cannot_apply(method.id, parent).empty()) ids.push_back(method.id);
    }
    return ids;
  }

  std::unique_ptr<workflows::TaskTools> tools;
  std::unique_ptr<optimize::Author> author;
  std::string parent;
};

TEST_P(AuthorOf, EveryBranchIsRightWithAndWithoutItsMethods) {
  const std::vector<std::string> ids = offered();
  for (const std::string& method : GetParam().methods)
    EXPECT_NE(std::ranges::find(ids, method), ids.end()) << method;
  optimize::Assignment ask;
  ask.parent = parent;
  ask.methods = ids;
  ask.branches = GetParam().branches;
  const auto written = author->write(ask);
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_FALSE(written->branches.empty()) << join(written->cannot, "; ");
  EXPECT_EQ(written->applied.size() + written->cannot.size(), ids.size());
  std::vector<std::string> kernels = {parent}, names = {"parent"};
  for (const optimize::Branch& branch : written->branches) {
    const auto parsed = kernel::parse(branch.text, "branch.cu");
    ASSERT_TRUE(parsed.module) << branch.text;
    const auto tunes = kernel::default_tunes(*parsed.module);
    ASSERT_TRUE(tunes) << tunes.error().message;
    const auto claimed = kernel::active_methods(*parsed.module, *tunes);
    for (const std::string& id : written->applied)
      EXPECT_NE(std::ranges::find(claimed, id), claimed.end()) << branch.note << " lacks " << id;
    const auto empty = workflows::Claims(*tools).empty(branch.text, parent);
    ASSERT_TRUE(empty) << empty.error().message;
    EXPECT_EQ(join(*empty, " "), "") << "claimed and not there: " << branch.note;
    kernels.push_back(branch.text);
    names.push_back(branch.note);
    if (&branch != &written->branches.front()) continue;
    for (const std::string& id : claimed) {
      const auto off = kernel::without_method(*parsed.module, id);
      if (!off) continue;
      kernels.push_back(off->text);
      names.push_back("without " + id);
    }
  }
  const auto raced = optimize::race(*tools->judge, kernels);
  ASSERT_TRUE(raced) << raced.error().message;
  for (size_t i = 0; i < raced->size(); ++i) {
    EXPECT_TRUE(optimize::passed((*raced)[i]))
        << names[i] << ": " << optimize::problem_of((*raced)[i]);
    EXPECT_GT((*raced)[i].us, 0) << names[i];
    EXPECT_FALSE((*raced)[i].measured) << "there is no clock on the virtual GPU";
  }
}

TEST_P(AuthorOf, WhatWasTriedIsNotWrittenAgain) {
  optimize::Assignment ask;
  ask.parent = parent;
  ask.methods = {GetParam().methods.front()};
  ask.branches = 1;
  std::set<std::string> seen;
  for (int turn = 0; turn < 3; ++turn) {
    const auto written = author->write(ask);
    ASSERT_TRUE(written) << written.error().message;
    for (const optimize::Branch& branch : written->branches) {
      EXPECT_TRUE(seen.insert(branch.note).second) << branch.note;
      ask.known.push_back(branch.text);
    }
    EXPECT_TRUE(!written->branches.empty() || !written->cannot.empty());
  }
}

TEST_P(AuthorOf, WhatNobodyCanWriteIsSaid) {
  EXPECT_NE(author->cannot_apply("compute.structured_sparsity_2to4", parent), "");
  optimize::Assignment ask;
  ask.parent = parent;
  ask.methods = {"compute.structured_sparsity_2to4"};
  const auto written = author->write(ask);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(written->branches.empty());
  ASSERT_EQ(written->cannot.size(), 1u);
  EXPECT_TRUE(written->cannot[0].starts_with("compute.structured_sparsity_2to4: "));
}

INSTANTIATE_TEST_SUITE_P(All, AuthorOf, testing::ValuesIn(asked_for()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kw

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker-compile")
    return kw::compile::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
