// The problem: errors at ties, zeros and thresholds need inputs that hold exactly these values, but
// not everywhere: a tensor of one value hides which element was read. So ordinary values are mixed
// with them. Row starts get more than their share, because kernels that look at one element look at
// the first. The alternative, a cell for each threshold, would test each of them harder; the cells
// would be as many as the constants of a kernel. Constants that are not compared exactly with an
// input are rare: beside a discontinuity both results are right, so such elements judge nothing.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "inputs/draw.h"
#include "inputs/families.h"
#include "tensor/convert.h"

namespace kw::inputs {

namespace {

using tensor::DType;
using tensor::Family;
using tensor::HostTensor;

constexpr int64_t kMostLevels = 17;
constexpr uint64_t kLevels[] = {2, 3, 5, 9, 17};
constexpr int64_t kLongRow = 4096, kFewRows = 8;  // of one tensor
constexpr uint64_t kZeroOf = 8;                   // one of this many elements is zero
constexpr uint64_t kZeroStartOf = 2;              // the same for the first of a row
constexpr double kAlways[] = {0.0, 1.0, -1.0, 0.5,
                              2.0};  // constants that kernels often treat apart

/// The levels of a cell. Two are opposite, so that magnitudes tie too.
Result<HostTensor> levels_of(const TensorDraw& draw) {
  const uint64_t seed = derive_seed(draw.cell.seed, 31);
  if (tensor::is_float(draw.spec.dtype)) {
    HostTensor levels =
        KW_TRY(tensor::make_input(draw.spec.dtype, {kMostLevels}, Family::Normal, seed));
    if (seed % 2 == 0) put(&levels, 0, 0.0);
    double value = 0;
    tensor::load_values(levels, 1, std::span(&value, 1));
    put(&levels, 2, -value);
    return levels;
  }
  const tensor::IntegerRange range = KW_TRY(integer_range(draw.spec, draw.cell.dims));
  return tensor::make_input(draw.spec.dtype, {kMostLevels}, Family::Uniform, seed, range);
}

/// Moves a float to its neighbour in the type. Zero becomes the other zero: its neighbours are
/// subnormal, and the family "denormal" draws these.
void step(HostTensor* tensor, int64_t at, bool up) {
  const auto size = static_cast<size_t>(tensor::dtype_size(tensor->dtype));
  if (tensor->dtype == DType::Fp4e2m1x2 || size > 8) return;
  std::byte* place = tensor->data.data() + static_cast<size_t>(at) * size;
  uint64_t bits = 0;
  std::memcpy(&bits, place, size);
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  const uint64_t magnitude = bits & (sign - 1);
  if (magnitude == 0)
    bits ^= sign;
  else
    bits += up == ((bits & sign) == 0) ? 1 : uint64_t(-1);
  std::memcpy(place, &bits, size);
}

/// One source of values to plant, with its share of 1024 elements.
template <typename T>
struct PlantSource {
  std::vector<T> values;
  size_t preferred = 0;  // the first of them are taken three times of four; 0: all alike
  uint64_t share = 0, share_at_start = 0;

