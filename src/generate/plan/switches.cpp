// The problem: a method that a kernel always uses cannot be measured against its absence. The
// choice: replace the method's words in the finished text by versions that test a tunable. The
// alternative, a second form of every schedule, would double the code of each. The cost: kernels
// with switches are larger, and the replacements depend on exact texts of the generator.
#include "plan/switches.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::generate {
namespace {

constexpr const char* kSplitMethod = "memory.split_k_parallel_reduce";

// Exchanges values of a warp through shared memory, for kernels without shuffles.
constexpr const char* kLanes =
    R"(// What another lane has: from its register, or by way of shared memory.
template <typename T>
__device__ __forceinline__ T lane_value(unsigned int mask, T value, int from) {
  __shared__ T slots[SHUFFLE ? 1 : 1024];
  const int own = threadIdx.y * blockDim.x + threadIdx.x;
  __syncwarp(mask);
  slots[own] = value;
  __syncwarp(mask);
  return slots[own / 32 * 32 + from];
}

template <typename T>
__device__ __forceinline__ T lane_xor(unsigned int mask, T value, int by) {
  if (SHUFFLE) return __shfl_xor_sync(mask, value, by);
  return lane_value(mask, value, static_cast<int>(threadIdx.x % 32) ^ by);
}

template <typename T>
__device__ __forceinline__ T lane_up(unsigned int mask, T value, int by, int width) {
  if (SHUFFLE) return __shfl_up_sync(mask, value, by, width);
  const int own = threadIdx.x % 32;
  return lane_value(mask, value, own % width < by ? own : own - by);
}

template <typename T>
__device__ __forceinline__ T lane_at(unsigned int mask, T value, int lane, int width) {
  if (SHUFFLE) return __shfl_sync(mask, value, lane, width);
  const int own = threadIdx.x % 32;
  return lane_value(mask, value, own / width * width + lane % width);
}

)";

constexpr const char* kBlockHead =
    "__device__ __forceinline__ T reduce_block(T value, Join join, T* slots) {\n";
constexpr const char* kBlockTree =
    R"(  if (!SHUFFLE) {
    __shared__ T tree[SHUFFLE ? 1 : kThreads];
    __syncthreads();
    tree[threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) tree[threadIdx.x] = join(tree[threadIdx.x], tree[threadIdx.x + half]);
      __syncthreads();
    }
    return tree[0];
  }
)";

constexpr const char* kNoAlias =
    "#if RESTRICT\n#define NO_ALIAS __restrict__\n#else\n#define NO_ALIAS\n#endif\n\n";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Method switched(const char* id, const char* name) {
  return {id, fmt::format("{} == 1", name), fmt::format("{}=0", name)};
}

/// Inserts the text after the #include lines and the opening comment.
std::string above_code(const std::string& code, const std::string& text) {
  size_t at = 0;
  for (const std::string_view line : split_lines(code)) {
    const bool before = line.empty() || line.starts_with("#include") || at == 0;
    if (!before) break;
    at += line.size() + 1;
  }
  return code.substr(0, at) + text + code.substr(at);
}

void switch_shuffles(Switched& out) {
  const bool block = has(out.code, kBlockHead);
  const std::string before = out.code;
  out.code = replace_all(out.code, "__shfl_xor_sync(", "lane_xor(");
  out.code = replace_all(out.code, "__shfl_up_sync(", "lane_up(");
  out.code = replace_all(out.code, "__shfl_sync(", "lane_at(");
  if (out.code == before) return;
  out.code = replace_all(out.code, kBlockHead, std::string(kBlockHead) + kBlockTree);
  out.code = above_code(out.code, kLanes);
  out.tunes.push_back({"SHUFFLE", {1, 0}, ""});
  out.methods.push_back(switched("compute.warp_shuffle", "SHUFFLE"));
  if (!block) return;
  out.methods.push_back(switched("compute.reduction", "SHUFFLE"));
  out.methods.push_back(switched("latency.warp_shuffle_sync", "SHUFFLE"));
  out.methods.push_back(switched("latency.reduce_sync_count", "SHUFFLE"));
}

/// Switches loops of kernels; loops of helpers copy words and are not switched.
void switch_loops(Switched& out) {
  std::string code;
  bool any = false;
  for (const std::string_view line : split_lines(out.code)) {
    const bool loop = line.starts_with(" ") && trim(line) == "#pragma unroll";
    any = any || loop;
    code += std::string(line) + (loop ? " (UNROLLED ? 1024 : 1)\n" : "\n");
  }
  if (!any) return;
  out.code = std::move(code);
  out.tunes.push_back({"UNROLLED", {1, 0}, ""});
  out.methods.push_back(switched("compute.loop_unroll", "UNROLLED"));
}

void switch_aliases(Switched& out) {
  if (!has(out.code, " __restrict__ ")) return;
  out.code = above_code(replace_all(out.code, " __restrict__ ", " NO_ALIAS "), kNoAlias);
  out.tunes.push_back({"RESTRICT", {1, 0}, ""});
  out.methods.push_back(switched("memory.cache_and_readonly", "RESTRICT"));
  out.methods.push_back(switched("compute.pragma_no_alias", "RESTRICT"));
}

}  // namespace

void add_split_switch(Kernel& kernel) {
  const auto split = std::ranges::find(kernel.methods, kSplitMethod, &Method::id);
  if (split == kernel.methods.end()) return;
  // A split may be switched off only if its expression already allows one part.
  const auto parts = std::ranges::find_if(kernel.lets, [](const auto& let) {
    const bool named = let.first.starts_with("PARTS") || let.first.starts_with("WISH");
    return named && let.second.starts_with("max(1, min(");
  });
  if (parts == kernel.lets.end()) return;
  parts->second = fmt::format("pick(SPLIT == 1, 1, {})", parts->second);
  *split = switched(kSplitMethod, "SPLIT");
  kernel.tunes.push_back({"SPLIT", {1, 0}, ""});
}

Switched with_switches(const std::string& code) {
  Switched out{code, {}, {}};
  switch_shuffles(out);
  switch_loops(out);
  switch_aliases(out);
  return out;
}

}  // namespace kw::generate
