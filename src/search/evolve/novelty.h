// How different two kernels are as code: a small fingerprint of normalised PTX that can be stored
// and compared. It does not say which kernel is faster.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kw::evolve {

/// Only the instructions, one per line: no comments, directives or names of registers and labels;
/// every constant becomes 0.
std::string normalised_ptx(std::string_view ptx);

/// A MinHash of the runs of instructions. The share of equal hashes is about the share of runs that
/// both kernels have.
struct CodeFingerprint {
  static constexpr size_t kHashes = 64;
  std::array<uint32_t, kHashes> least{};
  uint64_t exact = 0;  // hash of the whole text, constants and launches included
  bool operator==(const CodeFingerprint&) const = default;
};

/// Not set for a text without an instruction.
std::optional<CodeFingerprint> fingerprint_of(std::string_view ptx);
/// From 0 (the same code) to 1 (nothing in common).
double distance(const CodeFingerprint& one, const CodeFingerprint& other);

std::string to_hex(const CodeFingerprint& fingerprint);
/// Not set when the text is not from to_hex().
std::optional<CodeFingerprint> fingerprint_from_hex(std::string_view text);

}  // namespace kw::evolve
