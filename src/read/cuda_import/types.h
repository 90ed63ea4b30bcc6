// C types as launchers write them: "const float* __restrict__", "unsigned", "long long", "half".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda_source/tokens.h"
#include "tensor/dtype.h"

namespace kw::cuda_import {

struct CType {
  std::string base;                    // "float", "unsigned int", "std::vector<int>"
  std::optional<tensor::DType> dtype;  // of one element, where it has one
  int size = 0;                        // bytes of the base; 0: not known
  int pointers = 0;
  bool pointee_const = false;
  bool reference = false;

  bool is_void() const { return base == "void" && pointers == 0; }
  bool known() const { return size > 0 || base == "void"; }
  /// "const float*".
  std::string text() const;
};

using TypeNames = std::map<std::string, CType>;  // of using and typedef

/// The type that starts at `at`, which moves behind it; nothing (and `at` as it was) where none
/// can. Any identifier may name a type; whether it is known is in the result.
std::optional<CType> read_type(const std::vector<cuda_source::Token>& tokens, size_t& at,
                               size_t last, const TypeNames& names);

/// A parameter of a function: its type and, where it has one, its name.
struct CParameter {
  CType type;
  std::string name;
  int line = 0, column = 0;
};

/// What stands between the parentheses of a declaration.
std::vector<CParameter> read_parameters(const std::vector<cuda_source::Token>& tokens, size_t first,
                                        size_t last, const TypeNames& names);

}  // namespace kw::cuda_import
