//! kernelwright 1
//! task    crc32
//! input   x: uint8[R, C]
//! output  y: uint32[R]
//! output  poly: fp32[R]
//! when    true
//! launch  crc32 grid(ceil_div(R, 32)) block(32) args(x, y, poly, R, C)

// CRC-32 by nibbles from a table in constant memory, and a polynomial with constant coefficients.
__constant__ unsigned kNibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
__constant__ float kCoefficients[] = {1.0f, -0.5f, 0.25f, -0.125f};

__global__ void crc32(const unsigned char* x, unsigned* y, float* poly, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  unsigned crc = 0xffffffffu;
  for (int c = 0; c < cols; ++c) {
    crc ^= x[(size_t)r * cols + c];
    crc = crc >> 4 ^ kNibble[crc & 15];
    crc = crc >> 4 ^ kNibble[crc & 15];
  }
  y[r] = ~crc;
  float t = (crc & 255u) * (1.0f / 256.0f), p = 0.0f;
  for (int j = 3; j >= 0; --j) p = fmaf(p, t, kCoefficients[j]);
  poly[r] = p;
}
