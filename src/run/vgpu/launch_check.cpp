#include "vgpu/launch_check.h"

#include <algorithm>

#include <fmt/core.h>

namespace kw::vgpu {
namespace {

constexpr uint64_t kMaxBlocks = 0xffffffff;       // block numbers have 32 bits
constexpr uint64_t kMaxLocalBytes = 512 * 1024;   // per thread, on every architecture
constexpr int64_t kMaxConstantBytes = 64 * 1024;  // as ptxas limits it

std::string dims(const kernel::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }
std::string dims(const int (&d)[3]) {
  return fmt::format("({}, {}, {})", d[0], std::max(1, d[1]), std::max(1, d[2]));
}

void check_geometry(const kernel::Launch& launch, std::vector<std::string>& out) {
  const kernel::Dim3 &g = launch.grid, &b = launch.block;
  if (g.count() == 0) out.push_back(fmt::format("the grid {} has no blocks", dims(g)));
  if (b.count() == 0) out.push_back(fmt::format("the block {} has no threads", dims(b)));
  if (int64_t{g.x} > arch::kMaxGridX || int64_t{g.y} > arch::kMaxGridYZ ||
      int64_t{g.z} > arch::kMaxGridYZ)
    out.push_back(
        fmt::format("the grid {} is over the limit of (2147483647, 65535, 65535)", dims(g)));
  else if (g.count() > kMaxBlocks)
    out.push_back(
        fmt::format("{} blocks are more than the virtual GPU can distinguish", g.count()));
  if (b.count() > arch::kMaxThreadsPerBlock || b.x > 1024 || b.y > 1024 || b.z > 64)
    out.push_back(
        fmt::format("the block {} is over the limit of 1024 threads, (1024, 1024, 64)", dims(b)));
  if (launch.cluster.count() > 1)
    out.push_back(fmt::format("clusters of {} blocks are not supported", launch.cluster.count()));
}

void check_bounds(const kernel::Launch& launch, const Code& code, std::vector<std::string>& out) {
  const uint64_t threads = launch.block.count();
  uint64_t most = 1;
  for (const int extent : code.max_threads) most *= static_cast<uint64_t>(std::max(1, extent));
  if (code.max_threads[0] > 0 && threads > most)
    out.push_back(fmt::format("{} threads per block, but the kernel's __launch_bounds__ allow {}",
                              threads, most));
  const int(&need)[3] = code.required_threads;
  const bool exact = launch.block.x == static_cast<uint32_t>(need[0]) &&
                     launch.block.y == static_cast<uint32_t>(std::max(1, need[1])) &&
                     launch.block.z == static_cast<uint32_t>(std::max(1, need[2]));
  if (need[0] > 0 && !exact)
    out.push_back(
        fmt::format("the block is {}, the kernel requires {}", dims(launch.block), dims(need)));
}

void check_params(const kernel::Program& program, const kernel::Launch& launch, const Code& code,
                  std::vector<std::string>& out) {
  if (launch.params.size() != code.params.size()) {
    out.push_back(fmt::format("{} arguments, but the kernel takes {}", launch.params.size(),
                              code.params.size()));
    return;
  }
  for (size_t i = 0; i < launch.params.size(); ++i) {
    const kernel::Param& param = launch.params[i];
    const size_t bytes = param.buffer >= 0 ? 8 : param.bytes.size();
    if (param.buffer >= static_cast<int>(program.buffers.size()))
      out.push_back(fmt::format("argument {} names a buffer that does not exist", i + 1));
    else if (std::ranges::any_of(param.patches, [&](const kernel::Patch& patch) {
               return patch.buffer < 0 ||
                      patch.buffer >= static_cast<int>(program.buffers.size()) ||
                      size_t{patch.at} + 8 > param.bytes.size();
             }))
      out.push_back(fmt::format("argument {} points to a buffer that does not exist", i + 1));
    else if (bytes != code.params[i].bytes)
      out.push_back(fmt::format("argument {} ({}) has {} bytes, the kernel's parameter {}", i + 1,
                                param.name, bytes, code.params[i].bytes));
  }
}

}  // namespace

std::vector<std::string> launch_problems(const arch::Target& target, const kernel::Program& program,
                                         const kernel::Launch& launch, const Code* code,
                                         int registers) {
  std::vector<std::string> out;
  if (code == nullptr) {
    out.push_back(fmt::format("the image has no kernel '{}'", launch.entry));
    return out;
  }
  check_geometry(launch, out);
  check_bounds(launch, *code, out);
  check_params(program, launch, *code, out);
  const int64_t shared = launch.shared_bytes + code->shared_static_bytes;
  if (launch.shared_bytes < 0)
    out.push_back(fmt::format("{} bytes of dynamic shared memory", launch.shared_bytes));
  else if (code->shared_static_bytes > target.shared_per_block)
    out.push_back(fmt::format("{} bytes of static shared memory, {} allows {}",
                              code->shared_static_bytes, target.name, target.shared_per_block));
  else if (shared > target.shared_per_block_optin)
    out.push_back(fmt::format("{} bytes of shared memory, {} allows {}", shared, target.name,
                              target.shared_per_block_optin));
  if (code->constant_bytes > kMaxConstantBytes)
    out.push_back(fmt::format("{} bytes of __constant__ variables, a module can have {}",
                              code->constant_bytes, kMaxConstantBytes));
  uint64_t local = 0;
  for (const WindowVariable& variable : code->local) local += variable.bytes;
  if (local > kMaxLocalBytes)
    out.push_back(
        fmt::format("{} bytes of local memory per thread, {} is the limit", local, kMaxLocalBytes));
  if (launch.cooperative && out.empty()) {
    const uint64_t resident = resident_blocks(target, launch, *code, registers);
    if (launch.grid.count() > resident)
      out.push_back(
          fmt::format("a cooperative launch of {} blocks, but only {} fit on the device at once",
                      launch.grid.count(), resident));
  }
  return out;
}

uint64_t resident_blocks(const arch::Target& target, const kernel::Launch& launch, const Code& code,
                         int registers) {
  if (registers <= 0) registers = code.max_registers > 0 ? code.max_registers : 32;
  const int per_sm =
      arch::resident_blocks(target, static_cast<int>(launch.block.count()), registers,
                            launch.shared_bytes + code.shared_static_bytes);
  return static_cast<uint64_t>(std::max(1, per_sm)) * static_cast<uint64_t>(target.default_sms);
}

}  // namespace kw::vgpu
