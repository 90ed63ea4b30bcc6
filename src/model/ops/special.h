// The functions that VALUE and SLOPE of table.def call beside those of C, on the host.
// gpu_rules.cuh has the same names for devices.
#pragma once

#include <cmath>

namespace kw::ops {

double sigmoid(double x);
double erfinv(double x);
/// exp(x²) erfc(x), which neither overflows nor vanishes for large x.
double erfcx(double x);
/// Like std::lgamma, without its global sign.
double lgamma(double x);
/// NaN at negative integers, -infinity at +0, as PyTorch has it.
double digamma(double x);

// Plain here; on a device they keep the compiler from contracting, and repair CUDA's functions.
// Always inlined: they are used in sources that are compiled for several levels of x86-64.
#define KW_INLINED [[gnu::always_inline]] inline
KW_INLINED double exact_sqrt(double x) { return std::sqrt(x); }
KW_INLINED double exact_div(double x, double z) { return x / z; }
KW_INLINED double exponential(double x) { return std::exp(x); }
KW_INLINED double power_of_two(double x) { return std::exp2(x); }
KW_INLINED double above_zero(double x) { return 0.0 < x ? x : 0.0; }
#undef KW_INLINED

}  // namespace kw::ops
