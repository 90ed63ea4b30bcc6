// How different two kernels are as code: PTX without what compilers are free to choose, as a small
// print that can be kept and compared. Says nothing about speed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kw::evolve {

/// The instructions alone, one per line: no comments, directives, names of registers and labels,
/// and of constants only whether there is one.
std::string normalised_ptx(std::string_view ptx);

/// Least hashes of runs of instructions. Two prints agree in about the share of runs that both
/// kernels have.
struct Print {
  static constexpr size_t kHashes = 64;
  std::array<uint32_t, kHashes> least{};
  uint64_t exact = 0;  // of all of it, constants and launches included
  bool operator==(const Print&) const = default;
};

/// Nothing for a text without an instruction.
std::optional<Print> print_of(std::string_view ptx);
/// 0: the same code, up to 1: nothing in common.
double distance(const Print& one, const Print& other);

std::string to_hex(const Print& print);
/// Nothing when it is not what to_hex() writes.
std::optional<Print> print_from_hex(std::string_view text);

}  // namespace kw::evolve
