#include "cases.h"

namespace kw::alu_fuzz {
namespace {

uint64_t bit(uint64_t x, int n) { return n < 64 ? x >> n & 1 : 0; }

Case make(const std::string& text, int dst, std::vector<Source> src,
          std::function<uint64_t(Values)> fn) {
  Case c;
  c.text = text;
  c.dst = {dst};
  c.src = std::move(src);
  c.want = [fn = std::move(fn)](Values s, uint64_t* d) { d[0] = fn(s); };
  return c;
}
Source word(int bits) { return {bits, Shape::Integer}; }
constexpr Source kAmount{32, Shape::Amount};

void add_logic(std::vector<Case>& cases, int bits) {
  const std::string type = ".b" + std::to_string(bits) + " ";
  const uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  cases.push_back(make("and" + type + operands(2) + ";", bits, {word(bits), word(bits)},
                       [](Values s) { return s[0] & s[1]; }));
  cases.push_back(make("or" + type + operands(2) + ";", bits, {word(bits), word(bits)},
                       [](Values s) { return s[0] | s[1]; }));
  cases.push_back(make("xor" + type + operands(2) + ";", bits, {word(bits), word(bits)},
                       [](Values s) { return s[0] ^ s[1]; }));
  cases.push_back(make("not" + type + operands(1) + ";", bits, {word(bits)},
                       [=](Values s) { return ~s[0] & all; }));
  cases.push_back(make("cnot" + type + operands(1) + ";", bits, {word(bits)},
                       [](Values s) { return uint64_t(s[0] == 0); }));
  cases.push_back(make(
      "shl" + type + operands(2) + ";", bits, {word(bits), kAmount},
      [=](Values s) { return s[1] >= static_cast<uint64_t>(bits) ? 0 : (s[0] << s[1]) & all; }));
  cases.push_back(
      make("shr" + type + operands(2) + ";", bits, {word(bits), kAmount},
           [=](Values s) { return s[1] >= static_cast<uint64_t>(bits) ? 0 : s[0] >> s[1]; }));
  const IntType t{"", bits, true};
  cases.push_back(
      make("shr.s" + std::to_string(bits) + " " + operands(2) + ";", bits, {word(bits), kAmount},
           [=](Values s) { return t.wrap(t.value(s[0]) >> (s[1] > 100 ? 100 : s[1])); }));
}

void add_funnel(std::vector<Case>& cases) {
  for (const bool left : {true, false})
    for (const bool wrap : {true, false}) {
      const std::string text = std::string("shf.") + (left ? "l" : "r") +
                               (wrap ? ".wrap" : ".clamp") + ".b32 " + operands(3) + ";";
      cases.push_back(make(text, 32, {word(32), word(32), kAmount}, [=](Values s) {
        const uint64_t n = wrap ? s[2] % 32 : (s[2] < 32 ? s[2] : 32);
        const UInt128 both = static_cast<UInt128>(s[1]) << 32 | s[0];
        return static_cast<uint64_t>(left ? both << n >> 32 : both >> n) & 0xffffffff;
      }));
    }
}

void add_counts(std::vector<Case>& cases, int bits) {
  const std::string b = ".b" + std::to_string(bits) + " ";
  cases.push_back(make("popc" + b + operands(1) + ";", 32, {word(bits)}, [=](Values s) {
    uint64_t n = 0;
    for (int i = 0; i < bits; ++i) n += bit(s[0], i);
    return n;
  }));
  cases.push_back(make("clz" + b + operands(1) + ";", 32, {word(bits)}, [=](Values s) {
    int n = 0;
    while (n < bits && bit(s[0], bits - 1 - n) == 0) ++n;
    return static_cast<uint64_t>(n);
  }));
  cases.push_back(make("brev" + b + operands(1) + ";", bits, {word(bits)}, [=](Values s) {
    uint64_t out = 0;
    for (int i = 0; i < bits; ++i) out |= bit(s[0], i) << (bits - 1 - i);
    return out;
  }));
  for (const bool is_signed : {false, true})
    for (const bool shift : {false, true}) {
      const std::string text = std::string("bfind") + (shift ? ".shiftamt." : ".") +
                               (is_signed ? "s" : "u") + std::to_string(bits) + " " + operands(1) +
                               ";";
      cases.push_back(make(text, 32, {word(bits)}, [=](Values s) -> uint64_t {
        const uint64_t same = is_signed ? bit(s[0], bits - 1) : 0;
        for (int i = bits - 1; i >= 0; --i)
          if (bit(s[0], i) != same) return static_cast<uint64_t>(shift ? bits - 1 - i : i);
        return 0xffffffff;
      }));
    }
}

/// Position and length lie in 0..255. Beyond, which is open, an H200 looks at the low byte for 32
/// bits and at everything for 64.
int field_operand(uint64_t x, int bits) {
  return static_cast<int>(bits == 32 ? x & 0xff : x < 255 ? x : 255);
}

void add_fields(std::vector<Case>& cases, int bits) {
  for (const bool is_signed : {false, true}) {
    const std::string text = std::string("bfe.") + (is_signed ? "s" : "u") + std::to_string(bits) +
                             " " + operands(3) + ";";
    Case bfe = make(text, bits, {word(bits), kAmount, kAmount}, [=](Values s) {
      const int position = field_operand(s[1], bits), length = field_operand(s[2], bits);
      const int last = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
      const uint64_t sign = is_signed && length != 0 ? bit(s[0], last) : 0;
      uint64_t out = 0;
      for (int i = 0; i < bits; ++i)
        out |= (i < length && position + i < bits ? bit(s[0], position + i) : sign) << i;
      return out;
    });
    bfe.defined = [](Values s) { return s[1] < 256 && s[2] < 256; };
    cases.push_back(bfe);
  }
  Case bfi =
      make("bfi.b" + std::to_string(bits) + " " + operands(4) + ";", bits,
           {word(bits), word(bits), kAmount, kAmount}, [=](Values s) {
             const int position = field_operand(s[2], bits), length = field_operand(s[3], bits);
             uint64_t out = s[1];
             for (int i = 0; i < length && position + i < bits; ++i)
               out = (out & ~(uint64_t(1) << (position + i))) | bit(s[0], i) << (position + i);
             return out;
           });
  bfi.defined = [](Values s) { return s[2] < 256 && s[3] < 256; };
  cases.push_back(bfi);
}

void add_masks(std::vector<Case>& cases) {
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    cases.push_back(
        make("bmsk." + mode + ".b32 " + operands(2) + ";", 32, {kAmount, kAmount}, [=](Values s) {
          const uint64_t from = wrap ? s[0] % 32 : s[0], width = wrap ? s[1] % 32 : s[1];
          uint64_t out = 0;
          for (uint64_t i = from; i < 32 && i - from < width; ++i) out |= uint64_t(1) << i;
          return out;
        }));
    for (const bool is_signed : {false, true})
      cases.push_back(make("szext." + mode + (is_signed ? ".s32 " : ".u32 ") + operands(2) + ";",
                           32, {word(32), kAmount}, [=](Values s) {
                             const uint64_t width = wrap ? s[1] % 32 : (s[1] < 32 ? s[1] : 32);
                             if (width == 0) return uint64_t(0);
                             const IntType t{"", static_cast<int>(width), is_signed};
                             return IntType{"", 32, false}.wrap(t.value(s[0]));
                           }));
  }
  Case fns = make(
      "fns.b32 " + operands(3) + ";", 32, {word(32), kAmount, word(32)}, [](Values s) -> uint64_t {
        const IntType s32{"", 32, true};
        const Int128 offset = s32.value(s[2]);
        if (offset == s32.low()) return 0;  // open: it has no magnitude; what an H200 gives
        if (s[1] > 31) return 0xffffffff;   // open; nothing is there to be found
        if (offset == 0) return bit(s[0], static_cast<int>(s[1])) != 0 ? s[1] : 0xffffffff;
        Int128 left = offset < 0 ? -offset : offset;
        for (Int128 at = static_cast<Int128>(s[1]); at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
          if (bit(s[0], static_cast<int>(at)) != 0 && --left == 0) return static_cast<uint64_t>(at);
        return 0xffffffff;
      });
  fns.defined = [](Values s) { return s[1] < 32 && s[2] != 0x80000000; };
  cases.push_back(fns);
  // Small offsets, where something is found.
  Case near = fns;
  near.text = "and.b32 $s2, $s2, 7; sub.s32 $s2, $s2, 4; fns.b32 $d0, $s0, $s1, $s2;";
  const auto inner = fns.want;
  near.want = [inner](Values s, uint64_t* d) {
    const uint64_t changed[] = {s[0], s[1], ((s[2] & 7) - 4) & 0xffffffff};
    inner(changed, d);
  };
  cases.push_back(near);
}

uint64_t permuted(Values s, const int* which, const bool* sign) {
  const uint64_t both = s[1] << 32 | s[0];
  uint64_t out = 0;
  for (int k = 0; k < 4; ++k) {
    const uint64_t byte = both >> (8 * which[k]) & 0xff;
    out |= (sign[k] ? (byte >> 7 != 0 ? 0xff : 0) : byte) << (8 * k);
  }
  return out;
}

void add_permutes(std::vector<Case>& cases) {
  const std::vector<Source> src = {word(32), word(32), word(32)};
  cases.push_back(make("prmt.b32 " + operands(3) + ";", 32, src, [](Values s) {
    int which[4];
    bool sign[4];
    for (int k = 0; k < 4; ++k) {
      which[k] = static_cast<int>(s[2] >> (4 * k) & 7);
      sign[k] = (s[2] >> (4 * k) & 8) != 0;
    }
    return permuted(s, which, sign);
  }));
  struct Named {
    const char* mode;
    int byte[4][4];  // by the two low bits of the selector; byte 0 first
  };
  static const Named kModes[] = {
      {"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
      {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
      {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
      {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
      {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}},
  };
  for (const Named& named : kModes)
    cases.push_back(make(std::string("prmt.b32.") + named.mode + " " + operands(3) + ";", 32, src,
                         [&named](Values s) {
                           const bool sign[4] = {};
                           return permuted(s, named.byte[s[2] & 3], sign);
                         }));
}

void add_tables(std::vector<Case>& cases) {
  for (const int table : {0x00, 0xff, 0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1a, 0x40, 0x69}) {
    const auto value = [=](Values s) {
      uint64_t out = 0;
      for (int i = 0; i < 32; ++i)
        out |=
            static_cast<uint64_t>(table >> (4 * bit(s[0], i) + 2 * bit(s[1], i) + bit(s[2], i)) & 1)
            << i;
      return out;
    };
    const std::string number = std::to_string(table);
    cases.push_back(make("lop3.b32 " + operands(3) + ", " + number + ";", 32,
                         {word(32), word(32), word(32)}, value));
    for (const bool is_and : {true, false}) {
      Case c;
      c.text = std::string("lop3.") + (is_and ? "and" : "or") + ".b32 $d0|$d1, $s0, $s1, $s2, " +
               number + ", " + (table % 3 == 0 ? "!" : "") + "$s3;";
      c.dst = {32, 1};
      c.src = {word(32), word(32), word(32), {1, Shape::Predicate}};
      c.ptx = 82;
      c.want = [=](Values s, uint64_t* d) {
        d[0] = value(s);
        const uint64_t q = s[3] ^ (table % 3 == 0 ? 1 : 0);
        d[1] = is_and ? (d[0] != 0) & q : (d[0] != 0) | q;
      };
      cases.push_back(c);
    }
  }
}

void add_dots(std::vector<Case>& cases) {
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true}) {
      const std::string types =
          std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32 " : ".u32 ");
      const IntType byte_a{"", 8, a_signed}, byte_b{"", 8, b_signed}, half_a{"", 16, a_signed},
          out{"", 32, false};
      const std::vector<Source> src = {word(32), word(32), word(32)};
      cases.push_back(make("dp4a" + types + operands(3) + ";", 32, src, [=](Values s) {
        Int128 sum = static_cast<Int128>(s[2]);
        for (int k = 0; k < 4; ++k)
          sum += byte_a.value(s[0] >> (8 * k)) * byte_b.value(s[1] >> (8 * k));
        return out.wrap(sum);
      }));
      for (const bool high : {false, true})
        cases.push_back(
            make(std::string("dp2a.") + (high ? "hi" : "lo") + types + operands(3) + ";", 32, src,
                 [=](Values s) {
                   Int128 sum = static_cast<Int128>(s[2]);
                   for (int k = 0; k < 2; ++k)
                     sum += half_a.value(s[0] >> (16 * k)) *
                            byte_b.value(s[1] >> (8 * (k + (high ? 2 : 0))));
                   return out.wrap(sum);
                 }));
    }
}

void add_differences(std::vector<Case>& cases) {
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true})
      for (const bool sums : {false, true}) {
        const std::string types =
            std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
        const std::string text =
            "vabsdiff4.u32" + types + (sums ? ".add " : " ") + operands(3) + ";";
        const IntType byte_a{"", 8, a_signed}, byte_b{"", 8, b_signed}, out{"", 32, false};
        cases.push_back(make(text, 32, {word(32), word(32), word(32)}, [=](Values s) {
          Int128 sum = static_cast<Int128>(s[2]);
          uint64_t bytes = 0;
          for (int k = 0; k < 4; ++k) {
            const Int128 difference = byte_a.value(s[0] >> (8 * k)) - byte_b.value(s[1] >> (8 * k));
            const Int128 magnitude = difference < 0 ? -difference : difference;
            sum += magnitude;
            bytes |= (static_cast<uint64_t>(magnitude) & 0xff) << (8 * k);
          }
          return sums ? out.wrap(sum) : bytes;
        }));
      }
}

void add_predicates(std::vector<Case>& cases) {
  const Source p{1, Shape::Predicate};
  cases.push_back(
      make("and.pred $d0, $s0, !$s1;", 1, {p, p}, [](Values s) { return s[0] & (s[1] ^ 1); }));
  cases.push_back(make("or.pred $d0, $s0, $s1;", 1, {p, p}, [](Values s) { return s[0] | s[1]; }));
  cases.push_back(
      make("xor.pred $d0, !$s0, $s1;", 1, {p, p}, [](Values s) { return s[0] ^ s[1] ^ 1; }));
  cases.push_back(make("not.pred $d0, $s0;", 1, {p}, [](Values s) { return s[0] ^ 1; }));
  cases.push_back(make("mov.pred $d0, $s0;", 1, {p}, [](Values s) { return s[0]; }));
}

}  // namespace

void add_bit_cases(std::vector<Case>& cases) {
  for (const int bits : {16, 32, 64}) add_logic(cases, bits);
  add_funnel(cases);
  for (const int bits : {32, 64}) {
    add_counts(cases, bits);
    add_fields(cases, bits);
  }
  add_masks(cases);
  add_permutes(cases);
  add_tables(cases);
  add_dots(cases);
  add_differences(cases);
  add_predicates(cases);
}

}  // namespace kw::alu_fuzz
