// The kernels of a calibration as PTX: memory traffic of four kinds, and one loop per kind of
// arithmetic instruction. For calibrate.cpp and its tests.
#pragma once

#include <string>
#include <vector>

namespace kw::cuda {

/// One arithmetic loop.
struct PeakKernel {
  std::string entry;
  std::string precision, instruction;  // as in record::Peak
  int threads = 256;
  int blocks_per_sm = 2;
  double operations = 0;  // per thread and iteration
};

/// kw_empty, kw_random(base, count, seed), kw_read(from, count, sink), kw_write(to, count, value),
/// kw_copy(from, to, count), kw_add(a, b, to, count); counts are of 16-byte words and must be a
/// multiple of four times the grid's threads. The same as kw_read_one … take one word at a time and
/// counts that are a multiple of the grid's threads, as kw_read_streamed … with hints that nothing
/// is used again. Any device takes them.
std::string traffic_ptx();

/// An image with arithmetic kernels that take (sink, iterations), for devices of at least `least`
/// (90: only for sm_90 itself, whose instructions no other device has).
struct PeakImage {
  int least = 0;
  bool exactly = false;
  std::string ptx;
  std::vector<PeakKernel> kernels;
};
std::vector<PeakImage> peak_images();

}  // namespace kw::cuda
