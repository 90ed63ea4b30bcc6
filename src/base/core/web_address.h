// The one reader of hosts and URLs: of providers, and of the Host and Origin that clients send. It
// accepts plain addresses only. What programs read differently (user names, backslashes, "127.1",
// "0x7f.1", dots at the end) is refused, so that no key goes where a check did not look.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kw {

struct WebPlace {
  std::string host;  // in lower case; IPv6 in brackets
  int port = -1;     // -1: none given
};
/// "host", "host:80", "[::1]:80".
std::optional<WebPlace> read_place(std::string_view text);

struct WebAddress {
  std::string scheme;  // "http" or "https"
  WebPlace place;
  std::string rest;  // path and query, as written
};
std::optional<WebAddress> read_address(std::string_view url);

/// The host of a URL; "" when the URL is not plain.
std::string host_of(std::string_view url);
/// Whether a host, as read_place() returns it, can only be this machine: "localhost", 127.0.0.0/8,
/// ::1 or such an IPv4 address within IPv6.
bool is_loopback(const std::string& host);

}  // namespace kw
