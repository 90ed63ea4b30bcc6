#include "core/web_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/text.h"

namespace kw {
namespace {

constexpr size_t kLongestName = 253, kLongestLabel = 63;
constexpr int64_t kMostPort = 65535;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLongestLabel &&
         std::ranges::all_of(label, is_name_character) && label.front() != '-' &&
         label.back() != '-';
}

/// Programs read a name whose last label is a number as an address: "127.1", "0x7f000001", "010.1".
bool ends_in_number(std::string_view label) {
  if (std::ranges::all_of(label, is_digit)) return true;
  return label.starts_with("0x") && std::ranges::all_of(label.substr(2), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'f');
         });
}

bool is_host(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  if (host.starts_with("["))
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), bytes.data()) == 1;
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return true;
  const std::vector<std::string> labels = split(host, '.');
  return host.size() <= kLongestName && std::ranges::all_of(labels, is_label) &&
         !ends_in_number(labels.back());
}

bool is_plain(std::string_view rest) {
  return std::ranges::all_of(rest, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
}

}  // namespace

std::optional<WebPlace> read_place(std::string_view text) {
  const size_t bracket = text.starts_with("[") ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const size_t colon = text.find(':', bracket);
  WebPlace place{lower_case(text.substr(0, colon)), -1};
  if (place.host.starts_with("[") != place.host.ends_with("]") || !is_host(place.host))
    return std::nullopt;
  if (colon == std::string_view::npos) return place;
  const std::string_view digits = text.substr(colon + 1);
  if (digits.empty() || digits.size() > 5 || !std::ranges::all_of(digits, is_digit))
    return std::nullopt;
  place.port = static_cast<int>(parse_int(digits).value_or(kMostPort + 1));
  return place.port <= kMostPort ? std::optional(place) : std::nullopt;
}

std::optional<WebAddress> read_address(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos || !is_plain(url)) return std::nullopt;
  const std::string_view behind = url.substr(scheme + 3);
  const size_t end = std::min(behind.find_first_of("/?#"), behind.size());
  WebAddress address{lower_case(url.substr(0, scheme)), {}, std::string(behind.substr(end))};
  const auto place = read_place(behind.substr(0, end));
  if (!place || (address.scheme != "http" && address.scheme != "https")) return std::nullopt;
  address.place = *place;
  return address;
}

std::string host_of(std::string_view url) {
  const auto address = read_address(url);
  return address ? address->place.host : "";
}

bool is_loopback(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return bytes[0] == 127;
  if (!host.starts_with("[") || !host.ends_with("]")) return host == "localhost";
  const std::string inside = host.substr(1, host.size() - 2);
  if (::inet_pton(AF_INET6, inside.c_str(), bytes.data()) != 1) return false;
  constexpr std::array<unsigned char, 16> kOwn{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  constexpr std::array<unsigned char, 13> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
  return bytes == kOwn || std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

}  // namespace kw
