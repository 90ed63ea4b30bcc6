// Host references of kernels whose outputs each depend on few inputs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "corpus.h"

namespace kw::corpus {
namespace {

void axpb(Case& c) {
  const auto x = c.in<float>("x");
  auto y = c.out<float>("y");
  const auto a = static_cast<float>(c.scalar("a")), b = static_cast<float>(c.scalar("b"));
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::fma(a, x[i], b);
}

void gelu(Case& c) {
  for (int64_t i = 0; i < c.dim("N"); ++i) {
    const double v = c.get("x", i);
    c.set("y", i, 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v))));
  }
}

void bf16_fma(Case& c) {
  for (int64_t i = 0; i < c.dim("N"); ++i)
    c.set("y", i, c.get("a", i) * c.get("b", i) + c.get("c", i));
}

void half_arith(Case& c) {
  const int64_t n = c.dim("N");
  for (int64_t i = 0; i < n; ++i) {
    const double u = c.get("a", i), v = c.get("b", i);
    const double results[] = {
        u + v, u - v, u * v, u * v + u, std::max(-u, std::abs(v)), std::clamp(u + v, 0.0, 1.0)};
    for (int64_t k = 0; k < 6; ++k) c.set("y", k * n + i, results[k]);
    c.set("less", i, u < v);
  }
}

void transpose(Case& c) {
  const int64_t rows = c.dim("R"), cols = c.dim("C");
  const auto x = c.in<float>("x");
  auto y = c.out<float>("y");
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < cols; ++k) y[k * rows + r] = x[r * cols + k];
}

void transpose_bytes(Case& c) {
  const int64_t batch = c.dim("B"), rows = c.dim("R"), cols = c.dim("C");
  const auto x = c.in<uint8_t>("x");
  auto y = c.out<uint8_t>("y");
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < cols; ++k)
        y[(b * cols + k) * rows + r] = x[(b * rows + r) * cols + k];
}

void strided_add(Case& c) {
  const auto x = c.in<float>("x"), z = c.in<float>("z");
  auto y = c.out<float>("y");
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] + z[i];
}

void masked_fill(Case& c) {
  const auto x = c.in<float>("x");
  const auto mask = c.in<uint8_t>("mask");
  auto y = c.out<float>("y");
  auto kept = c.out<uint8_t>("kept");
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = mask[i] ? static_cast<float>(c.scalar("value")) : x[i];
    kept[i] = !mask[i];
  }
}

void momentum(Case& c) {
  const auto w = c.in<float>("w"), m = c.in<float>("m"), g = c.in<float>("g");
  auto new_w = c.out<float>("w"), new_m = c.out<float>("m");
  const auto lr = static_cast<float>(c.scalar("lr")), beta = static_cast<float>(c.scalar("beta"));
  for (size_t i = 0; i < w.size(); ++i) {
    new_m[i] = std::fma(beta, m[i], g[i]);
    new_w[i] = std::fma(-lr, new_m[i], w[i]);
  }
}

void grey_blur(Case& c) {
  const int64_t height = c.dim("H"), width = c.dim("W");
  const auto image = c.in<uint8_t>("image");
  auto grey = c.out<uint8_t>("grey");
  const auto luma = [&](int64_t y, int64_t x) {
    const uint8_t* p = &image[4 * (std::clamp<int64_t>(y, 0, height - 1) * width +
                                   std::clamp<int64_t>(x, 0, width - 1))];
    return (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
  };
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      int sum = 0;
      for (int64_t k = 0; k < 9; ++k) sum += luma(y + k / 3 - 1, x + k % 3 - 1);
      grey[y * width + x] = static_cast<uint8_t>((sum + 4) / 9);
    }
  }
}

void dropout(Case& c) {
  const auto x = c.in<float>("x");
  auto y = c.out<float>("y");
  auto bits = c.out<uint32_t>("bits");
  const auto seed = static_cast<uint64_t>(c.integer_scalar("seed"));
  const auto offset = static_cast<uint64_t>(c.integer_scalar("offset"));
  const auto keep = static_cast<float>(c.scalar("keep"));
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t ctr[4] = {static_cast<uint32_t>(i / 4), 0, static_cast<uint32_t>(offset),
                       static_cast<uint32_t>(offset >> 32)};
    uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
      const uint64_t p = uint64_t{0xD2511F53u} * ctr[0], q = uint64_t{0xCD9E8D57u} * ctr[2];
      const uint32_t next[4] = {
          static_cast<uint32_t>(q >> 32) ^ ctr[1] ^ key[0], static_cast<uint32_t>(q),
          static_cast<uint32_t>(p >> 32) ^ ctr[3] ^ key[1], static_cast<uint32_t>(p)};
      std::memcpy(ctr, next, sizeof ctr);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    bits[i] = ctr[i % 4];
    y[i] = static_cast<float>(bits[i] >> 8) * 0x1p-24f < keep ? x[i] / keep : 0.0f;
  }
}

void fill_permute(Case& c) {
  const auto n = c.dim("N");
  auto from = c.in<int64_t>("from");
  auto to = c.in<int32_t>("to");
  std::iota(to.begin(), to.end(), 0);
  for (int64_t i = 0; i < n; ++i) {
    from[i] = c.random().integer(0, n - 1);
    std::swap(to[i], to[c.random().integer(0, i)]);
  }
}

