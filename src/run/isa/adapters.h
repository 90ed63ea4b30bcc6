// Handlers that wrap another row: run it under another rounding mode, or with registers wider than
// its types. The inner row's index travels in AluArgs::aux. Internal to this module.
#pragma once

#include "isa/alu.h"
#include "numeric/formats.h"

namespace kw::isa {

/// Runs the row at index args.aux (which must not need an aux of its own) in a directed rounding
/// mode.
AluFn rounded(numeric::Round round);

/// Widths in bytes of the registers used and of those the inner row expects.
struct Widths {
  uint8_t src = 4, dst = 4;
  uint8_t natural_src = 4, natural_dst = 4;
  bool sign_extend = false;
};
/// The aux for resize(): inner row, its own aux (at most kCvtAuxBits bits) and the widths.
uint32_t resize_aux(uint32_t row, uint32_t inner_aux, const Widths& widths);
/// One source, one destination: reads the low part of a wider source, extends the result into a
/// wider destination.
void resize(std::byte* file, const AluArgs& args, uint32_t mask);

}  // namespace kw::isa
