// Host references of matrix products and convolutions. Where the kernel adds in a fixed order with
// fused multiply-adds the reference does the same and the result is exact.
#include <cmath>

#include "corpus.h"

namespace kw::corpus {
namespace {

void matmul(Case& c) {
  const int64_t m = c.dim("M"), n = c.dim("N"), depth = c.dim("K");
  const auto a = c.in<float>("a"), b = c.in<float>("b");
  auto out = c.out<float>("c");
  for (int64_t i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum = std::fma(a[i / n * depth + k], b[k * n + i % n], sum);
    out[i] = sum;
  }
}

void matmul_bias(Case& c) {
  matmul(c);
  if (!c.has("bias")) return;
  auto out = c.out<float>("c");
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i)
    out[i] += c.in<float>("bias")[i % c.dim("N")];
}

void half_matmul(Case& c) {
  const int64_t m = c.dim("M"), n = c.dim("N"), depth = c.dim("K");
  for (int64_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += c.get("a", i / n * depth + k) * c.get("b", k * n + i % n);
    c.set("c", i, sum);
  }
}

void staged_matmul(Case& c) {
  const int64_t m = c.dim("M"), n = c.dim("N"), depth = c.dim("K");
  for (int64_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += c.get("a", i / n * depth + k) * c.get("bt", i % n * depth + k);
    c.set("c", i, sum * 0.5);
    c.set("low", i, sum * 0.5);
  }
}

/// Eighths: products and sums are exact in fp32, in any order.
void fill_eighths(Case& c, const char* second) {
  for (const char* name : {"a", second}) {
    c.fill_integer(name, -32, 32);
    c.scale(name, 0.125);
  }
}

void int8_matmul(Case& c) {
  const int64_t m = c.dim("M"), n = c.dim("N"), depth = c.dim("K");
  const auto a = c.in<int8_t>("a"), bt = c.in<int8_t>("bt");
  for (int64_t i = 0; i < m * n; ++i) {
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += a[i / n * depth + k] * bt[i % n * depth + k];
    c.out<int32_t>("c")[i] = sum;
  }
}

void conv2d(Case& c) {
  const int64_t channels = c.dim("C"), height = c.dim("H"), width = c.dim("W"), outs = c.dim("O");
  const auto x = c.in<float>("x"), filter = c.in<float>("k");
  auto out = c.out<float>("y");
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t px = i % width, py = i / width % height, o = i / width / height % outs,
                  b = i / width / height / outs;
    float sum = 0;
    for (int64_t k = 0; k < channels * 9; ++k) {
      const int64_t y = py + k % 9 / 3 - 1, xx = px + k % 3 - 1;
      if (y < 0 || y >= height || xx < 0 || xx >= width) continue;
      sum = std::fma(x[((b * channels + k / 9) * height + y) * width + xx],
                     filter[o * channels * 9 + k], sum);
    }
    out[i] = sum;
  }
}

void fft(Case& c) {
  const auto x = c.in<float>("x");
  auto y = c.out<float>("y");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    for (int64_t k = 0; k < 256; ++k) {
      double re = 0, im = 0;
      for (int64_t i = 0; i < 256; ++i) {
        const double t = -2 * M_PI * static_cast<double>(i * k % 256) / 256;
        const double a = x[(r * 256 + i) * 2], b = x[(r * 256 + i) * 2 + 1];
        re += a * std::cos(t) - b * std::sin(t);
        im += a * std::sin(t) + b * std::cos(t);
      }
      y[(r * 256 + k) * 2] = static_cast<float>(re);
      y[(r * 256 + k) * 2 + 1] = static_cast<float>(im);
    }
  }
}

}  // namespace

std::vector<Entry> matmul_entries() {
  const std::vector<std::string> mnk = {"M", "N", "K"};
  auto blocked = rows(mnk, {{33, 65, 17}, {1, 1, 1}, {64, 32, 40}});
  blocked.push_back({.dims = {{"M", 7}, {"N", 40}, {"K", 9}}, .absent = {"bias"}});
  return {
      {"matmul_tiled", rows(mnk, {{33, 17, 20}, {1, 1, 1}, {16, 48, 64}, {7, 100, 13}}), matmul},
      {"matmul_blocked", blocked, matmul_bias},
      {.name = "matmul_wmma",
       .settings = rows(mnk, {{16, 16, 16}, {32, 48, 64}}),
       .reference = half_matmul,
       .fill = [](Case& c) { fill_eighths(c, "b"); },
       .needs = kWmma},
      {.name = "wmma_staged",
       .settings = rows(mnk, {{32, 32, 16}, {64, 32, 48}}),
       .reference = staged_matmul,
       .fill = [](Case& c) { fill_eighths(c, "bt"); },
       .needs = kWmma},
      {"matmul_dp4a", rows(mnk, {{1, 1, 4}, {9, 33, 64}, {16, 16, 100}}), int8_matmul},
      {"conv2d",
       rows({"B", "C", "H", "W", "O"}, {{1, 1, 1, 1, 1}, {2, 3, 7, 11, 5}, {1, 16, 9, 8, 4}}),
       conv2d},
      {.name = "fft_radix2",
       .settings = sweep("R", {1, 3}),
       .reference = fft,
       .tolerance = {2e-4, 1e-5}},
  };
}

}  // namespace kw::corpus
