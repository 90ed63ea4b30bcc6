// Decodes wmma, mma.sync, ldmatrix and stmatrix. The shape and the types are in the modifiers, and
// only some combinations exist, so they are checked against the tables below. The number of
// registers must match the size of the fragment. mma.sync and ldmatrix use the layouts that the ISA
// defines; wmma leaves the layout open, so we choose one. Other shapes and types, such as sparse
// products, are refused.
#include <algorithm>
#include <cstdio>

#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

struct Shape3 {
  int m = 0, n = 0, k = 0;
};

bool shape_of(const Instruction& in, Shape3& shape) {
  for (const std::string& modifier : in.modifiers) {
    char end = 0;
    if (std::sscanf(modifier.c_str(), "m%dn%dk%d%c", &shape.m, &shape.n, &shape.k, &end) == 3)
      return true;
  }
  return false;
}

// The wmma shapes that exist for a multiplicand type.
bool exists(const Shape3& s, Type type) {
  const bool square = s.m == 16 && s.n == 16, tall = s.m == 32 && s.n == 8,
             wide = s.m == 8 && s.n == 32;
  switch (type) {
    case Type::F16:
    case Type::Bf16:
    case Type::S8:
    case Type::U8:
      return s.k == 16 && (square || tall || wide);
    case Type::Tf32:
      return s.k == 8 && square;
    case Type::F64:
      return s.m == 8 && s.n == 8 && s.k == 4;
    default:
      return false;
  }
}

// The same for mma.sync.
bool exists_in_registers(const Shape3& s, Type type) {
  const bool tall = s.m == 16 && s.n == 8;
  switch (type) {
    case Type::F16:
    case Type::Bf16:
      return tall && (s.k == 8 || s.k == 16);
    case Type::S8:
    case Type::U8:
      return tall && (s.k == 16 || s.k == 32);
    case Type::Tf32:
      return tall && (s.k == 4 || s.k == 8);
    case Type::F64:
      return s.m == 8 && s.n == 8 && s.k == 4;
    default:
      return false;
  }
}

int element_bytes(Type type) { return ptx::type_size(type); }

bool fragment(Decoder& d, const Operand& operand, Type type, int rows, int columns, bool is_source,
              Fragment& out) {
  out.type = type;
  out.rows = rows;
  out.columns = columns;
  const std::vector<const Operand*> list = elements_of(operand);
  if (list.empty() || list.size() > 8) return false;
  const int width = type == Type::F64 ? 8 : 4;
  for (const Operand* one : list) {
    const auto slot = is_source ? d.source(*one, width, type) : d.destination(*one, width);
    if (!slot) return false;
    out.slots[out.registers++] = *slot;
  }
  const int held = out.registers * kLanes * (width / element_bytes(type));
  return held >= rows * columns && held % (rows * columns) == 0;
}

// wmma.load.a|b|c.sync.aligned.LAYOUT.SHAPE[.SPACE].TYPE fragment, [address][, stride];
// wmma.store.d… [address], fragment[, stride];  wmma.mma.sync.aligned.ALAYOUT.BLAYOUT.SHAPE.TYPES
// d, a, b, c;
bool decode_wmma(Decoder& d, const Instruction& in) {
  Shape3 s;
  if (!shape_of(in, s) || in.types.empty() || in.operands.size() < 2) return false;
  TensorInst tensor;
  tensor.saturate = in.has("satfinite");
  if (in.has("mma")) {
    if (in.operands.size() != 4 || (in.types.size() != 2 && in.types.size() != 4)) return false;
    const bool halves = in.types.size() == 2;  // .dtype.ctype: both multiplicands are f16
    const Type a = halves ? Type::F16 : in.types[1], b = halves ? Type::F16 : in.types[2];
    if (!exists(s, a) || element_bytes(a) != element_bytes(b)) return false;
    if (!fragment(d, in.operands[0], in.types.front(), s.m, s.n, false, tensor.d) ||
        !fragment(d, in.operands[1], a, s.m, s.k, true, tensor.a) ||
        !fragment(d, in.operands[2], b, s.k, s.n, true, tensor.b) ||
        !fragment(d, in.operands[3], in.types.back(), s.m, s.n, true, tensor.c))
      return false;
    return d.emit_row(Op::TensorMma, d.code.tensors, tensor);
  }
  const bool store = in.has("store");
  if (!store && !in.has("load")) return false;
  const bool is_a = in.has("a"), is_b = in.has("b");
  const int rows = is_b ? s.k : s.m, columns = is_a ? s.k : s.n;
  tensor.column_major = in.has("col");
  tensor.mem.space = in.space;
  tensor.mem.is_store = store;
  if (!fragment(d, in.operands[store ? 1 : 0], in.types.back(), rows, columns, store, tensor.d))
    return false;
  if (!d.address(in.operands[store ? 0 : 1], tensor.mem)) return false;
  if (in.operands.size() > 2) {
    const auto stride = d.source(in.operands[2], 4, Type::U32);
    if (!stride) return false;
    tensor.stride = *stride;
  }
  const int line = (tensor.column_major ? rows : columns) * element_bytes(in.types.back());
  tensor.mem.total = static_cast<uint8_t>(std::min(16, line));
  note_access(d.code, tensor.mem, false);
  return d.emit_row(store ? Op::TensorStore : Op::TensorLoad, d.code.tensors, tensor);
}

