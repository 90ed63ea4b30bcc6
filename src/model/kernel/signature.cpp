// The arguments of a launch must match the kernel's parameters in number, type, size and constness.
// A mismatch would pass wrong bytes to a GPU without any error. The compiler gives the demangled
// signature, so its text is parsed here and each argument is checked and encoded. Debug information
// would give types in full, but not every compiler writes it. Inputs must be passed to const
// pointers, so that the compiler refuses writes to them. The cost: types that are not in the table
// of cuda_types.cpp are refused, with advice to cast in the kernel.
#include "kernel/signature.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "core/text.h"
#include "cuda_source/cuda_types.h"
#include "tensor/host_tensor.h"

namespace kw::kernel {

namespace {

// Splits at top-level commas: not inside template arguments, function types or arrays.
std::vector<std::string_view> split_parameters(std::string_view list) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || depth != 0) continue;
    pieces.push_back(trim(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  pieces.push_back(trim(list.substr(begin)));
  return pieces;
}

bool strip_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text = trim(text.substr(0, text.size() - suffix.size()));
  return true;
}

// Removes qualifiers at both ends of a type; returns whether const was among them.
bool strip_qualifiers(std::string_view& text) {
  bool is_const = false;
  for (bool changed = true; changed;) {
    changed = false;
    if (strip_suffix(text, " const") || strip_suffix(text, "*const")) {
      is_const = changed = true;
    }
    changed = strip_suffix(text, " volatile") || strip_suffix(text, " __restrict__") ||
              strip_suffix(text, " __restrict") || changed;
    if (text.starts_with("const ")) {
      text = trim(text.substr(6));
      is_const = changed = true;
    }
    if (text.starts_with("volatile ")) {
      text = trim(text.substr(9));
      changed = true;
    }
  }
  return is_const;
}

ParamType parse_type(std::string_view text) {
  ParamType type;
  type.text = std::string(text);
  std::string_view rest = text;
  strip_suffix(rest, " const");
  strip_suffix(rest, " __restrict__");
  if (rest.ends_with('*') && rest.find("(*") == std::string_view::npos) {
    rest = trim(rest.substr(0, rest.size() - 1));
    type.pointer = true;
  }
  const bool is_const = strip_qualifiers(rest);
  type.to_const = type.pointer && is_const;
  type.base = std::string(rest);
  return type;
}

std::vector<uint8_t> little_endian(uint64_t value, int bytes) {
  std::vector<uint8_t> out(static_cast<size_t>(bytes));
  for (uint8_t& byte : out) {
    byte = static_cast<uint8_t>(value);
    value >>= 8;
  }
  return out;
}

// The type of a parameter that takes one plain number; not set for other parameters.
std::optional<cuda_source::CudaType> value_type(const ParamType& type) {
  const std::optional<cuda_source::CudaType> found =
      type.pointer ? std::nullopt : cuda_source::find_cuda_type(type.base);
  const bool number = found && found->lanes == 1 &&
                      found->kind != cuda_source::CudaType::Kind::Void &&
                      found->kind != cuda_source::CudaType::Kind::Byte;
  return number ? found : std::nullopt;
}

Error not_a_value(const ParamType& type) {
  if (type.pointer) return input_error("is a number, but the parameter is '{}'", type.text);
  if (type.base.ends_with('&'))
    return input_error("cannot be passed: the parameter is a reference, '{}'", type.text);
  return input_error(
      "cannot be passed: the parameter is '{}', which is not a plain number or pointer", type.text);
}

}  // namespace

