// Host references of scans, sorts and selections.
#include <algorithm>
#include <numeric>

#include "corpus.h"

namespace kw::corpus {
namespace {

template <typename T>
void inclusive_rows(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<T>("x");
  auto y = c.out<T>("y");
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i)
    y[i] = x[i] + (i % cols ? y[i - 1] : T{0});
}

void cummax(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<float>("x");
  auto y = c.out<float>("y");
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i)
    y[i] = i % cols ? std::max(x[i], y[i - 1]) : x[i];
}

void exclusive_rows(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<int64_t>("x");
  auto y = c.out<int64_t>("y");
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i)
    y[i] = i % cols ? y[i - 1] + x[i - 1] : 0;
}

template <typename T>
void cumsum(Case& c) {
  const auto x = c.in<T>("x");
  std::partial_sum(x.begin(), x.end(), c.out<T>("y").begin());
}

void segmented(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<int32_t>("x");
  const auto head = c.in<uint8_t>("head");
  auto y = c.out<int32_t>("y");
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i)
    y[i] = i % cols && !head[i] ? y[i - 1] + x[i] : x[i];
}

void keep_positive(Case& c) {
  auto y = c.out<int32_t>("y");
  size_t kept = 0;
  for (int32_t v : c.in<int32_t>("x"))
    if (v > 0) y[kept++] = v;
  c.out<int32_t>("count")[0] = static_cast<int32_t>(kept);
  std::fill(y.begin() + static_cast<int64_t>(kept), y.end(), -1);
}

void cub_scan(Case& c) {
  inclusive_rows<int32_t>(c);
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r)
    c.out<int32_t>("sum")[r] = c.out<int32_t>("y")[r * cols + cols - 1];
}

/// Indices of a row in sorted order, lowest index first on ties.
template <typename Before>
std::vector<int32_t> order_of(std::span<float> row, Before before) {
  std::vector<int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return before(row[a], row[b]); });
  return order;
}

void topk(Case& c) {
  const int64_t cols = c.dim("C"), k = c.dim("K");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const auto row = c.in<float>("x").subspan(r * cols, cols);
    const auto order = order_of(row, std::greater<float>());
    for (int64_t j = 0; j < k; ++j) {
      c.out<float>("value")[r * k + j] = row[order[j]];
      c.out<int32_t>("index")[r * k + j] = order[j];
    }
  }
}

void argsort(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const auto row = c.in<float>("x").subspan(r * cols, cols);
    const auto order = order_of(row, std::less<float>());
    for (int64_t j = 0; j < cols; ++j) {
      c.out<float>("sorted")[r * cols + j] = row[order[j]];
      c.out<int32_t>("order")[r * cols + j] = order[j];
    }
  }
}

void sort_rows(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<uint32_t>("x");
  auto y = c.out<uint32_t>("y");
  std::copy(x.begin(), x.end(), y.begin());
  for (int64_t r = 0; r < c.dim("R"); ++r)
    std::sort(y.begin() + r * cols, y.begin() + (r + 1) * cols);
}

void cub_tour(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto sorted = c.out<int32_t>("sorted"), top = c.out<int32_t>("warp_top");
  std::copy(x.begin(), x.end(), sorted.begin());
  std::fill(top.begin(), top.end(), -1000);
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    if (i % 256 == 0) std::sort(sorted.begin() + i, sorted.begin() + i + 256);
    top[i / 64] = std::max(top[i / 64], x[i]);
    ++c.out<int32_t>("bins")[i / 256 * 32 + (x[i] & 31)];
    c.out<int32_t>("starts")[i] = i % 256 == 0 || sorted[i] != sorted[i - 1];
  }
}

void radix_sort(Case& c) {
  const auto x = c.in<uint32_t>("x");
  auto y = c.out<uint32_t>("y");
  std::copy(x.begin(), x.end(), y.begin());
  std::sort(y.begin(), y.end());
}

