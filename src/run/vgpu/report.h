// Turns what a check saw into a record::Finding: places, threads, element indices, one clear
// sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "record/finding.h"
#include "vgpu/machine.h"

namespace kw::vgpu {

/// One thread of some block at some instruction.
struct Actor {
  uint64_t block = 0;   // linear
  uint32_t thread = 0;  // linear inside the block
  uint32_t pc = 0;
};

struct Subject {
  std::string name;  // buffer or variable, empty: none
  int64_t element = -1;
  int64_t extent = 0;     // in elements
  bool in_bytes = false;  // neither PTX nor the access tells the elements' type: they are bytes
};

record::Place place_of(const Code& code, uint32_t pc);
record::ThreadId thread_id(const LaunchContext& launch, uint64_t block, uint32_t thread);
/// "block (1,0,0) thread (5,0,0)".
std::string thread_name(const record::ThreadId& id);

/// Reports unless this kind is already known at this instruction (then it is only counted).
/// `message` is called only when needed. Stops the machine when the log is full.
void report(Machine& m, record::FindingKind kind, record::Certainty certainty, const Actor& who,
            const Subject& subject, const std::optional<Actor>& other,
            const std::function<std::string()>& message, uint32_t origin_pc = ~0u);

/// The same, and the run cannot go on.
void report_fatal(Machine& m, record::FindingKind kind, const Actor& who,
                  const std::optional<Actor>& other, const std::function<std::string()>& message);

Actor actor(const Machine& m, const Warp& w, int lane, uint32_t pc);

/// The element at `offset` that the instruction at `pc` touches: compilers declare arrays of the
/// module as bytes, so what the instruction takes them for is what is counted.
Subject region_subject(const Machine& m, uint32_t region, int64_t offset, uint32_t pc);
/// The shared (local) variable at or below `offset`.
Subject shared_subject(const Machine& m, int64_t offset, uint32_t pc);
Subject local_subject(const Machine& m, int64_t offset, uint32_t pc);
/// "x[12]", or "byte 48 of s" where only bytes are known.
std::string subject_text(const Subject& subject);

}  // namespace kw::vgpu
