#include "exec/audit_hash.h"

#include <cstring>

namespace kw::exec {

uint64_t audit_hash(std::span<const std::byte> bytes, uint64_t seed) {
  const size_t words = bytes.size() / 8;
  uint64_t sum = 0;
  for (size_t i = 0; i < words; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * i, 8);
    sum += audit_mix(word, i, seed);
  }
  if (const size_t rest = bytes.size() % 8; rest > 0) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * words, rest);
    sum += audit_mix(word, words, seed);
  }
  return sum;
}

}  // namespace kw::exec
