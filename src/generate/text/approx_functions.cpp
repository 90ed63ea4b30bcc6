// The problem: CUDA's own erff, log1pf and expm1f take 16 to 25 issue slots each. An H200 streams
// fp16 in and out at 4.2 TB/s and issues 132 * 4 * 1.98 G warp instructions per second. Eight
// elements of a thread may cost 255 slots; loads, conversions and stores take about 30. At two
// thirds of the peak rate about 16 slots per element are left, two or three on the special function
// unit. The choice: minimax polynomials in the error that matters: relative for log1p, expm1 and
// tanh, absolute for the normal distribution, whose users add it to 1. The alternative, CUDA's
// functions, makes torch's gelu, mish and logsigmoid 1.2 to 1.9 times slower than a copy. The cost:
// tests must prove every bound.
#include "core/check.h"
#include "text/approx.h"
#include "text/device_texts.h"

namespace kw::generate {
namespace {

constexpr DeviceText kFunctions[] = {
    {"exp2_approx", "", R"(__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)"},
    // If 1 is added, results below the normal range do not matter.
    {"exp2_flushed", "", R"(__device__ __forceinline__ float exp2_flushed(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)"},
    {"reciprocal", "", R"(__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)"},
    {"reciprocal_flushed", "", R"(__device__ __forceinline__ float reciprocal_flushed(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)"},
    {"fast_exp", "exp2_approx", R"(__device__ __forceinline__ float fast_exp(float x) {
  return FAST_MATH ? exp2_approx(x * 1.44269504f) : expf(x);
}
)"},
    {"fast_sigmoid", "exp2_flushed reciprocal",
     R"(__device__ __forceinline__ float fast_sigmoid(float x) {
  if (!FAST_MATH) return 1.0f / (1.0f + expf(-x));
  return reciprocal(1.0f + exp2_flushed(x * -1.44269504f));
}
)"},
    {"half_sigmoid", "exp2_flushed reciprocal_flushed",
     R"(// For results that end in fp16, or are added to something: below 2^-126 it is 0.
__device__ __forceinline__ float half_sigmoid(float x) {
  if (!FAST_MATH) return 1.0f / (1.0f + expf(-x));
  return reciprocal_flushed(1.0f + exp2_flushed(x * -1.44269504f));
}
)"},
    // At most three units of 2^-24; the bound allows five. For a fixed divisor only the product
    // is repeated.
    {"fast_divide", "reciprocal_flushed",
     R"(// A divisor without a normal reciprocal is brought nearer to 1 first.
__device__ __forceinline__ float fast_divide(float x, float by) {
  if (!FAST_MATH) return x / by;
  const float scale = fabsf(by) > 0x1p125f ? 0x1p-64f : fabsf(by) < 0x1p-125f ? 0x1p64f : 1.0f;
  return x * scale * reciprocal_flushed(by * scale);
}
)"},
    {"one_over_one_plus_exp", "exp2_flushed reciprocal",
     R"(// 1 / (1 + exp(x)), subnormal results included.
__device__ __forceinline__ float one_over_one_plus_exp(float x) {
  if (!FAST_MATH) return 1.0f / (1.0f + expf(x));
  return reciprocal(1.0f + exp2_flushed(x * 1.44269504f));
}
)"},
    {"fast_tanh", "exp2_flushed reciprocal_flushed",
     R"(// 1 - 2 / (exp(2|x|) + 1) would cancel near 0: a polynomial there.
__device__ __forceinline__ float fast_tanh(float x) {
  if (!FAST_MATH) return tanhf(x);
  const float far = 1.0f - 2.0f * reciprocal_flushed(exp2_flushed(fabsf(x) * 2.88539008f) + 1.0f);
  const float s = x * x;
  const float p = fmaf(fmaf(fmaf(0x1.ff9838p-7f, s, -0x1.abb816p-5f), s, 0x1.10a712p-3f), s,
                       -0x1.555368p-2f);
  return fabsf(x) < 0.6f ? fmaf(x * s, p, x) : copysignf(far, x);
}
)"},
    {"half_expm1", "exp2_flushed",
     R"(// For results that end in fp16. exp(x) - 1 would cancel near 0: a polynomial there.
__device__ __forceinline__ float half_expm1(float x) {
  if (!FAST_MATH) return expm1f(x);
  const float far = exp2_flushed(x * 1.44269504f) - 1.0f;
  const float p = fmaf(fmaf(fmaf(fmaf(0x1.6bbe96p-10f, x, 0x1.135462p-7f), x, 0x1.555a2ap-5f), x,
                            0x1.55528cp-3f), x, 0x1.fffff4p-2f);
  return fabsf(x) < 0.5f ? fmaf(x * x, p, x) : far;
}
)"},
    {"fast_softplus", "exp2_approx",
     R"(// log(1 + exp(x)) = max(x, 0) + log1p(n) with n = exp(-|x|) <= 1: n times a polynomial.
__device__ __forceinline__ float fast_softplus(float x) {
  const float above = x < 0.0f ? 0.0f : x;
  if (!FAST_MATH) return above + log1pf(expf(-fabsf(x)));
  const float n = exp2_approx(fabsf(x) * -1.44269504f);
  float p = fmaf(-0x1.17d010p-7f, n, 0x1.692eaap-5f);
  p = fmaf(p, n, -0x1.b9107ap-4f);
  p = fmaf(p, n, 0x1.6b6c2ep-3f);
  p = fmaf(p, n, -0x1.f5aac8p-3f);
  p = fmaf(p, n, 0x1.54bdacp-2f);
  p = fmaf(p, n, -0x1.fff932p-2f);
  p = fmaf(p, n, 0x1.fffffap-1f);
  return fmaf(n, p, above);
}
)"},
    {"tanh_softplus", "exp2_approx reciprocal_flushed",
     R"(// tanh(log(1 + n)) = m / (m + 2) with m = n (n + 2), n = exp(x); 1 from 20 on.
__device__ __forceinline__ float tanh_softplus(float x) {
  if (!FAST_MATH) return tanhf(x > 20.0f ? x : log1pf(expf(x)));
  const float n = exp2_approx((x > 20.0f ? 20.0f : x) * 1.44269504f);
  const float m = n * (n + 2.0f);
  return m * reciprocal_flushed(m + 2.0f);
}
)"},
    {"half_one_plus_erf", "exp2_flushed",
     R"(// (1 + erf(u)) / 2: erfc(|u|) / 2 is two to the power of a polynomial that falls for ever.
__device__ __forceinline__ float half_one_plus_erf(float u) {
  if (!FAST_MATH) return 0.5f * (1.0f + erff(u));
  const float a = fabsf(u);
  float p = fmaf(-0x1.740f18p-15f, a, 0x1.ca2b74p-12f);
  p = fmaf(p, a, -0x1.7ed4b0p-10f);
  p = fmaf(p, a, -0x1.b09f44p-11f);
  p = fmaf(p, a, 0x1.cfb2b2p-6f);
  p = fmaf(p, a, -0x1.302440p-3f);
  p = fmaf(p, a, -0x1.d639d0p-1f);
  p = fmaf(p, a, -0x1.a0beaap+0f);
  const float tail = exp2_flushed(fmaf(p, a, -1.0f));
  return u > 0.0f ? 1.0f - tail : tail;
}
)"},
};

}  // namespace

std::string device_functions(const std::set<std::string>& names) {
  for (const std::string& name : names)
    KW_CHECK(find_text(kFunctions, name) != nullptr, "a shortcut calls a function of the table");
  return texts_of(kFunctions, names);
}

}  // namespace kw::generate
