// Keeps copies of inline numeric code compiled for different x86-64 levels apart. Sources built
// once per level define KW_SIMD_LEVEL; their inline functions must not be merged by the linker with
// those of portable sources.
#pragma once

#ifdef KW_SIMD_LEVEL
#define KW_NUMERIC_LEVEL KW_SIMD_LEVEL
#else
#define KW_NUMERIC_LEVEL portable
#endif

/// For the small functions inside 32-lane loops: inlined even where the compiler's size estimate
/// says no. Sanitized builds, with one level and little optimisation, cannot inline them all.
#ifdef KW_ONE_SIMD_LEVEL
#define KW_LANE inline
#else
#define KW_LANE inline __attribute__((always_inline))
#endif
