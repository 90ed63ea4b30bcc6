// Turns what a check found into a record::Finding: source positions, threads, element indices, one
// clear sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "record/finding.h"
#include "vgpu/machine.h"

namespace kw::vgpu {

/// One thread of a block at one instruction.
struct Actor {
  uint64_t block = 0;   // linear index
  uint32_t thread = 0;  // linear index inside the block
  uint32_t pc = 0;
};

struct Subject {
  std::string name;  // buffer or variable; "": none
  int64_t element = -1;
  int64_t extent = 0;     // in elements
  bool in_bytes = false;  // the element type is unknown: `element` counts bytes
};

record::Place place_of(const Code& code, uint32_t pc);
record::ThreadId thread_id(const LaunchContext& launch, uint64_t block, uint32_t thread);
/// "block (1,0,0) thread (5,0,0)".
std::string thread_name(const record::ThreadId& id);

/// Reports a finding, unless this kind is already known at this instruction; then it only counts
/// it. Calls `message` only when needed. Stops the machine when the log is full.
void report(Machine& m, record::FindingKind kind, record::Certainty certainty, const Actor& who,
            const Subject& subject, const std::optional<Actor>& other,
            const std::function<std::string()>& message, uint32_t origin_pc = ~0u);

/// Reports a certain finding and stops the run.
void report_fatal(Machine& m, record::FindingKind kind, const Actor& who,
                  const std::optional<Actor>& other, const std::function<std::string()>& message);

Actor actor(const Machine& m, const Warp& w, int lane, uint32_t pc);

/// The element at `offset` that the instruction at `pc` accesses. Compilers declare module arrays
/// as bytes, so the width of the instruction's access decides the element size.
Subject region_subject(const Machine& m, uint32_t region, int64_t offset, uint32_t pc);
/// The shared or local variable at or below `offset`.
Subject shared_subject(const Machine& m, int64_t offset, uint32_t pc);
Subject local_subject(const Machine& m, int64_t offset, uint32_t pc);
/// "x[12]", or "byte 48 of s" if only bytes are known.
std::string subject_text(const Subject& subject);

}  // namespace kw::vgpu
