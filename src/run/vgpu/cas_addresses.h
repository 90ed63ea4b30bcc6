// The plain loads that only start a compare-and-swap loop: those from an address that the same
// function also passes to atom.cas.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::vgpu {

class CasAddresses {
 public:
  CasAddresses() = default;
  /// `destinations` is, per instruction, the number of leading operands that it writes.
  CasAddresses(const ptx::Function& function, std::span<const int> destinations);

  bool starts_loop(const ptx::Operand& where) const;

 private:
  std::pair<int, int64_t> based(const ptx::Operand& where) const;

  const ptx::Function* function_ = nullptr;
  std::vector<int> definitions_;  // per register: its only writer; negative: none or several
  std::set<std::pair<int, int64_t>> addresses_;  // register and offset
};

}  // namespace kw::vgpu
