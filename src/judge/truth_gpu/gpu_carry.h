// Device code for the near discontinuities of one pointwise result: where they begin, and how those
// of its operands reach it. Text only; gpu_jumps.cuh has the rules it calls.
#pragma once

#include <string>

#include "truth/program.h"

namespace kw::truth_gpu {

/// What the operands and the result of an instruction are called; a jump is "" where there is none.
struct PointText {
  std::string in[3], jump[3], result, spec;
};

/// Lines behind those that define the result. They may join the errors of both branches to the
/// result's, and leave to the interpreter what there is no rule for.
struct JumpText {
  std::string lines;
  bool defined = false;  // whether there is a Jump of that name now
};
JumpText write_jump(const truth::Instruction& code, const PointText& text, const std::string& name);

/// The struct of gpu_rules.cuh that has a function of one argument, or one with steps.
const char* smooth_function(graph::Op op);
const char* step_function(graph::Op op);
/// "<="; nullptr: no comparison.
const char* comparison_text(graph::Op op);

}  // namespace kw::truth_gpu
