// Writes device code for jumps of one pointwise result: where discontinuities are near, and how the
// operands' jumps reach the result. Text only; jump_rules.h has the rules that the code calls.
#pragma once

#include <string>

#include "truth/chunk_program.h"

namespace kw::truth_gpu {

/// The names of an instruction's operands and result; `jump` is "" for an operand without a jump.
struct PointText {
  std::string in[3], jump[3], result, spec;
};

/// Lines to put after those that define the result. They may add the errors of both branches to the
/// result. When there is no rule for a jump, they set a flag: the interpreter then computes the
/// truth.
struct JumpText {
  std::string lines;
  bool defined = false;  // whether the lines define a Jump of that name
};
JumpText write_jump(const truth::Instruction& code, const PointText& text, const std::string& name);

/// The struct in gpu_rules.cuh for a smooth function of one argument, or for a step function;
/// nullptr when there is none.
const char* smooth_function(graph::Op op);
const char* step_function(graph::Op op);
/// Returns the operator, such as "<="; nullptr when the op is not a comparison.
const char* comparison_text(graph::Op op);

}  // namespace kw::truth_gpu
