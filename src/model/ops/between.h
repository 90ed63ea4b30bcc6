// What lies between the ends of an interval. Kernels of large truths contain this file as text.
#ifndef KW_ON_DEVICE
#pragma once
#endif

namespace kw::ops {

/// The range of the results of a pointwise op when an operand is known only up to an interval.
enum class Between : unsigned char {
  ByEnds,      // between the results at the ends
  OverZero,    // the same; also 0 when an operand may be 0
  OverOne,     // the same; also 1 when the operand may be 0
  Wave,        // in -1 … 1
  Pole,        // by the ends, unless the last operand may be 0
  TanPoles,    // by the ends, unless a pole of tan lies between them
  GammaPoles,  // by the ends, unless a pole of the gamma function lies between them
  Anything
};

}  // namespace kw::ops
