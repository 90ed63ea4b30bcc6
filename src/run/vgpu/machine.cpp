#include "vgpu/machine.h"

#include "vgpu/handovers.h"
#include "vgpu/polling.h"
#include "vgpu/pool.h"
#include "vgpu/readers.h"
#include "vgpu/scheduler.h"

namespace kw::vgpu {

Machine::Machine(const LaunchContext& context, Regions& regions_in, FindingLog& findings,
                 uint32_t first_segment)
    : launch(context), memory(regions_in), log(findings) {
  code = context.code->insts.data();
  mems = context.code->mems.data();
  atomics = context.code->atomics.data();
  alus = context.code->alus.data();
  map = regions_in.map();
  regions = regions_in.rows();
  region_count = regions_in.count();
  params = context.params.data();
  ways.resize(context.code->insts.size());
  launch_segment = next_segment = first_segment;
  pool = std::make_unique<BlockPool>(context);
  if (context.code->orders_parts) {
    reader_lists = std::make_unique<ReaderLists>(25, [this](uint64_t stamp) {
      const uint64_t number = segments[global_stamp::segment(stamp) - launch_segment].block;
      return number << 5 | global_stamp::warp(stamp);
    });
  }
  if (context.schedule_seed == kPatientSeed) patience = kPatience;
  if (context.code->has_strong_stores) handovers = std::make_unique<Handovers>();
}

Machine::~Machine() = default;

}  // namespace kw::vgpu