void permute(Case& c) {
  const auto x = c.in<float>("x");
  const auto from = c.in<int64_t>("from");
  const auto to = c.in<int32_t>("to");
  auto y = c.out<float>("y");
  for (size_t i = 0; i < y.size(); ++i) y[to[i]] = x[from[i]];
}

void embedding(Case& c) {
  const auto table = c.in<uint16_t>("table");
  const auto ids = c.in<int64_t>("ids");
  auto y = c.out<uint16_t>("y");
  const int64_t width = c.dim("D");
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i)
    y[i] = table[ids[i / width] * width + i % width];
}

void rope(Case& c) {
  const int64_t heads = c.dim("H"), width = c.dim("D"), half = width / 2;
  const auto x = c.in<float>("x"), angle = c.in<float>("angle");
  auto y = c.out<float>("y");
  for (int64_t row = 0; row < c.dim("T") * heads; ++row) {
    for (int64_t i = 0; i < half; ++i) {
      const double t = angle[row / heads * half + i];
      const double a = x[row * width + i], b = x[row * width + half + i];
      y[row * width + i] = static_cast<float>(a * std::cos(t) - b * std::sin(t));
      y[row * width + half + i] = static_cast<float>(a * std::sin(t) + b * std::cos(t));
    }
  }
}

void add_one(Case& c) {
  const auto x = c.in<int32_t>("x");
  auto y = c.out<int32_t>("y");
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  c.out<int32_t>("total")[0] = static_cast<int32_t>(x.size());
}

void sum_of_four(Case& c) {
  const auto x = c.in<float>("x");
  auto y = c.out<float>("y");
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3];
}

void max_pool(Case& c) {
  const int64_t height = c.dim("H"), width = c.dim("W");
  const int64_t out_height = (height + 1) / 2, out_width = (width + 1) / 2;
  for (int64_t i = 0; i < c.size("y"); ++i) {
    const int64_t ox = i % out_width, oy = i / out_width % out_height,
                  plane = i / out_width / out_height;
    double best = -INFINITY;
    for (int64_t y = 2 * oy; y < std::min(2 * oy + 2, height); ++y)
      for (int64_t x = 2 * ox; x < std::min(2 * ox + 2, width); ++x)
        best = std::max(best, c.get("x", (plane * height + y) * width + x));
    c.set("y", i, best);
  }
}

void laplace(Case& c) {
  const int64_t height = c.dim("H"), width = c.dim("W");
  const auto x = c.in<float>("x");
  auto out = c.out<float>("y");
  const auto at = [&](int64_t r, int64_t k) {
    return r >= 0 && r < height && k >= 0 && k < width ? x[r * width + k] : 0.0f;
  };
  for (int64_t r = 0; r < height; ++r)
    for (int64_t k = 0; k < width; ++k)
      out[r * width + k] =
          std::fma(-4.0f, at(r, k), at(r - 1, k) + at(r + 1, k) + at(r, k - 1) + at(r, k + 1));
}

}  // namespace

std::vector<Entry> elementwise_entries() {
  return {
      {"axpb_float4", sweep("N", {1, 7, 1000, 4093, 70000}), axpb},
      {.name = "gelu_half2",
       .settings = sweep("N", {1, 2, 7, 1024, 4097}),
       .reference = gelu,
       .tolerance = {1e-4, 1.1e-3}},
      {"bf16_fma", sweep("N", {1, 2, 127, 4096}), bf16_fma},
      {"half_arith", sweep("N", {1, 97, 1024}), half_arith},
      {"transpose_padded", rows({"R", "C"}, {{65, 31}, {1, 1}, {1, 77}, {64, 64}, {97, 130}}),
       transpose},
      {"transpose_swizzled", rows({"B", "R", "C"}, {{1, 1, 1}, {3, 33, 31}, {2, 70, 129}}),
       transpose_bytes},
      {"strided_copy", rows({"R", "C"}, {{1, 1}, {7, 33}, {13, 64}}), strided_add},
      {"bool_mask", sweep("N", {1, 129, 1000}), masked_fill},
      {"inout_momentum", sweep("N", {1, 65, 4096}), momentum},
      {"image_u8", rows({"H", "W"}, {{1, 1}, {17, 33}, {40, 50}}), grey_blur},
      {"dropout_philox", sweep("N", {1, 3, 1001, 4096}), dropout},
      {.name = "gather_scatter",
       .settings = sweep("N", {1, 129, 2000}),
       .reference = permute,
       .fill = fill_permute},
      {.name = "embedding",
       .settings = rows({"V", "D", "T"}, {{1, 1, 1}, {50, 64, 7}, {11, 13, 33}}),
       .reference = embedding,
       .fill = [](Case& c) { c.fill_integer("ids", 0, c.dim("V") - 1); }},
      {.name = "rope",
       .settings = rows({"T", "H", "D"}, {{1, 1, 2}, {5, 3, 64}, {4, 2, 130}}),
       .reference = rope,
       .tolerance = {2e-6, 1e-6}},
      {"empty_guard", rows({"N", "M"}, {{3, 5}, {0, 4}, {1, 1}}), add_one},
      {"ptx_load_nc", sweep("N", {1, 130, 1000}), sum_of_four},
      {"max_pool", rows({"P", "H", "W"}, {{1, 1, 1}, {2, 9, 37}, {3, 16, 32}}), max_pool},
      {"stencil_halo", rows({"H", "W"}, {{1, 1}, {8, 32}, {19, 45}, {9, 7}}), laplace},
  };
}

}  // namespace kw::corpus
