// One method per kind of plan line: reads it into the draft. Used by the parser only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/cursor.h"
#include "kernel/draft.h"

namespace kw::kernel {

class LineReader {
 public:
  LineReader(const PlanLine& line, Draft& draft)
      : draft_(draft), cursor_(line.text, line.number, line.begin, line.end, draft.diagnostics) {}

  /// Reads the line. False when a problem ended the reading early; the problem was reported.
  bool read();

 private:
  struct Keyword;
  static const std::vector<Keyword>& keywords();

  bool version_again();
  bool task();
  bool recorded();
  bool tensor();
  bool scalar();
  bool let();
  bool number_let(LetDecl decl);
  bool scalar_dtype(const char* what, tensor::DType& type);
  bool tune();
  bool method();
  bool tensormap();
  bool when();
  bool launch();
  bool repeat();
  bool end();

  bool new_name(std::string_view what, std::string& name);
  bool tensor_shape(TensorDecl& decl);
  bool tensor_clauses(TensorDecl& decl);
  bool tensor_fill(TensorDecl& decl);
  bool tensor_align(TensorDecl& decl);
  bool dtype(tensor::DType& type);
  bool scalar_default(ScalarDecl& decl);
  bool integer_default(ScalarDecl& decl);
  bool tune_values(TuneDecl& decl);
  bool method_off(MethodDecl& decl);
  bool recorded_params(LaunchDecl& decl);
  bool recorded_param(RecordedParam& param);
  bool recorded_pointer(uint32_t at, RecordedParam& param);
  bool launch_clause(LaunchDecl& decl, std::vector<std::string>& seen);
  bool expression(Expr& out);
  bool expressions(std::string_view what, size_t least, size_t most, std::vector<Expr>& out);
  Group& open_group();

  Draft& draft_;
  Cursor cursor_;
  Role role_ = Role::Input;            // of a tensor line
  InputKind kind_ = InputKind::Input;  // of a tensor line
};

}  // namespace kw::kernel