Result<std::vector<ParamType>> parse_signature(std::string_view demangled) {
  std::string_view text = trim(demangled);
  if (const size_t clone = text.rfind(" [clone"); clone != std::string_view::npos) {
    text = trim(text.substr(0, clone));
  }
  const auto bad = [&] { return input_error("'{}' is not the signature of a kernel", demangled); };
  if (!text.ends_with(')')) return bad();
  int depth = 0;
  size_t open = text.size();
  while (open > 0) {
    --open;
    if (text[open] == ')') ++depth;
    if (text[open] == '(' && --depth == 0) break;
  }
  if (depth != 0 || open == 0) return bad();
  const std::string_view list = trim(text.substr(open + 1, text.size() - open - 2));
  std::vector<ParamType> params;
  if (list.empty() || list == "void") return params;
  for (const std::string_view piece : split_parameters(list)) params.push_back(parse_type(piece));
  return params;
}

std::string pointer_mismatch(const ParamType& type, const Buffer& buffer) {
  if (!type.pointer) return fmt::format("is a tensor, but the parameter is '{}'", type.text);
  const std::optional<cuda_source::CudaType> pointee = cuda_source::find_cuda_type(type.base);
  if (!pointee) {
    return fmt::format(
        "is {}, but the parameter is '{}', whose element type is not known here; "
        "take a pointer to {} and cast it in the kernel",
        tensor::dtype_name(buffer.dtype), type.text, cuda_source::cuda_name(buffer.dtype));
  }
  if (!cuda_source::may_point_to(*pointee, buffer.dtype)) {
    return fmt::format("is {} ({}*), but the parameter is '{}'", tensor::dtype_name(buffer.dtype),
                       cuda_source::cuda_name(buffer.dtype), type.text);
  }
  if (buffer.role == Role::Input && !type.to_const) {
    return fmt::format("is an input, but is passed to a non-const parameter, '{}'", type.text);
  }
  if (pointee->align > buffer.align) {
    return fmt::format("is aligned to {} bytes, but the parameter '{}' needs {}; write 'align {}'",
                       buffer.align, type.text, pointee->align, pointee->align);
  }
  return "";
}

Result<std::vector<uint8_t>> encode_integer(const ParamType& type, int64_t value) {
  const std::optional<cuda_source::CudaType> target = value_type(type);
  if (!target) return not_a_value(type);
  if (target->kind == cuda_source::CudaType::Kind::Float) {
    return input_error(
        "is an integer, but the parameter is '{}'; declare a scalar of that type, or take an int "
        "and convert it in the kernel",
        type.text);
  }
  const int bits = 8 * target->size;
  bool fits = true;
  if (target->kind == cuda_source::CudaType::Kind::Bool) fits = value == 0 || value == 1;
  if (target->kind == cuda_source::CudaType::Kind::Unsigned) {
    fits = value >= 0 && (bits == 64 || value < (int64_t{1} << bits));
  }
  if (target->kind == cuda_source::CudaType::Kind::Signed && bits < 64) {
    fits = value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1));
  }
  if (!fits) {
    return input_error("is {}, which does not fit the {}-bit parameter '{}'", value,
                       target->kind == cuda_source::CudaType::Kind::Bool ? 1 : bits, type.text);
  }
  return little_endian(static_cast<uint64_t>(value), target->size);
}

Result<std::vector<uint8_t>> encode_scalar(const ParamType& type, const ScalarDecl& scalar,
                                           double value, int64_t integer) {
  const std::optional<cuda_source::CudaType> target = value_type(type);
  if (!target) return not_a_value(type);
  if (target->dtype != scalar.dtype) {
    return input_error("is {}, but the parameter is '{}'", tensor::dtype_name(scalar.dtype),
                       type.text);
  }
  if (!tensor::is_float(scalar.dtype)) return encode_integer(type, integer);
  tensor::HostTensor one = KW_TRY(tensor::make_tensor(scalar.dtype, {}));
  tensor::set_element(one, 0, value);
  if (std::isfinite(value) && !std::isfinite(tensor::get_element(one, 0)))
    return input_error("is {}, which does not fit {}", value, tensor::dtype_name(scalar.dtype));
  std::vector<uint8_t> bytes(one.data.size());
  std::memcpy(bytes.data(), one.data.data(), bytes.size());
  return bytes;
}

}  // namespace kw::kernel