  /// `only_preferred`: large numbers in a sum would hide the small ones.
  T pick(uint64_t draw, bool only_preferred = false) const {
    const bool first = preferred > 0 && (only_preferred || (draw >> 2) % 4 != 0);
    return values[(draw >> 4) % (first ? preferred : values.size())];
  }
};

template <typename T>
using PlantSources = std::vector<PlantSource<T>>;

constexpr int kPlantedAlways = 60;
constexpr uint64_t kShares = 1024;
constexpr uint64_t kExact = 64, kExactStart = 256;  // one of 16; one of 4 at the start of a row
constexpr uint64_t kModule = 64, kModuleStart = 512;
constexpr uint64_t kOther = 4;  // below half a percent
// Of so many rows, one has no large numbers, and one has as many as row starts have: code that
// reads few elements meets a threshold there.
constexpr uint64_t kCalmOf = 2, kDenseOf = 4;
constexpr uint64_t kExtremeOf = 8;  // one of this many rows or columns

// Returns the source for an element, or null.
template <typename T>
const PlantSource<T>* source_for(const PlantSources<T>& sources, uint64_t draw, bool start) {
  uint64_t left = draw % kShares;
  for (const PlantSource<T>& source : sources) {
    const uint64_t share = start ? source.share_at_start : source.share;
    if (left < share) return &source;
    left -= share;
  }
  return nullptr;
}

template <typename T>
void add_source(PlantSources<T>* sources, PlantSource<T> source) {
  if (!source.values.empty()) sources->push_back(std::move(source));
}

PlantSources<double> number_sources(const TensorDraw& draw) {
  PlantSources<double> sources;
  if (draw.family == "immediates") {
    const Immediates& module = draw.cell.immediates;
    add_source(&sources, {module.numbers, module.compared_numbers, kModule, kModuleStart});
  }
  add_source(&sources, {draw.constants.numbers, 0, kExact, kExactStart});
  std::vector<double> others(std::begin(kAlways), std::end(kAlways));
  const std::vector<double>& graph = draw.cell.constants.numbers;
  others.insert(others.end(), graph.begin(), graph.end());
  add_source(&sources, {std::move(others), 0, kOther, kOther});
  return sources;
}

PlantSources<int64_t> integer_sources(const TensorDraw& draw) {
  PlantSources<int64_t> sources;
  if (draw.family == "immediates") {
    const Immediates& module = draw.cell.immediates;
    add_source(&sources, {module.integers, module.compared_integers, kModule, kModuleStart});
  }
  add_source(&sources, {draw.constants.integers, 0, kExact, kExactStart});
  add_source(&sources, {draw.cell.constants.integers, 0, kOther, kOther});
  return sources;
}

/// Constants beyond 2^60 are planted where the formula stays within its type with such values.
double plant_limit(const TensorDraw& draw) {
  const int type = limited({-1100, 1100, true}, draw.spec.dtype).high;
  const int formula = limited(draw.cell.window, draw.spec.dtype).high;
  return std::ldexp(1.0, std::min(type, std::max(formula, kPlantedAlways)));
}

void plant_numbers(const TensorDraw& draw, uint64_t seed, HostTensor* tensor) {
  const PlantSources<double> sources = number_sources(draw);
  const int64_t row = row_length(*tensor);
  const double limit = plant_limit(draw);
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t random) {
    const uint64_t of_row = derive_seed(seed, static_cast<uint64_t>(at / row));
    const bool calm = of_row % kCalmOf == 0, dense = of_row % kDenseOf == 0;
    const PlantSource<double>* source = source_for(sources, random, dense || at % row == 0);
    if (source == nullptr) return;
    const uint64_t choice = random >> 10;
    const double value = source->pick(choice >> 8, calm);
    if (std::fabs(value) > limit) return;
    put(tensor, at, choice % 4 == 0 ? -value : value);
    const uint64_t neighbour = (choice >> 2) % 4;
    if (neighbour < 2) step(tensor, at, neighbour == 0);
  });
}

/// Makes one of kExtremeOf rows, or columns, have a threshold as its largest or smallest value: a
/// kernel may look at the result of a maximum. The values beyond it are mirrored, so that only one
/// element is the threshold.
void plant_extremes(const TensorDraw& draw, uint64_t seed, HostTensor* tensor) {
  PlantSources<double> sources;
  if (draw.family == "immediates") {
    const Immediates& module = draw.cell.immediates;
    add_source(&sources, {{module.numbers.begin(),
                           module.numbers.begin() + static_cast<long>(module.compared_numbers)},
                          0,
                          0,
                          0});
  }
  add_source(&sources, {draw.constants.numbers, 0, 0, 0});
  const int64_t row = row_length(*tensor);
  if (sources.empty() || row == 0) return;
  const bool rows = seed % 2 == 0;
  const int64_t length = rows ? row : tensor::element_count(tensor->shape).value() / row;
  const double limit = plant_limit(draw);
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t) {
    const int64_t line = rows ? at / row : at % row, place = rows ? at % row : at / row;
    const uint64_t choice = derive_seed(seed, static_cast<uint64_t>(line));
    if (choice % kExtremeOf != 0) return;
    const double value = sources[(choice >> 8) % sources.size()].pick(choice >> 16);
    if (std::fabs(value) > limit) return;
    const bool largest = (choice >> 6) % 2 == 0;
    double mine = 0;
    tensor::load_values(*tensor, at, std::span(&mine, 1));
    if (place == static_cast<int64_t>((choice >> 40) % static_cast<uint64_t>(length)))
      put(tensor, at, value);
    else if (largest ? mine >= value : mine <= value)
      put(tensor, at, 2 * value - mine + (largest ? -0.125 : 0.125));
  });
}

