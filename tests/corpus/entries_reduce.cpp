// Host references of reductions and histograms.
#include <algorithm>
#include <cmath>

#include "corpus.h"

namespace kw::corpus {
namespace {

const std::vector<Setting> kReduceRows =
    rows({"R", "C"}, {{3, 129}, {1, 1}, {1, 7}, {33, 31}, {2, 1000}, {5, 1024}});

/// For each row: folds its elements in double.
template <typename Fold>
void fold_rows(Case& c, double start, Fold fold) {
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    double value = start;
    for (int64_t k = 0; k < c.dim("C"); ++k) value = fold(value, c.get("x", r * c.dim("C") + k));
    c.set("y", r, value);
  }
}

void mean_of_all(Case& c) {
  double sum = 0;
  for (int64_t i = 0; i < c.dim("N"); ++i) sum += c.get("x", i);
  c.set("y", 0, sum / static_cast<double>(c.dim("N")));
}

void dot(Case& c) {
  double sum = 0;
  for (int64_t i = 0; i < c.dim("N"); ++i) sum += c.get("a", i) * c.get("b", i);
  c.set("y", 0, sum);
}

void sums_by_key(Case& c) {
  const auto key = c.in<int32_t>("key"), value = c.in<int32_t>("value");
  auto sum = c.out<int32_t>("sum");
  auto sum64 = c.out<uint64_t>("sum64");
  auto mean = c.out<float>("mean");
  std::vector<int> count(sum.size());
  for (size_t i = 0; i < key.size(); ++i) {
    sum[key[i]] += value[i];
    sum64[key[i]] += static_cast<uint64_t>(int64_t{value[i]} * value[i]);
    ++count[key[i]];
  }
  for (size_t k = 0; k < sum.size(); ++k)
    mean[k] = count[k] ? static_cast<float>(sum[k]) / static_cast<float>(count[k]) : 0.0f;
}

void argmax(Case& c) {
  const int64_t cols = c.dim("C");
  const auto x = c.in<float>("x");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const auto row = x.subspan(r * cols, cols);
    const auto best = std::max_element(row.begin(), row.end());
    c.out<float>("value")[r] = *best;
    c.out<int64_t>("index")[r] = best - row.begin();
  }
}

void minmax(Case& c) {
  const auto x = c.in<float>("x");
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  c.out<float>("y")[0] = *low;
  c.out<float>("y")[1] = *high;
}

void column_sum(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t k = 0; k < cols; ++k) {
    double sum = 0;
    for (int64_t r = 0; r < c.dim("R"); ++r) sum += c.get("x", r * cols + k);
    c.set("y", k, sum);
  }
}

void sum_and_norm(Case& c) {
  long double sum = 0, squares = 0;
  for (double v : c.in<double>("x")) {
    sum += v;
    squares += static_cast<long double>(v) * v;
  }
  c.set("sum", 0, static_cast<double>(sum));
  c.set("norm", 0, static_cast<double>(std::sqrt(squares)));
}

void mean_var(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < cols; ++k) sum += c.get("x", r * cols + k);
    const double mean = sum / static_cast<double>(cols);
    for (int64_t k = 0; k < cols; ++k) squares += std::pow(c.get("x", r * cols + k) - mean, 2);
    c.set("mean", r, mean);
    c.set("var", r, squares / static_cast<double>(cols));
  }
}

template <typename In, typename Out>
void histogram(Case& c) {
  auto bins = c.out<Out>("bins");
  for (In v : c.in<In>("x")) ++bins[v];
}

void segment_sums(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y"), top = c.out<int32_t>("top");
  for (size_t i = 0; i < x.size(); ++i) {
    top[i / 16] = i % 16 == 0 ? x[i] : std::max(top[i / 16], x[i]);
    y[i / 16] += x[i];
  }
}

void row_dot(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    double sum = 0;
    for (int64_t k = 0; k < cols; ++k) sum += c.get("a", r * cols + k) * c.get("b", r * cols + k);
    c.set("y", r, sum);
  }
}

}  // namespace

std::vector<Entry> reduce_entries() {
  const auto add = [](double a, double b) { return a + b; };
  return {
      {.name = "reduce_warp",
       .settings = kReduceRows,
       .reference = [add](Case& c) { fold_rows(c, 0, add); },
       .tolerance = {1e-4, 1e-6}},
      {.name = "reduce_block",
       .settings = kReduceRows,
       .reference = [](Case& c) { fold_rows(c, 0, [](double a, double b) { return a + b * b; }); },
       .tolerance = {1e-4, 1e-6}},
      {.name = "reduce_two_launch",
       .settings = sweep("N", {1, 255, 10007, 60000}),
       .reference = mean_of_all,
       .tolerance = {1e-5, 1e-6}},
      {.name = "reduce_atomic",
       .settings = rows({"N", "K"}, {{1000, 7}, {1, 1}, {5000, 130}}),
       .reference = sums_by_key,
       .fill = [](Case& c) { c.fill_integer("key", 0, c.dim("K") - 1); }},
      {.name = "reduce_last_block",
       .settings = sweep("N", {1, 513, 30011}),
       .reference = dot,
       .tolerance = {1e-2, 1e-5}},
      {.name = "argmax_rows",
       .settings = kReduceRows,
       .reference = argmax,
       .fill = [](Case& c) { c.fill_integer("x", -20, 20); }},
      {"minmax_atomic", sweep("N", {1, 257, 5000}), minmax},
      {.name = "prod_rows",
       .settings = rows({"R", "C"}, {{1, 1}, {5, 33}, {2, 200}}),
       .reference = [](Case& c) { fold_rows(c, 1, [](double a, double b) { return a * b; }); },
       .fill = [](Case& c) { c.fill_real("x", 0.9, 1.1); },
       .tolerance = {0, 3e-5}},
      {.name = "column_sum",
       .settings = rows({"R", "C"}, {{1, 1}, {100, 33}, {17, 64}}),
       .reference = column_sum,
       .tolerance = {1e-4, 1e-6}},
      {.name = "reduce_double",
       .settings = sweep("N", {1, 255, 5003}),
       .reference = sum_and_norm,
       .tolerance = {1e-11, 1e-14}},
      {.name = "welford",
       .settings = kReduceRows,
       .reference = mean_var,
       .tolerance = {1e-5, 1e-5}},
      {"histogram_shared", sweep("N", {1, 1000, 50021}), histogram<uint8_t, int32_t>},
      {.name = "histogram_match",
       .settings = rows({"N", "K"}, {{1, 1}, {1000, 10}, {333, 777}}),
       .reference = histogram<int32_t, uint32_t>,
       .fill = [](Case& c) { c.fill_integer("x", 0, c.dim("K") - 1); }},
      {.name = "cg_tile_reduce", .settings = sweep("N", {1, 16, 1003}), .reference = segment_sums},
      {.name = "cp_async_pipeline",
       .settings = rows({"R", "C"}, {{1, 4}, {2, 252}, {3, 260}, {2, 1028}}),
       .reference = row_dot,
       .tolerance = {1e-3, 1e-5}},
  };
}

}  // namespace kw::corpus
