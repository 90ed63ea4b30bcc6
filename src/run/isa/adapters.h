// Handlers that wrap another row: they run it in another rounding mode, or with registers wider
// than its types. AluArgs::aux holds the index of the inner row. Internal to this module.
#pragma once

#include "isa/alu.h"
#include "numeric/formats.h"

namespace kw::isa {

/// Runs the row at index args.aux in a directed rounding mode. That row must not need an aux of its
/// own.
AluFn rounded(numeric::Round round);

/// Widths in bytes of the registers used and of those that the inner row expects.
struct Widths {
  uint8_t src = 4, dst = 4;
  uint8_t natural_src = 4, natural_dst = 4;
  bool sign_extend = false;
};
/// The aux for resize(): the inner row, its own aux (at most kCvtAuxBits bits) and the widths.
uint32_t resize_aux(uint32_t row, uint32_t inner_aux, const Widths& widths);
/// One source, one destination. Reads the low part of a wider source and extends the result into a
/// wider destination.
void resize(std::byte* file, const AluArgs& args, uint32_t mask);

}  // namespace kw::isa
