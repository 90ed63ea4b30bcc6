#include "batch.h"

#include <fmt/core.h>

#include <random>

namespace kw::alu_fuzz {
namespace {

uint64_t random_integer(std::mt19937_64& random, int bits) {
  const uint64_t r = random(), top = uint64_t(1) << (bits - 1);
  const uint64_t edges[] = {
      0,    1,   2, 3, top - 1, top, top + 1, ~uint64_t(0), ~uint64_t(1), 0x5555555555555555,
      0xff, 0x80};
  const uint64_t value =
      r % 4 == 0 ? edges[(r >> 8) % 12] : random() >> ((r >> 8) % static_cast<uint64_t>(bits));
  const uint64_t sign = r % 16 == 1 ? ~value : value;
  return bits == 64 ? sign : sign & ((uint64_t(1) << bits) - 1);
}

/// Special values, values with few significand bits (ties), neighbours of one, values near
/// underflow, anything.
uint64_t random_float(std::mt19937_64& random, const Format& f) {
  const uint64_t r = random(), sign = (r >> 63) != 0 ? f.sign() : 0;
  const uint64_t bias = static_cast<uint64_t>(f.bias()), all = f.sign() - 1;
  const uint64_t fraction = random() & (f.smallest_normal() - 1);
  const uint64_t specials[] = {0,
                               1,
                               f.smallest_normal() - 1,
                               f.smallest_normal(),
                               f.smallest_normal() + 1,
                               f.infinity() - 1,
                               f.infinity(),
                               f.infinity() + 1,
                               f.infinity() | f.smallest_normal() >> 1,
                               all,
                               bias << f.mantissa,
                               (bias << f.mantissa) + 1,
                               (bias << f.mantissa) - 1,
                               (bias + 1) << f.mantissa};
  const auto near_exponent = [&](uint64_t centre, uint64_t spread) {
    const uint64_t e = centre + (r >> 8) % (2 * spread + 1) - spread;
    const uint64_t top = (uint64_t(1) << f.exponent) - 2;
    return (e < 1 || e > top ? bias : e) << f.mantissa;
  };
  switch (r % 8) {
    case 0:
      return sign | specials[(r >> 8) % std::size(specials)];
    case 1:
      return sign | near_exponent(bias, 3) | (fraction >> (f.mantissa / 2) << (f.mantissa / 2));
    case 2:
      return sign | near_exponent(bias, static_cast<uint64_t>(f.mantissa) + 2) |
             (fraction & ~(all >> 3 & (f.smallest_normal() / 8 - 1)));
    case 3:
      return sign | near_exponent(bias / 2 + 1, 2) | fraction;  // products near the smallest normal
    case 4:
      return sign |
             near_exponent(static_cast<uint64_t>(f.mantissa) / 2 + 1,
                           static_cast<uint64_t>(f.mantissa) / 2) |
             fraction;
    case 5:
      return sign | near_exponent(bias, 8) | fraction;
    case 6:
      return sign | fraction >> (random() % static_cast<uint64_t>(f.mantissa));  // subnormal
    default:
      return random() & (all | f.sign());
  }
}

uint64_t random_value(std::mt19937_64& random, const Source& source) {
  switch (source.shape) {
    case Shape::Predicate:
      return random() & 1;
    case Shape::Amount: {
      const uint64_t r = random();
      return r % 16 == 0 ? r >> 32 : (r >> 8) % (r % 2 == 0 ? 33 : 70);
    }
    case Shape::F16:
      return random_float(random, kF16);
    case Shape::Bf16:
      return random_float(random, kBf16);
    case Shape::F32:
      return random_float(random, kF32);
    case Shape::F64:
      return random_float(random, kF64);
    case Shape::F16x2:
      return random_float(random, kF16) << 16 | random_float(random, kF16);
    case Shape::Bf16x2:
      return random_float(random, kBf16) << 16 | random_float(random, kBf16);
    case Shape::F32x2:
      return random_float(random, kF32) << 32 | random_float(random, kF32);
    case Shape::Small8x2:
      return random() & 0xffff & ((uint64_t(1) << source.bits) - 1);
    case Shape::Integer:
      break;
  }
  return random_integer(random, source.bits);
}

const char* register_type(int bits) {
  switch (bits) {
    case 1:
      return "pred";
    case 8:
      return "b8";
    case 16:
      return "b16";
    case 32:
      return "b32";
    default:
      return "b64";
  }
}

std::string load(int bits, const std::string& name, size_t offset) {
  if (bits == 1)
    return fmt::format("  ld.global.b32 %t, [%in+{}];\n  setp.ne.b32 {}, %t, 0;\n", offset, name);
  if (bits == 8) return fmt::format("  ld.global.u8 {}, [%in+{}];\n", name, offset);
  return fmt::format("  ld.global.b{} {}, [%in+{}];\n", bits, name, offset);
}
std::string store(int bits, const std::string& name, size_t offset) {
  const std::string put = fmt::format("  st.global.b64 [%out+{}], ", offset);
  if (bits == 64) return put + name + ";\n";
  if (bits == 1) return fmt::format("  selp.b64 %w, 1, 0, {};\n", name) + put + "%w;\n";
  return fmt::format("  cvt.u64.u{} %w, {};\n", bits, name) + put + "%w;\n";
}

std::string hex_list(const Case& c, const uint64_t* s) {
  std::string out;
  for (size_t i = 0; i < c.src.size(); ++i)
    out += fmt::format("{}0x{:x}", i == 0 ? "" : ", ", s[i]);
  return out;
}

}  // namespace

std::string declarations(const Case& c) {
  std::string out;
  for (size_t i = 0; i < c.dst.size(); ++i)
    out += fmt::format("  .reg .{} %d{};\n", register_type(c.dst[i]), i);
  for (size_t i = 0; i < c.src.size(); ++i)
    out += fmt::format("  .reg .{} %s{};\n", register_type(c.src[i].bits), i);
  return out;
}

std::string body(const Case& c) {
  std::string out;
  for (const char ch : c.text) out += ch == '$' ? '%' : ch;
  return "  " + out + "\n";
}

Batch::Batch(std::vector<Case> cases, int threads, uint64_t seed)
    : cases_(std::move(cases)), threads_(threads) {
  std::mt19937_64 random(seed);
  for (const Case& c : cases_) {
    input_at_.push_back(inputs_.size());
    for (const Source& source : c.src)
      for (int i = 0; i < threads; ++i) inputs_.push_back(random_value(random, source));
    arrange(c, random);
    output_at_.push_back(output_count_);
    output_count_ += c.dst.size() * static_cast<size_t>(threads);
  }
}

// Every fourth lane of the case added last.
void Batch::arrange(const Case& c, std::mt19937_64& random) {
  const size_t threads = static_cast<size_t>(threads_);
  for (size_t lane = 0; c.arrange && lane < threads; lane += 4) {
    uint64_t s[8] = {};
    uint64_t* first = &inputs_[input_at_.back() + lane];
    for (size_t i = 0; i < c.src.size(); ++i) s[i] = first[i * threads];
    c.arrange(random, s);
    for (size_t i = 0; i < c.src.size(); ++i) first[i * threads] = s[i];
  }
}

const uint64_t* Batch::input(size_t case_index, size_t source) const {
  return &inputs_[input_at_[case_index] + source * static_cast<size_t>(threads_)];
}
size_t Batch::output_at(size_t case_index, size_t dst) const {
  return output_at_[case_index] + dst * static_cast<size_t>(threads_);
}

std::string Batch::ptx(int ptx_version, const std::string& target) const {
  std::string out = fmt::format(
      ".version {}.{}\n.target {}\n.address_size 64\n.visible .entry alu_fuzz(.param .u64 in, "
      ".param .u64 out)\n{{\n"
      "  .reg .b64 %in, %out, %w;\n  .reg .b32 %t;\n"
      "  mov.u32 %t, %tid.x;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
      "  cvta.to.global.u64 %in, %in;\n  cvta.to.global.u64 %out, %out;\n"
      "  mul.wide.u32 %w, %t, 8;\n  add.s64 %in, %in, %w;\n  add.s64 %out, %out, %w;\n",
      ptx_version / 10, ptx_version % 10, target);
  for (size_t k = 0; k < cases_.size(); ++k) {
    const Case& c = cases_[k];
    out += "  {\n" + declarations(c);
    for (size_t i = 0; i < c.src.size(); ++i)
      out += load(c.src[i].bits, fmt::format("%s{}", i),
                  8 * (input_at_[k] + i * static_cast<size_t>(threads_)));
    out += body(c);
    for (size_t i = 0; i < c.dst.size(); ++i)
      out += store(c.dst[i], fmt::format("%d{}", i), 8 * output_at(k, i));
    out += "  }\n";
  }
  return out + "  ret;\n}\n";
}

Judgement Batch::judge(const std::vector<uint64_t>& outputs, bool strict) const {
  Judgement result;
  for (size_t k = 0; k < cases_.size(); ++k) {
    const Case& c = cases_[k];
    bool reported = false;
    for (int lane = 0; lane < threads_; ++lane) {
      uint64_t s[8] = {}, want[4] = {};
      for (size_t i = 0; i < c.src.size(); ++i) s[i] = input(k, i)[lane];
      if (c.defined && !c.defined(s) && !(strict && c.want)) {
        ++result.undefined;
        continue;
      }
      if (c.want) c.want(s, want);
      for (size_t i = 0; i < c.dst.size(); ++i) {
        const uint64_t got = outputs[output_at(k, i) + static_cast<size_t>(lane)];
        ++result.checked;
        if (c.accepts ? c.accepts(s, static_cast<int>(i), got) : got == want[i]) continue;
        ++result.wrong;
        if (reported) continue;
        reported = true;
        const std::string wanted =
            c.accepts ? "something within its limit" : fmt::format("0x{:x}", want[i]);
        result.first.push_back({k, lane,
                                fmt::format("{} of ({}): result {} is 0x{:x}, should be {}", c.text,
                                            hex_list(c, s), i, got, wanted)});
      }
    }
  }
  return result;
}

std::vector<uint64_t> Batch::expected() const {
  std::vector<uint64_t> out(output_count_, 0);
  for (size_t k = 0; k < cases_.size(); ++k) {
    const Case& c = cases_[k];
    for (int lane = 0; c.want && lane < threads_; ++lane) {
      uint64_t s[8] = {}, want[4] = {};
      for (size_t i = 0; i < c.src.size(); ++i) s[i] = input(k, i)[lane];
      c.want(s, want);
      for (size_t i = 0; i < c.dst.size(); ++i)
        out[output_at(k, i) + static_cast<size_t>(lane)] = want[i];
    }
  }
  return out;
}

std::vector<Case> cases_for(int sm, int ptx_version) {
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [=](const Case& c) { return c.sm > sm || c.ptx > ptx_version; });
  return cases;
}

}  // namespace kw::alu_fuzz
