// The problem: random values almost never descend along a row, alternate in sign, are zero but for
// one, or form the identity. A kernel that is wrong for such data only is right everywhere else,
// and users have such data: padded rows, masks, arange as indices, weights after initialisation. So
// the lines of a tensor take the structures in turn; some tensors have one structure throughout.
// The alternative, a family for each, would need ten times the cells. A run has few such cells. If
// each drew its structures and their sizes by itself, a run in twenty would lack one of them, and a
// kernel that is wrong there would pass. So both are dealt: the cells of a run have consecutive
// turns, from a secret one, and what is dealt at consecutive turns differs as much as it can. Only
// values and places are random.
#include <algorithm>
#include <cmath>

#include "inputs/draw.h"
#include "inputs/families.h"
#include "tensor/convert.h"

namespace kw::inputs {

namespace {

using tensor::DType;
using tensor::HostTensor;

enum class Pattern : uint8_t {
  Ascending,
  Descending,
  Constant,
  OneHot,
  Padded,
  Alternating,
  Ones,
  OneLarge,
  Blocks,
  Plain,
};
constexpr uint64_t kPatterns = kStructures;
enum class Whole : uint8_t { No, Identity, Ones };

constexpr uint64_t kMostBlock = 6;  // 2^6 equal elements
constexpr int64_t kLeastTile = 16;
constexpr uint64_t kTileSizes = 5;
// A cell with few lines begins where the one before it ended.
constexpr uint64_t kLinesOfTurn = 3;

/// How the tensors of consecutive turns are laid out. Of four neighbours two have plain rows.
enum class Layout : uint8_t { Rows, Across, Identity, Ones };
constexpr Layout kLayouts[] = {Layout::Identity, Layout::Across, Layout::Rows, Layout::Rows,
                               Layout::Across,   Layout::Rows,   Layout::Rows, Layout::Rows,
                               Layout::Ones,     Layout::Across, Layout::Rows, Layout::Rows,
                               Layout::Across,   Layout::Rows,   Layout::Rows, Layout::Rows};

/// What is dealt.
enum class Share : uint8_t { Less, Filled, Place, Side, Size, Sign, Block, Alike };
// The multiples of such a number, without their whole parts, lie evenly between 0 and 1, however
// many there are: the golden ratio, and roots of 7, 3, 2, 13, 11, 19, 5 and 17.
constexpr uint64_t kSteps[] = {0x9e3779b97f4a7c15, 0xa54ff53a5f1d36f1, 0xbb67ae8584caa73b,
                               0x6a09e667f3bcc908, 0x9b05688c2b3e6c1f, 0x510e527fade682d1,
                               0x5be0cd19137e2179, 0x3c6ef372fe94f82b, 0x1f83d9abfb41bd6b};

/// Number in [0, 1).
double share_from(uint64_t random) { return static_cast<double>(random >> 10) * 0x1p-53; }

/// Number in [0, 1). The turns of a run, and the lines of one tensor with the same pattern, have
/// numbers that lie evenly.
double dealt(Share purpose, uint64_t turn, uint64_t line) {
  const auto which = static_cast<size_t>(purpose);
  const uint64_t of_turn = kSteps[(which + 3) % std::size(kSteps)];
  return share_from((turn * of_turn + line * kSteps[which]) >> 1);
}

/// One line of a tensor: its elements along an axis.
struct PatternLine {
  Pattern pattern = Pattern::Plain;
  int64_t extent = 1;
  uint64_t random = 0;
  uint64_t turn = 0, repeat = 0;  // how many lines before it have the same pattern
  uint64_t number = 0;

