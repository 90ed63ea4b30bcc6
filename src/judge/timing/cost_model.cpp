// A search must order candidates before a GPU runs them. The roofline of estimate.h is not enough:
// most designs of one task move the same bytes and get the same bound. They differ in bytes in
// flight (Little's law: an H200 needs about 2.5 MB), in the last wave of blocks, and in traffic
// between launches. This model adds those to the counts of the virtual GPU. Simulating caches and
// schedulers was the alternative; it is too slow for thousands of candidates. The cost: constants
// are round numbers, so only the order of the times is useful.
#include "timing/cost_model.h"
#include "core/json_writer.h"
#include "record/counters.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kw::timing {
namespace {

constexpr double kLatencyUs = 0.6;    // of a load from busy memory
constexpr double kLoadsInFlight = 2;  // per warp, typical for compilers
constexpr int kUnknownRegisters = 32;
constexpr double kSpecialLanes = 16, kConvertLanes = 64, kFp64Lanes = 64;  // per SM and clock
constexpr double kLeastShare = 0.02;  // lower limit of a rate for few threads

double count_of(const record::CounterValues& counted, record::InstClass kind) {
  return static_cast<double>(counted.warp_instructions[static_cast<size_t>(kind)]);
}

/// The bytes that one request of a warp covers.
double bytes_per_request(const record::CounterValues& counted) {
  const auto requests =
      static_cast<double>(counted.global_load_requests + counted.global_store_requests);
  const auto bytes = static_cast<double>(counted.global_load_bytes + counted.global_store_bytes);
  return requests > 0 ? bytes / requests : 0;
}

class Launch {
 public:
  Launch(const CostLaunch& launch, const CostRequest& request)
      : launch_(launch),
        request_(request),
        scale_(launch.growth > 0 ? launch.growth : request.scale) {}

  CostPart cost() {
    fill();
    part_.memory_us = memory_us();
    part_.l2_us = sector_bytes() / request_.rates.l2_gbps * 1e-3;
    const double clocks_per_us = request_.rates.sms * request_.rates.mhz;
    const record::CounterValues& counted = launch_.counted;
    part_.issue_us = scaled(counted.warp_total) / (request_.rates.issue * clocks_per_us);
    part_.pipe_us = pipe_clocks() * scale_ / clocks_per_us;
    part_.shared_us = scaled(counted.shared_load_wavefronts + counted.shared_store_wavefronts) /
                      (request_.rates.wavefronts * clocks_per_us);
    part_.compute_us = compute_us();
    choose();
    return part_;
  }

 private:
  double scaled(uint64_t value) const { return static_cast<double>(value) * scale_; }
  double sector_bytes() const {
    return record::kSectorBytes *
           scaled(launch_.counted.global_load_sectors + launch_.counted.global_store_sectors);
  }

  // Occupancy and waves, and their effect on the rates.
  void fill() {
    const int registers = launch_.registers > 0 ? launch_.registers : kUnknownRegisters;
    const int resident = std::max(1, arch::resident_blocks(request_.target, launch_.threads,
                                                           registers, launch_.shared_bytes));
    part_.occupancy = std::min(
        1.0, static_cast<double>(resident) * launch_.threads / request_.target.threads_per_sm);
    const auto blocks = static_cast<double>(std::max<uint64_t>(launch_.blocks, 1));
    const double at_once = resident * request_.rates.sms;
    part_.waves = blocks / at_once;
    part_.tail = part_.waves > 1 ? std::ceil(part_.waves) / part_.waves : 1;
    // Blocks of one wave do not end together, so the tail costs only half.
    part_.tail = 1 + (part_.tail - 1) / 2;
    const double warps = std::min(blocks, at_once) * std::ceil(launch_.threads / 32.0);
    const double in_flight = warps * bytes_per_request(launch_.counted) * kLoadsInFlight;
    const double wanted = request_.gpu->copy * 1e3 * kLatencyUs;
    part_.hiding = std::clamp(in_flight / wanted, kLeastShare, 1.0);
    // If all blocks run at once, some SMs may have one more than the others.
    const double each = blocks / request_.rates.sms;
    busy_ = part_.waves > 1 ? 1 : std::clamp(each / std::ceil(each), kLeastShare, 1.0);
  }

  // Repeated reads hit the L2, so a launch reads at most its buffers from memory.
  double memory_us() const {
    const double read = std::min(record::kSectorBytes * scaled(launch_.counted.global_load_sectors),
                                 launch_.readable_bytes);
    const double written =
        std::min(record::kSectorBytes * scaled(launch_.counted.global_store_sectors),
                 launch_.writable_bytes);
    if (read + written <= 0) return 0;
    return (read + written) / request_.gpu->bandwidth(read, written) * 1e-3 / part_.hiding;
  }

  double pipe_clocks() const {
    const record::CounterValues& counted = launch_.counted;
    return 32 * std::max({count_of(counted, record::InstClass::Special) / kSpecialLanes,
                          count_of(counted, record::InstClass::Convert) / kConvertLanes,
                          count_of(counted, record::InstClass::Float64) / kFp64Lanes});
  }

  double compute_us() const {
    const auto tera_us = [&](uint64_t flops, double tera) {
      return tera > 0 ? scaled(flops) / tera * 1e-6 : 0;
    };
    const record::CounterValues& counted = launch_.counted;
    return std::max({tera_us(counted.flops_fp32, request_.gpu->peak("fp32")),
                     tera_us(counted.flops_fp64, request_.gpu->peak("fp64")),
                     tera_us(counted.flops_tensor, request_.gpu->peak("fp16"))});
  }

  void choose() {
    const std::pair<double, const char*> parts[] = {{part_.memory_us, "memory"},
                                                    {part_.l2_us / busy_, "l2"},
                                                    {part_.issue_us / busy_, "issue"},
                                                    {part_.pipe_us / busy_, "pipes"},
                                                    {part_.shared_us / busy_, "shared memory"},
                                                    {part_.compute_us / busy_, "compute"}};
    double sum = 0;
    for (const auto& [us, name] : parts) {
      sum += us;
      if (us <= part_.us) continue;
      part_.us = us;
      part_.bound = name;
    }
    // Units never overlap perfectly. Of two equal bounds, the one with less other work is better.
    part_.us = (part_.us + 0.1 * (sum - part_.us)) * part_.tail;
    if (part_.us >= request_.gpu->launch_us) return;
    part_.us = request_.gpu->launch_us + 0.1 * part_.us;
    part_.bound = "launch";
  }

  const CostLaunch& launch_;
  const CostRequest& request_;
  double scale_;
  CostPart part_;
  double busy_ = 1;  // average work of an SM over that of the busiest
};

}  // namespace

Cost cost_of(const CostRequest& request) {
  Cost cost;
  for (const CostLaunch& launch : request.launches) {
    cost.launches.push_back(Launch(launch, request).cost());
    cost.us += cost.launches.back().us;
  }
  return cost;
}

void fields(auto& v, CostPart& p) {
  v("us", p.us)("bound", p.bound)("memory_us", p.memory_us)("l2_us", p.l2_us);
  v("issue_us", p.issue_us)("pipe_us", p.pipe_us)("shared_us", p.shared_us);
  v("compute_us", p.compute_us)("occupancy", p.occupancy)("waves", p.waves)("hiding", p.hiding);
  v("tail", p.tail);
}

void fields(auto& v, Cost& c) {
  v("is_measurement", computed(false))("us", c.us)("launches", c.launches);
}

Json to_json(const Cost& cost) { return record_json(cost); }

}  // namespace kw::timing
