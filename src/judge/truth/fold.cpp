// Sums and maxima of floats in eight interleaved parts: this vectorises, and rounds less than one
// long chain.
#include <limits>

#include "truth/levels.h"
#include "truth/sum_rules.h"

namespace kw::truth::KW_SIMD_LEVEL {

namespace {

constexpr int kParts = 8;

template <class T, class F>
T sum_of(int count, F f) {
  T part[kParts] = {};
  int k = 0;
  for (; k + kParts <= count; k += kParts)
    for (int j = 0; j < kParts; ++j) part[j] += f(k + j);
  for (; k < count; ++k) part[k % kParts] += f(k);
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// Ignores NaN; the caller checks for it.
template <class F>
double largest_of(int count, F f) {
  double part[kParts];
  for (double& p : part) p = -std::numeric_limits<double>::infinity();
  int k = 0;
  for (; k + kParts <= count; k += kParts) {
    for (int j = 0; j < kParts; ++j) {
      const double v = f(k + j);
      part[j] = v > part[j] ? v : part[j];
    }
  }
  for (; k < count; ++k) {
    const double v = f(k);
    part[k % kParts] = v > part[k % kParts] ? v : part[k % kParts];
  }
  double most = part[0];
  for (const double p : part) most = p > most ? p : most;
  return most;
}

}  // namespace

double sum(const double* x, int count) {
  return sum_of<double>(count, [x](int k) { return x[k]; });
}
double sum_magnitudes(const double* x, int count) {
  return sum_of<double>(count, [x](int k) { return finite_magnitude(x[k]); });
}
double sum_squares(const double* x, int count) {
  return sum_of<double>(count, [x](int k) { return x[k] * x[k]; });
}
float sum_float(const double* x, int count) {
  return sum_of<float>(count, [x](int k) { return static_cast<float>(x[k]); });
}
double largest(const double* x, double sign, int count) {
  return largest_of(count, [=](int k) { return sign * x[k]; });
}
double largest_end(const double* x, double sign, const double* e, double side, int count) {
  return largest_of(count, [=](int k) { return sign * x[k] + side * e[k]; });
}
double largest_upper_end(const double* x, double sign, const double* e, int count) {
  return largest_of(count, [=](int k) { return upper_end(sign * x[k], e[k]); });
}
bool has_special(const double* x, int count) {
  int found = 0;
  for (int k = 0; k < count; ++k) found |= !(fabs(x[k]) <= kLargest);
  return found != 0;
}
void add_columns(const double* x, int count, double* sums) {
  for (int k = 0; k < count; ++k) sums[k] += x[k];
}
void add_column_magnitudes(const double* x, int count, double* sums) {
  for (int k = 0; k < count; ++k) sums[k] += finite_magnitude(x[k]);
}
void add_column_squares(const double* x, int count, double* sums) {
  for (int k = 0; k < count; ++k) sums[k] += x[k] * x[k];
}
void add_columns_float(const double* x, int count, float* sums) {
  for (int k = 0; k < count; ++k) sums[k] += static_cast<float>(x[k]);
}

}  // namespace kw::truth::KW_SIMD_LEVEL
