#include "ports/audit_hash.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "os/parallel.h"

namespace kw::ports {
namespace {

// With fewer words, a thread takes longer to start than to hash.
constexpr size_t kWordsPerThread = size_t{1} << 19;
constexpr size_t kMostThreads = 32;

/// The hash of whole words; the first word has number `first`.
uint64_t hash_words(const std::byte* bytes, size_t first, size_t count, uint64_t seed) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + 8 * i, 8);
    sum += audit_mix(word, first + i, seed);
  }
  return sum;
}

}  // namespace

uint64_t audit_hash(std::span<const std::byte> bytes, uint64_t seed) {
  const size_t words = bytes.size() / 8;
  const size_t most =
      std::min<size_t>(kMostThreads, std::max(1u, std::thread::hardware_concurrency()));
  const size_t parts = std::clamp<size_t>(words / kWordsPerThread, 1, most);
  std::vector<uint64_t> sums(parts);
  os::parallel_for(static_cast<int>(parts), static_cast<int64_t>(parts), [&](int, int64_t unit) {
    const auto part = static_cast<size_t>(unit);
    const size_t first = words * part / parts;
    const size_t count = words * (part + 1) / parts - first;
    sums[part] = hash_words(bytes.data() + 8 * first, first, count, seed);
  });
  uint64_t sum = 0;
  for (uint64_t part : sums) sum += part;
  if (const size_t rest = bytes.size() % 8; rest > 0) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * words, rest);
    sum += audit_mix(word, words, seed);
  }
  return sum;
}

}  // namespace kw::ports
