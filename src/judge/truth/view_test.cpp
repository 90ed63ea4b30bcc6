// Compares layouts with index arithmetic for each element.
#include "truth/view.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace kw::truth {
namespace {

using graph::Node;
using graph::Op;

// The address of every element of a tensor, row-major.
struct Elements {
  Extents shape;
  std::vector<int64_t> address;

  int64_t at(const Extents& index) const {
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
    return address[static_cast<size_t>(position)];
  }
};

Elements dense(const Extents& shape) {
  Elements out{shape, std::vector<int64_t>(static_cast<size_t>(count_of(shape)))};
  std::iota(out.address.begin(), out.address.end(), 0);
  return out;
}

/// `from(index)` is the old index of the element that moves to `index`.
template <class From>
Elements moved(const Elements& in, const Extents& shape, From from) {
  Elements out{shape, {}};
  Extents index(shape.size(), 0);
  for (int64_t k = 0; k < count_of(shape); ++k) {
    int64_t rest = k;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    out.address.push_back(in.at(from(index)));
  }
  return out;
}

class Moves {
 public:
  explicit Moves(uint32_t seed) : random_(seed) {}

  /// Returns a random view op, and applies it to the elements.
  Node draw(const Elements& in, Elements& out) {
    node_ = Node{};
    switch (below(6)) {
      case 0:
        out = reshape(in);
        break;
      case 1:
        out = permute(in);
        break;
      case 2:
        out = expand(in);
        break;
      case 3:
        out = slice(in);
        break;
      case 4:
        out = flip(in);
        break;
      default:
        out = window(in);
    }
    node_.shape.assign(out.shape.begin(), out.shape.end());
    return node_;
  }

  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(limit));
  }

 private:
  Elements reshape(const Elements& in) {
    node_.op = Op::Reshape;
    Extents shape;
    if (below(2) == 0 && in.shape.size() > 1) {  // join two neighbouring dims
      shape = in.shape;
      const auto d = static_cast<size_t>(below(static_cast<int64_t>(shape.size()) - 1));
      shape[d] *= shape[d + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    } else {  // random factors
      int64_t left = count_of(in.shape);
      for (const int64_t prime : {2, 3, 5, 2, 3}) {
        if (left % prime != 0 || below(2) == 0) continue;
        shape.push_back(prime);
        left /= prime;
      }
      shape.insert(shape.begin() + below(static_cast<int64_t>(shape.size()) + 1), left);
    }
    return {shape, in.address};
  }

  Elements permute(const Elements& in) {
    node_.op = Op::Permute;
    node_.attrs.dims.resize(in.shape.size());
    std::iota(node_.attrs.dims.begin(), node_.attrs.dims.end(), 0);
    std::shuffle(node_.attrs.dims.begin(), node_.attrs.dims.end(), random_);
    Extents shape;
    for (const int d : node_.attrs.dims) shape.push_back(in.shape[static_cast<size_t>(d)]);
    return moved(in, shape, [&](const Extents& index) {
      Extents from(index.size());
      for (size_t d = 0; d < index.size(); ++d)
        from[static_cast<size_t>(node_.attrs.dims[d])] = index[d];
      return from;
    });
  }

  Elements expand(const Elements& in) {
    node_.op = Op::Expand;
    Extents shape = in.shape;
    for (int64_t& extent : shape) {
      if (extent == 1) extent += below(3);
    }
    const bool more = shape.size() < 5 && count_of(shape) < 2000;
    if (more) shape.insert(shape.begin(), 1 + below(2));
    return moved(in, shape, [&](const Extents& index) {
      Extents from(index.begin() + (more ? 1 : 0), index.end());
      for (size_t d = 0; d < from.size(); ++d) from[d] = in.shape[d] == 1 ? 0 : from[d];
      return from;
    });
  }

  Elements slice(const Elements& in) {
    node_.op = Op::Slice;
    Extents shape;
    for (const int64_t extent : in.shape) {
      const bool cut = below(3) == 0;
      const int64_t start = cut ? below(extent) : 0, step = cut ? 1 + below(3) : 1;
      node_.attrs.starts.emplace_back(start);
      node_.attrs.steps.push_back(step);
      shape.push_back((extent - start + step - 1) / step);
    }
    return moved(in, shape, [&](Extents index) {
      for (size_t d = 0; d < index.size(); ++d)
        index[d] = node_.attrs.starts[d].value() + index[d] * node_.attrs.steps[d];
      return index;
    });
  }

  Elements flip(const Elements& in) {
    node_.op = Op::Flip;
    for (int d = 0; d < static_cast<int>(in.shape.size()); ++d) {
      if (below(2) == 0) node_.attrs.dims.push_back(d);
    }
    return moved(in, in.shape, [&](Extents index) {
      for (const int dim : node_.attrs.dims) {
        const auto d = static_cast<size_t>(dim);
        index[d] = in.shape[d] - 1 - index[d];
      }
      return index;
    });
  }

  Elements window(const Elements& in) {
    node_.op = Op::Window;
    const auto d = static_cast<size_t>(below(static_cast<int64_t>(in.shape.size())));
    const int64_t stride = 1 + below(3), dilation = 1 + below(2), extent = in.shape[d];
    const int64_t size = 1 + below(std::min<int64_t>(4, (extent - 1) / dilation + 1));
    node_.attrs.dims = {static_cast<int>(d)};
    node_.attrs.steps = {stride, dilation};
    Extents shape = in.shape;
    shape[d] = (extent - 1 - (size - 1) * dilation) / stride + 1;
    shape.push_back(size);
    return moved(in, shape, [&](const Extents& index) {
      Extents from(index.begin(), index.end() - 1);
      from[d] = index[d] * stride + index.back() * dilation;
      return from;
    });
  }

  std::mt19937 random_;
  Node node_;
};

