#include "clib/tensors.h"

#include <gtest/gtest.h>

namespace kw::clib {
namespace {

constexpr int64_t kShape[] = {2, 3};

/// A buffer x: fp32[2, 3] and a tensor that fits it; every case makes one thing wrong.
struct Fitting {
  kernel::Buffer buffer;
  std::vector<int64_t> shape{kShape, kShape + 2}, strides;
  kw_tensor tensor{};
  TensorPlace place{true, 0};

  Fitting() {
    buffer.name = "x";
    buffer.shape = shape;
    buffer.bytes = 24;
    tensor.data = reinterpret_cast<void*>(uintptr_t{4096});
    tensor.device_type = 2;
    tensor.ndim = 2;
    tensor.type_code = 2;
    tensor.type_bits = 32;
    tensor.type_lanes = 1;
  }
  Status check() {
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    return buffer.role == kernel::Role::Scratch ? check_scratch(buffer, tensor, place)
                                                : check_tensor(buffer, tensor, place);
  }
};

struct TensorCase {
  const char* name;
  void (*change)(Fitting& fitting);
  const char* refusal;  // "" = accepted
};

class Tensors : public testing::TestWithParam<TensorCase> {};

TEST_P(Tensors, FitOrSayWhyNot) {
  Fitting fitting;
  GetParam().change(fitting);
  const Status status = fitting.check();
  if (*GetParam().refusal == '\0') {
    EXPECT_TRUE(status) << status.error().message;
    return;
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().blame, Blame::Input);
  EXPECT_NE(status.error().message.find(GetParam().refusal), std::string::npos)
      << status.error().message;
}

const TensorCase kTensorCases[] = {
    {"fits", [](Fitting&) {}, ""},
    {"dense_strides",
     [](Fitting& f) {
       f.strides = {3, 1};
     },
     ""},
    {"managed", [](Fitting& f) { f.tensor.device_type = 13; }, ""},
    {"stride_of_one_row",
     [](Fitting& f) {
       f.buffer.shape = f.shape = {1, 3};
       f.strides = {77, 1};
     },
     ""},
    {"declared_strides",
     [](Fitting& f) {
       f.buffer.strides = f.strides = {4, 1};
     },
     ""},
    {"host_needs_no_alignment",
     [](Fitting& f) {
       f.place = {};
       f.tensor.device_type = 1;
       f.tensor.byte_offset = 4;
     },
     ""},
    {"enough_scratch",
     [](Fitting& f) {
       f.buffer.role = kernel::Role::Scratch;
       f.tensor.type_code = 1;
       f.tensor.type_bits = 8;
       f.shape = {4, 6};
     },
     ""},
    {"cpu", [](Fitting& f) { f.tensor.device_type = 1; }, "'x' is on the CPU"},
    {"another_gpu", [](Fitting& f) { f.tensor.device_id = 1; }, "'x' is on cuda:1"},
    {"another_kind", [](Fitting& f) { f.tensor.device_type = 4; }, "a device of kind 4"},
    {"dtype", [](Fitting& f) { f.tensor.type_bits = 64; },
     "'x' is fp64, but the kernel needs fp32"},
    {"no_dtype", [](Fitting& f) { f.tensor.type_code = 5; }, "does not know (code 5"},
    {"shape",
     [](Fitting& f) {
       f.shape = {3, 2};
     },
     "shape [3, 2], but the kernel needs [2, 3]"},
    {"rank", [](Fitting& f) { f.tensor.ndim = 1; }, "shape [2], but the kernel needs [2, 3]"},
    {"transposed",
     [](Fitting& f) {
       f.strides = {1, 2};
     },
     "x.contiguous()"},
    {"other_strides",
     [](Fitting& f) {
       f.buffer.strides = {4, 1};
       f.strides = {3, 1};
     },
     "strides [3, 1], but the kernel needs [4, 1]"},
    {"misaligned", [](Fitting& f) { f.tensor.byte_offset = 8; }, "not a multiple of 16 bytes"},
    {"no_memory", [](Fitting& f) { f.tensor.data = nullptr; }, "has a null data pointer"},
    {"little_scratch",
     [](Fitting& f) {
       f.buffer.role = kernel::Role::Scratch;
       f.buffer.bytes = 25;
     },
     "has 24 bytes, but the kernel needs 25"},
};
INSTANTIATE_TEST_SUITE_P(All, Tensors, testing::ValuesIn(kTensorCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace kw::clib
