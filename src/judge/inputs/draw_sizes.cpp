// The problem: ordinary values have one size, so kernels that clip, saturate or narrow are right
// for them. These families change the size: integers over their whole type, floats over the window
// in which the formula does not overflow, weights as training leaves them, and several families in
// one tensor. The alternative, a few fixed large values, is what `spikes` does; kernels can be
// written around known sizes. The cost: the window is an estimate, so some tasks see a narrow one.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "inputs/draw.h"
#include "inputs/families.h"
#include "tensor/convert.h"

namespace kw::inputs {

namespace {

using tensor::DType;
using tensor::HostTensor;

constexpr int kNarrow = 8;          // octaves of a tensor whose elements have about one size
constexpr int64_t kPart = 64;       // elements of a vector
constexpr int64_t kRun = 256;       // elements of one family in a mix
constexpr size_t kMixed = 4;        // families in one mix
constexpr int kRoomForSpikes = 17;  // below this window, spikes and offsets would overflow

// All bits random, some bits, the ends of the type, powers of two with their neighbours, small
// ones. `form` decides which, and how many bits.
int64_t extreme_integer(const tensor::IntegerRange& type, uint64_t random, uint64_t form) {
  const auto less = static_cast<int64_t>((random >> 8) % 3);
  switch (form % 8) {
    case 0:
    case 1:
      return type.high - less;
    case 2:
    case 3:
      return type.low + less;
    case 4: {
      const auto power = static_cast<int64_t>(uint64_t{1} << ((random >> 16) % 63));
      const int64_t value = power + less - 1;
      return (random >> 24) % 2 == 0 ? value : -value;
    }
    case 5:
      return static_cast<int64_t>((random >> 16) % 201) - 100;
    case 6: {  // any number of bits: the middle of the type too
      const auto value = static_cast<int64_t>(derive_seed(random, 1) >> ((form >> 16) % 63));
      return (random >> 24) % 2 == 0 ? value : -value;
    }
    default:
      return static_cast<int64_t>(derive_seed(random, 1) ^ (derive_seed(random, 2) << 1));
  }
}

// Clears the bits that a double would round.
int64_t exact_in_double(int64_t value) {
  constexpr int64_t kWhole = int64_t{1} << 53, kRounded = (1 << 11) - 1;
  return value <= kWhole && value >= -kWhole ? value : value & ~kRounded;
}

double fan_in(const HostTensor& tensor) {
  double product = 1;
  for (size_t i = 1; i < tensor.shape.size(); ++i)
    product *= static_cast<double>(std::max<int64_t>(tensor.shape[i], 1));
  return product;
}

/// Whether it is a tensor's turn, of every second one: four consecutive turns of a cell see all
/// combinations of two inputs.
bool has_turn(uint64_t turn, size_t input) {
  constexpr uint64_t kMasks[] = {1, 2, 3, 5, 6, 7};
  return std::popcount(turn & kMasks[input % std::size(kMasks)]) % 2 == 0;
}

/// Exponents of one tensor: half of the tensors, or three of four where the window is the whole
/// type, use the whole window, the others a part of it.
MagnitudeWindow window_of(const TensorDraw& draw) {
  const MagnitudeWindow window = limited(draw.cell.window, draw.spec.dtype);
  const uint64_t turn = draw.cell.window_turn, random = derive_seed(draw.seed, 41);
  const size_t input = draw.earlier.size();
  const int width = window.high - window.low;
  const bool all = has_turn(turn, input) || (window.whole && has_turn(turn, input + 1));
  if (all || width <= kNarrow) return window;
  const int low =
      window.low + static_cast<int>((random >> 8) % static_cast<uint64_t>(width - kNarrow + 1));
  return {low, low + kNarrow, window.whole};
}

/// Of rows, and of parts of a vector that count as rows.
int64_t part_length(const HostTensor& tensor) {
  return tensor.shape.size() == 1 ? kPart : row_length(tensor);
}

double number_of(int exponent, uint64_t random) {
  const double mantissa = 1 + static_cast<double>(derive_seed(random, 3) >> 11) * 0x1p-52;
  return std::ldexp(mantissa, exponent);  // mantissa: [1, 2)
}

/// Where one band of the window begins: at the low end, at its top, or between. Those between are
/// dealt, so that 48 rows have all sizes.
double band_of(uint64_t line, double places) {
  const uint64_t kind = line % 8;
  if (kind == 0) return 0;
  if (kind == 4) return places - 1;
  return std::floor(places * evenly(line / 8 * 6 + kind - (kind > 4 ? 2 : 1)));
}

/// Rows, or every second time the whole tensor, of about one size. Beside larger terms of a sum,
/// small ones would not show.
void fill_bands(const TensorDraw& draw, HostTensor* tensor) {
  const MagnitudeWindow window = limited(draw.cell.single_window, draw.spec.dtype);
  const int width = std::min(kNarrow, window.high - window.low);
  const double places = window.high - window.low - width + 1;
  const int64_t row = part_length(*tensor);
  const auto lines = static_cast<uint64_t>(tensor::value_count(*tensor) / row);
  const uint64_t turn = draw.cell.single_turn, pair = turn / 2, first = turn * lines;
  const uint64_t kind = (pair + pair / 3) % 3;  // of several inputs, each has all kinds
  const uint64_t seed = derive_seed(draw.seed, 45);
  const double all = kind < 2 ? band_of(4 * kind, places) : std::floor(places * evenly(pair));
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t random) {
    const auto line = static_cast<uint64_t>(at / row);
    const double from = turn % 2 == 0 ? band_of(first + line, places) : all;
    // Every second element takes the next exponent in turn, so that a row has them all.
    const uint64_t place = static_cast<uint64_t>(at) + derive_seed(seed, line);
    const uint64_t step = place % 2 == 0 ? place / 2 : random >> 1;
    const int exponent = window.low + static_cast<int>(from) +
                         static_cast<int>(step % static_cast<uint64_t>(width + 1));
    const double value = std::min(number_of(exponent, random), largest_finite(tensor->dtype));
    put(tensor, at, random % 2 != 0 ? -value : value);
  });
}

