// A name in a plan becomes a macro, a template argument or a value in an expression. A bad name
// would break the compiled text in a place the author does not see, so it is refused with a reason.
// The words of C++ and the known types are lists, because a module may use both without declaring
// them. Tunables need at least 3 letters, since a short macro would replace unrelated identifiers.
// Checking for real collisions would need the preprocessed headers. Suggestions are limited in
// length and number, so that no text can make them slow. The cost: the lists must follow new words
// of C++ and CUDA.
#include "kernel/plan_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "core/contains.h"
#include "core/text.h"

namespace kw::kernel {

namespace {

constexpr std::array<std::string_view, 8> kFunctionsAndLiterals = {
    "ceil_div", "min", "max", "pick", "has", "blocks_per_sm", "true", "false"};

constexpr std::array<std::string_view, 75> kCppWords = {"alignas",
                                                        "alignof",
                                                        "asm",
                                                        "auto",
                                                        "bool",
                                                        "break",
                                                        "case",
                                                        "catch",
                                                        "char",
                                                        "class",
                                                        "concept",
                                                        "const",
                                                        "constexpr",
                                                        "const_cast",
                                                        "continue",
                                                        "decltype",
                                                        "default",
                                                        "delete",
                                                        "do",
                                                        "double",
                                                        "dynamic_cast",
                                                        "else",
                                                        "enum",
                                                        "explicit",
                                                        "export",
                                                        "extern",
                                                        "float",
                                                        "for",
                                                        "friend",
                                                        "goto",
                                                        "if",
                                                        "inline",
                                                        "int",
                                                        "long",
                                                        "mutable",
                                                        "namespace",
                                                        "new",
                                                        "noexcept",
                                                        "nullptr",
                                                        "operator",
                                                        "private",
                                                        "protected",
                                                        "public",
                                                        "register",
                                                        "requires",
                                                        "return",
                                                        "short",
                                                        "signed",
                                                        "sizeof",
                                                        "static",
                                                        "static_assert",
                                                        "static_cast",
                                                        "struct",
                                                        "switch",
                                                        "template",
                                                        "this",
                                                        "throw",
                                                        "try",
                                                        "typedef",
                                                        "typename",
                                                        "union",
                                                        "unsigned",
                                                        "using",
                                                        "virtual",
                                                        "void",
                                                        "volatile",
                                                        "while",
                                                        "true",
                                                        "false",
                                                        "reinterpret_cast",
                                                        "unroll",
                                                        "defined",
                                                        "pragma",
                                                        "include",
                                                        "define"};

// Types of the compiler or its headers, which need not occur in the text of the module.
constexpr std::array<std::string_view, 32> kKnownTypes = {
    "half",           "half2",       "__half",       "__half2",       "__nv_bfloat16",
    "__nv_bfloat162", "nv_bfloat16", "nv_bfloat162", "__nv_fp8_e4m3", "__nv_fp8_e5m2",
    "int8_t",         "int16_t",     "int32_t",      "int64_t",       "uint8_t",
    "uint16_t",       "uint32_t",    "uint64_t",     "size_t",        "float2",
    "float4",         "double2",     "int2",         "int4",          "uint2",
    "uint4",          "std",         "cuda",         "cub",           "float1",
    "short2",         "char4"};

}  // namespace

const std::vector<std::string>& builtin_names() {
  static const std::vector<std::string> names = {"SMS", "L2_BYTES", "SMEM_MAX"};
  return names;
}

std::string reserved_name(std::string_view name) {
  if (contains(builtin_names(), name)) return "is a builtin";
  if (contains(kFunctionsAndLiterals, name)) return "has a meaning in expressions";
  return "";
}

std::string bad_tunable_name(std::string_view name) {
  if (name.size() < 3) return "is too short for a tunable: names have 3 letters or more";
  if (contains(kCppWords, name)) return "is a word of C++";
  if (name.front() == '_' || name.find("__") != std::string_view::npos) {
    return "is reserved for the compiler";
  }
  return "";
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64, kMost = 2000;
  if (name.size() > kLongest || known.size() > kMost) return "";
  std::vector<std::string> sane;
  std::ranges::copy_if(known, std::back_inserter(sane),
                       [](const std::string& other) { return other.size() <= kLongest; });
  return did_you_mean(name, sane);
}

bool is_cpp_word(std::string_view name) {
  return contains(kCppWords, name) || contains(kKnownTypes, name);
}

std::pair<int64_t, int64_t> integer_range(tensor::DType type) {
  const int bits = 8 * tensor::dtype_size(type);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  if (type == tensor::DType::Bool) return {0, 1};
  if (tensor::is_unsigned_int(type)) return {0, bits == 64 ? largest : (int64_t{1} << bits) - 1};
  if (bits == 64) return {std::numeric_limits<int64_t>::min(), largest};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

}  // namespace kw::kernel
