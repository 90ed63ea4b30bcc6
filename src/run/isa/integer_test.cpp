#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "isa/bench_test.h"

namespace kw::isa {
namespace {

__extension__ typedef __int128 Big;
__extension__ typedef unsigned __int128 UBig;

/// An integer type of an instruction: how its bits are read as a mathematical integer.
struct Int {
  const char* name;
  int bits;
  bool is_signed;
  Big value(uint64_t raw) const {
    const uint64_t low = bits == 64 ? raw : raw & ((uint64_t(1) << bits) - 1);
    if (is_signed && (low >> (bits - 1) & 1) != 0) return Big(low) - (Big(1) << bits);
    return Big(low);
  }
  uint64_t wrap(Big x) const {
    return static_cast<uint64_t>(bits == 64 ? UBig(x) : UBig(x) & ((UBig(1) << bits) - 1));
  }
  Big low() const { return is_signed ? -(Big(1) << (bits - 1)) : 0; }
  Big high() const { return (Big(1) << (is_signed ? bits - 1 : bits)) - 1; }
};
constexpr Int kTypes[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                          {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

std::string reg(int bits, int n) {
  return std::string(bits == 16 ? "%h" : bits == 32 ? "%r" : "%d") + std::to_string(n);
}

/// Edge values and random ones of every magnitude.
Lanes sample(std::mt19937_64& random, int bits) {
  const uint64_t top = uint64_t(1) << (bits - 1);
  const uint64_t edges[] = {
      0, 1, 2, top - 1, top, top + 1, ~uint64_t(0), ~uint64_t(1), 3, 7, 0x5555555555555555, 31};
  Lanes out{};
  for (auto& lane : out) {
    const uint64_t r = random();
    lane = (r & 3) == 0 ? edges[(r >> 8) % 12] : r >> (random() % static_cast<uint64_t>(bits));
    if (bits < 64) lane &= (uint64_t(1) << bits) - 1;
  }
  return out;
}

using Reference = std::function<Big(const Int&, Big, Big, Big)>;
struct Case {
  const char* name;  // opcode with modifiers
  int sources;
  bool (*has)(const Int&);
  bool wide;
  Reference want;
};
bool all(const Int&) { return true; }
bool only_signed(const Int& t) { return t.is_signed; }
bool not64(const Int& t) { return t.bits < 64; }
bool only_s32(const Int& t) { return t.is_signed && t.bits == 32; }
bool only32(const Int& t) { return t.bits == 32; }
Big saturate(const Int& t, Big x) { return x < t.low() ? t.low() : x > t.high() ? t.high() : x; }
Big low24(const Int& t, Big x) {
  return Int{"", 24, t.is_signed}.value(static_cast<uint64_t>(UBig(x) & 0xffffff));
}
Big divide(const Int& t, Big a, Big b) { return b == 0 ? (t.is_signed ? -1 : t.high()) : a / b; }

const Case kCases[] = {
    {"add", 2, all, false, [](const Int&, Big a, Big b, Big) { return a + b; }},
    {"sub", 2, all, false, [](const Int&, Big a, Big b, Big) { return a - b; }},
    {"add.sat", 2, only_s32, false,
     [](const Int& t, Big a, Big b, Big) { return saturate(t, a + b); }},
    {"sub.sat", 2, only_s32, false,
     [](const Int& t, Big a, Big b, Big) { return saturate(t, a - b); }},
    {"mul.lo", 2, all, false, [](const Int&, Big a, Big b, Big) { return Big(UBig(a) * UBig(b)); }},
    {"mul.hi", 2, all, false,
     [](const Int& t, Big a, Big b, Big) {
       return t.is_signed ? (a * b) >> t.bits : Big(UBig(a) * UBig(b) >> t.bits);
     }},
    {"mul.wide", 2, not64, true, [](const Int&, Big a, Big b, Big) { return a * b; }},
    {"mad.lo", 3, all, false,
     [](const Int&, Big a, Big b, Big c) { return Big(UBig(a) * UBig(b) + UBig(c)); }},
    {"mad.hi", 3, all, false,
     [](const Int& t, Big a, Big b, Big c) {
       return (t.is_signed ? (a * b) >> t.bits : Big(UBig(a) * UBig(b) >> t.bits)) + c;
     }},
    {"mad.wide", 3, not64, true, [](const Int&, Big a, Big b, Big c) { return a * b + c; }},
    {"mad.hi.sat", 3, only_s32, false,
     [](const Int& t, Big a, Big b, Big c) { return saturate(t, ((a * b) >> 32) + c); }},
    {"mul24.lo", 2, only32, false,
     [](const Int& t, Big a, Big b, Big) { return low24(t, a) * low24(t, b); }},
    {"mul24.hi", 2, only32, false,
     [](const Int& t, Big a, Big b, Big) { return (low24(t, a) * low24(t, b)) >> 16; }},
    {"mad24.lo", 3, only32, false,
     [](const Int& t, Big a, Big b, Big c) { return low24(t, a) * low24(t, b) + c; }},
    {"mad24.hi", 3, only32, false,
     [](const Int& t, Big a, Big b, Big c) { return ((low24(t, a) * low24(t, b)) >> 16) + c; }},
    {"mad24.hi.sat", 3, only_s32, false,
     [](const Int& t, Big a, Big b, Big c) {
       return saturate(t, ((low24(t, a) * low24(t, b)) >> 16) + c);
     }},
    {"sad", 3, all, false,
     [](const Int&, Big a, Big b, Big c) { return c + (a < b ? b - a : a - b); }},
    {"div", 2, all, false, [](const Int& t, Big a, Big b, Big) { return divide(t, a, b); }},
    {"rem", 2, all, false, [](const Int&, Big a, Big b, Big) { return b == 0 ? Big(-1) : a % b; }},
    {"abs", 1, only_signed, false, [](const Int&, Big a, Big, Big) { return a < 0 ? -a : a; }},
    {"neg", 1, only_signed, false, [](const Int&, Big a, Big, Big) { return -a; }},
    {"min", 2, all, false, [](const Int&, Big a, Big b, Big) { return a < b ? a : b; }},
    {"max", 2, all, false, [](const Int&, Big a, Big b, Big) { return a > b ? a : b; }},
    {"min.relu", 2, only_s32, false,
     [](const Int&, Big a, Big b, Big) {
       const Big m = a < b ? a : b;
       return m < 0 ? 0 : m;
     }},
    {"max.relu", 2, only_s32, false,
     [](const Int&, Big a, Big b, Big) {
       const Big m = a > b ? a : b;
       return m < 0 ? 0 : m;
     }},
};

class IntegerOp : public testing::TestWithParam<Case> {};

TEST_P(IntegerOp, MatchesWideArithmetic) {
  const Case& c = GetParam();
  std::mt19937_64 random(11);
  int forms = 0;
  for (const Int& t : kTypes) {
    if (!c.has(t)) continue;
    ++forms;
    const Int result{t.name, c.wide ? 2 * t.bits : t.bits, t.is_signed};
    std::string text =
        std::string(c.name) + "." + t.name + " " + reg(result.bits, 0) + ", " + reg(t.bits, 1);
    if (c.sources > 1) text += ", " + reg(t.bits, 2);
    if (c.sources > 2) text += ", " + reg(result.bits, 3);
    for (int round = 0; round < 40; ++round) {
      const Lanes a = sample(random, t.bits), b = sample(random, t.bits),
                  e = sample(random, result.bits);
      const BenchResult got = run_instruction(text + ";", {a, b, e});
      ASSERT_EQ(got.error, "");
      for (size_t i = 0; i < 32; ++i) {
        const uint64_t want =
            result.wrap(c.want(t, t.value(a[i]), t.value(b[i]), result.value(e[i])));
        ASSERT_EQ(got.dst[0][i], want) << text << " of " << a[i] << ", " << b[i] << ", " << e[i];
      }
    }
  }
  EXPECT_GT(forms, 0);
}
INSTANTIATE_TEST_SUITE_P(All, IntegerOp, testing::ValuesIn(kCases), [](const auto& test) {
  std::string name = test.param.name;
  for (char& ch : name)
    if (ch == '.') ch = '_';
  return name;
});

}  // namespace
}  // namespace kw::isa
