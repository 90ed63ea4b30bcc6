// The integer types of C++ on a 64-bit Linux host, with their conversions. Internal.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda_import/types.h"

namespace kw::cuda_import {

/// By width and sign: long and long long are both I64.
enum class IntKind : uint8_t { Bool, I8, U8, I16, U16, I32, U32, I64, U64 };

/// The kind of a number's type; empty for pointers, vectors and everything else.
std::optional<IntKind> integer_kind(const CType& type);
const char* kind_name(IntKind kind);

int bits_of(IntKind kind);
bool is_unsigned(IntKind kind);
int64_t lowest(IntKind kind);
/// Values of U64 above 2^63 - 1 are not followed.
int64_t highest(IntKind kind);
/// What conditions on the shape ask of 32-bit values: a little less than the type holds, so that
/// (n + 255) / 256 needs no condition of its own. The same as lowest and highest for other types.
int64_t usual_least(IntKind kind);
int64_t usual_most(IntKind kind);

/// The type in which an operand takes part in arithmetic.
IntKind promoted(IntKind kind);
/// The type of `a + b`.
IntKind common_kind(IntKind a, IntKind b);
/// The value of that type that is equal modulo 2^bits; empty above 2^63 - 1.
std::optional<int64_t> wrapped(int64_t value, IntKind kind);

}  // namespace kw::cuda_import
