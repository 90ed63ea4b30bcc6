// One decoded kernel entry: its instructions with all functions that it can call, and their source
// lines. Also the layout of its register file, shared and local memory. Made once per image; a run
// never changes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ptx_module.h"
#include "vgpu/inst.h"

namespace kw::vgpu {

/// The slot of a special register. It is filled when a launch, block or warp starts.
struct SpecialSlot {
  ptx::Special special = ptx::Special::TidX;
  uint32_t number = 0;  // index of %envreg
  uint8_t width = 4;
  uint32_t offset = 0;
};

/// The slot of an address that differs from run to run. It is filled when a block is made.
struct AddressSlot {
  bool function = false;  // of a function, or of a module variable
  int index = 0;
  int64_t offset = 0;
  uint8_t width = 8;
  uint32_t slot = 0;
};

/// A variable inside the shared or local window.
struct WindowVariable {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint8_t element = 1;  // bytes per element
};

struct ParamSlot {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

inline constexpr uint32_t kStackBytes = 16384;  // stack of recursive functions, per thread
/// A register in the file. A recursive call saves those that the next activation would overwrite.
struct SavedSlot {
  uint32_t offset = 0;
  uint32_t width = 0;  // bytes per lane; 0: a mask
};
struct StackAddress {
  uint32_t slot = 0;
  uint8_t width = 8;
  int64_t offset = 0;  // from the start of the activation's local variables
};
struct ActivationFrame {
  std::vector<SavedSlot> saved;
  std::vector<StackAddress> addresses;
  uint32_t stack_bytes = 0;
};

struct CallInst {
  int function = -1;              // index into Module::functions
  uint32_t pc = 0;                // its first instruction
  uint32_t return_slot = 0;       // per-lane return pc of the callee
  int save = -1;                  // recursive: the caller's frame, index into Code::frames
  std::vector<FrameCopy> copies;  // arguments
};

struct IndirectTarget {
  CallInst call;
  std::vector<FrameCopy> returns;  // copied after the lane has returned
};
struct IndirectCall {
  uint32_t address = 0;  // slot
  uint32_t chosen = 0;   // slot: the target that each lane took, for copying results back
  std::vector<IndirectTarget> targets;
};

/// The source position of an instruction; `file` is an index into Code::files.
struct SourcePlace {
  int32_t file = 0;
  int32_t line = 0;
  int32_t ptx_line = 0;
};

struct ByteRange {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

struct AsyncCopyInst {
  MemOp shared, source;       // both sides; total = bytes copied
  uint32_t source_bytes = 0;  // slot of src-size; 0: copy all bytes
  uint32_t ignore = 0;        // slot of the ignore-src predicate; 0: none
  bool ignore_negate = false;
};

/// Which lane holds which element of a matrix. Open is for wmma, whose layout the ISA does not
/// define. There, element e of the row-major matrix is in lane e / per_lane, repeated every `rows *
/// columns` places. The others are the layouts that the ISA defines for mma.sync.
enum class Spread : uint8_t { Open, Left, Right, Sums };

/// One matrix distributed over the registers of a warp.
struct Fragment {
  ptx::Type type = ptx::Type::F16;
  Spread spread = Spread::Open;
  int rows = 16, columns = 16;
  uint32_t slots[8] = {};  // registers
  int registers = 0;
};

/// wmma.load, wmma.store, wmma.mma, mma.sync, ldmatrix and stmatrix.
struct TensorInst {
  Fragment a, b, c, d;        // loads and stores use d
  bool column_major = false;  // of the matrix in memory
  int by_rows = 0;            // ldmatrix, stmatrix: number of 8 x 8 matrices; each lane names a row
  bool saturate = false;
  MemOp mem;            // address and space
  uint32_t stride = 0;  // slot; 0: lines are contiguous
};

inline constexpr int kGroupRows = 16;  // rows per warp, of the 64 of wgmma

/// wgmma.mma_async: four warps multiply 64 x k by k x n; each holds 16 rows of the sums.
struct GroupProduct {
  ptx::Type sum_type = ptx::Type::F32, type = ptx::Type::F16;
  int columns = 8, depth = 16;
  std::vector<uint32_t> sums;  // slots
  uint32_t left[4] = {};       // slots of the left matrix, or of its descriptor
  bool left_in_registers = false;
  uint32_t right = 0;  // slot of the right matrix's descriptor
  uint32_t keep = 0;   // slot of the predicate: add to the sums that are there
  bool keep_negate = false;
  bool left_minus = false, right_minus = false;    // factors of -1
  bool left_turned = false, right_turned = false;  // k advances from line to line in memory
};

struct Code {
  std::string entry;
  int function = -1;
  std::vector<std::string> files;  // Module::files
  std::vector<Inst> insts;
  std::vector<SourcePlace> places;  // parallel to insts
  /// Opcode with modifiers, parallel to insts; for messages and counters.
  std::vector<std::string> names;
  std::vector<MemOp> mems;
  std::vector<AtomicInst> atomics;
  std::vector<BarrierInst> barriers;
  std::vector<CallInst> calls;
  std::vector<IndirectCall> indirect_calls;
  std::vector<std::vector<FrameCopy>> frame_copies;
  std::vector<std::vector<uint32_t>> branch_tables;
  std::vector<ActivationFrame> frames;
  std::vector<std::vector<SavedSlot>> undefined;  // indexed by Inst::target of an Undefine
  std::vector<isa::Alu> alus;                     // indexed by Inst::target of an Alu
  std::vector<AsyncCopyInst> async_copies;
  std::vector<TensorInst> tensors;
  std::vector<GroupProduct> group_products;

  uint32_t file_bytes = 0;         // register file of one warp
  std::vector<std::byte> initial;  // the file at the start: immediates filled in, all others zero
  std::vector<SpecialSlot> specials;
  std::vector<AddressSlot> addresses;
  std::vector<ByteRange> zeroed;  // parts of the file that are zeroed for each block

  std::vector<WindowVariable> shared;  // static variables in address order
  uint32_t shared_static_bytes = 0;    // without guards, as the hardware counts
  int64_t constant_bytes = 0;          // all .const variables of the module
  uint32_t shared_static_end = 0;      // with guards, aligned: start of the dynamic part
  std::vector<WindowVariable> local;
  uint32_t local_bytes = 0;
  uint32_t stack_start = 0;  // start of the stack of recursive functions' local variables; 0: none
  uint32_t stack_slot = 0;   // slot: bytes of that stack in use, per lane
  std::vector<ParamSlot> params;
  uint32_t param_bytes = 0;
  uint8_t shared_unit_log2 = 4;  // log2 of the narrowest access that may touch shared memory

  bool serial = false;  // has global atomics, strong accesses, device-wide fences or prints: blocks
                        // run in order
  bool has_sync = false;            // as `serial`, without prints: blocks may order each other
  bool has_strong_stores = false;   // volatile, relaxed or releasing stores to global memory
  bool releases = false;            // has fences, or accesses that acquire or release
  bool reads_flags = false;         // has strong loads, or atomics with results
  bool orders_parts = false;        // may order some threads of a block without the others
  std::vector<int> variables_used;  // indices into Module::variables (.global, .const)
  int max_threads[3] = {0, 0, 0};
  int required_threads[3] = {0, 0, 0};
  int max_registers = 0;
};

}  // namespace kw::vgpu
