// Kernels that do copies, fills and uploads, compiled with a foreign file or alone.
// `kw_four`: four bytes that repeat, from the beginning of every row.
extern "C" __global__ void kw_fill(unsigned char* kw_to, unsigned long long kw_width,
                                   unsigned long long kw_rows, unsigned long long kw_pitch,
                                   unsigned kw_four) {
  const unsigned long long kw_first = blockIdx.x * 256ull + threadIdx.x, kw_step = gridDim.x * 256ull;
  const bool kw_wide = ((reinterpret_cast<unsigned long long>(kw_to) | kw_width | kw_pitch) & 15) == 0;
  const unsigned long long kw_units = kw_wide ? kw_width / 16 : kw_width;
  for (unsigned long long kw_i = kw_first; kw_i < kw_units * kw_rows; kw_i += kw_step) {
    unsigned char* kw_row = kw_to + kw_i / kw_units * kw_pitch;
    const unsigned long long kw_at = kw_i % kw_units;
    if (kw_wide)
      reinterpret_cast<uint4*>(kw_row)[kw_at] = make_uint4(kw_four, kw_four, kw_four, kw_four);
    else
      kw_row[kw_at] = static_cast<unsigned char>(kw_four >> (kw_at % 4 * 8));
  }
}

extern "C" __global__ void kw_copy(unsigned char* kw_to, const unsigned char* kw_from,
                                   unsigned long long kw_width, unsigned long long kw_rows,
                                   unsigned long long kw_to_pitch, unsigned long long kw_from_pitch) {
  const unsigned long long kw_first = blockIdx.x * 256ull + threadIdx.x, kw_step = gridDim.x * 256ull;
  const bool kw_wide = ((reinterpret_cast<unsigned long long>(kw_to) |
                         reinterpret_cast<unsigned long long>(kw_from) | kw_width | kw_to_pitch |
                         kw_from_pitch) & 15) == 0;
  const unsigned long long kw_units = kw_wide ? kw_width / 16 : kw_width;
  for (unsigned long long kw_i = kw_first; kw_i < kw_units * kw_rows; kw_i += kw_step) {
    unsigned char* kw_row = kw_to + kw_i / kw_units * kw_to_pitch;
    const unsigned char* kw_source = kw_from + kw_i / kw_units * kw_from_pitch;
    if (kw_wide)
      reinterpret_cast<uint4*>(kw_row)[kw_i % kw_units] =
          reinterpret_cast<const uint4*>(kw_source)[kw_i % kw_units];
    else
      kw_row[kw_i % kw_units] = kw_source[kw_i % kw_units];
  }
}

