// Constants, counted positions, and the random numbers of docs/graph.md ("Philox").
#include <array>
#include <utility>

#include "second_opinion_steps.h"

namespace kw::mutation {

namespace {

using Words = std::array<uint32_t, 4>;

/// High and low half of a product of 32-bit words.
std::pair<uint32_t, uint32_t> halves(uint32_t x, uint32_t z) {
  const uint64_t product = static_cast<uint64_t>(x) * z;
  return {static_cast<uint32_t>(product >> 32), static_cast<uint32_t>(product)};
}

Words philox_words(uint64_t seed, uint64_t counter) {
  Words word = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  auto key_low = static_cast<uint32_t>(seed), key_high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const auto [high0, low0] = halves(0xD2511F53, word[0]);
    const auto [high2, low2] = halves(0xCD9E8D57, word[2]);
    word = {high2 ^ word[1] ^ key_low, low2, high0 ^ word[3] ^ key_high, low0};
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return word;
}

WideTensor philox_numbers(const Step& step) {
  const auto seed = static_cast<uint64_t>(step.in[0]->integers[0]);
  const auto offset = static_cast<uint64_t>(step.in[1]->integers[0]);
  WideTensor out = zeros_of(step);
  for (size_t i = 0; i < out.value.size(); ++i) {
    const Words words = philox_words(seed, offset + i / 4);
    out.value[i] = static_cast<Real>(words[i % 4] >> 8) * 0x1p-24L;
  }
  return out;
}

/// Counts in the type of the tensor: an fp16 cannot hold 2049.
WideTensor counted_positions(const Step& step) {
  WideTensor out = zeros_of(step);
  for_each_element(out.shape, [&](int64_t position, const Extents& at) {
    if (is_whole(out.dtype)) {
      set_integer(out, position, at[step.dim()]);
    } else {
      out.value[static_cast<size_t>(position)] =
          stored(out.dtype, static_cast<Real>(at[step.dim()]));
    }
  });
  return out;
}

WideTensor constant_of(const Step& step) {
  WideTensor out = zeros_of(step);
  if (is_whole(out.dtype)) {
    set_integer(out, 0, step.node.attrs.integer);
  } else {
    out.value[0] = chained(step, step.node.attrs.number);
  }
  return out;
}

}  // namespace

Result<WideTensor> constant_or_count(const Step& step) {
  switch (step.node.op) {
    case Op::Constant:
      return constant_of(step);
    case Op::Iota:
      return counted_positions(step);
    case Op::Philox:
      return philox_numbers(step);
    default:
      return step.refuse("is not a known source");
  }
}

}  // namespace kw::mutation
