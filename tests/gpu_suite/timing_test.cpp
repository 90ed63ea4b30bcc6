// The clock: its numbers must be physically possible, and its two methods must agree.
#include <algorithm>
#include <cstdio>

#include "suite.h"

namespace kw::gpu_suite {
namespace {

using kernel::Role;
using ports::RunStatus;

// The fake's kernels share the machine with everything else that runs on it.
#ifdef KW_FAKE_DRIVER
constexpr double kLoad = 20;
#else
constexpr double kLoad = 1.1;
#endif

void expect_about(double us, double expected) {
  EXPECT_GE(us, expected * 0.98);
  EXPECT_LE(us, expected * kLoad);
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

class Timing : public Suite {
 protected:
  ports::TimeOutcome time(const std::vector<const Case*>& cases,
                          const ports::TimeProtocol& protocol) {
    std::vector<ports::TimedProgram> programs;
    for (const Case* test : cases) programs.push_back({load(), &test->program, {&test->inputs}});
    auto outcome = device().time(programs, protocol);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    return outcome ? *outcome : ports::TimeOutcome{RunStatus::Refused, outcome.error().message, {}};
  }
};

Case copying(int64_t bytes, uint32_t blocks) {
  Case test;
  const int from = test.add("from", Role::Input, bytes / 4);
  const int to = test.add("to", Role::Output, bytes / 4);
  test.launch("copy16", blocks, 512,
              {pointer(from), pointer(to), value<uint64_t>(static_cast<uint64_t>(bytes / 16))});
  return test;
}

TEST_F(Timing, CopyBandwidthIsPossible) {
  const int64_t bytes = std::min(int64_t{1} << 30, device().info().memory_bytes / 16) / 16 * 16;
  Case test = copying(bytes, static_cast<uint32_t>(device().info().sms * 8));
  ports::TimeProtocol protocol;
  protocol.max_samples = 50;
  const ports::TimeOutcome outcome = time({&test}, protocol);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  const record::TimingSamples& samples = outcome.results.at(0).samples;
  ASSERT_GE(samples.microseconds.size(), 3u);
  const double us = median(samples.microseconds);
  const double gigabytes = 2e-3 * static_cast<double>(bytes) / us;
  std::printf("measured: copy of %lld MiB: %.1f us (%s, %zu samples), %.0f GB/s\n",
              static_cast<long long>(bytes >> 20), us, samples.method.c_str(),
              samples.microseconds.size(), gigabytes);
  EXPECT_GT(gigabytes, 0.1);
  EXPECT_LT(gigabytes, 20000) << "no memory is that fast: the clock is wrong";
}

TEST_F(Timing, EventsAndGraphAgree) {
  Case test = spinning(200'000);
  ports::TimeProtocol events;
  events.max_samples = 20;
  events.graph_below_us = 0;
  ports::TimeProtocol graph = events;
  graph.graph_below_us = 1e9;
  const ports::TimeOutcome by_events = time({&test}, events);
  const ports::TimeOutcome by_graph = time({&test}, graph);
  ASSERT_EQ(by_events.status, RunStatus::Completed) << by_events.message;
  ASSERT_EQ(by_graph.status, RunStatus::Completed) << by_graph.message;
  EXPECT_EQ(by_events.results[0].samples.method, "events");
  EXPECT_EQ(by_graph.results[0].samples.method, "graph");
  const double a = median(by_events.results[0].samples.microseconds);
  const double b = median(by_graph.results[0].samples.microseconds);
  std::printf("measured: 200 us of spinning: %.2f us by events, %.2f us by graph\n", a, b);
  expect_about(a, 200);
  expect_about(b, 200);
}

TEST_F(Timing, TheProfilingLibraryAgrees) {
  // Sole user of a device of its own: stamping slows what is timed afterwards.
  auto own = gpu::GpuDevice::open(0);
  ASSERT_TRUE(own.has_value()) << own.error().message;
  ports::Compiled compiled;
  compiled.image = kKernels;
  auto image = (*own)->load(compiled);
  ASSERT_TRUE(image.has_value());
  Case brief = spinning(20'000);
  Case longer = spinning(400'000);
  ports::TimeProtocol protocol;
  protocol.max_samples = 20;
  protocol.span = true;
  auto outcome = (*own)->time(
      {{*image, &brief.program, {&brief.inputs}}, {*image, &longer.program, {&longer.inputs}}},
      protocol);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  ASSERT_EQ(outcome->status, RunStatus::Completed) << outcome->message;
  for (const ports::TimedResult& result : outcome->results) {
    const double ours = median(result.samples.microseconds);
    const double theirs = result.samples.span_us;
    if (theirs == 0) GTEST_SKIP() << "no profiling library here";
    std::printf("measured: %.2f us by %s, %.2f us by the profiling library\n", ours,
                result.samples.method.c_str(), theirs);
#ifndef KW_FAKE_DRIVER
    EXPECT_NEAR(ours, theirs, std::max(0.02 * theirs, 2.0));
#else
    EXPECT_GE(theirs, 20);
#endif
  }
}

TEST_F(Timing, ChoosesTheMethodByLength) {
  ports::TimeProtocol protocol;
  protocol.max_samples = 10;
  Case brief = spinning(2'000);
  Case longer = spinning(500'000);
  const ports::TimeOutcome outcome = time({&brief, &longer}, protocol);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  ASSERT_EQ(outcome.results.size(), 2u);
  EXPECT_EQ(outcome.results[0].samples.method, "graph");
  EXPECT_EQ(outcome.results[1].samples.method, "events");
  EXPECT_EQ(outcome.results[0].samples.microseconds.size(), 10u);
  std::printf("measured: 2 us of spinning: %.2f us by graph\n",
              median(outcome.results[0].samples.microseconds));
  expect_about(median(outcome.results[1].samples.microseconds), 500);
}

TEST_F(Timing, StopsAtTheTimeGiven) {
  ports::TimeProtocol protocol;
  protocol.max_samples = 1000;
  protocol.max_seconds = 0.05;
  Case test = spinning(5'000'000);
  const ports::TimeOutcome outcome = time({&test}, protocol);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_GE(outcome.results[0].samples.microseconds.size(), 3u);
  EXPECT_LE(outcome.results[0].samples.microseconds.size(), 15u);
}

TEST_F(Timing, SlowIsNotHung) {
  ports::TimeProtocol protocol;
  protocol.max_seconds = 1000;
  protocol.timeout_seconds = 2;
  Case test = spinning(100'000'000);
  const ports::TimeOutcome outcome = time({&test}, protocol);
  EXPECT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
}

TEST_F(Timing, RestoresInoutsAndZeroesScratchBetweenCalls) {
  // With a counter that is not put back, blocks of a later call would not wait for each other; with
  // an inout that is not, its value would have grown: a run after timing shows the worker's buffers
  // are its own.
  Case test;
  const int x = test.add("x", Role::Inout, 64);
  test.launch("increment", 1, 64, {pointer(x), value<uint32_t>(64)});
  ports::TimeProtocol protocol;
  protocol.max_samples = 5;
  ASSERT_EQ(time({&test}, protocol).status, RunStatus::Completed);
  ports::RunOutcome outcome = run(test);
  EXPECT_EQ(values<uint32_t>(outcome.buffers[0])[0], 1u);
}

TEST_F(Timing, ColdIsNotFasterThanWarm) {
  const int64_t bytes =
      std::min(device().info().l2_bytes / 4, device().info().memory_bytes / 64) / 16 * 16;
  Case test = copying(bytes, static_cast<uint32_t>(device().info().sms * 4));
  ports::TimeProtocol cold;
  cold.max_samples = 60;
  cold.graph_below_us = 1e9;
  ports::TimeProtocol warm = cold;
  warm.cold_cache = false;
  const double cold_us = median(time({&test}, cold).results.at(0).samples.microseconds);
  const double warm_us = median(time({&test}, warm).results.at(0).samples.microseconds);
  std::printf("measured: copy of a quarter of the L2: %.2f us cold, %.2f us warm\n", cold_us,
              warm_us);
  EXPECT_GT(cold_us, 0.8 * warm_us);
}

}  // namespace
}  // namespace kw::gpu_suite