// mma.sync.aligned.SHAPE.row.col[.satfinite].DTYPE.ATYPE.BTYPE.CTYPE d, a, b, c;
bool decode_mma(Decoder& d, const Instruction& in) {
  Shape3 s;
  if (!in.has("sync") || !in.has("row") || !in.has("col") || !shape_of(in, s)) return false;
  if (in.operands.size() != 4 || in.types.size() != 4) return false;
  const Type a = in.types[1], b = in.types[2];
  if (!exists_in_registers(s, a) || element_bytes(a) != element_bytes(b)) return false;
  TensorInst tensor;
  tensor.saturate = in.has("satfinite");
  if (!fragment(d, in.operands[0], in.types[0], s.m, s.n, false, tensor.d) ||
      !fragment(d, in.operands[1], a, s.m, s.k, true, tensor.a) ||
      !fragment(d, in.operands[2], b, s.k, s.n, true, tensor.b) ||
      !fragment(d, in.operands[3], in.types[3], s.m, s.n, true, tensor.c))
    return false;
  tensor.d.spread = tensor.c.spread = Spread::Sums;
  tensor.a.spread = Spread::Left;
  tensor.b.spread = Spread::Right;
  for (const Fragment* one : {&tensor.a, &tensor.b, &tensor.c, &tensor.d}) {
    if (one->registers * kLanes * (one->type == Type::F64 ? 8 : 4) !=
        one->rows * one->columns * element_bytes(one->type))
      return false;
  }
  return d.emit_row(Op::TensorMma, d.code.tensors, tensor);
}

// ldmatrix.sync.aligned.m8n8.x1|x2|x4[.trans].shared.b16 registers, [address];
// stmatrix… [address], registers;
bool decode_matrix_rows(Decoder& d, const Instruction& in) {
  if (!in.has("m8n8") || in.types.size() != 1 || in.types[0] != Type::B16) return false;
  if (in.operands.size() != 2) return false;
  const bool store = in.opcode == "stmatrix";
  TensorInst tensor;
  tensor.by_rows = in.has("x4") ? 4 : in.has("x2") ? 2 : 1;
  tensor.column_major = in.has("trans");
  tensor.mem.space = in.space;
  tensor.mem.total = 16;
  tensor.mem.is_store = store;
  const Operand &held = in.operands[store ? 1 : 0], &where = in.operands[store ? 0 : 1];
  if (!fragment(d, held, Type::B16, 8, 8 * tensor.by_rows, store, tensor.d)) return false;
  if (tensor.d.registers != tensor.by_rows || !d.address(where, tensor.mem)) return false;
  note_access(d.code, tensor.mem, false);
  return d.emit_row(store ? Op::TensorStore : Op::TensorLoad, d.code.tensors, tensor);
}

int wmma_destinations(const Instruction& in) { return in.has("store") ? 0 : 1; }

constexpr DecodeRow kTensorDecoders[] = {
    {"wmma", decode_wmma, wmma_destinations},
    {"mma", decode_mma, leading<1>},
    {"ldmatrix", decode_matrix_rows, leading<1>},
    {"stmatrix", decode_matrix_rows},
    {"wgmma", decode_group_product},
};

}  // namespace

std::span<const DecodeRow> tensor_decoders() { return kTensorDecoders; }

}  // namespace kw::vgpu
