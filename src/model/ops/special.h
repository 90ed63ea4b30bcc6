// Functions that VALUE and SLOPE of table.def call on the host, in addition to those of C.
// gpu_rules.cuh has the same names for devices.
#pragma once

#include <cmath>

namespace kw::ops {

double sigmoid(double x);
double erfinv(double x);
/// exp(x²) erfc(x), without overflow or underflow for large x.
double erfcx(double x);
/// Like std::lgamma, without its global sign variable.
double lgamma(double x);
/// NaN at negative integers, -infinity at +0, as in PyTorch.
double digamma(double x);

// Plain here. On a device they prevent contraction by the compiler and correct functions of CUDA.
// Always inlined, because some sources that use them are compiled for several x86-64 levels.
#define KW_INLINED [[gnu::always_inline]] inline
KW_INLINED double exact_sqrt(double x) { return std::sqrt(x); }
KW_INLINED double exact_div(double x, double z) { return x / z; }
KW_INLINED double exponential(double x) { return std::exp(x); }
KW_INLINED double power_of_two(double x) { return std::exp2(x); }
KW_INLINED double above_zero(double x) { return 0.0 < x ? x : 0.0; }
#undef KW_INLINED

}  // namespace kw::ops
