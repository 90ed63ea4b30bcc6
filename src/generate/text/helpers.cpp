// The problem: kernels call small device functions, and a module should contain only those it
// calls. The choice: a table of texts by name, each with the names it needs. The alternative, a
// header for all modules, would be shorter here, but a module must be complete by itself. The cost:
// the texts are compiled only in generated modules, so an error in one shows only there.
#include "text/helpers.h"

#include "text/device_texts.h"
#include "text/joins.h"
#include "text/layout_texts.h"

namespace kw::generate {

namespace {

constexpr DeviceText kHelpers[] = {
    {"Pack", "", kPack},
    {"WordOf", "", kWord},
    {"load_pack", "Pack WordOf", kLoadPack},
    {"tile_place", "", kTilePlace},
    {"place_of", "",
     R"(// A place in memory is never negative: an unsigned sum is widened for nothing.
__device__ __forceinline__ unsigned int place_of(int at) { return static_cast<unsigned int>(at); }
__device__ __forceinline__ long long place_of(long long at) { return at; }
)"},
    {"load_once", "Pack WordOf",
     R"(// For what is read once only: with STREAM it does not push anything else out of the caches.
template <int kCount, typename T>
__device__ __forceinline__ Pack<T, kCount> load_once(const T* from) {
  constexpr int kBytes = sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16;
  using Word = typename WordOf<kBytes>::Type;
  Pack<T, kCount> pack;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(pack) / kBytes); ++i) {
    const Word* at = reinterpret_cast<const Word*>(from) + i;
    const Word word = STREAM ? __ldcs(at) : *at;
    memcpy(reinterpret_cast<char*>(&pack) + i * kBytes, &word, kBytes);
  }
  return pack;
}
)"},
    {"store_pack", "Pack WordOf",
     R"(// Streaming data is not read again soon, so it should not push anything else out of the caches.
template <typename T, int kCount>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, kCount>& pack) {
  constexpr int kBytes = sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16;
  using Word = typename WordOf<kBytes>::Type;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(pack) / kBytes); ++i) {
    Word word;
    memcpy(&word, reinterpret_cast<const char*>(&pack) + i * kBytes, kBytes);
    Word* at = reinterpret_cast<Word*>(to) + i;
    if (STREAM) {
      __stcs(at, word);
    } else {
      *at = word;
    }
  }
}
)"},
    {"max_nan", "", R"(// The larger one; NaN wins.
template <typename T>
__device__ __forceinline__ T max_nan(T a, T b) {
  return a > b || a != a ? a : b;
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ float max_nan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}
#endif
)"},
    {"min_nan", "", R"(// The smaller one; NaN wins.
template <typename T>
__device__ __forceinline__ T min_nan(T a, T b) {
  return a < b || a != a ? a : b;
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ float min_nan(float a, float b) {
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
  return smaller;
}
#endif
)"},
    {"log_add_exp", "", R"(// log(exp(a) + exp(b)) without leaving the range; NaN stays.
__device__ __forceinline__ float log_add_exp(float a, float b) {
  const float top = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
  if (isnan(top) || isinf(top)) return top;
  return top + log1pf(expf(low - top));
}
__device__ __forceinline__ double log_add_exp(double a, double b) {
  const double top = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
  if (isnan(top) || isinf(top)) return top;
  return top + log1p(exp(low - top));
}
)"},
    {"max_of", "", R"(template <typename T>
__device__ __forceinline__ T max_of(T a, T b) {
  return a > b ? a : b;
}
)"},
    {"min_of", "", R"(template <typename T>
__device__ __forceinline__ T min_of(T a, T b) {
  return a < b ? a : b;
}
)"},
    {"sign_of", "", R"(template <typename T>
__device__ __forceinline__ T sign_of(T x) {
  return static_cast<T>((T(0) < x) - (x < T(0)));
}
)"},
    {"floor_remainder", "", R"(// Python's %: the result has the divisor's sign.
template <typename T>
__device__ __forceinline__ T floor_remainder(T a, T b) {
  const T left = a % b;
  return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}
__device__ __forceinline__ float floor_remainder(float a, float b) {
  const float left = fmodf(a, b);
  return left != 0.0f && (left < 0.0f) != (b < 0.0f) ? left + b : left;
}
__device__ __forceinline__ double floor_remainder(double a, double b) {
  const double left = fmod(a, b);
  return left != 0.0 && (left < 0.0) != (b < 0.0) ? left + b : left;
}
)"},
    {"floor_quotient", "", R"(// Python's //: the quotient rounded down.
template <typename T>
__device__ __forceinline__ T floor_quotient(T a, T b) {
  const T whole = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
}
template <typename T>
__device__ __forceinline__ T floor_quotient_of_floats(T a, T b, T left) {
  if (b == T(0)) return a / b;
  T whole = (a - left) / b;
  if (left != T(0) && (left < T(0)) != (b < T(0))) whole -= T(1);
  if (whole == T(0)) return copysign(T(0), a / b);
  const T down = floor(whole);
  return whole - down > T(0.5) ? down + T(1) : down;
}
__device__ __forceinline__ float floor_quotient(float a, float b) {
  return floor_quotient_of_floats(a, b, fmodf(a, b));
}
__device__ __forceinline__ double floor_quotient(double a, double b) {
  return floor_quotient_of_floats(a, b, fmod(a, b));
}
)"},
    {"integer_power", "", R"(template <typename T>
__device__ __forceinline__ T integer_power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : T(0);
  T power = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 != 0) power *= base;
  }
  return power;
}
)"},
    {"shifted_left", "", R"(// What is shifted out is gone; too far, nothing is left.
template <typename T>
__device__ __forceinline__ T shifted_left(T x, T by) {
  return by < 0 || by >= T(8 * sizeof(T)) ? T(0) : static_cast<T>(x << by);
}
)"},
    {"shifted_right", "", R"(// Too far, only the sign is left.
template <typename T>
__device__ __forceinline__ T shifted_right(T x, T by) {
  return by < 0 || by >= T(8 * sizeof(T)) ? (x < 0 ? T(-1) : T(0)) : static_cast<T>(x >> by);
}
)"},
    {"ranks_below", "",
     R"(// Whether a comes before b in ascending order: NaN is last, equals keep their order.
template <typename T>
__device__ __forceinline__ bool ranks_below(T a, T b, bool first) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan == b_nan ? first : b_nan;
  return a < b || (a == b && first);
}
)"},
    {"ranks_above", "",
     R"(// Whether a comes before b in descending order: NaN is first, equals keep their order.
template <typename T>
__device__ __forceinline__ bool ranks_above(T a, T b, bool first) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan == b_nan ? first : a_nan;
  return a > b || (a == b && first);
}
)"},
    {"Add", "", R"(struct Add {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
)"},
    {"Multiply", "", R"(struct Multiply {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a * b;
  }
};
)"},
    {"Larger", "max_nan", R"(struct Larger {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return max_nan(a, b);
  }
};
)"},
    {"Smaller", "min_nan", R"(struct Smaller {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return min_nan(a, b);
  }
};
)"},
    {"reduce_lanes", "", kReduceLanes},
    {"reduce_block", "reduce_lanes", kReduceBlock},
    {"reduce_stack", "", kReduceStack},
    {"rescaled", "", kRescaled},
    {"squares_about", "", kSquaresAbout},
    {"join_element", "squares_about", kJoinElement},
    {"join_squares", "squares_about", kJoinSquares},
    {"load_acquire", "",
     R"(// What the block that released the word had written before is seen after this.
__device__ __forceinline__ unsigned int load_acquire(const unsigned int* from) {
  unsigned int word;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
  return word;
}
)"},
    {"store_release", "",
     R"(__device__ __forceinline__ void store_release(unsigned int* to, unsigned int word) {
  asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(to), "r"(word) : "memory");
}
)"},
    {"power_of_two", "", R"(// 2 to the power of x; below 2^-126 it is zero.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)"},
    {"exact_power_of_two", "", R"(// 2 to the power of x, subnormal results too.
__device__ __forceinline__ float exact_power_of_two(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)"},
    {"copy_async", "Pack",
     R"(// Elements on their way to shared memory, or zeros; there after await_copies(). Halves that come
// one by one arrive at once.
template <int kCount, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool within) {
  constexpr int kBytes = sizeof(T) * kCount;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(at), "l"(from), "r"(within ? 16 : 0)
                 : "memory");
  } else if constexpr (kBytes == 4) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(at), "l"(from), "r"(within ? 4 : 0)
                 : "memory");
  } else if (within) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i] = from[i];
  } else {
    *reinterpret_cast<Pack<T, kCount>*>(to) = {};
  }
}
)"},
    {"pack_place", "",
     R"(// Where the thread's pack behind `each` others lies in a tile that is kSide packs wide.
template <int kSide, int kThreads>
__device__ __forceinline__ int2 pack_place(int each) {
  const int own = threadIdx.x;
  if (kThreads % kSide == 0) return make_int2(own % kSide, each / kSide + own / kSide);
  return make_int2((each + own) % kSide, (each + own) / kSide);
}
)"},
    {"await_copies", "", R"(__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_all;" : : : "memory");
}
)"},
    {"load_matrices", "",
     R"(// Four 8 x 8 matrices of halves from shared memory: lane 8 i + r names row r of matrix i.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
__device__ __forceinline__ void load_turned(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
)"},
    {"load_operands", "load_matrices",
     R"(// Where a half lies in shared memory. Sums of 32 bits: addresses take few registers.
template <int kPitch, typename Half>
__device__ __forceinline__ unsigned place_in(const Half* tile, int line, int at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(tile)) + 2 * (line * kPitch + at);
}

// 16 x 16 halves of a tile as an operand of products: those from this line and place on. Lines are
// kPitch halves apart and lie along k, those of turned operands across it. A right operand serves
// two products: of its first eight columns, with b[0] and b[1], and of the others, with b[2] and
// b[3].
template <int kPitch, typename Half>
__device__ __forceinline__ void load_left(unsigned (&a)[4], const Half* tile, int line, int at) {
  const int lane = threadIdx.x % 32;
  load_matrices(a, place_in<kPitch>(tile, line + lane % 16, at + lane / 16 * 8));
}
template <int kPitch, typename Half>
__device__ __forceinline__ void load_left_turned(unsigned (&a)[4], const Half* tile, int line,
                                                 int at) {
  const int lane = threadIdx.x % 32, own = lane / 16 * 8 + lane % 8;
  load_turned(a, place_in<kPitch>(tile, line + own, at + lane / 8 % 2 * 8));
}
template <int kPitch, typename Half>
__device__ __forceinline__ void load_right(unsigned (&b)[4], const Half* tile, int line, int at) {
  const int lane = threadIdx.x % 32, own = lane / 16 * 8 + lane % 8;
  load_matrices(b, place_in<kPitch>(tile, line + own, at + lane / 8 % 2 * 8));
}
template <int kPitch, typename Half>
__device__ __forceinline__ void load_right_turned(unsigned (&b)[4], const Half* tile, int line,
                                                  int at) {
  const int lane = threadIdx.x % 32;
  load_turned(b, place_in<kPitch>(tile, line + lane % 16, at + lane / 16 * 8));
}
)"},
    {"keep_sums", "",
     R"(// Where a sum lies among 16 x 16 in shared memory. Rows two apart begin with another half of their
// columns, so that eight columns of four rows lie in all banks.
__device__ __forceinline__ int sum_place(int row, int column) {
  return row * 16 + (column ^ row % 4 / 2 * 8);
}
// The sums of two products side by side go there. A lane holds two neighbours in each of two rows.
__device__ __forceinline__ void keep_sums(float* tile, const float (&sums)[2][4]) {
  const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* two = tile + sum_place(row + i / 2 * 8, column + i % 2 * 8);
    *reinterpret_cast<float2*>(two) =
        make_float2(sums[i % 2][i / 2 * 2], sums[i % 2][i / 2 * 2 + 1]);
  }
}
)"},
    {"add_product_fp16", "",
     R"(// 16 x 16 times 16 x 8 on tensor cores, added to 16 x 8 sums that the warp holds.
__device__ __forceinline__ void add_product_fp16(float (&sums)[4], const unsigned (&a)[4],
                                                 unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%8}, "
      "{%0, %1, %2, %3};\n\t"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%6, %7}, {%9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
)"},
    {"add_product_bf16", "",
     R"(// 16 x 16 times 16 x 8 on tensor cores, added to 16 x 8 sums that the warp holds.
__device__ __forceinline__ void add_product_bf16(float (&sums)[4], const unsigned (&a)[4],
                                                 unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
)"},
    {"pair_fp16", "", R"(__device__ __forceinline__ unsigned pair_fp16(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
)"},
    {"pair_bf16", "", R"(__device__ __forceinline__ unsigned pair_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
)"},
    {"digamma", "",
     R"(// Reflected to positive arguments, lifted above 10, then the asymptotic series.
__device__ __forceinline__ double digamma(double x) {
  if (x == 0.0) return copysign(__longlong_as_double(0x7ff0000000000000LL), -x);
  double shift = 0.0;
  if (x < 0.0) {
    if (x == trunc(x)) return nan("");
    shift = -3.14159265358979323846 / tan(3.14159265358979323846 * fmod(x, 1.0));
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) shift -= 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series =
      z * (8.33333333333333333333e-2 -
           z * (8.33333333333333333333e-3 -
                z * (3.96825396825396825397e-3 -
                     z * (4.16666666666666666667e-3 -
                          z * (7.57575757575757575758e-3 -
                               z * (2.10927960927960927961e-2 - z * 8.33333333333333333333e-2))))));
  return log(x) - 0.5 / x - series + shift;
}
__device__ __forceinline__ float digamma(float x) {
  return static_cast<float>(digamma(static_cast<double>(x)));
}
)"},
    {"philox_uniform", "",
     R"(// Philox 4x32-10: element i of the stream as a uniform number in [0, 1).
__device__ __forceinline__ float philox_uniform(long long seed, long long offset, long long i) {
  const unsigned long long block = static_cast<unsigned long long>(offset) + i / 4;
  unsigned int key0 = static_cast<unsigned int>(seed);
  unsigned int key1 = static_cast<unsigned int>(static_cast<unsigned long long>(seed) >> 32);
  uint4 c = make_uint4(static_cast<unsigned int>(block), static_cast<unsigned int>(block >> 32),
                       0u, 0u);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned int high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    const unsigned int high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = make_uint4(high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const int which = static_cast<int>(i % 4);
  const unsigned int word = which == 0 ? c.x : which == 1 ? c.y : which == 2 ? c.z : c.w;
  return (word >> 8) * 5.9604644775390625e-8f;
}
)"},
    {"from_exponent", "", R"(// e8m0 holds a power of two; 255 is NaN.
__device__ __forceinline__ float from_exponent(unsigned char bits) {
  return bits == 255 ? nanf("") : exp2f(static_cast<float>(bits) - 127.0f);
}
)"},
    {"to_exponent", "", R"(__device__ __forceinline__ unsigned char to_exponent(float x) {
  if (isnan(x) || isinf(x)) return 255;
  const unsigned int bits = __float_as_uint(x);
  unsigned int exponent = (bits >> 23) & 255u;
  const unsigned int fraction = bits & 0x7fffffu;
  const bool up = exponent == 0 ? fraction > 0x400000u
                                : fraction > 0x400000u || (fraction == 0x400000u && exponent > 0);
  return static_cast<unsigned char>(up && exponent < 254u ? exponent + 1u : exponent);
}
)"},
};

}  // namespace

bool is_helper(const std::string& name) { return find_text(kHelpers, name) != nullptr; }

std::string add_product(DType half) {
  return half == DType::Fp16 ? "add_product_fp16" : "add_product_bf16";
}

std::string helper_functions(const std::set<std::string>& names) {
  return texts_of(kHelpers, names);
}

}  // namespace kw::generate
