// Reads the recording of a foreign launcher's calls and makes it comparable: every address becomes
// "byte N of tensor K" or "byte N of scratch K". The text comes from a process that ran foreign
// code, so it is never trusted. docs/foreign.md describes the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host_recording/param_reads.h"
#include "kernel/program.h"

namespace kw::host_recording {

/// An address among the bytes of a parameter.
struct Pointer {
  uint32_t at = 0;
  int tensor = -1, scratch = -1;  // exactly one is set
  int64_t add = 0;
  bool operator==(const Pointer&) const = default;
};

struct Param {
  std::vector<uint8_t> bytes;  // zero at the places of pointers
  std::vector<Pointer> pointers;
  bool operator==(const Param&) const = default;
};

struct RecordedStep {
  enum class Kind : uint8_t {
    Launch,
    Fill,  // params: to; numbers: width, rows, pitch, value, element bytes
    Copy,  // params: to, from; numbers: width, rows, pitch of to, pitch of from
    Move,  // params: to, from; numbers: element bytes, then extent and steps of to and from by dim
    Upload,  // params: to; data: bytes from the host
    Symbol,  // name: a device variable; numbers: offset; data
  } kind = Kind::Launch;
  std::string name;
  kernel::Dim3 grid, block, cluster;
  int64_t shared = 0;
  bool cooperative = false;
  int stream = 0;  // in the order of first use; 0: the default stream
  std::vector<Param> params;
  std::vector<uint64_t> numbers;
  std::vector<uint8_t> data;
  bool operator==(const RecordedStep&) const = default;
};

/// One call of the launcher.
struct RecordedCall {
  std::vector<RecordedStep> steps;
  std::vector<uint64_t> scratch;      // bytes of each allocation, in the order of first use
  std::vector<std::string> refusals;  // operations that cannot be replayed
  std::vector<std::string> failures;  // launches that every device refuses
  int64_t downloads = 0;              // reads of device memory by the host
  int streams = 1;                    // number of streams used
  bool finished = false;              // it returned
};

/// All calls at one shape.
struct CaseRecord {
  int64_t number = 0;
  std::vector<RecordedCall> calls;
};

/// Blame::Input if the text is not a recording. Bytes of parameters that no kernel reads become
/// zero.
Result<std::vector<CaseRecord>> read_recording(std::string_view text, const ParamReads& reads = {});

/// How two calls that should be equal differ; "" if they are equal.
std::string difference(const RecordedCall& one, const RecordedCall& other);

/// The same, with memory that calls make compared by its pieces (agree.cpp).
std::string difference_in_pieces(RecordedCall one, RecordedCall other);

/// The result for one shape, over all calls of all processes.
struct AgreedCall {
  const RecordedCall* call = nullptr;  // the call they all agree on
  std::string refused;                 // why it is not accepted
  std::string not_served;              // why this shape is outside its domain
};
/// Memory that the calls make has the smallest size of all calls afterwards.
AgreedCall agree_on_call(const std::vector<CaseRecord*>& records, size_t calls_wanted);

}  // namespace kw::host_recording
