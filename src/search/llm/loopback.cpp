#include "llm/loopback.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace kw::llm {

std::string host_of(const std::string& url) {
  const size_t scheme = url.find("://"), begin = scheme == std::string::npos ? 0 : scheme + 3;
  std::string place = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (const size_t user = place.rfind('@'); user != std::string::npos) place.erase(0, user + 1);
  if (place.starts_with("[")) return place.substr(0, place.find(']') + 1);
  return place.substr(0, place.find(':'));
}

bool is_loopback(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return bytes[0] == 127;
  if (!host.starts_with("[") || !host.ends_with("]")) return host == "localhost";
  const std::string inside = host.substr(1, host.size() - 2);
  if (::inet_pton(AF_INET6, inside.c_str(), bytes.data()) != 1) return false;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](auto byte) { return byte == 0; }) &&
         bytes.back() == 1;
}

}  // namespace kw::llm
