#include "twins.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kw::bugs {
namespace {

using corpus::Case;

/// out[i] = f(i, in[i]).
template <typename In, typename Out, typename F>
Twin mapped(F f) {
  return {[f](Case& c) {
    const auto x = c.in<In>("x");
    auto y = c.out<Out>("y");
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<Out>(f(static_cast<int64_t>(i), x[i]));
  }};
}

/// Rows of a fixed width, each reversed.
Twin reversed(int64_t width) {
  return {[width](Case& c) {
    const auto x = c.in<int32_t>("x");
    auto y = c.out<int32_t>("y");
    const int64_t cols = width > 0 ? width : c.dim("C");
    for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i)
      y[i] = x[i / cols * cols + cols - 1 - i % cols];
  }};
}

void row_sum(Case& c) {
  const int64_t count = c.size("x") / c.size("y");
  for (int64_t r = 0; r < c.size("y"); ++r) {
    double sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += c.get("x", r * count + k);
    c.set("y", r, sum);
  }
}

void row_max(Case& c) {
  const int64_t count = c.size("x") / c.size("y");
  for (int64_t r = 0; r < c.size("y"); ++r) {
    const auto row = c.in<int32_t>("x").subspan(r * count, count);
    c.out<int32_t>("y")[r] = *std::max_element(row.begin(), row.end());
  }
}

void transpose(Case& c) {
  const int64_t rows = c.dim("R"), cols = c.dim("C");
  for (int64_t i = 0; i < rows * cols; ++i)
    c.out<float>("y")[i % cols * rows + i / cols] = c.in<float>("x")[i];
}

void difference(Case& c) {
  const auto x = c.in<float>("x");
  for (size_t i = 0; i < x.size(); ++i) c.out<float>("y")[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);
}

void three_point(Case& c) {
  const auto x = c.in<float>("x");
  for (size_t i = 0; i < x.size(); ++i)
    c.out<float>("y")[i] = (i > 0 ? x[i - 1] : 0.0f) + x[i] + (i + 1 < x.size() ? x[i + 1] : 0.0f);
}

void with_half_the_next(Case& c) {
  const auto x = c.in<float>("x");
  for (size_t i = 0; i < x.size(); ++i)
    c.out<float>("y")[i] = x[i] + 0.5f * (i + 1 < x.size() ? x[i + 1] : 0.0f);
}

void byte_histogram(Case& c) {
  for (uint8_t v : c.in<uint8_t>("x")) ++c.out<int32_t>("bins")[v];
}

void word_histogram(Case& c) {
  for (int32_t v : c.in<int32_t>("x")) ++c.out<int32_t>("bins")[v];
}

void sums_by_key(Case& c) {
  const auto key = c.in<int32_t>("key");
  for (size_t i = 0; i < key.size(); ++i) c.out<int32_t>("y")[key[i]] += static_cast<int32_t>(i);
}

void rotated(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t i = 0; i < x.size(); ++i) c.out<int32_t>("x")[i] = x[i / 128 * 128 + (i + 1) % 128];
}

void next_element(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t i = 0; i < x.size(); ++i) c.out<int32_t>("y")[i] = x[(i + 1) % x.size()];
}

void halves_swapped(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t i = 0; i < 64; ++i) c.out<int32_t>("y")[i] = (i >= 32 ? 2 : 3) * x[63 - i];
}

void half_sum(Case& c) {
  const auto x = c.in<float>("x");
  for (size_t i = 0; i < x.size(); ++i)
    c.out<float>("x")[i] = 0.5f * (x[i] + (i + 1 < x.size() ? x[i + 1] : 0.0f));
}

void positive_of_row(Case& c) {
  for (int64_t r = 0; r < c.dim("R"); ++r)
    for (int64_t k = 0; k < 128; ++k) c.out<int32_t>("y")[r] += c.in<float>("x")[r * 128 + k] > 0;
}