std::vector<int64_t> addresses(const View& view, int64_t start, int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count), -1);
  for_runs(coalesced(view), start, count,
           [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
             for (int64_t k = 0; k < length; ++k)
               out[static_cast<size_t>(at + k)] = address + k * stride;
           });
  return out;
}

TEST(View, ChainsOfMovesEndWhereIndicesSay) {
  int expressed = 0, beyond = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    Moves moves(seed);
    Elements elements = dense({2 + moves.below(4), 6, 1 + moves.below(10)});
    Layout layout = layout_of(dense_view(elements.shape));
    for (int step = 0; step < 6 && elements.address.size() < 20000; ++step) {
      Elements next;
      const Node op = moves.draw(elements, next);
      const auto seen = view_layout(op, layout);
      ++(seen ? expressed : beyond);
      if (!seen) break;
      layout = *seen;
      elements = std::move(next);
      const auto count = static_cast<int64_t>(elements.address.size());
      const View view = flat_view(layout, {});
      ASSERT_EQ(count_of(view.shape), count) << seed;
      ASSERT_EQ(addresses(view, 0, count), elements.address) << seed << " step " << step;
      const int64_t start = moves.below(count), length = 1 + moves.below(count - start);
      const std::vector<int64_t> part(elements.address.begin() + start,
                                      elements.address.begin() + start + length);
      ASSERT_EQ(addresses(view, start, length), part) << seed;
    }
  }
  EXPECT_GT(expressed, 10 * beyond);
}

TEST(View, ManyDimsAreWalkedToo) {
  View view{Extents(12, 2), Extents(12, 1), 0};
  for (size_t d = 0; d < 12; ++d) view.strides[d] = int64_t{1} << (2 * d);
  const auto all = addresses(view, 0, 4096);
  EXPECT_EQ(addresses(view, 4001, 95), std::vector<int64_t>(all.end() - 95, all.end()));
  EXPECT_EQ(all[1], int64_t{1} << 22);
  EXPECT_EQ(all[4095], 5592405);
}

// The matrix of a convolution, never stored: [C * kh * kw, OH * OW].
TEST(View, WindowsOfAConvolutionJoin) {
  const auto node = [](Op op, std::vector<int> dims, std::vector<int64_t> steps,
                       const Extents& shape) {
    Node n;
    n.op = op;
    n.attrs.dims = std::move(dims);
    n.attrs.steps = std::move(steps);
    n.shape.assign(shape.begin(), shape.end());
    return n;
  };
  Layout layout = layout_of(dense_view({2, 3, 9, 9}));
  for (const Node& op : {node(Op::Window, {2}, {2, 1}, {2, 3, 4, 9, 3}),
                         node(Op::Window, {3}, {2, 1}, {2, 3, 4, 4, 3, 3}),
                         node(Op::Permute, {0, 1, 4, 5, 2, 3}, {}, {2, 3, 3, 3, 4, 4}),
                         node(Op::Reshape, {}, {}, {2, 1, 27, 16})}) {
    auto seen = view_layout(op, layout);
    ASSERT_TRUE(seen.has_value());
    layout = *std::move(seen);
  }
  EXPECT_EQ(layout.dims[2], (std::vector<Piece>{{3, 81}, {3, 9}, {3, 1}}));
  EXPECT_EQ(layout.dims[3], (std::vector<Piece>{{4, 18}, {4, 2}}));
}

}  // namespace
}  // namespace kw::truth