  double share(Share purpose) const { return dealt(purpose, turn, repeat); }
  /// The place of what differs from the rest; often the first or the last.
  int64_t special() const {
    const double choice = share(Share::Place);
    if (choice < 0.25) return 0;
    if (choice < 0.375) return extent - 1;
    return static_cast<int64_t>(derive_seed(random, 1) % static_cast<uint64_t>(extent));
  }
  /// How many elements come before or behind the padding: any order of magnitude, but at least two.
  int64_t filled() const {
    const double most = std::max(std::log2(static_cast<double>(extent)), 1.0);
    return static_cast<int64_t>(std::exp2(1 + (most - 1) * share(Share::Filled)));
  }
  bool padding(int64_t place) const {
    const bool at_the_start = share(Share::Side) < 0.25;
    return at_the_start ? place < extent - filled() : place >= filled();
  }
  /// The length of a sequence: of four lines one has any, the others end beside a multiple of a
  /// power of two, as blocks of a kernel do. Consecutive lines take these in turn.
  int64_t length() const {
    const uint64_t given = 3 * repeat + static_cast<uint64_t>(pattern) % 3 + 5 * turn;
    const uint64_t place = derive_seed(random, 3) % static_cast<uint64_t>(extent);
    if (given % 4 == 3) return 1 + static_cast<int64_t>(place);
    uint64_t sizes = 1;
    while (sizes < kTileSizes && kLeastTile << sizes < extent) ++sizes;
    const uint64_t dealt = given - given / 4;
    const int64_t size = kLeastTile << (dealt / 3 % sizes);
    const int64_t tiles = std::max<int64_t>(static_cast<int64_t>(place) / size, 1);
    return std::clamp<int64_t>(tiles * size + static_cast<int64_t>(dealt % 3) - 1, 0, extent);
  }
  uint64_t block(int64_t place) const {
    const int64_t length = int64_t{1} << (1 + static_cast<int>(kMostBlock * share(Share::Block)));
    return derive_seed(random, 16 + static_cast<uint64_t>(place / length));
  }
  double size() const { return std::ldexp(1.0, static_cast<int>(5 * share(Share::Size)) - 2); }
  bool negative() const { return share(Share::Sign) < 0.5; }
  bool alike() const { return share(Share::Alike) < 0.5; }
};

Layout layout_of(const TensorDraw& draw) { return kLayouts[draw.turn() % std::size(kLayouts)]; }

/// Where a tensor's lines lie.
struct LinePlan {
  int64_t extent = 1, stride = 1;
  uint64_t seed = 0, turn = 0, input = 0;