/// The same 64 rounds of odd-even transposition.
void partly_sorted(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    std::vector<std::pair<float, int16_t>> row(cols);
    for (int64_t k = 0; k < cols; ++k)
      row[k] = {c.in<float>("x")[r * cols + k], c.in<int16_t>("id")[r * cols + k]};
    for (int64_t round = 0; round < std::min<int64_t>(cols, 64); ++round)
      for (int64_t k = round % 2; k + 1 < cols; k += 2)
        if (row[k].first > row[k + 1].first) std::swap(row[k], row[k + 1]);
    for (int64_t k = 0; k < cols; ++k) {
      c.out<float>("y")[r * cols + k] = row[k].first;
      c.out<int16_t>("where")[r * cols + k] = row[k].second;
    }
  }
}

void small_sort(Case& c) {
  for (int64_t i = 0; i < c.dim("N"); ++i) {
    const auto row = c.in<float>("x").subspan(i * 9, 9);
    const auto order = order_of(row, std::less<float>());
    c.out<float>("median")[i] = row[order[4]];
    for (int32_t j = 0; j < 9; ++j) c.out<int32_t>("rank")[i * 9 + order[j]] = j;
  }
}

}  // namespace

std::vector<Entry> scan_entries() {
  auto hillis = rows({"R", "C"}, {{3, 100}, {1, 1}, {2, 128}});
  hillis.push_back({.dims = {{"R", 2}, {"C", 1000}}, .tunes = {{"THREADS", 1024}}});
  auto blelloch = rows({"R", "C"}, {{2, 63}, {1, 1}});
  blelloch.push_back({.dims = {{"R", 3}, {"C", 255}}, .tunes = {{"WIDTH", 256}}});
  auto bitonic = rows({"R", "C"}, {{3, 50}, {1, 1}});
  bitonic.push_back({.dims = {{"R", 2}, {"C", 256}}, .tunes = {{"WIDTH", 256}}});
  const auto few_values = [](const char* name) {
    return [name](Case& c) { c.fill_integer(name, -9, 9); };
  };
  return {
      {"scan_hillis_steele", hillis, inclusive_rows<int32_t>},
      {"scan_warp", rows({"R", "C"}, {{1, 1}, {3, 33}, {2, 100}}), cummax},
      {"scan_blelloch", blelloch, exclusive_rows},
      {"scan_lookback", sweep("N", {1, 129, 1000, 20011}), cumsum<int32_t>},
      {.name = "scan_chained",
       .settings = sweep("N", {1, 64, 1003}),
       .reference = cumsum<double>,
       .tolerance = {1e-11, 1e-13}},
      {"scan_segmented", rows({"R", "C"}, {{1, 1}, {3, 77}, {2, 256}}), segmented},
      {"compact", sweep("N", {1, 127, 5000}), keep_positive},
      {.name = "cub_block_scan",
       .settings = rows({"R", "C"}, {{1, 1}, {3, 129}, {2, 512}}),
       .reference = cub_scan,
       .needs = kCub},
      {.name = "cub_radix_sort",
       .settings = rows({"R", "C"}, {{1, 1}, {3, 97}, {2, 256}}),
       .reference = sort_rows,
       .needs = kCub},
      {.name = "cub_more", .settings = sweep("R", {1, 4}), .reference = cub_tour, .needs = kCub},
      {.name = "topk",
       .settings = rows({"R", "C", "K"}, {{1, 1, 1}, {3, 100, 5}, {2, 300, 8}}),
       .reference = topk,
       .fill = few_values("x")},
      {.name = "bitonic_sort", .settings = bitonic, .reference = argsort, .fill = few_values("x")},
      {"radix_passes", sweep("N", {1, 300, 1001}), radix_sort},
      {"dynamic_shared", rows({"R", "C"}, {{1, 1}, {2, 77}, {1, 9001}}), partly_sorted},
      {.name = "local_array",
       .settings = sweep("N", {1, 65, 300}),
       .reference = small_sort,
       .fill = few_values("x")},
  };
}

}  // namespace kw::corpus
