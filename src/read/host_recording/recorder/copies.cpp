// The problem: copies involve the host, and a recording can hold only device work. The choice:
// copies inside the device are recorded as such; data from the host is recorded byte by byte. Data
// to the host is noise, so that decisions that depend on it differ between calls and are found. The
// alternative, computing real values, would need the kernels to run. The cost: one upload may have
// at most 1 MiB.
#include <cstring>
#include <string>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"

using kw::recorder::as_number;
using kw::recorder::fail;
using kw::recorder::hex;
using kw::recorder::on_device;
using kw::recorder::refuse;
using kw::recorder::state;
using kw::recorder::write_line;

namespace kw::recorder {
namespace {

constexpr size_t kMostUpload = size_t{1} << 20;
enum Kind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kByAddress };

std::string number(uint64_t value) { return " " + std::to_string(value); }

struct Area {
  size_t width = 0, rows = 1;
};

/// The kind that follows from the addresses, or -1 if the caller named another kind.
int kind_of(const void* to, const void* from, int named) {
  const bool device_to = on_device(to), device_from = on_device(from);
  const int found = device_from ? (device_to ? kDeviceToDevice : kDeviceToHost)
                                : (device_to ? kHostToDevice : kHostToHost);
  return named == kByAddress || named == found ? found : -1;
}

int copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, Area area, int named,
         const void* stream) {
  if (area.width == 0 || area.rows == 0) return kSuccess;
  auto* const bytes_to = static_cast<unsigned char*>(to);
  const auto* const bytes_from = static_cast<const unsigned char*>(from);
  switch (kind_of(to, from, named)) {
    case kHostToHost:
      for (size_t i = 0; i < area.rows; ++i)
        std::memmove(bytes_to + i * to_pitch, bytes_from + i * from_pitch, area.width);
      return kSuccess;
    case kDeviceToHost:
      write_line("download" + number(as_number(from)) + number(area.width * area.rows));
      for (size_t i = 0; i < area.rows; ++i) fill_with_noise(bytes_to + i * to_pitch, area.width);
      return kSuccess;
    case kDeviceToDevice:
      write_line("copy" + number(as_number(to)) + number(as_number(from)) + number(area.width) +
                 number(area.rows) + number(to_pitch) + number(from_pitch) +
                 number(as_number(stream)));
      return kSuccess;
    case kHostToDevice:
      if (area.width * area.rows > kMostUpload)
        return refuse("more than 1 MiB of data from the host in one copy");
      for (size_t i = 0; i < area.rows; ++i)
        write_line("upload" + number(as_number(to) + i * to_pitch) + " " +
                   hex(bytes_from + i * from_pitch, area.width) + number(as_number(stream)));
      return kSuccess;
    default:
      refuse(named == kHostToDevice && on_device(from)
                 ? "a tensor is copied as if it were host memory; tensors are device pointers"
                 : "a copy whose kind is not that of its addresses");
      return fail(kInvalidValue);
  }
}

int fill(void* to, size_t pitch, int value, size_t element, Area area, const void* stream) {
  if (area.width == 0 || area.rows == 0) return kSuccess;
  if (!on_device(to)) {
    refuse("a fill of memory that is not on the device");
    return fail(kInvalidValue);
  }
  write_line("fill" + number(as_number(to)) + number(area.width) + number(area.rows) +
             number(pitch) + number(static_cast<uint32_t>(value)) + number(element) +
             number(as_number(stream)));
  return kSuccess;
}

const State::Variable* variable(const void* symbol) {
  const auto at = state().variables.find(symbol);
  return at == state().variables.end() ? nullptr : &at->second;
}

int to_symbol(const void* symbol, const void* from, size_t count, size_t offset, int kind) {
  const State::Variable* const found = variable(symbol);
  if (found == nullptr) return fail(kInvalidSymbol);
  if (offset > found->bytes || count > found->bytes - offset) return fail(kInvalidValue);
  if (kind == kDeviceToDevice || on_device(from))
    return refuse("a copy inside the device to the variable '" + found->name + "'");
  write_line("symbol " + found->name + number(offset) + " " + hex(from, count));
  return kSuccess;
}

}  // namespace
}  // namespace kw::recorder

