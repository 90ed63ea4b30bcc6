// What the rows of losses share: how the errors of single elements become one number. Only for the
// op rows.
#pragma once

#include "frontend/ops_formula.h"

namespace kw::frontend {

enum class Reduction : uint8_t { None, Mean, Sum, BatchMean };

/// reduction= ("mean", or ATen's 1), and what size_average= and reduce= meant before it.
Result<Reduction> reduction_of(Call& call);
/// The loss of every element, as asked for.
Result<Value> reduced(Formula& f, const Term& loss, Reduction reduction);
/// The same, by the call's own reduction=.
Result<Value> reduced(Formula& f, const Term& loss);
/// Both have the same extents, or an Error with these words.
Status need_same_sizes(Formula& f, const Term& a, const Term& b, const std::string& otherwise);

}  // namespace kw::frontend
