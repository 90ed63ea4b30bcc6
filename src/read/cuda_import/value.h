// Values of host code while it is followed: integers as terms, pointers as tensors, and what only
// passes through.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda_import/recorded.h"
#include "cuda_import/types.h"

namespace kw::cuda_import {

struct Value {
  enum class Kind : uint8_t {
    Nothing,  // void, or an object nobody asks about
    Integer,
    Ratio,   // of two integers, exactly
    Real,    // a constant
    Scalar,  // a floating parameter, untouched
    Pointer,
    Extents,
    Status,  // of a runtime call: success
    Text,    // a string
    Kernel,
    Properties,  // of the device
    Address,     // of a variable
    Function,    // a lambda
    List,        // {…}
    Unknown,     // cannot be said; `text` is why
  } kind = Kind::Nothing;
  TermRef term;         // Integer; numerator of Ratio
  TermRef denominator;  // of Ratio
  double real = 0;
  std::string text;  // Scalar, Pointer: the name ("" = null); Kernel: as launched; Unknown: why
  CType type;        // of what a pointer points to, with its stars
  Extents extents;
  std::vector<Value> items;  // List
  size_t slot = kNoSlot;     // where it is kept, when it can be assigned to; Address: the target
  int member = -1;           // of Extents: which
  size_t first = 0, last = 0, body_first = 0, body_last = 0;  // Function: tokens
  size_t code = 0;                                            // Function: which text they are of
  int line = 0, column = 0;                                   // Unknown: where

  static constexpr size_t kNoSlot = static_cast<size_t>(-1);
  bool is(Kind what) const { return kind == what; }
};

Value integer_value(TermRef term);
Value unknown_value(std::string why, const cuda_source::Token& where);
/// `a op b` as C++ would compute it: "+", "<", "&&", …
Value combine(const std::string& op, const Value& a, const Value& b,
              const cuda_source::Token& where);
/// Whether it holds, as a term; nothing when it cannot be said.
TermRef condition_of(const Value& value);
/// ceil and floor.
Value rounded(const Value& value, bool up, const cuda_source::Token& where);
/// As the given arithmetic type.
Value converted(const Value& value, const CType& type, const cuda_source::Token& where);

}  // namespace kw::cuda_import
