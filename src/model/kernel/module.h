// A parsed kernel module: the declarations of its plan lines, and its text. See
// docs/kernel-module.md.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/expr.h"
#include "kernel/number_expr.h"
#include "kernel/program.h"
#include "tensor/dtype.h"

namespace kw::kernel {

inline constexpr int64_t kDefaultAlign = 16;
inline constexpr int64_t kMaxRepeat = 64;
inline constexpr int64_t kMaxDim = int64_t{1} << 40;

/// The kind of a read-only tensor. All except Input matter only for backward tasks.
enum class InputKind : uint8_t { Input, Param, Saved, GradOutput };

struct TensorDecl {
  std::string name;
  Role role = Role::Input;
  InputKind kind = InputKind::Input;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<Expr> shape;
  std::vector<Expr> strides;  // in elements; empty = contiguous
  bool optional = false;
  int64_t align = kDefaultAlign;
  Fill fill = Fill::Poison;
  int line = 0, column = 0;
};

/// An argument passed by value. The default of a floating type is in `value`, of integers and bool
/// in `integer`.
struct ScalarDecl {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::optional<double> value;
  std::optional<int64_t> integer;
  int line = 0, column = 0;
};

struct LetDecl {
  std::string name;
  Expr value;
  int line = 0, column = 0;
};

/// A `let` with a dtype: a number that the plan computes and passes to kernels.
struct NumberDecl {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  NumberExpr value;
  int line = 0, column = 0;
};

struct TuneDecl {
  std::string name;
  std::vector<int64_t> values;
  std::optional<Expr> where;
  int line = 0, column = 0;
};

struct MethodDecl {
  std::string id;
  std::optional<Expr> when;
  std::vector<std::pair<std::string, int64_t>> off;  // empty: the method cannot be switched off
  int line = 0, column = 0;
};

struct TensormapDecl {
  std::string name, tensor;
  std::vector<Expr> box;
  int swizzle_bytes = 0;
  int line = 0, column = 0;
};

struct RepeatDecl {
  std::string name;
  Expr begin, end;  // half open
  int line = 0, column = 0;
};

/// A parameter of a recorded launch: its bytes, and the pointers to tensors inside them.
struct RecordedParam {
  struct Pointer {
    uint32_t at = 0;
    std::string tensor;
    int64_t add = 0;
  };
  std::vector<uint8_t> bytes;
  std::vector<Pointer> pointers;
};

struct LaunchDecl {
  std::string kernel;  // as written, blanks normalised: "rms_norm<THREADS, VEC>"
  std::vector<Expr> grid, block, cluster;
  std::optional<Expr> shared;
  bool cooperative = false, pdl = false;
  std::vector<Expr> args;
  std::vector<RecordedParam> params;  // instead of args, in a recorded module
  int repeat = -1;                    // index into Group::repeats
  int line = 0, column = 0;
};

/// Launches under one `when`. Without a condition they always apply.
struct Group {
  std::optional<Expr> when;
  std::vector<LaunchDecl> launches;
  std::vector<RepeatDecl> repeats;
  int line = 0;
};

struct Module {
  std::string file_name, text;
  std::string task;
  bool backward = false;
  std::string recorded;             // source of recorded launches; the device code is then PTX
  std::vector<TensorDecl> tensors;  // in the order written
  std::vector<ScalarDecl> scalars;
  std::vector<LetDecl> lets;
  std::vector<NumberDecl> numbers;
  std::vector<TuneDecl> tunes;
  std::vector<MethodDecl> methods;
  std::vector<TensormapDecl> tensormaps;
  std::vector<Group> groups;

  /// The free symbols in shapes and strides of inputs, outputs and inouts, in order of appearance.
  /// Inputs in `absent` do not count.
  std::vector<std::string> dims(const std::set<std::string>& absent = {}) const;
  const TensorDecl* find_tensor(const std::string& name) const;
  const ScalarDecl* find_scalar(const std::string& name) const;
  const LetDecl* find_let(const std::string& name) const;
  const NumberDecl* find_number(const std::string& name) const;
  const TuneDecl* find_tune(const std::string& name) const;
};

/// Whether a text is a recorded module, judged only by its `recorded` line.
bool is_recorded(std::string_view text);

/// The text the module was parsed from, byte for byte.
std::string print(const Module& module);

}  // namespace kw::kernel
