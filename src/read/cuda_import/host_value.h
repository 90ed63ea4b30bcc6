// Values of interpreted host code: integers as terms, pointers as tensors, and values that only
// pass through.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_import/integer_kind.h"
#include "cuda_import/launcher_records.h"
#include "cuda_import/types.h"

namespace kw::cuda_import {

struct HostState;

struct HostValue {
  enum class Kind : uint8_t {
    Nothing,  // void, or an object without use here
    Integer,
    Ratio,   // of two integers, exact
    Real,    // a constant
    Scalar,  // a floating-point parameter, unchanged
    Pointer,
    Extents,
    Status,  // result of a runtime call: success
    Text,    // a string
    Kernel,
    Properties,  // of the device
    Address,     // of a variable
    Function,    // a lambda
    List,        // {…}
    Unknown,     // no value; `text` is the reason
  } kind = Kind::Nothing;
  TermRef term;                    // Integer: its value as C++ computes it; numerator of Ratio
  IntKind integer = IntKind::I32;  // Integer: its type
  TermRef denominator;             // denominator of Ratio
  double real = 0;                 // Real: rounded to its type
  int width = 64;                  // Real, Ratio: 32 for float, 16 for half types
  bool assumed = false;            // Integer: says that a call of the runtime succeeded
  std::string text;  // Scalar, Pointer: the name ("" = null); Kernel: as launched; Unknown: why;
                     // Address: "" or another type than the variable's
  CType type;        // of the pointee, with its stars
  Extents extents;
  std::vector<HostValue> items;  // List
  size_t slot = kNoSlot;         // its place if it can be assigned to; Address: the target
  size_t home = kNoSlot;         // Address: the place of the pointer itself
  int member = -1;               // member of Extents
  size_t first = 0, last = 0, body_first = 0, body_last = 0;  // Function: ranges of tokens
  size_t code = 0;                                            // Function: the text of these tokens
  size_t frame = 0;  // Function: of where it was made, with the variables there
  std::shared_ptr<std::vector<std::map<std::string, size_t>>> scopes;
  int line = 0, column = 0;  // Unknown: place in the file

  static constexpr size_t kNoSlot = static_cast<size_t>(-1);
  bool is(Kind what) const { return kind == what; }
};

HostValue integer_value(TermRef term, IntKind kind = IntKind::I32);
HostValue truth_value(TermRef term, bool assumed = false);
HostValue unknown_value(std::string why, const cuda_source::Token& where);
/// `a op b` with the result C++ computes: "+", "<", "&&", … Shapes at which a 32-bit number would
/// overflow are excluded from the path's domain.
HostValue combine(HostState& host, const std::string& op, const HostValue& a, const HostValue& b,
                  const cuda_source::Token& where);
/// -a and ~a.
HostValue opposite(HostState& host, const std::string& op, const HostValue& value,
                   const cuda_source::Token& where);
/// The value as a condition; null if it cannot be expressed.
TermRef condition_of(const HostValue& value);
/// Whether a condition on this value asks how a call of the runtime ended.
bool is_assumed(const HostValue& value);
/// ceil and floor.
HostValue rounded(HostState& host, const HostValue& value, bool up,
                  const cuda_source::Token& where);
/// The value converted to a type, as an assignment does it.
HostValue converted(HostState& host, const HostValue& value, const CType& type,
                    const cuda_source::Token& where);
/// The value after the usual arithmetic conversions with another.
HostValue balanced(HostState& host, const HostValue& value, const HostValue& other,
                   const cuda_source::Token& where);

}  // namespace kw::cuda_import