std::vector<std::string> mixed_families(const TensorDraw& draw) {
  std::vector<std::string> names = {"normal", "uniform", "equal", "sorted", "zeros", "ties"};
  const bool floats = tensor::is_float(draw.spec.dtype);
  const bool room = limited(draw.cell.window, draw.spec.dtype).high >= kRoomForSpikes;
  if (floats) names.push_back("mixed_zeros");
  if (floats && room) names.insert(names.end(), {"spikes", "offset", "heavy", "magnitudes"});
  if (!floats && is_free_integer(draw.spec)) names.push_back("extremes");
  std::vector<std::string> chosen;
  for (size_t i = 0; i < kMixed; ++i) {
    const size_t at = derive_seed(draw.seed, 60 + i) % names.size();
    chosen.push_back(names[at]);
    names.erase(names.begin() + static_cast<long>(at));
  }
  return chosen;
}

}  // namespace

Result<HostTensor> draw_extremes(const TensorDraw& draw) {
  HostTensor tensor = KW_TRY(draw_plain(draw.with("normal", draw.seed)));
  const bool wide = tensor::dtype_size(draw.spec.dtype) > 2;
  if (!is_free_integer(draw.spec) || (draw.cell.narrows_integers && wide)) return tensor;
  const tensor::IntegerRange type = tensor::integer_limits(tensor.dtype);
  const bool is_signed = tensor::is_signed_int(tensor.dtype);
  const auto bits = static_cast<size_t>(tensor::dtype_size(tensor.dtype)) * 8;
  for_each_draw(tensor, derive_seed(draw.seed, 42), [&](int64_t at, uint64_t random) {
    // At half of the places all tensors have the same form: two medium numbers meet often.
    const uint64_t place = derive_seed(draw.cell.seed, static_cast<uint64_t>(at));
    int64_t value = extreme_integer(type, random, place >> 63 == 0 ? place : random);
    // The lowest integer divided by -1 has no result.
    const uint64_t low_bits = static_cast<uint64_t>(value) << (64 - bits);
    const bool lowest = is_signed && low_bits == uint64_t{1} << 63;
    if (lowest && draw.cell.divides_integers) ++value;
    if (bits == 64 && draw.cell.ranks_integers) value = exact_in_double(value);
    tensor::store_int(tensor, at, value);
  });
  return tensor;
}

