#include "store/run_id.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "core/ascii.h"

namespace kw::store {

namespace {

constexpr size_t kLongestName = 32;

std::tm utc(int64_t seconds) {
  const std::time_t when = seconds;
  std::tm parts{};
  gmtime_r(&when, &parts);
  return parts;
}

// Keeps only characters that need no quoting in any shell.
std::string as_file_name(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain = is_ascii_alnum(c);
    text += plain || c == '_' || c == '.' ? c : '_';
  }
  return text.empty() ? "run" : text;
}

}  // namespace

int64_t wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string utc_text(int64_t seconds) {
  const std::tm at = utc(seconds);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", at.tm_year + 1900, at.tm_mon + 1,
                     at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec);
}

int64_t utc_seconds(const std::string& text) {
  std::tm at{};
  int read = 0;
  const int fields =
      std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &at.tm_year, &at.tm_mon, &at.tm_mday,
                  &at.tm_hour, &at.tm_min, &at.tm_sec, &read);
  if (fields != 6 || read != static_cast<int>(text.size())) return -1;
  at.tm_year -= 1900;
  at.tm_mon -= 1;
  return timegm(&at);
}

std::string run_id(int64_t seconds, std::string_view name, uint64_t salt) {
  const std::tm at = utc(seconds);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}-{}-{:012x}", at.tm_year + 1900, at.tm_mon + 1,
                     at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec, as_file_name(name),
                     salt & 0xffff'ffff'ffff);
}

}  // namespace kw::store
