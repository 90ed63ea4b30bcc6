// Functions the C library lacks or gives in an unsuitable form, in fp64.
#pragma once

namespace kw::truth {

double sigmoid(double x);
double erfinv(double x);
/// Like std::lgamma, without its global sign.
double lgamma(double x);
/// NaN at negative integers, -infinity at +0, as PyTorch has it.
double digamma(double x);

}  // namespace kw::truth
