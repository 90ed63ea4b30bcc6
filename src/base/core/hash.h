// Content hashes, used as names of cache entries and records. Not for secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kw {

/// 64 bits, for checksums and hash maps.
uint64_t hash64(std::string_view bytes, uint64_t seed = 0);
/// 128 bits as 32 lower-case hex digits, for content-addressed names.
std::string hash_hex(std::string_view bytes);

}  // namespace kw