struct kw_steps {
  unsigned long long size[8];
  long long to[8], from[8];
};
/// One number of a type, by PyTorch's number for it, as a whole or a real one.
__device__ inline bool kw_read(unsigned kw_type, const void* kw_from, long long kw_at, long long& kw_whole, double& kw_real) {
  float kw_single = 0;
  switch (kw_type) {
    case 0: kw_whole = static_cast<const unsigned char*>(kw_from)[kw_at]; return true;
    case 1: kw_whole = static_cast<const signed char*>(kw_from)[kw_at]; return true;
    case 2: kw_whole = static_cast<const short*>(kw_from)[kw_at]; return true;
    case 3: kw_whole = static_cast<const int*>(kw_from)[kw_at]; return true;
    case 4: kw_whole = static_cast<const long long*>(kw_from)[kw_at]; return true;
    case 5: asm("cvt.f32.f16 %0, %1;" : "=f"(kw_single) : "h"(static_cast<const unsigned short*>(kw_from)[kw_at])); break;
    case 6: kw_single = static_cast<const float*>(kw_from)[kw_at]; break;
    case 7: kw_real = static_cast<const double*>(kw_from)[kw_at]; return false;
    case 11: kw_whole = static_cast<const unsigned char*>(kw_from)[kw_at] != 0; return true;
    default: kw_single = __uint_as_float(static_cast<unsigned>(static_cast<const unsigned short*>(kw_from)[kw_at]) << 16);
  }
  kw_real = kw_single;
  return false;
}
__device__ inline void kw_write(unsigned kw_type, void* kw_to, long long kw_at, bool kw_is_whole, long long kw_whole, double kw_real) {
  const float kw_single = kw_is_whole ? static_cast<float>(kw_whole) : static_cast<float>(kw_real);
  if (!kw_is_whole) kw_whole = static_cast<long long>(kw_real);
  unsigned short kw_half = 0;
  switch (kw_type) {
    case 0: case 1: static_cast<unsigned char*>(kw_to)[kw_at] = static_cast<unsigned char>(kw_whole); return;
    case 2: static_cast<short*>(kw_to)[kw_at] = static_cast<short>(kw_whole); return;
    case 3: static_cast<int*>(kw_to)[kw_at] = static_cast<int>(kw_whole); return;
    case 4: static_cast<long long*>(kw_to)[kw_at] = kw_whole; return;
    case 5: asm("cvt.rn.f16.f32 %0, %1;" : "=h"(kw_half) : "f"(kw_single)); break;
    case 6: static_cast<float*>(kw_to)[kw_at] = kw_single; return;
    case 7: static_cast<double*>(kw_to)[kw_at] = kw_is_whole ? static_cast<double>(kw_whole) : kw_real; return;
    case 11: static_cast<unsigned char*>(kw_to)[kw_at] = kw_is_whole ? kw_whole != 0 : kw_real != 0; return;
    default: asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(kw_half) : "f"(kw_single));
  }
  static_cast<unsigned short*>(kw_to)[kw_at] = kw_half;
}
struct kw_number {};
template <typename KwElement>
__device__ inline void kw_put(void* kw_to, long long kw_there, const void* kw_from, long long kw_here, unsigned) {
  static_cast<KwElement*>(kw_to)[kw_there] = static_cast<const KwElement*>(kw_from)[kw_here];
}
template <>
__device__ inline void kw_put<kw_number>(void* kw_to, long long kw_there, const void* kw_from, long long kw_here, unsigned kw_types) {
  long long kw_whole = 0;
  double kw_real = 0;
  const bool kw_is_whole = kw_read(kw_types / 16 % 16, kw_from, kw_here, kw_whole, kw_real);
  kw_write(kw_types % 16, kw_to, kw_there, kw_is_whole, kw_whole, kw_real);
}
template <typename KwElement>
__device__ void kw_move_as(void* kw_to, const void* kw_from, const kw_steps& kw_by, unsigned kw_element, unsigned long long kw_count) {
  for (unsigned long long kw_i = blockIdx.x * 256ull + threadIdx.x; kw_i < kw_count; kw_i += gridDim.x * 256ull) {
    unsigned long long kw_rest = kw_i;
    long long kw_there = 0, kw_here = 0;
    for (int kw_k = 7; kw_k >= 0; --kw_k) {
      const long long kw_at = static_cast<long long>(kw_rest % kw_by.size[kw_k]);
      kw_rest /= kw_by.size[kw_k];
      kw_there += kw_at * kw_by.to[kw_k];
      kw_here += kw_at * kw_by.from[kw_k];
    }
    kw_put<KwElement>(kw_to, kw_there, kw_from, kw_here, kw_element);
  }
}
extern "C" __global__ void kw_move(void* kw_to, const void* kw_from, const __grid_constant__ kw_steps kw_by,
                                   unsigned kw_element, unsigned long long kw_count) {
  if (kw_element == 1) kw_move_as<unsigned char>(kw_to, kw_from, kw_by, kw_element, kw_count);
  if (kw_element == 2) kw_move_as<unsigned short>(kw_to, kw_from, kw_by, kw_element, kw_count);
  if (kw_element == 4) kw_move_as<unsigned>(kw_to, kw_from, kw_by, kw_element, kw_count);
  if (kw_element == 8) kw_move_as<unsigned long long>(kw_to, kw_from, kw_by, kw_element, kw_count);
  if (kw_element >= 256) kw_move_as<kw_number>(kw_to, kw_from, kw_by, kw_element, kw_count);
}

struct kw_chunk {
  unsigned char bytes[3072];
};
extern "C" __global__ void kw_upload(unsigned char* kw_to, const __grid_constant__ kw_chunk kw_data,
                                     unsigned kw_count) {
  for (unsigned kw_i = threadIdx.x; kw_i < kw_count; kw_i += 256) kw_to[kw_i] = kw_data.bytes[kw_i];
}
