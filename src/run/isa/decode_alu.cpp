// Decodes register-only instructions. PTX has thousands of forms, and a missing check would execute
// one with the wrong meaning. So each opcode's function takes the modifiers that it knows,
// describes its operands and names a row; finish() then refuses every modifier that was not taken
// and every operand that does not fit. A row name is text, so a form exists exactly when its row
// exists and no second table can disagree. The cost is string work per instruction, once per load.
#include "isa/decode_alu.h"

#include <fmt/core.h>

#include <unordered_map>

#include "core/check.h"

namespace kw::isa {

using ptx::Type;

int lane_width(Type type) {
  const int size = ptx::type_size(type);
  return size == 1 ? 2 : size;
}
std::string bits_name(Type type) { return fmt::format("b{}", 8 * ptx::type_size(type)); }
bool is_integer(Type type) { return type >= Type::U8 && type <= Type::S64; }
bool is_signed(Type type) { return type >= Type::S8 && type <= Type::S64; }
bool is_bits(Type type) { return type >= Type::B8 && type <= Type::B128; }
bool is_half(Type type) { return type == Type::F16 || type == Type::Bf16 || is_pair(type); }
bool is_pair(Type type) { return type == Type::F16x2 || type == Type::Bf16x2; }

bool Decoder::take(std::string_view modifier) {
  const auto& modifiers = instruction_.modifiers;
  for (size_t i = 0; i < modifiers.size() && i < 64; ++i) {
    if (modifiers[i] != modifier || (taken_ >> i & 1) != 0) continue;
    taken_ |= uint64_t(1) << i;
    return true;
  }
  return false;
}

std::string_view Decoder::take_one_of(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view modifier : modifiers)
    if (take(modifier)) return modifier;
  return "";
}

numeric::Round Decoder::take_rounding(bool* given) {
  const std::string_view mode = take_one_of({"rn", "rz", "rm", "rp"});
  if (given) *given = !mode.empty();
  if (mode == "rz") return numeric::Round::Zero;
  if (mode == "rm") return numeric::Round::Down;
  if (mode == "rp") return numeric::Round::Up;
  return numeric::Round::Nearest;
}

int Decoder::register_width(const ptx::Operand& operand, int otherwise) const {
  if (operand.kind != ptx::Operand::Kind::Register) return otherwise;
  if (operand.reg < 0 || operand.reg >= static_cast<int>(function_.registers.size()))
    return otherwise;
  return lane_width(function_.registers[static_cast<size_t>(operand.reg)].type);
}

void Decoder::dst_width(int bytes, Type type) {
  KW_CHECK(alu_.dsts < 4, "an instruction writes at most four registers");
  alu_.dst[alu_.dsts++] = Slot{static_cast<uint8_t>(bytes), type};
}
void Decoder::src_width(int bytes, Type type) {
  KW_CHECK(alu_.srcs < 4, "an instruction reads at most four registers");
  alu_.src[alu_.srcs++] = Slot{static_cast<uint8_t>(bytes), type};
}
void Decoder::dst(Type type) { dst_width(lane_width(type), type); }
void Decoder::src(Type type) { src_width(lane_width(type), type); }

std::string Decoder::text() const {
  std::string out = instruction_.opcode;
  for (const std::string& modifier : instruction_.modifiers) out += "." + modifier;
  return out;
}

Error Decoder::unsupported(const std::string& why) const {
  return input_error("unsupported instruction " + text() + (why.empty() ? "" : ": " + why));
}

Status Decoder::check_operand(const ptx::Operand& operand, const Slot& slot,
                              bool is_destination) const {
  using Kind = ptx::Operand::Kind;
  switch (operand.kind) {
    case Kind::Register: {
      const int width = register_width(operand, -1);
      if (width != slot.width)
        return unsupported(
            fmt::format("register of {} bits where {} belong", 8 * width, 8 * slot.width));
      return Done{};
    }
    case Kind::Discard:
      if (is_destination) return Done{};
      return unsupported("'_' as a source");
    case Kind::Immediate:
    case Kind::Special:
    case Kind::Symbol:
      if (!is_destination) return Done{};
      return unsupported("destination is not a register");
    default:
      return unsupported("operand of a kind that belongs to other instructions");
  }
}

