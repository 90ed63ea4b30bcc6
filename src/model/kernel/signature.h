// The parameter types of a kernel, read from its demangled name, and the values that may be passed.
// Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "kernel/module.h"
#include "kernel/program.h"

namespace kw::kernel {

struct ParamType {
  std::string text;  // as demangled: "__half const*"
  bool pointer = false;
  bool to_const = false;  // the pointee is const
  std::string base;       // type of the pointee or the value, without qualifiers
};

/// The parameters of "void rms_norm<256>(__half const*, int)". Input Error for text that is not a
/// function.
Result<std::vector<ParamType>> parse_signature(std::string_view demangled);

/// Why this buffer cannot be passed to this parameter; "" when it can.
std::string pointer_mismatch(const ParamType& type, const Buffer& buffer);

/// The value of an integer expression as the bytes of the parameter. The Error says why it does not
/// fit.
Result<std::vector<uint8_t>> encode_integer(const ParamType& type, int64_t value);

/// The value of a declared scalar as the bytes of the parameter. The types must be equal.
Result<std::vector<uint8_t>> encode_scalar(const ParamType& type, const ScalarDecl& scalar,
                                           double value, int64_t integer);

}  // namespace kw::kernel
