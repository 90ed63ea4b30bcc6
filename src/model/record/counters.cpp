#include "record/counters.h"

#include "core/json_writer.h"

namespace kw::record {

namespace {

constexpr const char* kClassNames[kInstClasses] = {
    "integer",      "fp16",        "fp32",         "fp64",       "special",     "convert",
    "move",         "predicate",   "control",      "barrier",    "collective",  "load_global",
    "store_global", "load_shared", "store_shared", "load_local", "store_local", "load_const",
    "atomic",       "tensor",      "other",
};

struct Field {
  const char* name;
  uint64_t CounterValues::*member;
};

constexpr Field kFields[] = {
    {"warp_instructions", &CounterValues::warp_total},
    {"lane_instructions", &CounterValues::lane_total},
    {"branches", &CounterValues::branches},
    {"divergent_branches", &CounterValues::divergent_branches},
    {"global_load_requests", &CounterValues::global_load_requests},
    {"global_load_sectors", &CounterValues::global_load_sectors},
    {"global_load_bytes", &CounterValues::global_load_bytes},
    {"global_store_requests", &CounterValues::global_store_requests},
    {"global_store_sectors", &CounterValues::global_store_sectors},
    {"global_store_bytes", &CounterValues::global_store_bytes},
    {"shared_load_requests", &CounterValues::shared_load_requests},
    {"shared_load_wavefronts", &CounterValues::shared_load_wavefronts},
    {"shared_load_bytes", &CounterValues::shared_load_bytes},
    {"shared_store_requests", &CounterValues::shared_store_requests},
    {"shared_store_wavefronts", &CounterValues::shared_store_wavefronts},
    {"shared_store_bytes", &CounterValues::shared_store_bytes},
    {"shared_bank_conflicts", &CounterValues::shared_bank_conflicts},
    {"local_bytes", &CounterValues::local_bytes},
    {"atomic_requests", &CounterValues::atomic_requests},
    {"atomic_lanes", &CounterValues::atomic_lanes},
    {"atomic_serialised", &CounterValues::atomic_serialised},
    {"barriers", &CounterValues::barriers},
    {"flops_fp16", &CounterValues::flops_fp16},
    {"flops_fp32", &CounterValues::flops_fp32},
    {"flops_fp64", &CounterValues::flops_fp64},
    {"flops_tensor", &CounterValues::flops_tensor},
};
static_assert(sizeof(CounterValues) == (std::size(kFields) + kInstClasses) * sizeof(uint64_t),
              "every counter has a row, so that none is forgotten in sums and JSON");

}  // namespace

const char* inst_class_name(InstClass c) { return kClassNames[static_cast<int>(c)]; }

CounterValues& CounterValues::operator+=(const CounterValues& other) {
  for (size_t i = 0; i < warp_instructions.size(); ++i)
    warp_instructions[i] += other.warp_instructions[i];
  for (const Field& field : kFields) this->*field.member += other.*field.member;
  return *this;
}

double CounterValues::lane_efficiency() const {
  return warp_total == 0
             ? 0
             : static_cast<double>(lane_total) / (32.0 * static_cast<double>(warp_total));
}

Json to_json(const CounterValues& values) {
  Json json = Json::object();
  for (const Field& field : kFields) json.set(field.name, values.*field.member);
  json.set("lane_efficiency", values.lane_efficiency());
  Json classes = Json::object();
  for (int i = 0; i < kInstClasses; ++i) {
    const uint64_t n = values.warp_instructions[static_cast<size_t>(i)];
    if (n > 0) classes.set(kClassNames[i], n);
  }
  json.set("by_class", classes);
  return json;
}

void fields(auto& v, LineCounters& l) { v("file", l.file)("line", l.line)("values", l.values); }

void fields(auto& v, LaunchCounters& c) {
  v("kernel", c.kernel)("blocks", c.blocks)("threads_per_block", c.threads_per_block);
  v("total", c.total)("lines", c.lines);
}

Json to_json(const LaunchCounters& counters) { return record_json(counters); }

}  // namespace kw::record
