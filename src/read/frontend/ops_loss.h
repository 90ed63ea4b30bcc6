// Helpers for the rows of losses: how the losses of the elements become one number. Only for the op
// rows.
#pragma once

#include "frontend/ops_formula.h"

namespace kw::frontend {

enum class Reduction : uint8_t { None, Mean, Sum, BatchMean };

/// The value of reduction= ("mean", or ATen's 1), or of the older size_average= and reduce=.
Result<Reduction> reduction_of(Call& call);
/// The elements' losses, reduced as given.
Result<Value> reduced(Formula& f, const Term& loss, Reduction reduction);
/// The same with the call's own reduction=.
Result<Value> reduced(Formula& f, const Term& loss);
/// An Error with the text `otherwise` unless both have the same extents.
Status need_same_sizes(Formula& f, const Term& a, const Term& b, const std::string& otherwise);

}  // namespace kw::frontend
