#include <fmt/core.h>

#include <algorithm>

#include "profile/sources.h"

namespace kw::profile {
namespace {

using record::CounterValues;
using record::InstClass;

double number(uint64_t count) { return static_cast<double>(count); }

/// Writes counts and shares. A share of zero is not written.
class CounterWriter {
 public:
  explicit CounterWriter(MetricSet& metrics) : metrics_(metrics) {}

  void count(const char* id, uint64_t value, const char* from) {
    metrics_.set(id, number(value), MetricSource::Vgpu, from);
  }
  void share(const char* id, double part, uint64_t whole, const char* from, double scale = 100,
             double most = 100) {
    if (whole > 0)
      metrics_.set(id, std::min(most, scale * part / number(whole)), MetricSource::Vgpu, from);
  }
  void flag(const char* id, bool value, const char* from) {
    metrics_.set_flag(id, value, MetricSource::Vgpu, from);
  }

 private:
  MetricSet& metrics_;
};

constexpr double kNoLimit = 1e300;

void write_memory(const CounterValues& v, CounterWriter& w) {
  w.count("global_load_requests", v.global_load_requests, "global_load_requests");
  w.count("global_store_requests", v.global_store_requests, "global_store_requests");
  w.count("global_load_sectors", v.global_load_sectors, "global_load_sectors");
  w.count("global_store_sectors", v.global_store_sectors, "global_store_sectors");
  // Lanes that read the same bytes are counted separately. A broadcast can exceed the sector size.
  w.share("load_efficiency_pct", number(v.global_load_bytes),
          v.global_load_sectors * record::kSectorBytes, "global_load_bytes of global_load_sectors");
  w.share("store_efficiency_pct", number(v.global_store_bytes),
          v.global_store_sectors * record::kSectorBytes,
          "global_store_bytes of global_store_sectors");
  w.share("load_bytes_per_thread", number(v.global_load_bytes), v.global_load_requests * 32,
          "global_load_bytes per lane of global_load_requests", 1, kNoLimit);
  w.share("store_bytes_per_thread", number(v.global_store_bytes), v.global_store_requests * 32,
          "global_store_bytes per lane of global_store_requests", 1, kNoLimit);
  w.count("shared_wavefronts", v.shared_load_wavefronts + v.shared_store_wavefronts,
          "shared_load_wavefronts + shared_store_wavefronts");
  w.count("bank_conflicts", v.shared_bank_conflicts, "shared_bank_conflicts");
}

void write_instructions(const CounterValues& v, CounterWriter& w) {
  const auto of = [&](InstClass c) { return v.warp_instructions[static_cast<size_t>(c)]; };
  const auto part = [&](const char* id, uint64_t count, const char* from) {
    w.share(id, number(count), v.warp_total, from);
  };
  w.count("warp_instructions", v.warp_total, "warp_instructions");
  w.count("local_instructions", of(InstClass::LoadLocal) + of(InstClass::StoreLocal),
          "load_local + store_local");
  if (v.warp_total > 0) w.share("lane_efficiency_pct", v.lane_efficiency(), 1, "lane_efficiency");
  w.share("divergent_branch_pct", number(v.divergent_branches), v.branches,
          "divergent_branches of branches");
  part("special_pct", of(InstClass::Special), "special of warp_instructions");
  part("integer_pct", of(InstClass::Integer), "integer of warp_instructions");
  part("convert_pct", of(InstClass::Convert), "convert of warp_instructions");
  part("control_pct", of(InstClass::Control), "control of warp_instructions");
  part("barrier_arrivals_pct", v.barriers, "barriers of warp_instructions");
  w.count("atomic_requests", v.atomic_requests, "atomic_requests");
  w.share("atomic_serialised_pct", number(v.atomic_serialised), v.atomic_lanes,
          "atomic_serialised of atomic_lanes");
  w.count("fp32_flops", v.flops_fp32, "flops_fp32");
  w.count("tensor_flops", v.flops_tensor, "flops_tensor");
}

}  // namespace

MetricSet metrics_of_counters(const record::LaunchCounters& counters) {
  MetricSet metrics;
  metrics.kernel = counters.kernel;
  const CounterValues& v = counters.total;
  CounterWriter w(metrics);
  write_memory(v, w);
  write_instructions(v, w);
  w.flag("uses_shared", v.shared_load_requests + v.shared_store_requests > 0, "shared requests");
  w.flag("uses_atomics", v.atomic_requests > 0, "atomic_requests");
  w.flag("uses_barrier", v.barriers > 0, "barriers");
  w.flag("uses_tensor_core", v.flops_tensor > 0, "flops_tensor");
  metrics.set("grid_blocks", number(counters.blocks), MetricSource::Static, "the launch");
  metrics.set("block_threads", number(counters.threads_per_block), MetricSource::Static,
              "the launch");
  metrics.derive();
  return metrics;
}

}  // namespace kw::profile
