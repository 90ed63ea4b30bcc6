// A kernel's parameter types, read from its demangled name, and what may be passed to them.
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
  std::string base;       // the pointee of a pointer, or the value's type, without qualifiers
};

/// The parameters of "void rms_norm<256>(__half const*, int)". Input Error for text that is no
/// function.
Result<std::vector<ParamType>> parse_signature(std::string_view demangled);

/// Why this buffer may not be passed to this parameter, or "".
std::string pointer_mismatch(const ParamType& type, const Buffer& buffer);

/// An integer expression's value as the parameter's bytes. The Error says why it does not fit.
Result<std::vector<uint8_t>> encode_integer(const ParamType& type, int64_t value);

/// A declared scalar's value as the parameter's bytes; the types must be the same.
Result<std::vector<uint8_t>> encode_scalar(const ParamType& type, const ScalarDecl& scalar,
                                           double value, int64_t integer);

}  // namespace kw::kernel
