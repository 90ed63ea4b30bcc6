#include "cuda/storage_layout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kw::cuda {
namespace {

kernel::Buffer buffer(std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t bytes,
                      tensor::DType dtype = tensor::DType::Uint8) {
  kernel::Buffer b;
  b.name = "x";
  b.dtype = dtype;
  b.shape = std::move(shape);
  b.strides = std::move(strides);
  b.bytes = bytes;
  b.align = 1;
  return b;
}

struct Case {
  const char* name;
  kernel::Buffer buffer;
  const char* says;  // part of the message; "" = valid
};

class Check : public ::testing::TestWithParam<Case> {};

TEST_P(Check, TellsWhatDoesNotFit) {
  const Status status = check_layout(GetParam().buffer);
  if (std::string(GetParam().says).empty()) {
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return;
  }
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().blame, Blame::Input);
  EXPECT_NE(status.error().message.find(GetParam().says), std::string::npos)
      << status.error().message;
}

kernel::Buffer aligned(int64_t align) {
  kernel::Buffer b = buffer({4}, {}, 4);
  b.align = align;
  return b;
}

constexpr int64_t kHuge = int64_t{1} << 62;

INSTANTIATE_TEST_SUITE_P(
    Layouts, Check,
    ::testing::Values(
        Case{"Dense", buffer({2, 3}, {}, 6), ""}, Case{"Scalar", buffer({}, {}, 1), ""},
        Case{"Empty", buffer({0, 5}, {}, 0), ""}, Case{"Padded", buffer({2, 3}, {4, 1}, 7), ""},
        Case{"Broadcast", buffer({1000, 3}, {0, 1}, 3), ""},
        Case{"TooSmall", buffer({2, 3}, {}, 5), "element 5 lies outside its 5 bytes"},
        Case{"StridesTooLarge", buffer({2, 3}, {5, 1}, 7), "element 7"},
        Case{"WideElements", buffer({2}, {}, 15, tensor::DType::Fp64), "element 1"},
        Case{"NegativeBytes", buffer({2}, {}, -1), "-1 bytes"},
        Case{"NegativeExtent", buffer({-2}, {}, 8), "x"},
        Case{"NegativeStride", buffer({2}, {-1}, 8), "negative"},
        Case{"StrideCount", buffer({2, 2}, {1}, 8), "1 strides for 2 dimensions"},
        Case{"CountOverflow", buffer({kHuge, 8}, {}, 8), "x"},
        Case{"BytesOverflow", buffer({kHuge}, {}, 8, tensor::DType::Fp64), "overflow"},
        Case{"StrideOverflow", buffer({3}, {kHuge}, 8), "overflow"},
        Case{"Align3", aligned(3), "align 3"}, Case{"Align0", aligned(0), "align 0"},
        Case{"Align256", aligned(256), ""}),
    [](const auto& test) { return test.param.name; });

TEST(Layout, ScatterAndGatherAreInverse) {
  struct Shape {
    std::vector<int64_t> shape, strides;
    int64_t bytes;
    std::vector<int> want;  // storage, -1 = not changed
  };
  const Shape shapes[] = {
      {{2, 3}, {}, 6, {0, 1, 2, 3, 4, 5}},
      {{2, 3}, {4, 1}, 8, {0, 1, 2, -1, 3, 4, 5, -1}},
      {{2, 3}, {1, 2}, 6, {0, 3, 1, 4, 2, 5}},
      {{2, 1, 2}, {3, 99, 1}, 5, {0, 1, -1, 2, 3}},
      {{}, {}, 2, {0, -1}},
  };
  for (const Shape& shape : shapes) {
    const kernel::Buffer b = buffer(shape.shape, shape.strides, shape.bytes);
    ASSERT_TRUE(check_layout(b).has_value());
    std::vector<std::byte> dense(dense_bytes(b));
    for (size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<std::byte>(i);
    std::vector<std::byte> storage(static_cast<size_t>(b.bytes), static_cast<std::byte>(-1));
    scatter(b, dense, storage);
    for (size_t i = 0; i < storage.size(); ++i)
      EXPECT_EQ(storage[i], static_cast<std::byte>(shape.want[i]));
    std::vector<std::byte> back(dense.size());
    gather(b, storage, back);
    EXPECT_EQ(back, dense);
  }
}

TEST(Layout, WideElementsStayTogether) {
  const kernel::Buffer b = buffer({2, 2}, {1, 3}, 40, tensor::DType::Fp64);
  std::vector<std::byte> dense(32);
  for (size_t i = 0; i < 32; ++i) dense[i] = static_cast<std::byte>(i);
  std::vector<std::byte> storage(40);
  scatter(b, dense, storage);
  EXPECT_EQ(storage[24], std::byte{8});  // element (0, 1) at index 3
  EXPECT_EQ(storage[8], std::byte{16});  // element (1, 0) at index 1
}

}  // namespace
}  // namespace kw::cuda
