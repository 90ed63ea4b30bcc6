// A Python float or int that follows from extents or runtime scalars keeps how it follows, so that
// a kernel can compute it for other shapes and calls. Literals have no origin.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/promote.h"

namespace kw::frontend {

/// A number among the parameters of the reference. `fixed`: its value decided something that a
/// graph does not express (a shape, a loop, a branch), so the task holds for this value only.
struct RuntimeScalar {
  std::string name;
  bool fixed = false;
};

struct NumberOrigin {
  std::string text;         // in the grammar of a `let` with a dtype: "1 / sqrt(D)"
  bool is_operand = false;  // needs no parentheses inside another expression
  std::vector<graph::Dim> dims;
  std::vector<std::shared_ptr<RuntimeScalar>> scalars;  // shared: all numbers of a trace mark them
  /// Set when the number is base * factor / divisor: int() of it is an extent.
  std::optional<graph::Dim> base;
  double factor = 1;
  graph::Dim divisor = 1;
};

class Float {
 public:
  Float(double value) : value_(value) {}
  Float(double value, std::shared_ptr<const NumberOrigin> origin, bool whole)
      : value_(value), origin_(std::move(origin)), whole_(whole) {}

  /// The value. Runtime scalars behind it become constants of the task.
  operator double() const {
    fix();
    return value_;
  }
  /// The value, for messages and for the trace's own arithmetic.
  double shown() const { return value_; }
  void fix() const {
    if (!origin_) return;
    for (const auto& scalar : origin_->scalars) scalar->fixed = true;
  }
  const NumberOrigin* origin() const { return origin_.get(); }
  bool is_int() const { return whole_; }  // an int in Python
  graph::Number number() const {
    return origin_ ? graph::Number(value_, origin_->text) : graph::Number(value_);
  }

 private:
  double value_;
  std::shared_ptr<const NumberOrigin> origin_;  // shared: values are copied, origins never change
  bool whole_ = false;
};

}  // namespace kw::frontend
