// Texts of the device functions that combine values: of lanes, of a block, of parts of a row.
#pragma once

namespace kw::generate {

inline constexpr const char* kReduceLanes =
    R"(// Joins the values of kLanes neighbouring lanes; all of them get the result.
template <int kLanes, typename T, typename Join>
__device__ __forceinline__ T reduce_lanes(T value, Join join) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    value = join(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}
)";

inline constexpr const char* kReduceBlock =
    R"(// Joins the values of all threads; all of them get the result. `slots` is used once only.
template <int kThreads, typename T, typename Join>
__device__ __forceinline__ T reduce_block(T value, Join join, T* slots) {
  value = reduce_lanes<32>(value, join);
  if (kThreads == 32) return value;
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  value = slots[0];
#pragma unroll
  for (int warp = 1; warp < kThreads / 32; ++warp) value = join(value, slots[warp]);
  return value;
}
)";

inline constexpr const char* kReduceStack =
    R"(// Joins what all threads found whose number is the same modulo kWidth; all of them get the
// result. `slots` may be used again after one more barrier.
template <int kThreads, int kWidth, int kVec, typename T, typename Join>
__device__ __forceinline__ void reduce_stack(T (&values)[kVec], Join join, T* slots) {
  constexpr int kLayer = kWidth < 32 ? 32 : kWidth, kRows = kWidth * kVec;
#pragma unroll
  for (int lane = 0; lane < kVec; ++lane) {
#pragma unroll
    for (int by = kWidth; by < 32; by *= 2) {
      values[lane] = join(values[lane], __shfl_xor_sync(0xffffffffu, values[lane], by));
    }
  }
  if (kThreads == kLayer) return;
  T* own = slots + threadIdx.x % kWidth * kVec;
  if (threadIdx.x % kLayer < kWidth) {
#pragma unroll
    for (int lane = 0; lane < kVec; ++lane) own[threadIdx.x / kLayer * kRows + lane] = values[lane];
  }
  __syncthreads();
  for (int at = threadIdx.x; at < kRows; at += kThreads) {
    T joined = slots[at];
#pragma unroll
    for (int layer = 1; layer < kThreads / kLayer; ++layer) {
      joined = join(joined, slots[layer * kRows + at]);
    }
    slots[at] = joined;
  }
  __syncthreads();
#pragma unroll
  for (int lane = 0; lane < kVec; ++lane) values[lane] = own[lane];
}
)";

inline constexpr const char* kRescaled =
    R"(// A sum of exponentials in which another number is taken off the exponents; -inf taken off means
// that nothing was summed yet.
__device__ __forceinline__ float rescaled(float sum, float from, float to) {
  return from == to || from == -__int_as_float(0x7f800000) ? sum : sum * expf(from - to);
}
)";

inline constexpr const char* kSquaresAbout =
    R"(// The sum of squares about another number, from that about the mean of so many elements.
__device__ __forceinline__ float squares_about(float squares, float count, float mean,
                                               float other) {
  return count > 0.0f ? squares + count * ((mean - other) * (mean - other)) : 0.0f;
}
)";

inline constexpr const char* kJoinElement =
    R"(// One more element, which is this share of all so far. Squares only grow, however x is rounded
// where a product that gives it is fused into the differences.
__device__ __forceinline__ void join_element(float& mean, float& squares, float x, float part) {
  const float apart = x - mean;
  mean += apart * part;
  squares += apart * (apart * (1.0f - part));
}
)";

inline constexpr const char* kJoinSquares =
    R"(// One more group of elements: how many they are, their mean and the squares about it.
__device__ __forceinline__ void join_squares(float& count, float& mean, float& squares,
                                             float more, float other, float others) {
  const float share = __fdividef(more, count + more), apart = other - mean;
  squares += others + apart * apart * (count * share);
  mean += apart * share;
  count += more;
}
)";

}  // namespace kw::generate
