#include "clock/floor.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json_writer.h"

namespace kw::clock {
namespace {

// Multiple of the L2 size: more bytes than this cannot all be cached.
constexpr double kSurelyCold = 3;

/// Returns microseconds for the operations at a peak rate; 0 if the peak is unknown.
double compute_us(double operations, double tera) {
  return tera > 0 ? operations / tera * 1e-6 : 0;
}

/// Returns the peak of the precision, or of the next wider one that was measured.
double peak_or_wider(const record::Calibration& calibration, const std::string& precision) {
  if (const double own = calibration.peak(precision); own > 0) return own;
  if (precision == "fp8" || precision == "int8" || precision == "bf16")
    return peak_or_wider(calibration, "fp16");
  return precision == "fp32" ? 0 : calibration.peak("fp32");
}

}  // namespace

Floor floor_of(const Work& work, const record::Calibration& calibration) {
  Floor floor;
  floor.bandwidth = calibration.bandwidth(work.read_bytes, work.write_bytes);
  if (floor.bandwidth > 0) floor.memory_us = work.bytes() / floor.bandwidth * 1e-3;
  const double rest = std::max(0.0, work.flops - work.tensor_flops);
  // Arithmetic outside matrix products runs on the FMA units.
  const double plain =
      std::max(calibration.peak(work.other, "fma"), calibration.peak("fp32", "fma"));
  floor.compute_us =
      std::max(compute_us(work.tensor_flops, peak_or_wider(calibration, work.product)),
               compute_us(rest, plain));
  floor.us = std::max(floor.memory_us, floor.compute_us);
  if (floor.compute_us > floor.memory_us) floor.bound = "compute";
  if (calibration.launch_us > floor.us) {
    floor.us = calibration.launch_us;
    floor.bound = "launch";
  }
  return floor;
}

std::string implausible(const Work& work, double us, const ports::DeviceInfo& device) {
  const double certain = work.bytes() - work.gathered_bytes;
  if (device.dram_gbps <= 0 || us <= 0) return "";
  if (certain <= kSurelyCold * static_cast<double>(device.l2_bytes)) return "";
  const double rate = certain / us * 1e-3;
  if (rate <= device.dram_gbps) return "";
  return fmt::format(
      "{:.2f} us for {:.1f} MB that must cross memory would be {:.0f} GB/s; the data sheet's rate "
      "is {:.0f}",
      us, certain * 1e-6, rate, device.dram_gbps);
}

void fields(auto& v, Work& w) {
  v("read_bytes", w.read_bytes)("write_bytes", w.write_bytes)("gathered_bytes", w.gathered_bytes);
  v("flops", w.flops)("tensor_flops", w.tensor_flops)("product_precision", w.product);
}

Json to_json(const Work& work) { return record_json(work); }

void fields(auto& v, Floor& f) {
  v("us", f.us)("memory_us", f.memory_us)("compute_us", f.compute_us);
  v("bandwidth_gbps", f.bandwidth)("bound", f.bound);
}

Json to_json(const Floor& floor) { return record_json(floor); }

}  // namespace kw::clock
