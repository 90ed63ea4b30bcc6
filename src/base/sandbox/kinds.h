// The kinds of processes that run text we did not write, one row each: which groups of system calls
// a kind may make, and its limits. What a kind may read and write differs from start to start.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw::sandbox {

enum class Kind : uint8_t {
  CompilerLibrary,  // our worker with NVRTC
  CompilerProgram,  // nvcc, clang, ptxas
  Disassembler,     // nvdisasm, cuobjdump
  Parser,           // Python that parses a reference and never runs it
  Recorder,         // our worker that runs a candidate's host code against the recording runtime
  PythonRecorder,   // Python that runs a Python candidate against it
  Tuner,            // Python that runs a Triton candidate's tuning on the GPU
  Torch,            // PyTorch that executes a reference
  TorchGpu,         // the same where there is a GPU
  TorchBaseline,    // the same for times: torch.compile starts compilers
  GpuWorker,        // our worker that runs candidates' kernels
};

/// Groups of system calls (sandbox/calls.cpp lists them).
enum Calls : unsigned {
  kBasic = 0,          // every kind: memory, open files, threads' locks, time, facts about itself
  kThreads = 1,        // threads, no other processes
  kProcesses = 2,      // forks, and waiting for them
  kPrograms = 4,       // starting other programs, as far as the ruleset of files allows
  kLocalSockets = 8,   // local sockets that listen: the CUDA driver does
  kDevices = 16,       // every ioctl except those that change other things than devices
  kSharedMemory = 32,  // shared memory without a name
};

/// Limits of 0 do not apply.
struct KindRow {
  Kind kind;
  const char* id;    // "torch-gpu"
  const char* word;  // for --unconfined and verdicts; several kinds have the same
  const char* name;  // in messages: "the compiler"
  unsigned calls;
  uint64_t frame_bytes;  // the largest message that we take from it
  uint64_t file_bytes;   // the largest file it may write
  uint64_t group_bytes;  // memory of the process and all it started
  int group_processes;
};

std::span<const KindRow> kinds();
const KindRow& row_of(Kind kind);
/// nullptr when no kind has this id.
const KindRow* find_kind(std::string_view id);
/// The words, each once, in the order of the table.
std::vector<std::string> kind_words();

}  // namespace kw::sandbox
