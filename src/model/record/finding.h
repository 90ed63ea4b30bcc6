// A finding in a candidate: the rule, the place in the source, the buffer, block and thread, and a
// hint. The virtual GPU writes it; report, store and search read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"
#include "kernel/program.h"

namespace kw::record {

enum class FindingKind : uint8_t {
  OutOfBoundsGlobal,  // outside its buffer
  WriteToInput,       // a store into a read-only buffer
  Misaligned,         // address not a multiple of the access width
  NullPointer,
  InvalidAddress,     // points into no buffer
  OutOfBoundsShared,  // between shared variables or past the dynamic size
  OutOfBoundsLocal,
  UninitialisedUse,  // undefined data stored to an output, branched on, or used as an address
  OutputNotWritten,
  ScratchNotRestored,  // "= 0 kept" scratch is not zero after the call
  SharedRace,          // two threads, one word, no barrier between them
  MissingSyncwarp,     // the same inside one warp: the code assumes lock-step
  MissingCopyWait,     // shared memory that a cp.async may still be writing
  StaleReadOnlyLoad,   // ld.global.nc of memory that this launch wrote
  GlobalRaceInBlock,
  GlobalRaceBetweenBlocks,
  DivergentBarrier,    // some threads of the block never reach it, or wait at another one
  BarrierMisuse,       // count not a warp multiple, wrong count, bad id
  BadCollectiveMask,   // names exited or absent lanes, or not the calling lane
  CollectiveDeadlock,  // lanes of one mask wait at different instructions
  InactiveLaneRead,    // shuffle from a lane that does not take part
  InstructionBudget,   // ran far longer than a finite kernel of this size should
  Deadlock,            // every resident block waits for an event that no resident block causes
  Trap,                // trap, assert, __trap
  UnsupportedInstruction,
  LaunchError,      // a launch that no device would accept
  OrderDependence,  // the result depends on the order in which blocks and warps run
  WriteToConstant,
  StateAcrossCalls,  // a module-level __device__ variable was changed
};

/// "out-of-bounds-global", …: stable names for JSON and tests.
const char* finding_name(FindingKind kind);
std::optional<FindingKind> finding_from_name(const std::string& name);
/// One line on the usual fix of such a defect.
const char* finding_hint(FindingKind kind);

enum class Certainty : uint8_t { Certain, Warning };

/// A place in the source of the module (line 0: unknown) and in its PTX.
struct Place {
  std::string file;
  int line = 0;
  int ptx_line = 0;
};

struct ThreadId {
  kernel::Dim3 block{0, 0, 0};
  kernel::Dim3 thread{0, 0, 0};
  bool operator==(const ThreadId&) const = default;
};

struct Finding {
  FindingKind kind = FindingKind::LaunchError;
  Certainty certainty = Certainty::Certain;
  std::string message;  // with numbers: "reads x[4096], one past the end (x has 4096 elements)"
  std::string kernel;   // as written in the launch line
  int launch = 0;       // index into Program::launches
  Place at;
  ThreadId who;
  std::string buffer;             // buffer or shared variable, if there is one
  int64_t element = -1;           // index in elements of that buffer; -1: none
  std::optional<Place> other_at;  // the other access of a race or mismatch
  std::optional<ThreadId> other;
  int64_t count = 1;  // number of occurrences (same kind, same instruction)
};

Json to_json(const Finding& finding);

}  // namespace kw::record
