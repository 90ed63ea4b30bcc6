// A foreign CUDA file with a host launcher becomes a kernel module: the device code stays, what the
// launcher would do is said in plan lines. Nothing is guessed; what cannot be said is a problem
// with its place. Compiles and runs nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cuda_import/types.h"
#include "cuda_source/diagnostics.h"
#include "tensor/dtype.h"

namespace kw::cuda_import {

/// Larger files are refused.
inline constexpr size_t kMaxForeignBytes = size_t{1} << 20;

/// A tensor as a reference or the user describes it.
struct KnownTensor {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::string> shape;  // expressions of dims
};
struct KnownScalar {
  std::string name;
  std::string value;  // as a plan line writes it
};

struct ImportRequest {
  std::string text, file_name;
  std::string task;      // name for the module
  std::string launcher;  // "": the only one
  bool has_reference = false;
  std::vector<KnownTensor> inputs, outputs;    // the reference's, in order; in both: in place
  std::vector<KnownScalar> scalars;            // the reference's
  std::set<std::string> dims;                  // the reference's
  std::vector<KnownTensor> given;              // the user's, by the launcher's names
  std::map<std::string, std::string> numbers;  // the user's: "rows" -> "B", "eps" -> "1e-5"
  bool zero_outputs = false;                   // whoever calls the launcher clears them first
};

struct Imported {
  std::string module;    // "" when there are problems
  std::string launcher;  // its name, "" when there is none
  std::vector<cuda_source::Diagnostic> problems;
  std::vector<std::string> notes;  // what was left out or assumed
};

Imported import_launcher(const ImportRequest& request);

/// The launcher alone, before anything is known of its tensors.
struct LauncherHead {
  std::string name;  // "" when there are problems
  std::vector<CParameter> parameters;
  std::vector<cuda_source::Diagnostic> problems;
};
LauncherHead find_launcher(const std::string& text, const std::string& name);

}  // namespace kw::cuda_import
