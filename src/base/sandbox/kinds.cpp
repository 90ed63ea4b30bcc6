#include "sandbox/kinds.h"

#include <algorithm>

#include "core/check.h"
#include "core/contains.h"

namespace kw::sandbox {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;
constexpr uint64_t kTensors = 64 * kGiB;  // outputs of references travel in a file in memory
constexpr unsigned kOnGpu = kThreads | kLocalSockets | kDevices | kSharedMemory;
constexpr unsigned kAnyProgram = kThreads | kProcesses | kPrograms;

constexpr KindRow kKinds[] = {
    {Kind::CompilerLibrary, "compiler-library", "compiler", "the compiler", kThreads, kGiB / 2,
     2 * kGiB, 0, 0},
    {Kind::CompilerProgram, "compiler-program", "compiler", "the compiler", kAnyProgram, 0,
     2 * kGiB, 16 * kGiB, 64},
    {Kind::Disassembler, "disassembler", "compiler", "the disassembler", kAnyProgram, 0, kGiB,
     16 * kGiB, 16},
    {Kind::Parser, "parser", "parser", "the parser of references", kBasic, 0, 0, 0, 0},
    {Kind::Recorder, "recorder", "recorder", "a candidate's host code", kThreads, 4 * kMiB, 0, 0,
     0},
    {Kind::PythonRecorder, "python-recorder", "recorder", "a candidate's Python",
     kThreads | kProcesses, kGiB / 2, kGiB, 48 * kGiB, 16},
    // Triton starts a C compiler and ptxas.
    {Kind::Tuner, "tuner", "recorder", "a candidate's tuning", kAnyProgram | kOnGpu, 0, 4 * kGiB,
     64 * kGiB, 128},
    // The template forks for each reference. A fork gives up that right before it runs one.
    {Kind::Torch, "torch", "torch", "PyTorch", kThreads | kProcesses, kGiB / 2, kTensors, kTensors,
     8},
    {Kind::TorchGpu, "torch-gpu", "torch", "PyTorch", kProcesses | kOnGpu, kGiB / 2, kTensors, 0,
     8},
    {Kind::TorchBaseline, "torch-baseline", "torch", "PyTorch", kAnyProgram | kOnGpu, kGiB / 2,
     kTensors, 0, 256},
    {Kind::GpuWorker, "gpu-worker", "gpu", "the GPU worker", kOnGpu, kGiB, 4 * kGiB, 0, 1},
};

}  // namespace

std::span<const KindRow> kinds() { return kKinds; }

const KindRow& row_of(Kind kind) {
  const auto* const found = std::ranges::find(kKinds, kind, &KindRow::kind);
  KW_CHECK(found != std::end(kKinds), "every kind has a row");
  return *found;
}

const KindRow* find_kind(std::string_view id) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const auto& row) { return id == row.id; });
  return found == std::end(kKinds) ? nullptr : found;
}

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const KindRow& row : kKinds) {
    if (!contains(words, std::string(row.word))) words.emplace_back(row.word);
  }
  return words;
}

}  // namespace kw::sandbox
