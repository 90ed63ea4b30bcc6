#include "clock/measure.h"

#include <gtest/gtest.h>

#include <functional>

namespace kw::clock {
namespace {

using ports::RunStatus;

/// A device that returns samples from a function of (program, sample number).
class FakeDevice : public ports::Device {
 public:
  std::function<double(size_t program, int sample)> clock = [](size_t, int) { return 100.0; };
  RunStatus status = RunStatus::Completed;
  std::vector<ports::TimeProtocol> asked;
  ports::TimedResult template_result;  // audits, copies and findings of every result

  ports::DeviceInfo info() const override { return {}; }
  Result<ports::ImageId> load(const ports::Compiled&) override { return ports::ImageId{1}; }
  Result<ports::RunOutcome> run(ports::ImageId, const kernel::Program&, const ports::InputViews&,
                                const ports::RunOptions&) override {
    return ports::RunOutcome{};
  }
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>& programs,
                                  const ports::TimeProtocol& protocol) override {
    asked.push_back(protocol);
    ports::TimeOutcome outcome;
    outcome.status = status;
    outcome.message = status == RunStatus::Completed ? "" : "it broke";
    for (size_t p = 0; p < programs.size(); ++p) {
      ports::TimedResult result = template_result;
      result.samples.method = "events";
      for (int i = 0; i < protocol.max_samples; ++i)
        result.samples.microseconds.push_back(clock(p, taken_ + i));
      outcome.results.push_back(result);
    }
    taken_ += protocol.max_samples;
    return outcome;
  }
  Status health() override { return Done{}; }

 private:
  int taken_ = 0;
};

/// Returns a value between -1 and 1, without pattern or drift.
double noise(int sample) {
  uint64_t x = static_cast<uint64_t>(sample + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

TEST(Measure, StopsAtOnceWhenThereIsNoNoise) {
  FakeDevice device;
  auto outcome = measure(device, {{}}, {});
  ASSERT_TRUE(outcome.has_value());
  ASSERT_EQ(outcome->measurements.size(), 1u);
  EXPECT_EQ(outcome->measurements[0].stopped, StopReason::Noise);
  EXPECT_EQ(outcome->measurements[0].summary.median, 100);
  EXPECT_EQ(device.asked.size(), 1u);
}

TEST(Measure, TakesMoreSamplesOfNoisierPrograms) {
  MeasureOptions options;
  options.rule.max_samples = 4000;
  options.rule.plateau_batches = 100;
  std::vector<size_t> needed;
  for (double spread : {1.0, 10.0}) {
    FakeDevice device;
    device.clock = [&](size_t, int i) { return 100 + spread * noise(i); };
    auto outcome = measure(device, {{}}, options);
    ASSERT_TRUE(outcome.has_value());
    needed.push_back(outcome->measurements[0].samples.microseconds.size());
  }
  EXPECT_LT(needed[0], needed[1]);
}

TEST(Measure, StopsAtTheSampleLimit) {
  FakeDevice device;
  device.clock = [](size_t, int i) { return 100 + 80 * noise(i); };
  MeasureOptions options;
  options.rule.plateau_batches = 100;
  auto outcome = measure(device, {{}}, options);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->measurements[0].stopped, StopReason::Samples);
  EXPECT_EQ(outcome->measurements[0].summary.count, 400);
}

TEST(Measure, StopsAtTheTimeLimit) {
  FakeDevice device;
  device.clock = [](size_t, int i) { return 1e5 * (2 + noise(i)); };
  auto outcome = measure(device, {{}}, {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->measurements[0].stopped, StopReason::Seconds);
}

TEST(Measure, StopsWhenMoreSamplesDoNotHelp) {
  FakeDevice device;
  // Two distant, equally frequent states: the median does not converge.
  device.clock = [](size_t, int i) { return i / 7 % 2 == 0 ? 100.0 : 200.0; };
  MeasureOptions options;
  options.rule.max_samples = 100000;
  options.rule.max_seconds = 1000;
  auto outcome = measure(device, {{}}, options);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->measurements[0].stopped, StopReason::Plateau);
}

TEST(Measure, KeepsPairsTogether) {
  FakeDevice device;
  device.clock = [](size_t program, int i) { return program == 0 ? 50.0 : 100 + 40 * noise(i); };
  auto outcome = measure(device, {{}, {}}, {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->measurements[0].samples.microseconds.size(),
            outcome->measurements[1].samples.microseconds.size());
  EXPECT_GT(device.asked.size(), 1u);
  EXPECT_GT(device.asked[0].warmup_seconds, device.asked[1].warmup_seconds);
  EXPECT_NE(device.asked[0].seed, device.asked[1].seed) << "every batch has other addresses";
}

TEST(Measure, AFailingProgramIsAnOutcome) {
  FakeDevice device;
  device.status = RunStatus::Faulted;
  auto outcome = measure(device, {{}}, {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->status, RunStatus::Faulted);
  EXPECT_EQ(outcome->message, "it broke");
  EXPECT_TRUE(outcome->measurements.empty());
}

TEST(Measure, JsonCarriesTheRawSamples) {
  Measurement measurement;
  measurement.samples.method = "graph";
  measurement.samples.microseconds = {1.5, 2.5};
  measurement.samples.sm_clock_mhz = 1980;
  measurement.summary = summarise(measurement.samples.microseconds);
  const Json json = to_json(measurement);
  EXPECT_EQ(json["samples_us"].items().size(), 2u);
  EXPECT_EQ(json["method"].as_string(), "graph");
  EXPECT_EQ(json["median_us"].as_double(), 2.0);
  EXPECT_EQ(json["sm_clock_mhz"].as_int(), 1980);
}

}  // namespace
}  // namespace kw::clock
