// What the clock proves about the calls it times: contents change, outputs are hashed where they
// lie, guards hold, and a program that does something else when timed is found out.
#include <cstring>
#include <set>

#include "clock/measure.h"
#include "ports/audit_hash.h"
#include "suite.h"

namespace kw::gpu_suite {
namespace {

using kernel::Role;
using ports::RunStatus;
using tensor::DType;

/// Additions over the same buffers with different numbers.
struct Pool {
  Case test;
  std::vector<std::vector<tensor::HostTensor>> sets;
  std::vector<std::vector<tensor::HostTensor>> outputs;  // parallel to the sets

  ports::TimedProgram timed(ports::ImageId image) const {
    ports::TimedProgram program{image, &test.program, {}};
    for (const auto& set : sets) program.pool.push_back(&set);
    return program;
  }
};

class Audit : public Suite {
 protected:
  /// Fills in what the device itself computes for every set.
  void verify(Pool& pool) {
    for (const auto& set : pool.sets) {
      auto outcome = device().run(load(), pool.test.program, set, {});
      ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
      ASSERT_EQ(outcome->status, RunStatus::Completed) << outcome->message;
      pool.outputs.push_back(outcome->buffers);
    }
  }
  Pool additions(int64_t n, size_t sets) {
    Pool pool{addition(n), {}, {}};
    for (size_t s = 0; s < sets; ++s) {
      for (int64_t i = 0; i < n; ++i)
        pool.test.data<float>(0)[i] = static_cast<float>(i) + 1000.0f * static_cast<float>(s);
      pool.sets.push_back(pool.test.inputs);
    }
    verify(pool);
    return pool;
  }
  clock::AuditPlan plan(const Pool& pool, uint64_t hash_seed) {
    clock::AuditPlan plan;
    for (const auto& outputs : pool.outputs)
      plan.expected.push_back(clock::expected_hashes(pool.test.program, outputs, hash_seed));
    return plan;
  }
};

TEST_F(Audit, DeviceAndHostHashAlike) {
  for (int64_t bytes : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 100, 4095, 4096, 100003, 1 << 20}) {
    for (int shift : {0, 1, 2, 4, 8, 12}) {
      Case test;
      // Nothing is written: the poison that differs from run to run is what is hashed.
      const int out = test.add("out", Role::Output, bytes, DType::Uint8);
      test.program.buffers[0].align = 1;
      test.launch("fill", 1, 1, {pointer(out), value<int32_t>(0), value(0u), value(0u)});
      ports::RunOptions options;
      options.misalign_bytes = shift;
      const ports::RunOutcome outcome = run(test, options);
      ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
      ASSERT_EQ(outcome.hashes.size(), 1u);
      EXPECT_EQ(outcome.hashes[0], ports::audit_hash(outcome.buffers[0].data, 0))
          << bytes << " bytes, shifted by " << shift;
    }
  }
}

TEST_F(Audit, OutputsMayStayOnTheDevice) {
  Case test = addition(5000);
  const ports::RunOutcome copied = run(test);
  ports::RunOptions options;
  options.copy_outputs = false;
  const ports::RunOutcome hashed = run(test, options);
  ASSERT_EQ(hashed.status, RunStatus::Completed) << hashed.message;
  EXPECT_TRUE(hashed.buffers.empty());
  EXPECT_EQ(hashed.hashes, copied.hashes);
  EXPECT_EQ(hashed.hashes.at(2), ports::audit_hash(copied.buffers.at(2).data, 0));
}

TEST_F(Audit, EveryTimedCallIsHashedWithItsOwnInputs) {
  Pool pool = additions(10000, 3);
  for (double graph_below : {0.0, 1e9}) {
    ports::TimeProtocol protocol;
    protocol.max_samples = 12;
    protocol.graph_below_us = graph_below;
    protocol.hash_seed = 77;
    auto outcome = device().time({pool.timed(load())}, protocol);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    ASSERT_EQ(outcome->status, RunStatus::Completed) << outcome->message;
    const ports::TimedResult& result = outcome->results.at(0);
    EXPECT_EQ(clock::find_mismatch(pool.test.program, plan(pool, 77), result), std::nullopt);
    std::set<int> entries;
    std::set<int> samples;
    for (const record::CallAudit& audit : result.audits) {
      entries.insert(audit.entry);
      samples.insert(audit.sample);
    }
    EXPECT_EQ(entries.size(), 3u) << "all contents are used";
    EXPECT_EQ(samples.size(), result.samples.microseconds.size()) << "every sample is audited";
    EXPECT_TRUE(result.findings.empty()) << result.findings[0].message;
    EXPECT_GE(result.samples.buffer_sets, graph_below > 0 ? 10 : 1);
    // The audit would see a single wrong bit.
    ports::TimedResult damaged = result;
    damaged.audits.back().hashes[0] ^= 1;
    EXPECT_NE(clock::find_mismatch(pool.test.program, plan(pool, 77), damaged), std::nullopt);
  }
}

TEST_F(Audit, CopiesOutWhatTheJudgeWantsToSee) {
  Pool pool = additions(3000, 4);
  ports::TimeProtocol protocol;
  protocol.max_samples = 10;
  protocol.copies_out = 3;
  auto outcome = device().time({pool.timed(load())}, protocol);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  const ports::TimedResult& result = outcome->results.at(0);
  ASSERT_EQ(result.copied.size(), 4u);
  for (const ports::CopiedCall& call : result.copied) {
    ASSERT_LT(static_cast<size_t>(call.entry), pool.outputs.size());
    EXPECT_EQ(call.buffers.at(2).data, pool.outputs[static_cast<size_t>(call.entry)][2].data);
  }
  EXPECT_EQ(result.copied.back().sample, static_cast<int>(result.samples.microseconds.size()) - 1);
}

TEST_F(Audit, StateCarriedFromCallToCallIsRejected) {
  Pool pool;
  const int out = pool.test.add("out", Role::Output, 1);
  pool.test.launch("bump_state", 1, 1, {pointer(out)});
  pool.sets = {pool.test.inputs};
  verify(pool);
  clock::MeasureOptions options;
  options.protocol.hash_seed = 5;
  options.audits = {plan(pool, 5)};
  auto outcome = clock::measure(device(), {pool.timed(load())}, options);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  ASSERT_EQ(outcome->measurements.size(), 1u);
  EXPECT_TRUE(outcome->measurements[0].rejected.has_value());
}

TEST_F(Audit, GuardsAndInputsAreCheckedAfterTiming) {
  struct Row {
    const char* what;
    std::function<Case()> make;
    const char* found;
  };
  const Row rows[] = {
      {"writes past the end",
       [] {
         Case test;
         const int y = test.add("y", Role::Output, 8);
         test.launch("fill", 1, 32, {pointer(y), value<int32_t>(0), value(9u), value(7u)});
         return test;
       },
       "out-of-bounds-global"},
      {"changes its input",
       [] {
         Case test;
         const int x = test.add("x", Role::Input, 64);
         test.launch("increment", 1, 64, {pointer(x), value(64u)});
         return test;
       },
       "write-to-input"},
  };
  for (const Row& row : rows) {
    const Case test = row.make();
    ports::TimeProtocol protocol;
    protocol.max_samples = 4;
    auto outcome = device().time({{load(), &test.program, {&test.inputs}}}, protocol);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    ASSERT_EQ(outcome->status, RunStatus::Completed) << outcome->message;
    const auto& findings = outcome->results.at(0).findings;
    ASSERT_FALSE(findings.empty()) << row.what;
    EXPECT_STREQ(record::finding_name(findings[0].kind), row.found);
    EXPECT_NE(clock::find_mismatch(test.program, {}, outcome->results[0]), std::nullopt);
  }
}

TEST_F(Audit, InputsKeptByTheWorkerAreTheOnesGiven) {
  // More than the worker keeps, each used again later: some are there, some are sent again.
  const int64_t n = std::min<int64_t>(1 << 20, device().info().memory_bytes / 512);
  std::vector<Case> cases;
  for (int c = 0; c < 40; ++c) {
    cases.push_back(addition(n));
    for (int64_t i = 0; i < n; ++i) cases.back().data<float>(1)[i] = static_cast<float>(c) * 3.0f;
  }
  for (int round = 0; round < 2; ++round) {
    for (size_t c = 0; c < cases.size(); ++c) {
      const ports::RunOutcome outcome = run(cases[c]);
      ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
      const auto sum = values<float>(outcome.buffers.at(2));
      for (int64_t i : {int64_t{0}, n / 2, n - 1})
        ASSERT_EQ(sum[static_cast<size_t>(i)],
                  static_cast<float>(i) + 3.0f * static_cast<float>(c));
    }
  }
}

TEST_F(Audit, StridedOutputsAreAuditedToo) {
  Pool pool;
  const int x = pool.test.add("x", Role::Inout, 6);
  pool.test.program.buffers[0].shape = pool.test.inputs[0].shape = {2, 3};
  pool.test.program.buffers[0].strides = {4, 1};
  pool.test.program.buffers[0].bytes = 7 * 4;
  pool.test.launch("increment", 1, 32, {pointer(x), value<uint32_t>(7)});
  for (uint32_t s = 0; s < 2; ++s) {
    for (uint32_t i = 0; i < 6; ++i) pool.test.data<uint32_t>(x)[i] = 10 * i + s;
    pool.sets.push_back(pool.test.inputs);
  }
  verify(pool);
  ports::TimeProtocol protocol;
  protocol.max_samples = 6;
  auto outcome = device().time({pool.timed(load())}, protocol);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  ASSERT_EQ(outcome->status, RunStatus::Completed) << outcome->message;
  EXPECT_FALSE(outcome->results.at(0).audits.empty());
  EXPECT_EQ(clock::find_mismatch(pool.test.program, plan(pool, 0), outcome->results[0]),
            std::nullopt);
}

}  // namespace
}  // namespace kw::gpu_suite
