// printf inside kernels. The format string and the arguments come from an untrusted kernel, so the
// host's printf never gets that string. Each conversion is parsed, its width is limited and its
// length is replaced by one that fits the value. A new format is built from these parts. Arguments
// are read through resolve(), so bad pointers become findings. Output is limited to 1 MiB for the
// whole run.
#include "vgpu/print.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include "vgpu/report.h"
#include "vgpu/resolve.h"
#include "vgpu/scheduler.h"

namespace kw::vgpu {
namespace {

constexpr uint64_t kPrintCost = 128;  // instructions that one lane's call stands for
constexpr size_t kMaxPrinted = 1 << 20;
constexpr int kMaxText = 4096;   // of one format or string
constexpr int kMaxWidth = 1000;  // of one conversion

struct Reader {
  Machine& m;
  Warp& w;
  int lane;
  uint32_t pc;

  bool bytes(uint64_t address, uint32_t count, void* out) const {
    const Target target = resolve(m, w, lane, pc, ptx::Space::Generic, address, count, false);
    if (target.kind == Target::Kind::None) return false;
    std::memcpy(out, target.data, count);
    return true;
  }
  std::string text(uint64_t address) const {
    std::string result;
    char c = 0;
    while (result.size() < kMaxText && bytes(address + result.size(), 1, &c) && c != 0) result += c;
    return result;
  }
};

uint64_t argument(const Machine& m, const Warp& w, const Inst& in, size_t index, int lane) {
  const FrameCopy& frame = m.launch.code->frame_copies[in.target][index];
  uint64_t value = 0;
  std::memcpy(&value, w.regs + frame.from + static_cast<uint32_t>(lane) * frame.from_bytes,
              std::min<uint32_t>(8, frame.from_bytes));
  return value;
}

/// One conversion of a format: flags and width are kept, the length is rewritten for the host.
struct Conversion {
  std::string flags;
  bool wide = false;  // ll, l, z, j, t
  char letter = 0;
};

// Formats a string like "%-8.3lld"; a star takes an int from the argument buffer.
class Formatter {
 public:
  Formatter(const Reader& reader, uint64_t arguments) : reader_(reader), at_(arguments) {}

  std::string run(const std::string& format) {
    std::string out;
    for (size_t i = 0; i < format.size() && out.size() < kMaxPrinted; ++i) {
      if (format[i] != '%') {
        out += format[i];
      } else if (i + 1 < format.size() && format[i + 1] == '%') {
        out += '%';
        ++i;
      } else {
        out += convert(format, i);
      }
    }
    return out;
  }

 private:
  template <class T>
  T next() {
    T value{};
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    reader_.bytes(at_, sizeof(T), &value);
    at_ += sizeof(T);
    return value;
  }

  std::string convert(const std::string& format, size_t& i) {
    Conversion c;
    size_t j = i + 1;
    for (; j < format.size() && std::strchr("-+ #0", format[j]) != nullptr; ++j) {
      if (c.flags.find(format[j]) == std::string::npos) c.flags += format[j];
    }
    if (const auto width = number(format, j)) c.flags += std::to_string(*width);
    if (j < format.size() && format[j] == '.') {
      const int precision = number(format, ++j).value_or(0);
      if (precision >= 0) c.flags += "." + std::to_string(precision);
    }
    for (; j < format.size() && std::strchr("hlzjtLq", format[j]) != nullptr; ++j)
      c.wide = c.wide || format[j] != 'h';
    if (j >= format.size()) return format.substr(i);
    c.letter = format[j];
    const size_t start = i;
    i = j;
    return value(c, format.substr(start, j - start + 1));
  }

  // Reads digits or a star at `j`. The result is limited: the host's printf would accept any width.
  std::optional<int> number(const std::string& format, size_t& j) {
    if (j < format.size() && format[j] == '*') {
      ++j;
      return std::clamp(next<int32_t>(), -kMaxWidth, kMaxWidth);
    }
    const size_t start = j;
    int result = 0;
    for (; j < format.size() && format[j] >= '0' && format[j] <= '9'; ++j)
      result = std::min(kMaxWidth, 10 * result + (format[j] - '0'));
    return j == start ? std::nullopt : std::optional(result);
  }

  std::string value(const Conversion& c, const std::string& original) {
    switch (c.letter) {
      case 'd':
      case 'i':
        return print(c.flags + "lld",
                     c.wide ? static_cast<long long>(next<int64_t>()) : next<int32_t>());
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return print(c.flags + "ll" + c.letter,
                     c.wide ? static_cast<unsigned long long>(next<uint64_t>()) : next<uint32_t>());
      case 'c':
        return print(c.flags + "c", next<int32_t>());
      case 'p':
        return fmt::format("{:#x}", next<uint64_t>());
      case 's':
        return print(c.flags + "s", reader_.text(next<uint64_t>()).c_str());
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return print(c.flags + c.letter, next<double>());
      default:
        return original;
    }
  }

  // The format is rebuilt from the checked parts above, never taken from the kernel unchanged.
  template <class T>
  static std::string print(const std::string& conversion, T value) {
    char buffer[kMaxText + 512];
    const std::string format = "%" + conversion;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int n = std::snprintf(buffer, sizeof buffer, format.c_str(), value);
#pragma GCC diagnostic pop
    return std::string(buffer,
                       static_cast<size_t>(std::clamp(n, 0, static_cast<int>(sizeof buffer) - 1)));
  }

  Reader reader_;
  uint64_t at_;
};

}  // namespace

void print_lanes(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  ++m.progress;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t arguments = argument(m, w, in, 1, lane);
    const Reader reader{m, w, lane, pc};
    const std::string format = reader.text(argument(m, w, in, 0, lane));
    const auto count = static_cast<uint32_t>(std::ranges::count(format, '%'));
    charge(m, kPrintCost + format.size());
    if (m.printed.size() < kMaxPrinted) {
      const std::string text = Formatter(reader, arguments).run(format);
      m.printed.append(text, 0, kMaxPrinted - m.printed.size());
      if (m.printed.size() >= kMaxPrinted) m.printed += "\n… (printf output over 1 MiB is cut)\n";
    }
    watch_clock(m);
    std::memcpy(w.regs + in.args.dst[0] + lane * 4, &count, 4);
    if (w.tainted) std::memset(w.shadow + in.args.dst[0] + lane * 4, 0, 4);
  }
}

void assert_fail(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const int lane = __builtin_ctz(mask);
  const Reader reader{m, w, lane, pc};
  const Inst& in = m.code[pc];
  report_fatal(m, record::FindingKind::Trap, actor(m, w, lane, pc), std::nullopt, [&] {
    return fmt::format("assertion '{}' fails in {}", reader.text(argument(m, w, in, 0, lane)),
                       reader.text(argument(m, w, in, 3, lane)));
  });
}

}  // namespace kw::vgpu