KW_RECORDED int cudaMemcpyAsync(void* to, const void* from, size_t count, int kind, void* stream) {
  return kw::recorder::copy(to, count, from, count, {count, 1}, kind, stream);
}
KW_RECORDED int cudaMemcpyAsync_ptsz(void* to, const void* from, size_t n, int kind, void* stream) {
  return cudaMemcpyAsync(to, from, n, kind, stream);
}
KW_RECORDED int cudaMemcpy(void* to, const void* from, size_t count, int kind) {
  return cudaMemcpyAsync(to, from, count, kind, nullptr);
}
KW_RECORDED int cudaMemcpy_ptds(void* to, const void* from, size_t count, int kind) {
  return cudaMemcpyAsync(to, from, count, kind, nullptr);
}
KW_RECORDED int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                  size_t width, size_t height, int kind, void* stream) {
  return kw::recorder::copy(to, to_pitch, from, from_pitch, {width, height}, kind, stream);
}
KW_RECORDED int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                             size_t width, size_t height, int kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
KW_RECORDED int cudaMemsetAsync(void* to, int value, size_t count, void* stream) {
  return kw::recorder::fill(to, count, value & 0xff, 1, {count, 1}, stream);
}
KW_RECORDED int cudaMemsetAsync_ptsz(void* to, int value, size_t count, void* stream) {
  return cudaMemsetAsync(to, value, count, stream);
}
KW_RECORDED int cudaMemset(void* to, int value, size_t count) {
  return cudaMemsetAsync(to, value, count, nullptr);
}
KW_RECORDED int cudaMemset_ptds(void* to, int value, size_t count) {
  return cudaMemsetAsync(to, value, count, nullptr);
}
KW_RECORDED void kw_record_fill(void* to, unsigned value, unsigned element, unsigned long bytes) {
  kw::recorder::fill(to, bytes, static_cast<int>(value), element, {bytes, 1}, nullptr);
}
KW_RECORDED void kw_record_move(void* to, const void* from, unsigned element, int rank,
                                const int64_t* sizes, const int64_t* to_steps,
                                const int64_t* from_steps) {
  constexpr int kMostDims = 8;
  if (rank > kMostDims || !on_device(to) || !on_device(from)) {
    refuse("a copy of strided memory to or from the host, or of more than 8 dims");
    return;
  }
  std::string line = "move " + std::to_string(as_number(to)) +
                     kw::recorder::number(as_number(from)) + kw::recorder::number(element) +
                     kw::recorder::number(static_cast<uint64_t>(rank));
  for (int i = 0; i < rank; ++i) {
    for (const int64_t one : {sizes[i], to_steps[i], from_steps[i]})
      line += kw::recorder::number(static_cast<uint64_t>(one));
  }
  write_line(line + " 0");
}
KW_RECORDED int cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                  void* stream) {
  return kw::recorder::fill(to, pitch, value & 0xff, 1, {width, height}, stream);
}
KW_RECORDED int cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

KW_RECORDED int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count,
                                        size_t offset, int kind, void*) {
  return kw::recorder::to_symbol(symbol, from, count, offset, kind);
}
KW_RECORDED int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count,
                                   size_t offset, int kind) {
  return kw::recorder::to_symbol(symbol, from, count, offset, kind);
}
KW_RECORDED int cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, int) {
  return refuse("a device variable is read by the host");
}
KW_RECORDED int cudaGetSymbolAddress(void**, const void*) {
  return refuse("the address of a device variable");
}
KW_RECORDED int cudaGetSymbolSize(size_t* size, const void* symbol) {
  const auto* const found = kw::recorder::variable(symbol);
  if (found == nullptr) return fail(kw::recorder::kInvalidSymbol);
  *size = found->bytes;
  return 0;
}
KW_RECORDED int cudaMemcpyPeer(void*, int, const void*, int, size_t) {
  return refuse("copies between devices");
}
KW_RECORDED int cudaMemcpyPeerAsync(void*, int, const void*, int, size_t, void*) {
  return refuse("copies between devices");
}
KW_RECORDED int cudaMemPrefetchAsync(const void*, size_t, int, void*) {
  return refuse("managed memory");
}