// Every third row is large and negative, so that a maximum that starts too high is found; every
// third is large and positive. The others have both signs and all magnitudes. Where the window is
// the whole type, every fourth row is small. Parts of a vector count as rows.
Result<HostTensor> draw_magnitudes(const TensorDraw& draw) {
  const DType dtype = draw.spec.dtype;
  const bool single = draw.cell.single && *draw.cell.single == draw.earlier.size();
  if (!tensor::is_float(dtype) || dtype == DType::E8m0 || (draw.cell.single && !single))
    return draw_plain(draw.with("normal", draw.seed));
  HostTensor tensor = KW_TRY(tensor::make_tensor(dtype, draw.shape));
  if (single) {
    fill_bands(draw, &tensor);
    return tensor;
  }
  const MagnitudeWindow window = window_of(draw);
  const int octaves = std::max(window.high - window.low, 1), top = (octaves + 15) / 16;
  const int64_t row_elements = part_length(tensor);
  const double largest = largest_finite(dtype);
  const uint64_t period = window.whole ? 4 : 3, input = draw.earlier.size();
  const auto length = static_cast<uint64_t>(row_elements);
  const uint64_t half = static_cast<uint64_t>(tensor::value_count(tensor)) / (2 * period);
  for_each_draw(tensor, derive_seed(draw.seed, 43), [&](int64_t at, uint64_t random) {
    const uint64_t place = static_cast<uint64_t>(at) % length;
    // Rows of one kind meet rows of every kind of the other inputs.
    const uint64_t line = static_cast<uint64_t>(at) / length;
    const uint64_t row = draw.turn() + line + input * (line / period + draw.cell.seed % kTurns / 4);
    const uint64_t kind = row % period;
    const bool large = draw.spec.role == task::Role::Input && kind < 2;
    const int from = large ? octaves - top : 0;
    const int among = large || kind == 3 ? top : octaves;
    const auto choices = static_cast<uint64_t>(among + (window.whole && kind != 3 ? 1 : 0));
    uint64_t choice = (random >> 1) % choices;
    // Every second element takes exponents in turn, so that a few tensors have them all.
    if (among == octaves && (place + input) % 2 == 0) {
      const uint64_t number = (row / period * length + place) / 2;
      const double share = evenly(number + draw.cell.window_turn * half);
      choice = static_cast<uint64_t>(static_cast<double>(choices) * share);
    }
    const int exponent = window.low + from + static_cast<int>(choice);
    const double value = std::min(number_of(exponent, random), largest);
    const bool negative = large ? kind == 0 : random % 2 != 0;
    put(&tensor, at, negative ? -value : value);
  });
  return tensor;
}

Result<HostTensor> draw_scaled(const TensorDraw& draw) {
  HostTensor tensor = KW_TRY(draw_plain(draw.with("normal", draw.seed)));
  if (draw.spec.role == task::Role::Weight) scale_by_fan_in(&tensor);
  return tensor;
}

void scale_by_fan_in(HostTensor* tensor) {
  const bool matrix = tensor->shape.size() > 1 && tensor::is_float(tensor->dtype);
  if (!matrix || tensor->dtype == DType::E8m0) return;
  const double scale = 1 / std::sqrt(fan_in(*tensor));
  transform(tensor, [&](double value) { return value * scale; });
}

Result<HostTensor> draw_mix(const TensorDraw& draw) {
  if (draw.spec.dtype == DType::Bool || draw.spec.dtype == DType::E8m0 ||
      draw.spec.legal.permutation)
    return draw_plain(draw.with("uniform", draw.seed));
  HostTensor mixed;
  size_t index = 0;
  for (const std::string& family : mixed_families(draw)) {
    HostTensor part = KW_TRY(draw_values(draw.with(family, derive_seed(draw.seed, 70 + index))));
    if (index == 0) {
      mixed = std::move(part);
      ++index;
      continue;
    }
    const size_t count = mixed.data.size();
    const size_t bytes = static_cast<size_t>(kRun * tensor::dtype_size(mixed.dtype));
    for (size_t at = 0, run = 0; at < count; at += bytes, ++run) {
      if (derive_seed(draw.seed, 1000 + run) % kMixed != index) continue;
      std::memcpy(mixed.data.data() + at, part.data.data() + at, std::min(bytes, count - at));
    }
    ++index;
  }
  return mixed;
}

}  // namespace kw::inputs