void last_large(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] > 50) c.out<int32_t>("y")[0] = static_cast<int32_t>(i);
}

void right_maximum(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t i = 0; i < x.size(); ++i)
    c.out<int32_t>("y")[i] = i + 1 < x.size() && i % 32 != 31 ? std::max(x[i], x[i + 1]) : x[i];
}

int32_t collatz(int64_t, int32_t v) {
  int32_t steps = 0;
  for (; v > 1; ++steps) v = v % 2 ? 3 * v + 1 : v / 2;
  return steps;
}

}  // namespace

const std::map<std::string, Twin>& twins() {
  static const std::map<std::string, Twin> all = {
      {"oob_tail", mapped<float, float>([](int64_t, float v) { return 2 * v; })},
      {"oob_off_by_one", {row_sum, {1e-4, 1e-6}}},
      {"oob_swapped_bounds", {transpose}},
      {"oob_float4_tail", mapped<float, float>([](int64_t, float v) { return 3 * v; })},
      {"oob_negative_index", {difference}},
      {"oob_short_index", mapped<int32_t, int32_t>([](int64_t, int32_t v) { return v + 1; })},
      {"oob_byte", mapped<int32_t, int8_t>([](int64_t, int32_t v) { return v > 0; })},
      {"input_written",
       mapped<float, float>([](int64_t, float v) { return std::clamp(v, -1.0f, 1.0f); })},
      {"null_bias", mapped<float, float>([](int64_t, float v) { return v; })},
      {"wild_pointer", mapped<int32_t, int32_t>([](int64_t, int32_t v) { return v; })},
      {"shared_halo", {three_point}},
      {"uninit_register", {with_half_the_next}},
      {"dynamic_shared_small", reversed(0)},
      {"uninit_shared_bins", {byte_histogram}},
      {"uninit_scratch", {row_sum}},
      {"output_tail", mapped<float, float>([](int64_t, float v) { return -v; })},
      {"output_skipped", mapped<float, float>([](int64_t, float v) { return std::max(v, 0.0f); })},
      {"kept_counter", {row_sum}},
      {"race_no_barrier", reversed(128)},
      {"race_accumulator", {sums_by_key}},
      {"race_atomic_and_plain", {positive_of_row}},
      {"warp_synchronous", {row_sum}},
      {"global_race_in_block", {rotated}},
      {"global_race_between_blocks", {word_histogram}},
      {"global_race_neighbour", {half_sum}},
      {"last_block_no_fence", {row_sum}},
      {"flag_plain", {row_sum}},
      {"volatile_no_fence", {row_sum}},
      {"barrier_after_exit", {next_element}},
      {"barrier_two_places", {halves_swapped}},
      {"barrier_in_loop", {row_max}},
      {"barrier_bad_id", reversed(64)},
      {"barrier_wrong_partner", reversed(32)},
      {"mask_exited_lanes", {row_sum}},
      {"mask_half_warp", {row_sum}},
      {"inactive_lane_tail", {right_maximum}},
      {"endless_loop", mapped<int32_t, int32_t>(collatz)},
      {"grid_wait", mapped<int32_t, int32_t>([](int64_t, int32_t v) { return v + 1; })},
      {"assert_fails", {[](Case& c) {
         for (int64_t i = 0; i < c.dim("N"); ++i) c.set("y", i, std::sqrt(std::abs(c.get("x", i))));
       }}},
      {"trap_taken", mapped<int32_t, int32_t>([](int64_t, int32_t v) { return v * v; })},
      {"launch_bounds", mapped<int32_t, int32_t>([](int64_t, int32_t v) { return v; })},
      {"order_last_writer", {last_large}},
      {"state_in_global", mapped<int32_t, int32_t>([](int64_t, int32_t v) { return v; })},
      {"cp_async_no_wait", reversed(64)},
      {"cp_async_no_barrier", reversed(64)},
  };
  return all;
}

}  // namespace kw::bugs
