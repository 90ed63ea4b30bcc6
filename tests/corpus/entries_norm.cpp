// Host references of softmax, normalisations and attention, in double.
#include <algorithm>
#include <cmath>

#include "corpus.h"

namespace kw::corpus {
namespace {

const std::vector<Setting> kRows =
    rows({"R", "C"}, {{3, 128}, {1, 1}, {2, 7}, {5, 333}, {2, 1024}});

double row_top(const Case& c, const std::string& name, int64_t first, int64_t count) {
  double top = -INFINITY;
  for (int64_t k = 0; k < count; ++k) top = std::max(top, c.get(name, first + k));
  return top;
}

double row_exps(const Case& c, const std::string& name, int64_t first, int64_t count, double top) {
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += std::exp(c.get(name, first + k) - top);
  return sum;
}

template <bool kLog>
void softmax(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const double top = row_top(c, "x", r * cols, cols);
    const double sum = row_exps(c, "x", r * cols, cols, top);
    for (int64_t k = r * cols; k < (r + 1) * cols; ++k)
      c.set("y", k,
            kLog ? c.get("x", k) - top - std::log(sum) : std::exp(c.get("x", k) - top) / sum);
  }
}

struct Moments {
  double mean, scale;
};

Moments moments(const Case& c, int64_t first, int64_t count) {
  double sum = 0, squares = 0;
  for (int64_t k = 0; k < count; ++k) sum += c.get("x", first + k);
  const double mean = sum / static_cast<double>(count);
  for (int64_t k = 0; k < count; ++k) squares += std::pow(c.get("x", first + k) - mean, 2);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(count) + c.scalar("eps"))};
}

void layer_norm(Case& c) {
  const int64_t cols = c.dim("C");
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const Moments m = moments(c, r * cols, cols);
    for (int64_t k = 0; k < cols; ++k)
      c.set("y", r * cols + k,
            (c.get("x", r * cols + k) - m.mean) * m.scale * c.get("weight", k) +
                (c.has("bias") ? c.get("bias", k) : 0));
  }
}

void rms_norm(Case& c) {
  const int64_t cols = c.dim("D");
  for (int64_t r = 0; r < c.dim("B"); ++r) {
    double squares = 0;
    for (int64_t k = 0; k < cols; ++k) squares += std::pow(c.get("x", r * cols + k), 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + c.scalar("eps"));
    for (int64_t k = 0; k < cols; ++k)
      c.set("y", r * cols + k, c.get("x", r * cols + k) * scale * c.get("weight", k));
  }
}

void group_norm(Case& c, int64_t groups) {
  const int64_t channels = c.dim("C"), space = c.dim("S"), count = channels / groups * space;
  for (int64_t g = 0; g < c.dim("B") * groups; ++g) {
    const Moments m = moments(c, g * count, count);
    for (int64_t i = g * count; i < (g + 1) * count; ++i) {
      const int64_t channel = i / space % channels;
      c.set("y", i,
            (c.get("x", i) - m.mean) * m.scale * c.get("weight", channel) + c.get("bias", channel));
    }
  }
}

void cross_entropy(Case& c) {
  const int64_t cols = c.dim("C");
  const auto target = c.in<int64_t>("target");
  double loss = 0;
  for (int64_t r = 0; r < c.dim("R"); ++r) {
    const double top = row_top(c, "logits", r * cols, cols);
    loss += top + std::log(row_exps(c, "logits", r * cols, cols, top)) -
            c.get("logits", r * cols + target[r]);
  }
  c.set("loss", 0, loss / static_cast<double>(c.dim("R")));
}

void attention(Case& c, bool causal) {
  const int64_t length = c.dim("T"), width = c.dim("D");
  for (int64_t row = 0; row < c.dim("H") * length; ++row) {
    const int64_t head = row / length * length, keys = causal ? row % length + 1 : length;
    std::vector<double> score(keys), out(width);
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t d = 0; d < width; ++d)
        score[j] += c.get("q", row * width + d) * c.get("k", (head + j) * width + d);
      score[j] /= std::sqrt(static_cast<double>(width));
    }
    const double top = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (double& s : score) sum += s = std::exp(s - top);
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t d = 0; d < width; ++d)
        out[d] += score[j] / sum * c.get("v", (head + j) * width + d);
    for (int64_t d = 0; d < width; ++d) c.set("o", row * width + d, out[d]);
  }
}

void fill_attention(Case& c) {
  for (const char* name : {"q", "k", "v"}) c.fill_real(name, -1, 1);
}

}  // namespace

std::vector<Entry> norm_entries() {
  auto layer = kRows;
  layer.push_back({.dims = {{"R", 2}, {"C", 130}}, .absent = {"bias"}});
  layer.push_back({.dims = {{"R", 2}, {"C", 64}}, .absent = {"bias"}});
  return {
      {.name = "softmax_online",
       .settings = kRows,
       .reference = softmax<false>,
       .tolerance = {1e-7, 1e-5}},
      {.name = "softmax_two_pass",
       .settings = kRows,
       .reference = softmax<true>,
       .tolerance = {1e-3, 8e-3}},
      {.name = "layernorm", .settings = layer, .reference = layer_norm, .tolerance = {2e-5, 1e-5}},
      {.name = "rmsnorm_vec",
       .settings = rows({"B", "D"}, {{3, 128}, {1, 1}, {2, 7}, {4, 1000}, {2, 30}}),
       .reference = rms_norm,
       .tolerance = {1e-4, 1.1e-3}},
      {.name = "groupnorm",
       .settings = rows({"B", "C", "S"}, {{1, 4, 1}, {2, 8, 49}, {3, 12, 10}}),
       .reference = [](Case& c) { group_norm(c, c.tune("GROUPS")); },
       .tolerance = {5e-4, 1e-4}},
      {.name = "cross_entropy",
       .settings = kRows,
       .reference = cross_entropy,
       .fill = [](Case& c) { c.fill_integer("target", 0, c.dim("C") - 1); },
       .tolerance = {1e-5, 1e-5}},
      {.name = "attention",
       .settings = rows({"H", "T", "D"}, {{1, 1, 1}, {2, 17, 64}, {1, 33, 40}}),
       .reference = [](Case& c) { attention(c, c.tune("CAUSAL") != 0); },
       .fill = fill_attention,
       .tolerance = {1e-5, 1e-4}},
  };
}

}  // namespace kw::corpus