  /// Vectors may have several patterns; other tensors have lines along the last axis, or another.
  static LinePlan of(const TensorDraw& draw, int64_t count) {
    LinePlan plan;
    plan.seed = derive_seed(draw.seed, 81);
    plan.turn = draw.turn();
    plan.input = draw.earlier.size();
    if (draw.shape.empty()) return plan;
    size_t axis = draw.shape.size() - 1;
    if (axis > 0 && layout_of(draw) == Layout::Across) axis = plan.turn / 4 % axis;
    for (size_t i = axis + 1; i < draw.shape.size(); ++i) plan.stride *= draw.shape[i];
    plan.extent = draw.shape[axis];
    const bool vector = draw.shape.size() == 1 && draw.spec.role == task::Role::Input;
    if (vector && (plan.turn / 2 % 2 == 0 || !tensor::is_float(draw.spec.dtype)))
      plan.extent = std::min(kStructureSegment, count);
    return plan;
  }
  int64_t place(int64_t at) const { return at / stride % extent; }
  PatternLine line(int64_t at) const {
    const auto number = static_cast<uint64_t>(at / (stride * extent) * stride + at % stride);
    const uint64_t repeat = number / kPatterns;
    // From repeat to repeat, the lines of other inputs meet other lines of the first.
    const uint64_t pattern = (kLinesOfTurn * turn + number + repeat * input) % kPatterns;
    return {static_cast<Pattern>(pattern), extent, derive_seed(seed, number), turn, repeat, number};
  }
};

/// The small values beside a large one stay normal numbers of the type.
double least_normal(DType type) { return std::ldexp(1.0, limited({-1100, 0}, type).low + 1); }

double pattern_number(const PatternLine& line, int64_t place, uint64_t random, double least) {
  const double size = line.size();
  const double sign = line.negative() ? -1 : 1;
  const double ordinary = (0.5 + share_from(random)) * (random % 2 == 0 ? size : -size);
  const auto at = static_cast<double>(place), extent = static_cast<double>(line.extent);
  switch (line.pattern) {
    case Pattern::Ascending:  // strictly, as far as the type can tell
      return size * (2 * (at + 0.75 * share_from(random)) / extent - 1);
    case Pattern::Descending:
      return size * (1 - 2 * (at + 0.75 * share_from(random)) / extent);
    case Pattern::Constant:
      return sign * size * (0.5 + share_from(derive_seed(line.random, 5)));
    case Pattern::OneHot:
      return place == line.special() ? sign * size : 0;
    case Pattern::Padded:
      return line.padding(place) ? 0 : ordinary;
    case Pattern::Alternating: {
      const double alike = line.alike() ? size : std::fabs(ordinary);
      return (place + (sign < 0 ? 1 : 0)) % 2 == 0 ? alike : -alike;
    }
    case Pattern::Ones:
      return 1;
    case Pattern::OneLarge: {
      if (place == line.special()) return sign * 256 * size;
      const double less = std::pow(10.0, -3 - 4 * line.share(Share::Less));
      return sign * std::max(256 * size * less * (0.5 + 0.5 * share_from(random)), least);
    }
    case Pattern::Blocks: {
      const uint64_t block = line.block(place);
      return (0.5 + share_from(block)) * (block % 2 == 0 ? size : -size);
    }
    default:
      return ordinary;
  }
}

/// Integers have fewer patterns; those of indices come instead. Short vectors see the odd ones, and
/// indices in order.
constexpr Pattern kOfIntegers[kPatterns] = {
    Pattern::Ascending, Pattern::Descending, Pattern::OneHot,      Pattern::Constant,
    Pattern::Ascending, Pattern::Padded,     Pattern::Alternating, Pattern::Ones,
    Pattern::Ascending, Pattern::Blocks};

int64_t pattern_integer(const PatternLine& line, int64_t place, uint64_t random,
                        const tensor::IntegerRange& range) {
  const auto width = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low) + 1;
  const auto within = [&](uint64_t number) {
    const uint64_t rest = width == 0 ? number : number % width;
    return static_cast<int64_t>(static_cast<uint64_t>(range.low) + rest);
  };
  const auto at = static_cast<uint64_t>(place), last = static_cast<uint64_t>(line.extent - 1);
  switch (kOfIntegers[static_cast<size_t>(line.pattern)]) {
    case Pattern::Ascending:
      return within(at);
    case Pattern::Descending:
      return line.alike() ? within(last - at) : within(width - 1 - at % width);
    case Pattern::Constant:
      return within(line.random);
    case Pattern::OneHot:
    case Pattern::OneLarge:
      return place == line.special() ? range.high : range.low;
    case Pattern::Padded:
      return line.padding(place) ? range.low : within(random);
    case Pattern::Alternating:
      return (place + (line.alike() ? 1 : 0)) % 2 == 0 ? range.low : range.high;
    case Pattern::Ones:
      return line.alike() ? range.high : std::clamp(int64_t{1}, range.low, range.high);
    case Pattern::Blocks:
      return within(line.block(place));
    default:
      return within(random);
  }
}

/// Masks of sequences: lengths, padding on the left, causal ones, all but one. Random bools never
/// form a run of ones behind which there are only zeros.
int64_t pattern_bool(const PatternLine& line, int64_t place, uint64_t random) {
  switch (line.pattern) {
    case Pattern::Ascending:
    case Pattern::Padded:
      return place < line.length() ? 1 : 0;
    case Pattern::Descending:
      return place >= line.extent - line.length() ? 1 : 0;
    case Pattern::Constant:
      return static_cast<int64_t>(line.random % 2);
    case Pattern::OneHot:
      return place == line.special() ? 1 : 0;
    case Pattern::OneLarge:
      return place == line.special() ? 0 : 1;
    case Pattern::Alternating:
      return (place + (line.alike() ? 1 : 0)) % 2;
    case Pattern::Ones:
      return 1;
    case Pattern::Blocks:
      return static_cast<int64_t>(line.block(place) % 2);
    default:
      return line.alike() ? static_cast<int64_t>(random % 2)
                          : (place <= static_cast<int64_t>(line.number) % line.extent ? 1 : 0);
  }
}

/// In order, backwards, or turned by some places.
void permute_in_order(HostTensor* tensor, uint64_t seed) {
  const int64_t extent = row_length(*tensor);
  for_each_draw(*tensor, seed, [&](int64_t at, uint64_t) {
    const uint64_t line = derive_seed(seed, static_cast<uint64_t>(at / extent));
    const int64_t place = at % extent;
    const auto turn = static_cast<int64_t>((line >> 8) % static_cast<uint64_t>(extent));
    const int64_t value = line % 3 == 0   ? place
                          : line % 3 == 1 ? extent - 1 - place
                                          : (place + turn) % extent;
    tensor::store_int(*tensor, at, value);
  });
}

/// Whether the tensor has one structure throughout. Square matrices are every other turn the
/// identity, and weights often ones, as initialisation leaves them.
Whole whole_structure(const TensorDraw& draw) {
  const size_t rank = draw.shape.size();
  const bool square = rank > 1 && draw.shape[rank - 1] == draw.shape[rank - 2];
  const Layout layout = layout_of(draw);
  if (square ? draw.turn() % 2 == 0 : rank > 1 && layout == Layout::Identity)
    return Whole::Identity;
  const bool weight = draw.spec.role == task::Role::Weight;
  // Each weight has turns of its own: any of them may be the only one.
  const uint64_t step = kSteps[draw.earlier.size() % std::size(kSteps)];
  const bool often = share_from(draw.cell.seed % kTurns * step >> 1) < 1.0 / 3;
  return (weight ? often : layout == Layout::Ones) ? Whole::Ones : Whole::No;
}

}  // namespace

