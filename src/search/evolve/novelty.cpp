// Compilers number registers and labels freely, so one changed line renames a whole kernel. Without
// names, a kernel is a sequence of instructions; runs of four of them are the features. A MinHash
// of the set of runs has 256 bytes for any kernel size. So the journal can store it, and a resumed
// run needs no compiler to compute novelty. An edit distance would be exact, but needs both texts.
// The cost: the distance is an estimate from 64 hashes.
#include "evolve/novelty.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "core/ascii.h"
#include "core/hash.h"
#include "core/text.h"

namespace kw::evolve {
namespace {

constexpr size_t kRun = 4;  // instructions


/// The operands without names and numbers: "%r", "L", "0".
std::string plain_operands(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '%') {
      // %r12 and %rd7 are registers; %tid.x is a special value with a fixed meaning.
      size_t end = i + 1;
      while (end < text.size() && (is_name_char(text[end]) || text[end] == '.')) ++end;
      std::string_view name = text.substr(i, end - i);
      while (name.size() > 1 && std::isdigit(static_cast<unsigned char>(name.back())) != 0)
        name.remove_suffix(1);
      out += name;
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (i < text.size() && (is_name_char(text[i]) || text[i] == '.')) ++i;
      out += '0';
    } else if (is_name_char(c) || c == '$') {
      while (i < text.size() && (is_name_char(text[i]) || text[i] == '$')) ++i;
      out += 'L';
    } else {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
      ++i;
    }
  }
  return out;
}

/// One statement without the register of its guard; "" when it is not an instruction.
std::string plain_instruction(std::string_view line) {
  line = trim(line.substr(0, line.find("//")));
  if (line.empty() || line.front() == '.' || line.front() == '$') return "";
  if (line.back() != ';') return "";
  line.remove_suffix(1);
  std::string guard;
  if (line.front() == '@') {
    guard = line.size() > 1 && line[1] == '!' ? "@!p " : "@p ";
    const size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) return "";
    line = trim(line.substr(blank));
  }
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  return guard + std::string(line.substr(0, end)) + " " + plain_operands(line.substr(end));
}

uint32_t mixed(uint64_t run, size_t which) {
  uint64_t x = run + 0x9e3779b97f4a7c15u * (which + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<uint32_t>((x ^ (x >> 31)) >> 32);
}

}  // namespace

std::string normalised_ptx(std::string_view ptx) {
  std::string out;
  for (const std::string_view line : split_lines(ptx)) {
    const std::string plain = plain_instruction(line);
    if (!plain.empty()) out += plain + "\n";
  }
  return out;
}

std::optional<CodeFingerprint> fingerprint_of(std::string_view ptx) {
  const std::string normal = normalised_ptx(ptx);
  if (normal.empty()) return std::nullopt;
  std::vector<uint64_t> lines;
  for (const std::string_view line : split_lines(normal)) lines.push_back(hash64(line));
  CodeFingerprint fingerprint;
  fingerprint.exact = hash64(ptx);
  fingerprint.least.fill(UINT32_MAX);
  const size_t run = std::min(kRun, lines.size());
  for (size_t i = 0; i + run <= lines.size(); ++i) {
    uint64_t key = 0;
    for (size_t k = 0; k < run; ++k) key = key * 0x100000001b3u + lines[i + k];
    for (size_t which = 0; which < CodeFingerprint::kHashes; ++which)
      fingerprint.least[which] = std::min(fingerprint.least[which], mixed(key, which));
  }
  return fingerprint;
}

double distance(const CodeFingerprint& one, const CodeFingerprint& other) {
  if (one.exact == other.exact) return 0;
  size_t differ = 0;
  for (size_t i = 0; i < CodeFingerprint::kHashes; ++i) differ += one.least[i] != other.least[i];
  return static_cast<double>(differ) / CodeFingerprint::kHashes;
}

std::string to_hex(const CodeFingerprint& fingerprint) {
  std::string out = fmt::format("{:016x}", fingerprint.exact);
  for (const uint32_t value : fingerprint.least) out += fmt::format("{:08x}", value);
  return out;
}

std::optional<CodeFingerprint> fingerprint_from_hex(std::string_view text) {
  if (text.size() != 16 + 8 * CodeFingerprint::kHashes) return std::nullopt;
  const auto read = [](std::string_view digits, auto& value) {
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return failed == std::errc() && end == digits.data() + digits.size();
  };
  CodeFingerprint fingerprint;
  bool whole = read(text.substr(0, 16), fingerprint.exact);
  for (size_t i = 0; i < CodeFingerprint::kHashes; ++i)
    whole = whole && read(text.substr(16 + 8 * i, 8), fingerprint.least[i]);
  return whole ? std::optional(fingerprint) : std::nullopt;
}

}  // namespace kw::evolve
