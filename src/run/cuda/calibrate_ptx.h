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

/// kw_empty, kw_random(to, count), kw_read(from, sink, count), kw_write(to, count), kw_copy(from,
/// to, count), kw_add(a, b, to, count). Counts are 16-byte words and must be a multiple of four
/// times the grid's threads. kw_read_one … handle one word at a time; their counts are multiples of
/// the grid's threads. kw_read_streamed … do the same with cache hints for data that is used once.
/// Every device accepts them.
std::string traffic_ptx();

/// An image of arithmetic kernels that take (sink, iterations), for devices of compute capability
/// `least` or newer. With `exactly`, only for `least` itself.
struct PeakImage {
  int least = 0;
  bool exactly = false;
  std::string ptx;
  std::vector<PeakKernel> kernels;
};
std::vector<PeakImage> peak_images();

}  // namespace kw::cuda
