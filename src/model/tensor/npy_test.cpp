#include "tensor/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tensor/inputs.h"

namespace kw::tensor {

namespace {

std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + dict + data;
}

std::string message_of(const Result<HostTensor>& result) {
  return result ? "no error" : result.error().message;
}

}  // namespace

class NpyTypes : public testing::TestWithParam<int> {};

TEST_P(NpyTypes, SurviveARoundTrip) {
  const auto type = static_cast<DType>(GetParam());
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {5}, {2, 3}, {0, 4}, {2, 1, 3}}) {
    const HostTensor tensor = make_input(type, shape, Family::Uniform, 3).value();
    const std::string bytes = format_npy(tensor);
    const auto back = parse_npy(bytes, type);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->shape, shape);
    EXPECT_EQ(back->data, tensor.data);
    EXPECT_EQ((bytes.size() - tensor.data.size()) % 64, 0U);
  }
}
INSTANTIATE_TEST_SUITE_P(All, NpyTypes, testing::Range(0, 17));

TEST(Npy, WritesTheHeaderNumpyWrites) {
  const HostTensor tensor = make_input(DType::Fp32, {3}, Family::Ones, 0).value();
  const std::string bytes = format_npy(tensor);
  EXPECT_EQ(bytes.substr(10, 54), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)");
  EXPECT_EQ(bytes[bytes.size() - tensor.data.size() - 1], '\n');
}

TEST(Npy, TransposesFortranOrder) {
  const auto tensor = parse_npy(
      npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", std::string("\1\4\2\5\3\6")));
  ASSERT_TRUE(tensor) << tensor.error().message;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(get_element(*tensor, i), i + 1);
}

TEST(Npy, SwapsBigEndian) {
  const auto tensor = parse_npy(
      npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", std::string("\1\2\0\5", 4)));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(get_element(*tensor, 0), 258);
  EXPECT_EQ(get_element(*tensor, 1), 5);
}

TEST(Npy, ReadsVersions2And3) {
  for (const char version : {2, 3}) {
    EXPECT_TRUE(
        parse_npy(npy("{'shape': (), 'fortran_order': False, 'descr': '|b1'}\n", "\1", version)));
  }
}

TEST(Npy, AcceptsUnsignedBitsForTypesNumpyLacks) {
  const std::string u2 =
      npy("{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", std::string("\x80\x3f", 2));
  EXPECT_EQ(get_element(*parse_npy(u2, DType::Bf16), 0), 1.0);
  EXPECT_EQ(get_element(*parse_npy(u2), 0), 0x3f80);
  EXPECT_NE(message_of(parse_npy(u2, DType::Fp16)).find("uint16 ('<u2') where fp16 is expected"),
            std::string::npos);
}

struct Bad {
  const char* name;
  std::string bytes;
  const char* message;
};

class NpyRejects : public testing::TestWithParam<Bad> {};

TEST_P(NpyRejects, SaysWhy) {
  const auto result = parse_npy(GetParam().bytes, DType::Fp32);
  ASSERT_FALSE(result) << GetParam().name;
  EXPECT_EQ(result.error().blame, Blame::Input);
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().message;
}

const std::string kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
INSTANTIATE_TEST_SUITE_P(
    All, NpyRejects,
    testing::Values(
        Bad{"empty", "", "not an .npy file"},
        Bad{"text", "hello world, this is text", "not an .npy file"},
        Bad{"archive", "PK\3\4", ".npz archive"},
        Bad{"cut magic", "\x93NUMPY\1", "truncated .npy header"},
        Bad{"version", npy(kGood, "abcd", 9), "version 9"},
        Bad{"cut header", npy(kGood, "").substr(0, 30), "truncated"},
        Bad{"short data", npy(kGood, "ab"), "needs 4 data bytes, the file has 2"},
        Bad{"long data", npy(kGood, "abcdefg"), "3 bytes follow"},
        Bad{"object", npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "abcd"),
            "pickled"},
        Bad{"fields",
            npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
            "structured"},
        Bad{"complex", npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh"),
            "complex"},
        Bad{"wrong type",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh"),
            "fp64 ('<f8') where fp32 is expected (NumPy 'f4')"},
        Bad{"negative", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", ""),
            "an extent"},
        Bad{"bytes beyond 64 bits",
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", ""),
            "shape [4611686018427387904] of fp32 needs more data bytes than 64 bits can count"},
        Bad{"overflow",
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", ""),
            "more elements than 64 bits"},
        Bad{"huge",
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}", "abcd"),
            "truncated"},
        Bad{"no shape", npy("{'descr': '<f4', 'fortran_order': False}", ""), "no 'shape'"},
        Bad{"key", npy("{'dtype': '<f4'}", ""), "unknown key 'dtype'"},
        Bad{"not a dict", npy("import os", ""), "expected '{' at offset 0, found \"import os\""},
        Bad{"call", npy("{'shape': eval('1')}", ""), "expected '('"},
        Bad{"unended", npy("{'descr': '<f4", ""), "a string that ends"},
        Bad{"void", npy("{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}", "abcd"),
            "cannot be read as fp32"}));

TEST(Npy, EveryCutOfAGoodFileIsRefusedQuietly) {
  const std::string whole = format_npy(make_input(DType::Fp32, {4, 5}, Family::Normal, 1).value());
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_npy(std::string_view(whole).substr(0, length))) << length;
  }
}

}  // namespace kw::tensor
