#include "host_recording/helpers.h"

#include <algorithm>

namespace kw::host_recording {
namespace {

constexpr uint32_t kBlock = 256;
constexpr uint64_t kMostBlocks = 1056, kPerBlock = kBlock * 16;
constexpr size_t kChunk = 3072;  // bytes of kw_chunk in helper_kernels.cuh

Param number(uint64_t value, int bytes) {
  Param param;
  for (int i = 0; i < bytes; ++i) param.bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  return param;
}

kernel::Dim3 grid_for(uint64_t bytes) {
  const uint64_t blocks = std::clamp<uint64_t>((bytes + kPerBlock - 1) / kPerBlock, 1, kMostBlocks);
  return {static_cast<uint32_t>(blocks), 1, 1};
}

/// The four-byte pattern of a fill with elements of one, two or four bytes.
uint64_t pattern(const RecordedStep& step) {
  const uint64_t value = step.numbers[3], element = step.numbers[4];
  if (element == 4) return value & 0xffffffff;
  if (element == 2) return (value & 0xffff) * 0x00010001;
  return (value & 0xff) * 0x01010101;
}

}  // namespace

bool needs_helper(const RecordedStep& step) {
  return step.kind != RecordedStep::Kind::Launch && step.kind != RecordedStep::Kind::Symbol;
}

HelperCall fill_call(const RecordedStep& step) {
  HelperCall call{"kw_fill", grid_for(step.numbers[0] * step.numbers[1]), {kBlock, 1, 1}, {}};
  call.params = {step.params[0], number(step.numbers[0], 8), number(step.numbers[1], 8),
                 number(step.numbers[2], 8), number(pattern(step), 4)};
  return call;
}

HelperCall copy_call(const RecordedStep& step) {
  HelperCall call{"kw_copy", grid_for(step.numbers[0] * step.numbers[1]), {kBlock, 1, 1}, {}};
  call.params = {step.params[0],
                 step.params[1],
                 number(step.numbers[0], 8),
                 number(step.numbers[1], 8),
                 number(step.numbers[2], 8),
                 number(step.numbers[3], 8)};
  return call;
}

HelperCall move_call(const RecordedStep& step) {
  constexpr size_t kMostDims = 8;
  const size_t rank = (step.numbers.size() - 1) / 3;
  uint64_t count = 1;
  for (size_t i = 0; i < rank; ++i) count *= step.numbers[1 + 3 * i];
  Param steps;
  for (size_t what = 0; what < 3; ++what) {
    for (size_t i = 0; i < kMostDims; ++i) {
      const Param one = number(i < rank ? step.numbers[1 + 3 * i + what] : what == 0 ? 1 : 0, 8);
      steps.bytes.insert(steps.bytes.end(), one.bytes.begin(), one.bytes.end());
    }
  }
  const uint64_t bytes = std::min<uint64_t>(step.numbers[0], 8);  // more: a conversion of types
  HelperCall call{"kw_move", grid_for(count * bytes), {kBlock, 1, 1}, {}};
  call.params = {step.params[0], step.params[1], steps, number(step.numbers[0], 4),
                 number(count, 8)};
  return call;
}

std::vector<HelperCall> upload_calls(const RecordedStep& step) {
  std::vector<HelperCall> calls;
  for (size_t at = 0; at < step.data.size(); at += kChunk) {
    const size_t count = std::min(kChunk, step.data.size() - at);
    Param to = step.params[0], chunk;
    to.pointers[0].add += static_cast<int64_t>(at);
    chunk.bytes.assign(step.data.begin() + static_cast<std::ptrdiff_t>(at),
                       step.data.begin() + static_cast<std::ptrdiff_t>(at + count));
    chunk.bytes.resize(kChunk, 0);
    calls.push_back({"kw_upload", {1, 1, 1}, {kBlock, 1, 1}, {to, chunk, number(count, 4)}});
  }
  return calls;
}

}  // namespace kw::host_recording
