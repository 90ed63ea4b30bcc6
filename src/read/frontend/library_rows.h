// The parts of PyTorch, einops and Python's standard library that are written in Python
// (python/library), because they consist of other functions and modules. They are evaluated like a
// reference. The decorator @names gives the names that references use; the call follows Python's
// rules. @op does the same and makes the function an op row, whose signature is its def: methods of
// tensors, in-place forms and exported graphs call it, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "frontend/call.h"
#include "frontend/trace_state.h"

namespace kw::frontend {

struct LibraryRow {
  std::string names;      // in references, separated by blanks: "torch.nn.LSTM", "F.grid_sample"
  std::string file;       // in python/library
  std::string word;       // its name in that file
  std::string signature;  // of an op, as in the file
  bool is_op = false;
};

/// Everything that has a decorator.
const std::vector<LibraryRow>& library_rows();
/// A class or function of python/library that is not an op; not set for other names.
Result<std::optional<Value>> library_definition(TraceState& trace, const std::string& name);
/// What the row computes; a row that is written in Python is evaluated.
Result<Value> apply_row(TraceState& trace, const OpRow& row, Call& call);

}  // namespace kw::frontend
