// Reads C types as launchers write them: "const float* __restrict__", "unsigned", "long long",
// "half".
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
  std::optional<tensor::DType> dtype;  // dtype of one element, if it has one
  int size = 0;                        // bytes of the base; 0: unknown
  int pointers = 0;
  bool pointee_const = false;
  bool reference = false;
  bool kept = false;   // declared static, thread_local or extern: it outlives the call
  bool fixed = false;  // the variable itself is const or constexpr

  bool is_void() const { return base == "void" && pointers == 0; }
  bool known() const { return size > 0 || base == "void"; }
  /// The type as text: "const float*".
  std::string text() const;
};

/// A type that is not known here.
inline CType unknown_type(std::string name) {
  CType type;
  type.base = std::move(name);
  return type;
}

using TypeNames = std::map<std::string, CType>;  // from using and typedef

/// Reads the type that starts at `at` and moves `at` after it. Empty, with `at` unchanged, if no
/// type can start there. Any identifier may name a type; the result tells whether it is known.
std::optional<CType> read_type(const std::vector<cuda_source::Token>& tokens, size_t& at,
                               size_t last, const TypeNames& names);

/// A parameter of a function: its type and its name, which may be empty.
struct CParameter {
  CType type;
  std::string name;
  int line = 0, column = 0;
  std::vector<cuda_source::Token> fallback;  // its default argument
};

/// Whether the word is C++'s or CUDA's own name of a type, or part of one.
bool is_type_word(const std::string& word);

/// Reads the parameters between the parentheses of a declaration.
std::vector<CParameter> read_parameters(const std::vector<cuda_source::Token>& tokens, size_t first,
                                        size_t last, const TypeNames& names);

}  // namespace kw::cuda_import
