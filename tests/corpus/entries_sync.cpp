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

void short_rows(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y");
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t base = i / cols * cols, t = i % cols;
    const int64_t other = t % 2 ? t - 1 : t + 1 < cols ? t + 1 : t;
    y[i] = 2 * x[base + cols - 1 - other] + x[base + cols - 1 - t];
  }
}

void guarded_table(Case& c) {
  for (int32_t v : c.in<int32_t>("x")) c.out<int32_t>("y")[v & 7] += v & 31;
}

void two_stage_max(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y");
  std::fill(y.begin(), y.end(), -1000);
  for (size_t i = 0; i < x.size(); ++i) y[i % 64] = std::max(y[i % 64], x[i]);
}

void power_steps(Case& c) {
  const auto x = c.in<float>("x");
  std::vector<float> now(x.begin(), x.end()), next(x.size());
  for (size_t round = 1; round <= 4; ++round) {
    for (size_t i = 0; i < now.size(); ++i) next[i] = now[i] + now[(i + round) % now.size()];
    std::swap(now, next);
  }
  std::copy(now.begin(), now.end(), c.out<float>("x").begin());
}

void flood_fill(Case& c) {
  const int64_t height = c.dim("H"), width = c.dim("W");
  const auto wall = c.in<uint8_t>("wall");
  auto reach = c.out<int32_t>("reach");
  for (int64_t i = 0; i < height * width; ++i) reach[i] = wall[i] ? -1 : static_cast<int32_t>(i);
  for (bool changed = true; changed;) {
    changed = false;
    const auto join = [&](int64_t a, int64_t b) {
      if (wall[a] || wall[b] || reach[a] == reach[b]) return;
      reach[a] = reach[b] = std::min(reach[a], reach[b]);
      changed = true;
    };
    for (int64_t i = 0; i < height * width; ++i) {
      if (i % width + 1 < width) join(i, i + 1);
      if (i + width < height * width) join(i, i + width);
    }
  }
}

void warp_exchange(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (size_t base = 0; base < x.size(); base += 32) {
    std::vector<int32_t> v(x.begin() + static_cast<int64_t>(base),
                           x.begin() + static_cast<int64_t>(base) + 32);
    for (size_t step = 1; step < 32; step *= 2) {
      const auto old = v;
      for (size_t k = 0; k < 32; ++k) v[k] = 2 * old[k] + old[k ^ step];
    }
    for (size_t k = 0; k < 32; ++k)
      c.out<int32_t>("y")[base + k] = k < 16 ? v[k] + v[15 - k] : v[k] - 3 * v[k ^ 1];
  }
}

void row_cumsum(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y");
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] + (i % 128 ? y[i - 1] : 0);
}

void any_above(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t i = 0; i < c.dim("R") * cols; ++i)
    c.out<int32_t>("y")[i / cols] |= c.in<float>("x")[i] > 3.5f;
}

void windowed_sum(Case& c) {
  const auto x = c.in<float>("x");
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t base = i / 64 * 64, t = i % 64;
    c.out<float>("y")[i] = x[i] + x[base + (t + 1) % 64] + x[base + 63 - t];
  }
}

void talkative(Case& c) {
  const auto x = c.in<int64_t>("x");
  std::copy(x.begin(), x.end(), c.out<int64_t>("y").begin());
}

const char* const kFormats =
    "[   42|42   |00042|+42]\n[-5 7 ff FF 10 0xff]\n[   3.142|3.14e+04|0.0001|2]\n"
    "[ok text      right|l   |cu %]\nno arguments\n";

void row_sums(Case& c) {
  const auto x = c.in<float>("x");
  for (int64_t r = 0; r < c.dim("T"); ++r) {
    double sum = 0;
    for (int64_t i = 0; i < 32; ++i) sum += x[r * 32 + i];
    c.out<float>("y")[r] = static_cast<float>(sum);
  }
}

// Per tile of 16: its sum; the largest of each sign; the sum of each residue, parts in order of
// their first lanes.
void tile_parts(Case& c) {
  const auto x = c.in<int32_t>("x");
  for (int64_t first = 0; first < c.dim("B") * 64; first += 16) {
    const std::vector<int32_t> v(x.begin() + first, x.begin() + first + 16);
    std::vector<int> order;
    int32_t sum = 0, size[2] = {}, most[2] = {INT32_MIN, INT32_MIN}, of[3] = {}, rank[3] = {};
    for (const int32_t one : v) {
      const int sign = one > 0, label = (one + 300) % 3;
      sum += one;
      ++size[sign];
      most[sign] = std::max(most[sign], one);
      of[label] += one;
      if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
    }
    for (int64_t i = 0; i < 16; ++i) {
      const int sign = v[i] > 0, label = (v[i] + 300) % 3;
      const auto part = std::find(order.begin(), order.end(), label) - order.begin();
      const auto tile = static_cast<int32_t>(first % 64 / 16), quad = static_cast<int32_t>(i / 4);
      c.out<int32_t>("whole")[first + i] = sum + 1000 * tile + 10 * quad + 4;
      c.out<int32_t>("signs")[first + i] =
          100 * most[sign] + (size[0] * size[1] > 0 ? 10 * sign : 0) + size[sign];
      c.out<int32_t>("labels")[first + i] = of[label] + 10000 * static_cast<int32_t>(part) +
                                            1000 * static_cast<int32_t>(order.size()) +
                                            100000 * rank[label]++;
    }
  }
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
      {.name = "early_exit",
       .settings = rows({"R", "C"}, {{1, 1}, {3, 77}, {2, 128}}),
       .reference = short_rows,
       .warns = record::FindingKind::DivergentBarrier},
      {"lock_plain", sweep("N", {1, 33, 500}), guarded_table},
      {.name = "work_queue",
       .settings = sweep("T", {1, 50}),
       .reference = row_sums,
       .tolerance = {1e-4, 1e-6}},
      {.name = "cg_partitions", .settings = sweep("B", {1, 5}), .reference = tile_parts},
      {"fence_all_threads", sweep("N", {1, 65, 1000}), two_stage_max},
      {"hand_grid_sync", sweep("N", {1, 129, 2000}), power_steps},
      {"fixed_point", rows({"H", "W"}, {{1, 1}, {7, 13}, {32, 32}}), flood_fill},
      {"warp_exchange", sweep("N", {32, 96, 320}), warp_exchange},
      {"shared_flags", sweep("R", {1, 5}), row_cumsum},
      {"same_value_flag", rows({"R", "C"}, {{1, 1}, {5, 200}}), any_above},
      {"stage_ring", sweep("N", {64, 128, 640}), windowed_sum},
      {.name = "printf_formats",
       .settings = {Setting{}},
       .reference = talkative,
       .fill =
           [](Case& c) {
             c.in<int64_t>("x")[0] = -5;
             c.in<int64_t>("x")[1] = 7;
           },
       .prints = kFormats},
  };
}

}  // namespace kw::corpus