Status Decoder::check() const {
  const auto& modifiers = instruction_.modifiers;
  size_t types_seen = 0;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (i < 64 && (taken_ >> i & 1) != 0) continue;
    const Type expected = type(types_seen);
    if (expected == Type::None || modifiers[i] != ptx::type_name(expected))
      return unsupported("unknown modifier ." + modifiers[i]);
    ++types_seen;
  }
  std::vector<const ptx::Operand*> flat;
  for (const ptx::Operand& op : instruction_.operands) {
    if (op.kind == ptx::Operand::Kind::Vector) {
      for (const ptx::Operand& element : op.elements) flat.push_back(&element);
    } else {
      flat.push_back(&op);
    }
  }
  if (alu_.folded >= 0 && alu_.dsts + static_cast<size_t>(alu_.folded) < flat.size())
    flat.erase(flat.begin() + alu_.dsts + alu_.folded);
  const size_t wanted = size_t(alu_.dsts) + alu_.srcs;
  if (flat.size() != wanted)
    return unsupported(fmt::format("{} operands where {} belong", flat.size(), wanted));
  for (size_t i = 0; i < wanted; ++i) {
    const bool is_destination = i < alu_.dsts;
    KW_TRY(check_operand(*flat[i], is_destination ? alu_.dst[i] : alu_.src[i - alu_.dsts],
                         is_destination));
  }
  return Done{};
}

Result<Alu> Decoder::finish(const std::string& name, AluClass cls, TaintRule taint, int flops) {
  KW_TRY(check());
  const auto row = find_row(level_, name);
  if (!row) return unsupported();
  alu_.fn = row_at(*row).fn;
  alu_.cls = cls;
  alu_.taint = taint;
  alu_.flops = static_cast<uint8_t>(flops);
  return alu_;
}

Result<Alu> Decoder::finish_rounded(const std::string& name, numeric::Round round, AluClass cls,
                                    int flops) {
  Alu alu = KW_TRY(finish(name, cls, TaintRule::AnyToAll, flops));
  if (round == numeric::Round::Nearest) return alu;
  alu.aux = *find_row(level_, name);
  alu.fn = rounded(round);
  return alu;
}

namespace {

bool is_float_form(const Decoder& d) {
  const Type t = d.type();
  return t == Type::F32 || t == Type::F64 || is_half(t);
}

Result<Alu> decode_arithmetic(Decoder& d) {
  const bool packed_f32 = d.take("f32x2");
  if (packed_f32 || is_float_form(d)) return decode_float_arithmetic(d);
  return decode_integer_arithmetic(d);
}

const std::unordered_map<std::string_view, DecodeFn>& decoders() {
  static const auto built = [] {
    std::unordered_map<std::string_view, DecodeFn> map;
    for (const char* shared : {"add", "sub", "mul", "mad", "min", "max", "abs", "neg", "div"})
      map[shared] = decode_arithmetic;
    for (const auto& list : {integer_decoders(), float_decoders(), move_decoders()})
      for (const DecodeRow& row : list) map[row.opcode] = row.decode;
    return map;
  }();
  return built;
}

}  // namespace

bool is_alu(const ptx::Instruction& instruction) {
  return decoders().count(instruction.opcode) != 0;
}

Result<Alu> find_alu_at(Level level, const ptx::Instruction& instruction,
                        const ptx::Function& function) {
  Decoder d(level, instruction, function);
  const auto found = decoders().find(instruction.opcode);
  if (found == decoders().end()) return d.unsupported();
  return found->second(d);
}

Result<Alu> find_alu(const ptx::Instruction& instruction, const ptx::Function& function) {
  return find_alu_at(numeric::best_level(), instruction, function);
}

}  // namespace kw::isa
