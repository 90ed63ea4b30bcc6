#include "text/types.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace kw::generate {

namespace {

struct TypeRow {
  DType dtype;
  const char *memory, *value, *load, *store, *header;
};

constexpr TypeRow kTypes[] = {
    {DType::Fp64, "double", "double", "{}", "{}", ""},
    {DType::Fp32, "float", "float", "{}", "{}", ""},
    {DType::Fp16, "__half", "float", "__half2float({})", "__float2half({})", "cuda_fp16.h"},
    {DType::Bf16, "__nv_bfloat16", "float", "__bfloat162float({})", "__float2bfloat16({})",
     "cuda_bf16.h"},
    {DType::Fp8e4m3, "__nv_fp8_e4m3", "float", "static_cast<float>({})", "__nv_fp8_e4m3({})",
     "cuda_fp8.h"},
    {DType::Fp8e5m2, "__nv_fp8_e5m2", "float", "static_cast<float>({})", "__nv_fp8_e5m2({})",
     "cuda_fp8.h"},
    {DType::Fp4e2m1x2, "unsigned char", "unsigned char", "{}", "{}", ""},
    {DType::E8m0, "unsigned char", "float", "from_exponent({})", "to_exponent({})", ""},
    {DType::Int64, "long long", "long long", "{}", "{}", ""},
    {DType::Int32, "int", "int", "{}", "{}", ""},
    {DType::Int16, "short", "short", "{}", "{}", ""},
    {DType::Int8, "signed char", "signed char", "{}", "{}", ""},
    {DType::Uint64, "unsigned long long", "unsigned long long", "{}", "{}", ""},
    {DType::Uint32, "unsigned int", "unsigned int", "{}", "{}", ""},
    {DType::Uint16, "unsigned short", "unsigned short", "{}", "{}", ""},
    {DType::Uint8, "unsigned char", "unsigned char", "{}", "{}", ""},
    {DType::Bool, "unsigned char", "bool", "({} != 0)", "static_cast<unsigned char>({})", ""},
};

const TypeRow& row_of(DType dtype) { return kTypes[static_cast<size_t>(dtype)]; }

std::string with(const char* pattern, const std::string& text) {
  return fmt::format(fmt::runtime(pattern), text);
}

bool is_one_group(std::string_view text) {
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return i + 1 == text.size();
  }
  return false;
}

// The element behind a value that was rounded, which needs no second rounding; "" for other texts.
std::string kept_in_memory(DType dtype, const std::string& value) {
  const std::string_view load = row_of(dtype).load, store = row_of(dtype).store;
  if (load == "{}" || dtype == DType::Bool) return "";
  const std::string call(load.substr(0, load.find('{')));
  const std::string head = call + std::string(store.substr(0, store.find('{')));
  if (!value.starts_with(head)) return "";
  const std::string_view all = value, inner = all.substr(call.size() - 1);
  const std::string_view element = inner.substr(1, inner.size() - 2);
  const bool whole = is_one_group(inner) && is_one_group(element.substr(element.find('(')));
  return whole ? std::string(element) : "";
}

// The shortest text that reads back as the same number; always with a point or an exponent.
std::string float_text(double number, bool wide) {
  std::string text =
      wide ? fmt::format("{}", number) : fmt::format("{}", static_cast<float>(number));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return wide ? text : text + "f";
}

}  // namespace

const char* memory_type(DType dtype) { return row_of(dtype).memory; }
const char* register_type(DType dtype) { return row_of(dtype).value; }
const char* header_of(DType dtype) { return row_of(dtype).header; }

std::string from_memory(DType dtype, const std::string& element) {
  return with(row_of(dtype).load, element);
}

std::string to_memory(DType dtype, const std::string& value) {
  const std::string again = kept_in_memory(dtype, value);
  return again.empty() ? with(row_of(dtype).store, value) : again;
}

bool in_float(DType dtype) { return std::string_view(register_type(dtype)) == "float"; }
bool is_half(DType dtype) { return dtype == DType::Fp16 || dtype == DType::Bf16; }
bool is_integer(DType dtype) {
  return tensor::is_signed_int(dtype) || tensor::is_unsigned_int(dtype);
}

std::string literal(DType dtype, double number, int64_t integer) {
  if (tensor::is_float(dtype) && dtype != DType::Fp4e2m1x2) {
    const bool wide = dtype == DType::Fp64;
    if (std::isnan(number)) return wide ? "nan(\"\")" : "nanf(\"\")";
    const double kept = wide ? number : static_cast<double>(static_cast<float>(number));
    if (std::isinf(kept)) {
      const char* text =
          wide ? "__longlong_as_double(0x7ff0000000000000LL)" : "__int_as_float(0x7f800000)";
      return kept < 0 ? fmt::format("-{}", text) : text;
    }
    return float_text(number, wide);
  }
  switch (dtype) {
    case DType::Bool:
      return integer != 0 ? "true" : "false";
    case DType::Int64:
      if (integer == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807LL - 1)";
      return fmt::format("{}LL", integer);
    case DType::Uint64:
      return fmt::format("{}ULL", static_cast<uint64_t>(integer));
    case DType::Uint32:
      return fmt::format("{}u", static_cast<uint32_t>(integer));
    case DType::Int32:
      if (integer == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
      return fmt::format("{}", static_cast<int32_t>(integer));
    default:
      return fmt::format("static_cast<{}>({})", register_type(dtype), integer);
  }
}

bool is_floating(DType dtype) { return in_float(dtype) || dtype == DType::Fp64; }

}  // namespace kw::generate
