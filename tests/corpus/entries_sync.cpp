// Host references of kernels that are about threads meeting: barriers, locks, flags, grid sync,
// background copies.
#include <algorithm>

#include "corpus.h"

namespace kw::corpus {
namespace {

void reverse_tiles(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y");
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t from = i / 128 * 128 + 127 - i % 128;
    y[i] = from < x.size() ? x[from] : 0;
  }
}

std::vector<float> smoothed(std::span<const float> v) {
  std::vector<float> result(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    const float left = v[i == 0 ? 0 : i - 1], right = v[std::min(i + 1, v.size() - 1)];
    result[i] = 0.25f * (left + 2 * v[i] + right);
  }
  return result;
}

void smooth_twice(Case& c) {
  const auto twice = smoothed(smoothed(c.in<float>("x")));
  std::copy(twice.begin(), twice.end(), c.out<float>("y").begin());
}

void two_roles(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<int32_t>("x");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    uint32_t total = 0;
    for (int64_t lane = 0; lane < 32; ++lane) {
      uint32_t sum = 0;
      for (int64_t base = 0; base < cols; base += 32) {
        const int64_t k = base + 31 - lane;
        sum = sum * 3 + (k < cols ? static_cast<uint32_t>(x[r * cols + k]) : 0);
      }
      total += sum;
    }
    c.out<int32_t>("y")[r] = static_cast<int32_t>(total);
  }
}

void block_votes(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const auto row = c.in<int32_t>("x").subspan(r * cols, cols);
    auto y = c.out<int32_t>("y").subspan(r * 3, 3);
    y[0] = static_cast<int32_t>(std::count_if(row.begin(), row.end(), [](int v) { return v & 1; }));
    y[1] = std::find(row.begin(), row.end(), 7) != row.end();
    y[2] = std::all_of(row.begin(), row.end(), [](int v) { return v > -100; });
  }
}

void locked_max(Case& c) {
  const auto x = c.in<int32_t>("x");
  const auto best = std::max_element(x.begin(), x.end());
  c.out<int32_t>("best")[0] = *best;
  c.out<int32_t>("best")[1] = static_cast<int32_t>(best - x.begin());
}

void locked_lists(Case& c) {
  const auto key = c.in<int32_t>("key");
  for (size_t i = 0; i < key.size(); ++i) {
    c.out<int32_t>("sum")[key[i]] += static_cast<int32_t>(i);
    ++c.out<int32_t>("count")[key[i]];
  }
}

void relay(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y");
  int32_t carried = 0;
  for (size_t i = 0; i < x.size(); ++i) y[i] = carried ^= x[i];
}

void copied(Case& c) {
  const auto x = c.in<int32_t>("x");
  std::copy(x.begin(), x.end(), c.out<int32_t>("y").begin());
}

}  // namespace

std::vector<Entry> sync_entries() {
  return {
      {.name = "cp_async_primitives",
       .settings = sweep("N", {1, 129, 1000}),
       .reference = reverse_tiles},
      {.name = "cg_grid_sync", .settings = sweep("N", {1, 63, 2000}), .reference = smooth_twice},
      {"named_barriers", rows({"R", "C"}, {{1, 1}, {3, 65}, {2, 500}}), two_roles},
      {"sync_votes", rows({"R", "C"}, {{1, 1}, {3, 77}, {2, 1024}}), block_votes},
      {"spin_lock_grid", sweep("N", {1, 65, 2000}), locked_max},
      {.name = "spin_lock_lanes",
       .settings = rows({"N", "K"}, {{1, 1}, {128, 3}, {77, 16}}),
       .reference = locked_lists,
       .fill = [](Case& c) { c.fill_integer("key", 0, c.dim("K") - 1); }},
      {"flag_handshake", sweep("N", {1, 33, 1000}), relay},
      {.name = "printf_assert",
       .settings = sweep("N", {1, 33, 100}),
       .reference = copied,
       .fill = [](Case& c) { c.in<int32_t>("x")[0] = -7; },
       .prints = "first -7 of 1: -1.75 units x%\n"},
  };
}

}  // namespace kw::corpus
