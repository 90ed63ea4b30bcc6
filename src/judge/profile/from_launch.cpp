#include <algorithm>

#include "profile/sources.h"

namespace kw::profile {

MetricSet metrics_of_launch(const ports::KernelResources& resources, const LaunchShape& shape,
                            const arch::Target& target) {
  MetricSet metrics;
  const auto set = [&](const char* id, double value, const char* from) {
    metrics.set(id, value, MetricSource::Static, from);
  };
  if (resources.registers >= 0) set("registers_per_thread", resources.registers, "the compiler");
  if (resources.spill_store_bytes >= 0 && resources.spill_load_bytes >= 0)
    set("spill_bytes",
        static_cast<double>(resources.spill_store_bytes + resources.spill_load_bytes),
        "the compiler");
  if (shape.blocks > 0) set("grid_blocks", static_cast<double>(shape.blocks), "the launch");
  if (shape.threads > 0) set("block_threads", shape.threads, "the launch");
  // Shared memory that the compiler did not report is unknown, not zero. Occupancy is then unknown
  // too.
  if (resources.static_shared < 0) return metrics;
  const int64_t shared = resources.static_shared + shape.dynamic_shared;
  set("shared_bytes_per_block", static_cast<double>(shared), "the compiler and the launch");
  if (shape.threads <= 0 || resources.registers < 0) return metrics;
  const arch::Occupancy fit = arch::occupancy(target, shape.threads, resources.registers, shared);
  set("theoretical_occupancy_pct", 100 * fit.share, "occupancy calculator");
  if (fit.blocks == 0) return metrics;
  set("blocks_by_registers", fit.by_registers, "occupancy calculator");
  set("blocks_by_shared", fit.by_shared, "occupancy calculator");
  set("blocks_by_threads", fit.by_threads, "occupancy calculator");
  set("blocks_by_limit", fit.by_blocks, "occupancy calculator");
  if (shape.blocks > 0) {
    const int sms = shape.sms > 0 ? shape.sms : target.default_sms;
    set("waves", static_cast<double>(shape.blocks) / (static_cast<double>(fit.blocks) * sms),
        "occupancy calculator");
  }
  metrics.derive();
  return metrics;
}

void add_call_facts(MetricSet& metrics, const CallFacts& facts) {
  const auto ratio = [&](const char* id, const char* measured, double counted_bytes, double least) {
    if (least <= 0 || metrics.knows(id)) return;
    if (const Known* bytes = metrics.find(measured))
      metrics.set(id, bytes->value / least, bytes->source, measured);
    else if (counted_bytes >= 0)
      metrics.set(id, counted_bytes / least, MetricSource::Vgpu,
                  "sectors, as if nothing were cached");
  };
  const auto sectors = [&](const char* id) {
    const auto count = metrics.get(id);
    return count ? *count * record::kSectorBytes : -1.0;
  };
  const double loads = sectors("global_load_sectors"), stores = sectors("global_store_sectors");
  ratio("traffic_ratio", "dram_bytes", loads < 0 || stores < 0 ? -1 : loads + stores,
        facts.bytes_min);
  ratio("write_ratio", "dram_write_bytes", stores, facts.output_bytes);
  if (facts.launches > 0)
    metrics.set("launches", facts.launches, MetricSource::Static, "the launch plan");
  if (facts.launches > 0 && facts.launch_us > 0 && facts.call_us > 0)
    metrics.set("launch_overhead_pct",
                std::min(100.0, 100 * facts.launches * facts.launch_us / facts.call_us),
                MetricSource::Static, "empty launches of the call's time");
}

}  // namespace kw::profile
