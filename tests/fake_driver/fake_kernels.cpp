#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_state.h"
#include "ports/audit_hash.h"

namespace kw::fake {
namespace {

using Clock = std::chrono::steady_clock;

CuResult canary(const Launch& launch) {
  auto* out = launch.pointer<uint32_t>(0);
  for (uint32_t i = 0; i < launch.param<uint32_t>(1); ++i)
    out[i] = (i * 2654435761u) ^ launch.param<uint32_t>(2);
  return cuda::kSuccess;
}

CuResult sweep_write(const Launch& launch) {
  std::memset(launch.pointer<char>(0), static_cast<int>(launch.param<uint32_t>(2) & 0x7f),
              launch.param<uint64_t>(1) * 16);
  return cuda::kSuccess;
}

CuResult sweep_read(const Launch& launch) {
  uint64_t sum = 0;
  const auto* words = launch.pointer<const uint64_t>(0);
  const uint64_t count = launch.param<uint64_t>(1) * 2;
  for (uint64_t i = 0; i < count; ++i) sum |= words[i];
  if (sum == ~uint64_t{0}) *launch.pointer<uint32_t>(2) = 1;
  return cuda::kSuccess;
}

CuResult gate(const Launch& launch) {
  const volatile uint32_t* flag = launch.pointer<volatile uint32_t>(0);
  return flag[0] == launch.param<uint32_t>(1) ? cuda::kSuccess : cuda::kNotReady;
}

/// The jobs of cuda/jobs.h: {to, from, bytes} each.
const uint64_t* job(const Launch& launch, unsigned index) {
  return launch.pointer<const uint64_t>(0) + uint64_t{3} * index;
}

CuResult copy_jobs(const Launch& launch) {
  for (unsigned i = 0; i < launch.grid[1]; ++i) {
    const uint64_t* j = job(launch, i);
    std::memcpy(reinterpret_cast<void*>(j[0]), reinterpret_cast<const void*>(j[1]), j[2]);
  }
  return cuda::kSuccess;
}

CuResult fill_jobs(const Launch& launch) {
  for (unsigned i = 0; i < launch.grid[1]; ++i) {
    const uint64_t* j = job(launch, i);
    const auto word = static_cast<uint32_t>(j[1]);
    const uint64_t end = j[0] + j[2];
    for (uint64_t at = j[0]; at < end;) {
      if (at % 4 == 0 && end - at >= 4) {
        *reinterpret_cast<uint32_t*>(at) = word;
        at += 4;
      } else {
        *reinterpret_cast<uint8_t*>(at) = static_cast<uint8_t>(word >> (at % 4 * 8));
        ++at;
      }
    }
  }
  return cuda::kSuccess;
}

CuResult hash_jobs(const Launch& launch) {
  auto* out = launch.pointer<uint64_t>(2);
  for (unsigned i = 0; i < launch.grid[1]; ++i) {
    const uint64_t* j = job(launch, i);
    out[i] += ports::audit_hash({reinterpret_cast<const std::byte*>(j[0]), j[2]},
                                launch.param<uint64_t>(1));
  }
  return cuda::kSuccess;
}

CuResult nothing(const Launch&) { return cuda::kSuccess; }

CuResult traffic_read(const Launch& launch) {
  uint64_t sum = 0;
  const auto* words = launch.pointer<const uint64_t>(0);
  const uint64_t count = launch.param<uint64_t>(2) * 2;
  for (uint64_t i = 0; i < count; ++i) sum |= words[i];
  if (sum == 1) *launch.pointer<uint32_t>(1) = 1;
  return cuda::kSuccess;
}

CuResult traffic_write(const Launch& launch) {
  std::memset(launch.pointer<char>(0), 1, launch.param<uint64_t>(1) * 16);
  return cuda::kSuccess;
}

CuResult traffic_add(const Launch& launch) {
  const auto* a = launch.pointer<const uint64_t>(0);
  const auto* b = launch.pointer<const uint64_t>(1);
  auto* c = launch.pointer<uint64_t>(2);
  const uint64_t count = launch.param<uint64_t>(3) * 2;
  for (uint64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
  return cuda::kSuccess;
}

/// As long as its iterations, as if it computed.
CuResult peak(const Launch& launch) {
  const auto end = Clock::now() + std::chrono::nanoseconds(launch.param<uint32_t>(1) * 10);
  while (Clock::now() < end) {
  }
  return cuda::kSuccess;
}

CuResult vector_add(const Launch& launch) {
  const auto* a = launch.pointer<const float>(0);
  const auto* b = launch.pointer<const float>(1);
  auto* c = launch.pointer<float>(2);
  const auto n = launch.param<uint32_t>(3);
  for (uint64_t i = 0; i < launch.threads() && i < n; ++i)
    c[i] = a[i] + (b == nullptr ? 0.0f : b[i]);
  return cuda::kSuccess;
}

CuResult fill(const Launch& launch) {
  auto* y = launch.pointer<uint32_t>(0);
  for (uint64_t i = 0; i < launch.threads() && i < launch.param<uint32_t>(2); ++i) {
    y[launch.param<int32_t>(1) + static_cast<int64_t>(i)] = launch.param<uint32_t>(3);
  }
  return cuda::kSuccess;
}

CuResult increment(const Launch& launch) {
  auto* x = launch.pointer<uint32_t>(0);
  for (uint64_t i = 0; i < launch.threads() && i < launch.param<uint32_t>(1); ++i) ++x[i];
  return cuda::kSuccess;
}

CuResult poke(const Launch& launch) {
  const CuDevicePtr address = launch.param<CuDevicePtr>(0) + launch.param<uint64_t>(1);
  if (address % 4 != 0) return kMisaligned;
  if (!device().owns(address, 4)) return kIllegalAddress;
  *reinterpret_cast<uint32_t*>(address) = 1;
  return cuda::kSuccess;
}

CuResult trap_now(const Launch&) { return kLaunchFailed; }

CuResult spin(const Launch& launch) {
  const auto nanoseconds = launch.param<uint64_t>(0);
  if (nanoseconds == ~uint64_t{0}) return cuda::kNotReady;
  const auto end = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  while (Clock::now() < end) {
  }
  return cuda::kSuccess;
}

CuResult shared_last(const Launch& launch) {
  if (launch.param<uint32_t>(1) * 4 > launch.shared_bytes) return kIllegalAddress;
  launch.pointer<uint32_t>(0)[0] = launch.param<uint32_t>(1);
  return cuda::kSuccess;
}

CuResult grid_meet(const Launch& launch) {
  if (!launch.cooperative) return cuda::kNotReady;
  *launch.pointer<uint32_t>(0) += launch.grid[0];
  for (unsigned i = 0; i < launch.grid[0]; ++i) launch.pointer<uint32_t>(1)[i] = launch.grid[0];
  return cuda::kSuccess;
}

CuResult cluster_rank(const Launch& launch) {
  for (unsigned i = 0; i < launch.grid[0]; ++i) launch.pointer<uint32_t>(0)[i] = i % launch.cluster;
  return cuda::kSuccess;
}

CuResult copy16(const Launch& launch) {
  std::memcpy(launch.pointer<char>(1), launch.pointer<char>(0), launch.param<uint64_t>(2) * 16);
  return cuda::kSuccess;
}

CuResult hello(const Launch& launch) {
  for (unsigned i = 0; i < launch.grid[0]; ++i) std::printf("hello from block %u\n", i);
  return cuda::kSuccess;
}

CuResult bump_state(const Launch& launch) {
  auto& state = launch.module->globals.at("state");
  ++state[0];
  launch.pointer<uint32_t>(0)[0] = static_cast<uint32_t>(state[0]);
  return cuda::kSuccess;
}

/// Writes over every allocation of so many bytes.
CuResult scribble(const Launch& launch) {
  for (const auto& [address, bytes] : device().allocations) {
    if (bytes == launch.param<uint64_t>(0))
      std::memset(reinterpret_cast<void*>(address), 0x77, bytes);
  }
  return cuda::kSuccess;
}

CuResult abort_process(const Launch&) {
  std::fprintf(stderr, "the fake driver was asked to die\n");
  std::abort();
}

const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> table = {
      {"kw_canary", {{8, 4, 4}, canary}},
      {"kw_sweep_write", {{8, 8, 4}, sweep_write}},
      {"kw_sweep_read", {{8, 8, 8}, sweep_read}},
      {"kw_gate", {{8, 4, 8}, gate}},
      {"kw_copy_jobs", {{8}, copy_jobs}},
      {"kw_fill_jobs", {{8}, fill_jobs}},
      {"kw_hash_jobs", {{8, 8, 8}, hash_jobs}},
      {"kw_empty", {{}, nothing}},
      {"kw_random", {{8, 8}, traffic_write}},
      {"kw_read", {{8, 8, 8}, traffic_read}},
      {"kw_write", {{8, 8}, traffic_write}},
      {"kw_copy", {{8, 8, 8}, copy16}},
      {"kw_add", {{8, 8, 8, 8}, traffic_add}},
      {"kw_read_one", {{8, 8, 8}, traffic_read}},
      {"kw_write_one", {{8, 8}, traffic_write}},
      {"kw_copy_one", {{8, 8, 8}, copy16}},
      {"kw_add_one", {{8, 8, 8, 8}, traffic_add}},
      {"kw_read_streamed", {{8, 8, 8}, traffic_read}},
      {"kw_write_streamed", {{8, 8}, traffic_write}},
      {"kw_copy_streamed", {{8, 8, 8}, copy16}},
      {"kw_add_streamed", {{8, 8, 8, 8}, traffic_add}},
      {"kw_peak", {{8, 4}, peak}},
      {"vector_add", {{8, 8, 8, 4}, vector_add}},
      {"fill", {{8, 4, 4, 4}, fill}},
      {"increment", {{8, 4}, increment}},
      {"poke", {{8, 8}, poke}},
      {"trap_now", {{}, trap_now}},
      {"spin", {{8}, spin}},
      {"shared_last", {{8, 4}, shared_last}},
      {"grid_meet", {{8, 8, 4}, grid_meet}},
      {"cluster_rank", {{8}, cluster_rank}},
      {"copy16", {{8, 8, 8}, copy16}},
      {"hello", {{}, hello}},
      {"bump_state", {{8}, bump_state}},
      {"abort_process", {{}, abort_process}},
      {"scribble", {{8}, scribble}},
  };
  return table;
}

/// "_Z10vector_addPKfS0_Pfj" -> "vector_add".
std::string plain_name(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) return name;
  char* end = nullptr;
  const size_t length = std::strtoul(name.c_str() + 2, &end, 10);
  return std::string(end).substr(0, length);
}

}  // namespace

const Kernel* find_kernel(const std::string& written) {
  const std::string name = plain_name(written);
  // All arithmetic loops of a calibration look alike from outside.
  auto found = kernels().find(name.rfind("kw_peak_", 0) == 0 ? "kw_peak" : name);
  return found == kernels().end() ? nullptr : &found->second;
}

}  // namespace kw::fake
