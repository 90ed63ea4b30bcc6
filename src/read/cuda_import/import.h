// Converts a foreign CUDA file with a host launcher into a kernel module. The device code stays;
// plan lines describe what the launcher does. Nothing is guessed: code without an equivalent is a
// problem with its place. Compiles and runs nothing.
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
  std::string value;  // in the syntax of a plan line
};

struct ImportRequest {
  std::string text, file_name;
  std::string task;      // task name of the module
  std::string launcher;  // "": the only one of the file
  bool has_reference = false;
  std::vector<KnownTensor> inputs, outputs;    // of the reference, in order; in both: in place
  std::vector<KnownScalar> scalars;            // of the reference
  std::set<std::string> dims;                  // of the reference
  std::vector<KnownTensor> given;              // from the user, by the launcher's names
  std::map<std::string, std::string> numbers;  // from the user: "rows" -> "B", "eps" -> "1e-5"
  bool zero_outputs = false;                   // the launcher's caller clears them first
};

struct Imported {
  std::string module;    // "" if there are problems
  std::string launcher;  // its name, "" if the file has none
  std::vector<cuda_source::Diagnostic> problems;
  std::vector<std::string> notes;  // parts left out or assumed
};

Imported import_launcher(const ImportRequest& request);

/// The launcher alone, before its tensors are known.
struct LauncherHead {
  std::string name;  // "" if there are problems
  std::vector<CParameter> parameters;
  std::vector<cuda_source::Diagnostic> problems;
};
LauncherHead find_launcher(const std::string& text, const std::string& name);

}  // namespace kw::cuda_import
