// Separates copies of inline numeric code that are compiled for different x86-64 levels. Sources
// that are built once per level define KW_SIMD_LEVEL. The linker must not merge their inline
// functions with those of portable sources.
#pragma once

#ifdef KW_SIMD_LEVEL
#define KW_NUMERIC_LEVEL KW_SIMD_LEVEL
#else
#define KW_NUMERIC_LEVEL portable
#endif

/// For the small functions inside 32-lane loops: forces inlining, whatever the compiler's size
/// estimate says. Sanitized builds optimise little and cannot inline all of them.
#ifdef KW_ONE_SIMD_LEVEL
#define KW_LANE inline
#else
#define KW_LANE inline __attribute__((always_inline))
#endif
