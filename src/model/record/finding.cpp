#include "record/finding.h"

#include <array>

#include "core/json_writer.h"

namespace kw::record {

namespace {

struct Row {
  FindingKind kind;
  const char* name;
  const char* hint;
};

constexpr std::array<Row, 29> kRows = {{
    {FindingKind::OutOfBoundsGlobal, "out-of-bounds-global",
     "guard the access with the real extent (if (i < n)), or fix the index arithmetic for the last "
     "block"},
    {FindingKind::WriteToInput, "write-to-input",
     "write to an output or scratch buffer; declare the tensor 'inout' if it is meant to be "
     "updated in place"},
    {FindingKind::Misaligned, "misaligned",
     "vector accesses need an address that is a multiple of their width: guard with 'when D % VEC "
     "== 0' or use a narrower access"},
    {FindingKind::NullPointer, "null-pointer",
     "test the pointer before use, or guard the launch with has(name): an absent optional input is "
     "a null pointer"},
    {FindingKind::InvalidAddress, "invalid-address",
     "the address belongs to no buffer: check for an index computed in 32 bits that overflowed, or "
     "an uninitialised pointer"},
    {FindingKind::OutOfBoundsShared, "out-of-bounds-shared",
     "enlarge the __shared__ array, or pass enough bytes in shared(...) on the launch line"},
    {FindingKind::OutOfBoundsLocal, "out-of-bounds-local",
     "keep the index of the per-thread array inside its declared size"},
    {FindingKind::UninitialisedUse, "uninitialised-use",
     "initialise it first; if another thread writes it, put __syncthreads() between the write and "
     "this read"},
    {FindingKind::OutputNotWritten, "output-not-written",
     "assign every output element to a thread: check the grid size and the tail condition"},
    {FindingKind::ScratchNotRestored, "scratch-not-restored",
     "write zeros back before the kernel ends, or declare the scratch '= 0' without 'kept'"},
    {FindingKind::SharedRace, "shared-race",
     "put __syncthreads() between the two accesses (in a loop, also before the next round's "
     "writes)"},
    {FindingKind::MissingSyncwarp, "missing-syncwarp",
     "threads of one warp do not run in lock step: put __syncwarp() between the two accesses"},
    {FindingKind::MissingCopyWait, "missing-copy-wait",
     "wait for the copy before its target is used or its source changed: cp.async.commit_group and "
     "cp.async.wait_group "
     "in "
     "the thread that copies, then __syncthreads() for the others"},
    {FindingKind::StaleReadOnlyLoad, "stale-read-only-load",
     "load through the read-only cache (__ldg, const __restrict__) only what no thread of the "
     "launch writes: use a plain load, or split the work into two launches"},
    {FindingKind::GlobalRaceInBlock, "global-race-in-block",
     "put __syncthreads() between the two accesses, give each thread its own element, or use an "
     "atomic"},
    {FindingKind::GlobalRaceBetweenBlocks, "global-race-between-blocks",
     "blocks run in any order: use an atomic, give each block its own elements, or split the work "
     "into two launches"},
    {FindingKind::DivergentBarrier, "divergent-barrier",
     "let every thread of the block reach the same __syncthreads(): move it out of the branch, "
     "return only after the last one"},
    {FindingKind::BarrierMisuse, "barrier-misuse",
     "the thread count of a barrier must be a multiple of 32 and match the threads that arrive; "
     "ids are 0 to 15, and warps that do not wait for each other need different ones"},
    {FindingKind::BadCollectiveMask, "bad-collective-mask",
     "the mask must name exactly the lanes that call: use __activemask() only to inspect, or "
     "compute the mask with __ballot_sync before branching"},
    {FindingKind::CollectiveDeadlock, "collective-deadlock",
     "lanes named in one mask must reach the same collective: hoist it out of the branch or narrow "
     "the mask"},
    {FindingKind::InactiveLaneRead, "inactive-lane-read",
     "the source lane of a shuffle must take part in it: check the lane index and the width"},
    {FindingKind::InstructionBudget, "instruction-budget",
     "a loop probably never ends: check its exit condition and the type of its counter"},
    {FindingKind::Deadlock, "deadlock",
     "every running block waits for one that cannot start: wait only for lower-numbered blocks, or "
     "use a cooperative launch that fits the GPU"},
    {FindingKind::Trap, "trap",
     "an assert or __trap() fired: the condition named there does not hold"},
    {FindingKind::UnsupportedInstruction, "unsupported-instruction",
     "the virtual GPU does not execute this instruction; run on a real GPU, or use another "
     "formulation"},
    {FindingKind::LaunchError, "launch-error",
     "no device accepts this launch: check block size, grid size, shared bytes and argument types"},
    {FindingKind::OrderDependence, "order-dependence",
     "the result depends on the order of blocks or warps: look for unordered atomics on floats, or "
     "a race through global memory"},
    {FindingKind::WriteToConstant, "write-to-constant",
     "__constant__ memory is read-only for kernels: use a buffer"},
    {FindingKind::StateAcrossCalls, "state-across-calls",
     "a kernel must not keep state in __device__ variables: declare a scratch buffer instead"},
}};

const Row& row(FindingKind kind) { return kRows[static_cast<size_t>(kind)]; }

constexpr bool rows_in_order() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].kind) != i) return false;
  }
  return static_cast<size_t>(FindingKind::StateAcrossCalls) + 1 == kRows.size();
}
static_assert(rows_in_order(), "row(kind) indexes the table");

constexpr const char* kCertaintyWords[] = {"certain", "warning"};

std::vector<uint32_t> sides(const kernel::Dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

void fields(auto& v, Place& p) { v("file", p.file)("line", p.line)("ptx_line", p.ptx_line); }

void fields(auto& v, ThreadId& id) {
  v("block", computed(sides(id.block)))("thread", computed(sides(id.thread)));
}

void fields(auto& v, Finding& f) {
  // A negative element is valid only for an access outside its buffer; otherwise it means "none".
  const bool outside = f.kind == FindingKind::OutOfBoundsGlobal && !f.buffer.empty();
  const bool none = f.element < 0 && !outside;
  v("kind", computed(finding_name(f.kind)))("certainty", f.certainty, kCertaintyWords);
  v("message", f.message)("hint", computed(finding_hint(f.kind)))("kernel", f.kernel);
  v("launch", f.launch)("at", f.at)("who", f.who)("buffer", f.buffer, Zero::Null);
  v("element", computed(none ? std::nullopt : std::optional(f.element)))("other_at", f.other_at);
  v("other", f.other)("count", f.count);
}

const char* finding_name(FindingKind kind) { return row(kind).name; }

std::optional<FindingKind> finding_from_name(const std::string& name) {
  for (const Row& r : kRows) {
    if (name == r.name) return r.kind;
  }
  return std::nullopt;
}

const char* finding_hint(FindingKind kind) { return row(kind).hint; }

Json to_json(const Finding& finding) { return record_json(finding); }

}  // namespace kw::record
