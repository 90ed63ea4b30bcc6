#include "suites/number_text.h"

#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "core/text.h"

namespace kw::suites {

namespace {
constexpr const char* kNothing = "–";
}

std::string rate_text(const Rate& rate) {
  if (rate.of == 0) return kNothing;
  return fmt::format("{}/{} ({:.1f} %, 95 % interval {:.1f} … {:.1f} %)", rate.count, rate.of,
                     100 * rate.share.value, 100 * rate.share.low, 100 * rate.share.high);
}

std::string speedup_text(const std::optional<Estimated>& estimate) {
  if (!estimate) return kNothing;
  return fmt::format("{:.3f}x ({:.3f} … {:.3f})", estimate->value, estimate->low, estimate->high);
}

std::string times_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.2f}x", *number) : kNothing;
}

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : kNothing;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string failures_text(const Totals& totals) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : totals.failures)
    parts.push_back(fmt::format("{} {}", count, kind));
  return join(parts, ", ");
}

std::string short_text(const std::string& text, size_t most) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= most) return line;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "…";
}

}  // namespace kw::suites
