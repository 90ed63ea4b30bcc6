// Whether a URL leads to this machine: a key may go there without encryption, and no proxy may see
// it.
#pragma once

#include <string>

namespace kw::llm {

/// "https://host:port/path" -> "host"; brackets of IPv6 stay.
std::string host_of(const std::string& url);
/// "localhost", 127.0.0.0/8 or ::1; a name that only begins so ("127.example.com") is not.
bool is_loopback(const std::string& host);

}  // namespace kw::llm