Result<HostTensor> draw_structured(const TensorDraw& draw) {
  if (draw.spec.dtype == DType::E8m0) return draw_plain(draw.with("uniform", draw.seed));
  HostTensor tensor = KW_TRY(tensor::make_tensor(draw.spec.dtype, draw.shape));
  const LinePlan plan = LinePlan::of(draw, tensor::value_count(tensor));
  if (draw.spec.legal.permutation) {
    permute_in_order(&tensor, plan.seed);
    return tensor;
  }
  if (!tensor::is_float(tensor.dtype)) {
    const bool bools = tensor.dtype == DType::Bool;
    const tensor::IntegerRange range =
        bools ? tensor::IntegerRange{0, 1} : KW_TRY(integer_range(draw.spec, draw.cell.dims));
    for_each_draw(tensor, plan.seed, [&](int64_t at, uint64_t random) {
      PatternLine line = plan.line(at);
      // Indices 0, 1, 2, … every other turn: they are the most common ones.
      if (!bools && plan.stride == 1 && at < plan.extent && plan.turn % 2 == 0)
        line.pattern = Pattern::Ascending;
      const int64_t place = plan.place(at);
      const int64_t value = bools ? pattern_bool(line, place, random)
                                  : pattern_integer(line, place, random, range);
      tensor::store_int(tensor, at, value);
    });
    return tensor;
  }
  const Whole whole = whole_structure(draw);
  const double least = least_normal(tensor.dtype);
  const int64_t columns = row_length(tensor);
  const int64_t rows = draw.shape.size() > 1 ? draw.shape[draw.shape.size() - 2] : 1;
  for_each_draw(tensor, plan.seed, [&](int64_t at, uint64_t random) {
    double value = 1;
    if (whole == Whole::Identity)
      value = at % columns == at / columns % rows ? 1 : 0;
    else if (whole == Whole::No)
      value = pattern_number(plan.line(at), plan.place(at), random, least);
    put(&tensor, at, value);
  });
  const bool scaled = draw.spec.role == task::Role::Weight && draw.cell.seed % 2 == 1;
  if (scaled && whole == Whole::No) scale_by_fan_in(&tensor);
  return tensor;
}

}  // namespace kw::inputs
