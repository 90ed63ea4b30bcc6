#include "cuda/cupti.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "os/files.h"
#include "os/library.h"

namespace kw::cuda {
namespace {

constexpr int kOk = 0;
// CUpti_ActivityKind.
constexpr uint32_t kMemcpy = 1;
constexpr uint32_t kMemset = 2;
constexpr uint32_t kKernel = 3;
constexpr uint32_t kConcurrentKernel = 10;
constexpr uint32_t kWanted[] = {kConcurrentKernel, kMemset, kMemcpy};
// The timestamps are at these offsets in the records of every version.
constexpr size_t kStartOffset = 16;
constexpr size_t kEndOffset = 24;
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr uint32_t kFlushForced = 1;

using Requested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using Completed = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                           size_t valid);

struct Functions {
  int (*register_callbacks)(Requested requested, Completed completed) = nullptr;
  int (*enable)(uint32_t kind) = nullptr;
  int (*disable)(uint32_t kind) = nullptr;
  int (*flush)(uint32_t flag) = nullptr;
  int (*next)(uint8_t* buffer, size_t valid, void** record) = nullptr;
};

// The library's callbacks take no user data, so the results are collected here.
struct Gathered {
  std::mutex mutex;
  Functions functions;
  uint64_t first = UINT64_MAX, last = 0;
};
Gathered& gathered() {
  static Gathered state;
  return state;
}

void give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void take_buffer(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  Gathered& state = gathered();
  const std::lock_guard guard(state.mutex);
  void* record = nullptr;
  while (state.functions.next(buffer, valid, &record) == kOk) {
    uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof(kind));
    if (kind != kKernel && kind != kConcurrentKernel && kind != kMemset && kind != kMemcpy)
      continue;
    uint64_t start = 0;
    uint64_t end = 0;
    std::memcpy(&start, static_cast<char*>(record) + kStartOffset, sizeof(start));
    std::memcpy(&end, static_cast<char*>(record) + kEndOffset, sizeof(end));
    if (start == 0 || end < start) continue;  // it has no timestamps
    state.first = std::min(state.first, start);
    state.last = std::max(state.last, end);
  }
  std::free(buffer);
}

std::vector<std::string> cupti_candidates() {
  // A driver chosen by name may contain the profiling library.
  if (std::string chosen = os::env("KERNELWRIGHT_LIBCUDA"); !chosen.empty()) return {chosen};
  std::vector<std::string> paths = {"libcupti.so.13", "libcupti.so.12"};
  for (const char* pattern :
       {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1?", "/usr/local/cuda/lib64/libcupti.so.1?",
        "/usr/local/cuda/lib/libcupti.so.1?"}) {
    for (const std::string& path : os::glob(pattern)) paths.push_back(path);
  }
  return paths;
}

bool bind(const os::Library& library, Functions& f) {
  return library.bind(f.register_callbacks, "cuptiActivityRegisterCallbacks") &&
         library.bind(f.enable, "cuptiActivityEnable") &&
         library.bind(f.disable, "cuptiActivityDisable") &&
         library.bind(f.flush, "cuptiActivityFlushAll") &&
         library.bind(f.next, "cuptiActivityGetNextRecord");
}

}  // namespace

struct Cupti::Impl {
  Functions functions;
};

Cupti::Cupti(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cupti::~Cupti() = default;

std::unique_ptr<Cupti> Cupti::open() {
  for (const std::string& path : cupti_candidates()) {
    auto library = os::Library::open(path);
    Functions functions;
    if (!library || !bind(*library, functions)) continue;
    // The driver keeps calling into the library after it is loaded: it must never be unloaded.
    static auto& loaded = *new std::vector<os::Library>;
    loaded.push_back(std::move(library).value());
    gathered().functions = functions;
    if (functions.register_callbacks(give_buffer, take_buffer) != kOk) continue;
    return std::unique_ptr<Cupti>(new Cupti(std::make_unique<Impl>(Impl{functions})));
  }
  return nullptr;
}

bool Cupti::begin() {
  for (uint32_t kind : kWanted) {
    if (impl_->functions.enable(kind) != kOk) return false;
  }
  impl_->functions.flush(kFlushForced);
  const std::lock_guard guard(gathered().mutex);
  gathered().first = UINT64_MAX;
  gathered().last = 0;
  return true;
}

std::optional<double> Cupti::end() {
  impl_->functions.flush(kFlushForced);
  for (uint32_t kind : kWanted) impl_->functions.disable(kind);
  const std::lock_guard guard(gathered().mutex);
  if (gathered().last <= gathered().first || gathered().first == UINT64_MAX) return std::nullopt;
  return static_cast<double>(gathered().last - gathered().first) * 1e-3;
}

}  // namespace kw::cuda
