// What a captive process wrote down of a foreign launcher's calls, read and made comparable: every
// address has become "byte N of tensor K" or "of the K-th piece of memory it made". The text comes
// from a process that ran foreign code, so nothing in it is believed. The format is in
// docs/foreign.md.
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
  int tensor = -1, scratch = -1;  // one of the two
  int64_t add = 0;
  bool operator==(const Pointer&) const = default;
};

struct Param {
  std::vector<uint8_t> bytes;  // zero where a pointer stands
  std::vector<Pointer> pointers;
  bool operator==(const Param&) const = default;
};

struct Step {
  enum class Kind : uint8_t {
    Launch,
    Fill,  // params: to; numbers: width, rows, pitch, value, element bytes
    Copy,  // params: to, from; numbers: width, rows, pitch of to, pitch of from
    Move,  // params: to, from; numbers: element bytes, then extent and steps of to and from by dim
    Upload,  // params: to; data: what the host brought
    Symbol,  // name: a device variable; numbers: offset; data
  } kind = Kind::Launch;
  std::string name;
  kernel::Dim3 grid, block, cluster;
  int64_t shared = 0;
  bool cooperative = false;
  int stream = 0;  // in the order of first use; 0 is the default stream
  std::vector<Param> params;
  std::vector<uint64_t> numbers;
  std::vector<uint8_t> data;
  bool operator==(const Step&) const = default;
};

/// One call of the launcher.
struct Call {
  std::vector<Step> steps;
  std::vector<uint64_t> scratch;      // bytes of each piece of memory, in the order of first use
  std::vector<std::string> refusals;  // what cannot be played back
  std::vector<std::string> failures;  // launches that no device would accept
  int64_t downloads = 0;              // times the host read device memory
  int streams = 1;                    // that work was given to
  bool finished = false;              // it returned
};

/// All calls at one shape.
struct CaseRecord {
  int64_t number = 0;
  std::vector<Call> calls;
};

/// Blame::Input when the text is no recording. Bytes of parameters that no kernel reads become
/// zero.
Result<std::vector<CaseRecord>> read_recording(std::string_view text, const ParamReads& reads = {});

/// How two calls that should be the same differ; "" when they do not.
std::string difference(const Call& one, const Call& other);

/// What came of one shape, over every call of every process.
struct Settled {
  const Call* call = nullptr;  // what each of them did
  std::string refused;         // why it cannot be believed
  std::string not_served;      // why this shape is outside its domain
};
Settled settle(const std::vector<const CaseRecord*>& records, size_t calls_wanted);

}  // namespace kw::host_recording