Status plant_integers(const TensorDraw& draw, uint64_t seed, HostTensor* tensor) {
  const PlantSources<int64_t> sources = integer_sources(draw);
  tensor::IntegerRange range = KW_TRY(integer_range(draw.spec, draw.cell.dims));
  if (is_free_integer(draw.spec)) range = tensor::integer_limits(tensor->dtype);
  const int64_t row = row_length(*tensor);
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t random) {
    const PlantSource<int64_t>* source = source_for(sources, random, at % row == 0);
    if (source == nullptr) return;
    const uint64_t choice = random >> 10;
    int64_t value = source->pick(choice >> 8);
    if ((choice >> 2) % 4 == 0 && value < INT64_MAX) ++value;
    if ((choice >> 2) % 4 == 1 && value > INT64_MIN) --value;
    if (value >= range.low && value <= range.high) tensor::store_int(*tensor, at, value);
  });
  return Done{};
}

/// Copies elements of the inputs that the reference compares with this one: of the same place if
/// the shapes agree.
void plant_copies(const TensorDraw& draw, uint64_t seed, HostTensor* tensor) {
  std::vector<const HostTensor*> others;
  for (const size_t other : draw.constants.compared_with) {
    if (other >= draw.earlier.size()) continue;
    const HostTensor& earlier = draw.earlier[other];
    if (earlier.dtype == tensor->dtype && !earlier.data.empty()) others.push_back(&earlier);
  }
  if (others.empty() || tensor->dtype == DType::Fp4e2m1x2) return;
  const auto size = static_cast<size_t>(tensor::dtype_size(tensor->dtype));
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t random) {
    if (random % 8 != 0) return;
    const HostTensor& from = *others[(random >> 4) % others.size()];
    const size_t count = from.data.size() / size;
    const size_t place =
        from.shape == tensor->shape ? static_cast<size_t>(at) : (random >> 12) % count;
    std::memcpy(tensor->data.data() + static_cast<size_t>(at) * size,
                from.data.data() + place * size, size);
    if (tensor::is_float(tensor->dtype) && (random >> 9) % 4 == 0)
      step(tensor, at, (random >> 8) % 2 == 0);
  });
}

/// Every second row has as many set elements as a constant of the candidate says, from a secret
/// place: kernels count bools.
void plant_counts(const TensorDraw& draw, uint64_t seed, HostTensor* tensor) {
  const int64_t row = row_length(*tensor);
  std::vector<int64_t> counts;
  for (const int64_t value : draw.cell.immediates.integers) {
    if (value > 0 && value <= row) counts.push_back(value);
  }
  if (counts.empty()) return;
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t) {
    const uint64_t of_row = derive_seed(seed, static_cast<uint64_t>(at / row));
    if (of_row % 2 == 0) return;
    const auto from = static_cast<int64_t>((of_row >> 32) % static_cast<uint64_t>(row));
    const int64_t count = counts[(of_row >> 8) % counts.size()];
    tensor::store_int(*tensor, at, (at % row - from + row) % row < count ? 1 : 0);
  });
}

bool has_levels(const TensorDraw& draw) {
  return draw.spec.dtype != DType::Bool && draw.spec.dtype != DType::E8m0 &&
         !draw.spec.legal.permutation;
}

/// In every second row, and in all long ones of a few, only two elements, at secret places, have
/// the largest level, and two others the smallest: elsewhere the first of equal maxima lies at the
/// start of a row.
class RareExtremes {
 public:
  RareExtremes(const std::vector<double>& values, uint64_t count, int64_t row, bool all,
               uint64_t turn, uint64_t seed)
      : row_(row), all_(all), turn_(turn), seed_(seed) {
    const auto end = values.begin() + static_cast<long>(count);
    most_ = static_cast<size_t>(std::max_element(values.begin(), end) - values.begin());
    least_ = static_cast<size_t>(std::min_element(values.begin(), end) - values.begin());
    for (size_t level = 0; level < count; ++level) {
      const bool between = values[level] != values[most_] && values[level] != values[least_];
      if (between) others_.push_back(level);
    }
  }

