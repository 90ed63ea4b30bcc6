#include "report/picture.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::report {

namespace {

constexpr int64_t kBar = 48;
constexpr const char* kIndent = "      ";

int64_t elements_of(const kernel::Buffer& buffer) {
  return buffer.bytes / tensor::dtype_size(buffer.dtype);
}

std::string spaces(int64_t n) {
  return std::string(static_cast<size_t>(std::max<int64_t>(n, 0)), ' ');
}

std::string plural(int64_t n) { return n == 1 ? "" : "s"; }

std::string outside_picture(const kernel::Buffer& buffer, int64_t element, int64_t count) {
  const std::string bar(static_cast<size_t>(kBar), '#');
  const std::string last = count > 0 ? std::to_string(count - 1) : "";
  const std::string ends = count > 1
                               ? "0" + spaces(kBar - 1 - static_cast<int64_t>(last.size())) + last
                               : "0" + spaces(kBar - 1);
  if (element >= count) {
    const int64_t past = element - count + 1;
    const std::string gap = past == 1 ? "" : "  … ";
    return fmt::format("{0}[{1}]{2}^\n{0} {3} {4}{5}[{6}] is {7} past the end\n", kIndent, bar, gap,
                       ends, spaces(static_cast<int64_t>(past == 1 ? 0 : 4)), buffer.name, element,
                       past);
  }
  const std::string note = fmt::format("{}[{}] is {} element{} before the start", buffer.name,
                                       element, -element, plural(-element));
  const std::string gap = element == -1 ? "" : " … ";
  return fmt::format("{0}^{1}[{2}]\n{0}|{3}{4}\n{0}{5}\n", kIndent, gap, bar,
                     spaces(element == -1 ? 1 : 4), ends, note);
}

std::string inside_picture(const kernel::Buffer& buffer, int64_t element, int64_t count) {
  const int64_t at = count > 1 ? static_cast<int64_t>(static_cast<double>(element) /
                                                      static_cast<double>(count - 1) *
                                                      static_cast<double>(kBar - 1))
                               : 0;
  std::string bar(static_cast<size_t>(kBar), '#');
  bar[static_cast<size_t>(at)] = '@';
  return fmt::format("{0}[{1}]  0 … {2}\n{0} {3}^ {4}\n", kIndent, bar, count - 1, spaces(at),
                     element_name(buffer, element));
}

}  // namespace

std::string element_name(const kernel::Buffer& buffer, int64_t element) {
  if (element < 0 || element >= elements_of(buffer) || !buffer.strides.empty() ||
      buffer.shape.size() < 2) {
    return fmt::format("{}[{}]", buffer.name, element);
  }
  std::vector<std::string> index(buffer.shape.size());
  for (size_t d = buffer.shape.size(); d-- > 0;) {
    const int64_t extent = std::max<int64_t>(buffer.shape[d], 1);
    index[d] = std::to_string(element % extent);
    element /= extent;
  }
  return buffer.name + "[" + join(index, ", ") + "]";
}

std::string buffer_picture(const kernel::Buffer& buffer, int64_t element) {
  const int64_t count = elements_of(buffer);
  std::vector<std::string> extents;
  for (const int64_t extent : buffer.shape) extents.push_back(std::to_string(extent));
  std::string out =
      fmt::format("    {}: {}[{}], {} element{}\n", buffer.name, tensor::dtype_name(buffer.dtype),
                  join(extents, ", "), count, plural(count));
  const bool inside = element >= 0 && element < count;
  return out + (inside ? inside_picture(buffer, element, count)
                       : outside_picture(buffer, element, count));
}

}  // namespace kw::report
