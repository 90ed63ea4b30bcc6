#include "timing/estimate.h"
#include "core/json_writer.h"
#include "record/counters.h"

#include <algorithm>
#include <utility>

namespace kw::timing {
namespace {

constexpr GpuRates kRates{};

}  // namespace

const record::Calibration& reference_gpu() {
  static const record::Calibration calibration = [] {
    record::Calibration h200;
    h200.gpu = "NVIDIA H200 (rates measured elsewhere)";
    h200.read = 4335;
    h200.add = 4351;
    h200.copy = 4244;
    h200.write = 4595;
    h200.launch_us = 1.3;
    h200.peaks = {{"fp32", "fma", 51},
                  {"fp64", "mma", 62},
                  {"tf32", "wgmma", 404},
                  {"fp16", "wgmma", 749},
                  {"bf16", "wgmma", 782}};
    return h200;
  }();
  return calibration;
}

Estimate estimate(const record::CounterValues& total, size_t launches, const clock::Work& work,
                  double scale) {
  const record::Calibration& gpu = reference_gpu();
  Estimate result;
  result.gpu = gpu.gpu;
  result.scale = scale;
  const double read = record::kSectorBytes * static_cast<double>(total.global_load_sectors) * scale;
  const double written =
      record::kSectorBytes * static_cast<double>(total.global_store_sectors) * scale;
  result.l2_bytes = read + written;
  result.l2_us = result.l2_bytes / kRates.l2_gbps * 1e-3;
  // Repeated reads are assumed to hit the L2; sums cannot show more.
  const double from_memory = std::min(read, work.read_bytes);
  const double to_memory = std::min(written, work.write_bytes);
  result.memory_us = (from_memory + to_memory) / gpu.bandwidth(from_memory, to_memory) * 1e-3;
  const double clocks_per_us = kRates.sms * kRates.mhz;
  result.issue_us = static_cast<double>(total.warp_total) * scale / (kRates.issue * clocks_per_us);
  result.shared_us =
      static_cast<double>(total.shared_load_wavefronts + total.shared_store_wavefronts) * scale /
      (kRates.wavefronts * clocks_per_us);
  const auto tera_us = [&](uint64_t flops, double tera) {
    return tera > 0 ? static_cast<double>(flops) * scale / tera * 1e-6 : 0;
  };
  result.compute_us = std::max({tera_us(total.flops_fp32, gpu.peak("fp32")),
                                tera_us(total.flops_fp64, gpu.peak("fp64")),
                                tera_us(total.flops_tensor, gpu.peak("fp16"))});
  result.floor = clock::floor_of(work, gpu);
  const std::pair<double, const char*> parts[] = {
      {result.memory_us, "memory"},
      {result.l2_us, "l2"},
      {result.issue_us, "issue"},
      {result.compute_us, "compute"},
      {result.shared_us, "shared memory"},
      {gpu.launch_us * static_cast<double>(launches), "launch"},
  };
  for (const auto& [us, name] : parts) {
    if (us <= result.us) continue;
    result.us = us;
    result.bound = name;
  }
  return result;
}

void fields(auto& v, Estimate& e) {
  v("is_measurement", computed(false))("gpu", e.gpu)("counted_at", e.counted_at)("scale", e.scale);
  v("us", e.us)("bound", e.bound)("memory_us", e.memory_us)("l2_us", e.l2_us);
  v("issue_us", e.issue_us)("compute_us", e.compute_us)("shared_us", e.shared_us);
  v("l2_bytes", e.l2_bytes)("floor", e.floor);
}

Json to_json(const Estimate& estimate) { return record_json(estimate); }

}  // namespace kw::timing