  size_t level(int64_t at, size_t drawn) const {
    if (others_.empty() || row_ < 8) return drawn;
    const auto line = static_cast<uint64_t>(at / row_);
    if (!all_ && (turn_ + line) % 2 != 0) return drawn;
    const uint64_t of_row = derive_seed(seed_, line);
    for (uint64_t place = 0; place < 4; ++place) {
      // Not in the first quarter of a long row: shorter ones have such places.
      const int64_t among = all_ ? row_ - row_ / 4 : row_;
      const uint64_t before_end = derive_seed(of_row, place) % static_cast<uint64_t>(among);
      if (row_ - 1 - static_cast<int64_t>(before_end) == at % row_)
        return place < 2 ? most_ : least_;
    }
    return others_[drawn % others_.size()];
  }

 private:
  int64_t row_;
  bool all_;
  uint64_t turn_, seed_;
  size_t most_ = 0, least_ = 0;
  std::vector<size_t> others_;
};

}  // namespace

Result<HostTensor> draw_ties(const TensorDraw& draw) {
  if (!has_levels(draw)) return draw_plain(draw.with("uniform", draw.seed));
  const HostTensor levels = KW_TRY(levels_of(draw));
  HostTensor tensor = KW_TRY(tensor::make_tensor(draw.spec.dtype, draw.shape));
  const int64_t row = row_length(tensor);
  const bool all_rare = row >= kLongRow && tensor::value_count(tensor) <= kFewRows * row;
  // Two levels leave none for the other elements.
  const uint64_t count = std::max(kLevels[draw.seed % std::size(kLevels)], all_rare ? 3UL : 2UL);
  std::vector<double> values(kMostLevels);
  tensor::load_values(levels, 0, values);
  const bool floats = tensor::is_float(tensor.dtype);
  const auto size = static_cast<size_t>(tensor::dtype_size(tensor.dtype));
  const RareExtremes rare(values, count, row, all_rare, draw.turn(), derive_seed(draw.seed, 37));
  for_each_draw(tensor, derive_seed(draw.seed, 32), [&](int64_t at, uint64_t random) {
    const size_t level = rare.level(at, (random >> 3) % count);
    if (floats)
      put(&tensor, at, values[level]);
    else
      std::memcpy(tensor.data.data() + static_cast<size_t>(at) * size,
                  levels.data.data() + level * size, size);
  });
  return tensor;
}

Result<HostTensor> draw_mixed_zeros(const TensorDraw& draw) {
  HostTensor tensor = KW_TRY(draw_plain(draw.with("normal", draw.seed)));
  if (!has_levels(draw)) return tensor;
  const bool floats = tensor::is_float(tensor.dtype);
  if (!floats) {
    const tensor::IntegerRange range = KW_TRY(integer_range(draw.spec, draw.cell.dims));
    if (range.low > 0 || range.high < 0) return tensor;
  }
  const int64_t row = row_length(tensor);
  for_each_draw(tensor, derive_seed(draw.seed, 33), [&](int64_t at, uint64_t random) {
    if (random % (at % row == 0 ? kZeroStartOf : kZeroOf) != 0) return;
    if (floats)
      put(&tensor, at, (random >> 20) % 2 == 0 ? 0.0 : -0.0);
    else
      tensor::store_int(tensor, at, 0);
  });
  return tensor;
}

Result<HostTensor> draw_planted(const TensorDraw& draw) {
  HostTensor tensor = KW_TRY(draw_plain(draw.with("normal", draw.seed)));
  const uint64_t seed = derive_seed(draw.seed, 34);
  if (draw.spec.dtype == DType::Bool) plant_counts(draw, seed, &tensor);
  if (!has_levels(draw)) return tensor;
  if (tensor::is_float(tensor.dtype)) {
    plant_numbers(draw, seed, &tensor);
    plant_extremes(draw, derive_seed(draw.seed, 36), &tensor);
  } else {
    KW_TRY(plant_integers(draw, seed, &tensor));
  }
  plant_copies(draw, derive_seed(draw.seed, 35), &tensor);
  return tensor;
}

}  // namespace kw::inputs
