// PTX text as data: variables, functions, registers, instructions with resolved names. What each instruction *means*
// is not known here (isa/ and vgpu/ know); anything this cannot represent is a parse error with its line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::ptx {

enum class Type : uint8_t {
  None, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64,
  F16, F16x2, Bf16, Bf16x2, Tf32, F32, F64, E4m3, E5m2, E4m3x2, E5m2x2, E2m1x2, Ue8m0x2, Pred,
};
/// Bytes of one value; 0 for None and Pred.
int type_size(Type type);
const char* type_name(Type type);  // "f16x2"

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

enum class Special : uint8_t {
  TidX, TidY, TidZ, NtidX, NtidY, NtidZ, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ,
  LaneId, WarpId, NwarpId, SmId, NsmId, GridId, LanemaskEq, LanemaskLe, LanemaskLt, LanemaskGe, LanemaskGt,
  Clock, ClockHi, Clock64, GlobalTimer, GlobalTimerLo, GlobalTimerHi,
  DynamicSmemSize, TotalSmemSize, AggrSmemSize,
  ClusterIdX, ClusterIdY, ClusterIdZ, NclusterIdX, NclusterIdY, NclusterIdZ,
  ClusterCtaidX, ClusterCtaidY, ClusterCtaidZ, ClusterNctaidX, ClusterNctaidY, ClusterNctaidZ,
  ClusterCtaRank, ClusterNctaRank, IsExplicitCluster, EnvReg,
};

struct Operand {
  enum class Kind : uint8_t {
    Register,   // reg
    Immediate,  // bits (integers sign-extended to 64; 0f… as the float's 32 bits; 0d… and decimals as double bits)
    Special,    // special
    Symbol,     // a variable's or function's address as a value: symbol + offset
    Address,    // [reg + offset], [symbol + offset] or [offset]; elements: coordinates of [reg, {…}]
    Vector,     // {a, b, …}; elements
    Label,      // branch target: label index
    Discard,    // _
  };
  enum class ImmediateKind : uint8_t { Integer, Float32, Float64 };
  Kind kind = Kind::Immediate;
  ImmediateKind immediate = ImmediateKind::Integer;
  bool negated = false;           // !%p as a source predicate
  Special special = Special::TidX;  // EnvReg: its number is in bits
  int reg = -1;                   // index into Function::registers
  int symbol = -1;                // index into Function::variables when local_symbol, else Module::variables
  bool local_symbol = false;      // declared inside the function (.local, .shared, .param of a call)
  int param = -1;                 // index into Function::params: the symbol is this function's own parameter
  int result = -1;                // index into Function::returns: the symbol is this function's own result
  int function = -1;              // index into Module::functions, for call targets and function addresses
  int label = -1;                 // index into Function::labels
  uint64_t bits = 0;              // immediate
  int64_t offset = 0;
  std::vector<Operand> elements;  // Vector
};

/// Call sites of inlined code, as a chain outwards. Reports name the innermost position that lies in the user's file.
struct InlineFrame {
  int file = 0;  // index into Module::files
  int line = 0;
  int column = 0;
  int inlined_at = -1;  // index into Function::inline_frames of the frame around it, or -1
};

/// One instruction. `call` always has the operands {returns as Vector, target, arguments as Vector}, the target a Symbol
/// with `function` set or a Register, then for a Register target a Label (its prototype or targets).
/// `brx.idx` has the operands {index register, Label with branch_targets}.
struct Instruction {
  std::string opcode;                  // root: "fma", "ld", "setp", "cp"
  std::vector<std::string> modifiers;  // in order, without dots: {"rn", "ftz", "f32"}
  std::vector<Type> types;             // those modifiers that are types, in order
  Space space = Space::Generic;        // the first of the .global/.shared/… modifiers; Generic when there is none
  int guard = -1;                      // register index of @p, or -1
  bool guard_negated = false;
  std::vector<Operand> operands;       // destination(s) first; "p|q" gives two operands
  int ptx_line = 0;
  int file = 0;                        // .loc: index into Module::files (0: none)
  int line = 0;                        // .loc line, 0: none (compiler-made)
  int inlined_at = -1;                 // index into Function::inline_frames: where this code was inlined, or -1
  bool has(const char* modifier) const;
};

struct Register {
  std::string name;
  Type type = Type::None;
};

/// A .global/.const/.shared/.local/.param variable.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::None;
  int align = 1;
  int64_t bytes = 0;      // whole size; 0 with is_extern for `extern .shared x[]`
  bool is_extern = false;
  std::vector<uint8_t> init;  // the bytes that are given; the rest up to `bytes` are zero
  struct Patch {          // an address inside the initialiser
    int64_t at = 0;       // byte position
    int variable = -1;    // index into Module::variables, or -1
    int function = -1;    // index into Module::functions, or -1
    int64_t offset = 0;
    bool generic = false; // generic(sym)
    int bytes = 8;        // how many bytes of the address are written
    int shift = 0;        // from this bit of the address on (0xFF00(sym): 8)
  };
  std::vector<Patch> patches;
  int ptx_line = 0;
};

struct Label {
  std::string name;
  int instruction = 0;             // index it stands before (may equal instructions.size())
  std::vector<int> branch_targets; // for a `.branchtargets` list: label indices
  std::vector<int> call_targets;   // for a `.calltargets` list: indices into Module::functions
  int prototype = -1;              // for a `.callprototype`: index into Function::prototypes
};

/// `.callprototype`: the shape of an indirect call.
struct Prototype {
  std::vector<Variable> returns;
  std::vector<Variable> params;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;      // body elsewhere (vprintf, __assertfail, …)
  std::vector<Variable> returns;    // .param of a .func
  std::vector<Variable> params;
  std::vector<Register> registers;  // those the body names; of `%r<1000>` only the used ones
  std::vector<Variable> variables;  // .local/.shared/.param declared in the body (scopes flattened)
  std::vector<Label> labels;
  std::vector<Instruction> instructions;
  std::vector<InlineFrame> inline_frames;
  std::vector<Prototype> prototypes;
  int max_threads[3] = {0, 0, 0};       // .maxntid
  int required_threads[3] = {0, 0, 0};  // .reqntid
  int required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  int min_blocks = 0;                   // .minnctapersm
  int max_registers = 0;                // .maxnreg
  bool explicit_cluster = false;
  bool is_noreturn = false;
  int ptx_line = 0;
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;               // "sm_90"
  std::vector<std::string> files;   // .file table; index 0 is ""
  std::vector<Variable> variables;  // module scope
  std::vector<Function> functions;
  int find_function(const std::string& name) const;  // index, or -1
};

}  // namespace kw::ptx
