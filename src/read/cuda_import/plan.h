// Plan lines of what following a launcher recorded. Internal.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda_import/import.h"
#include "cuda_import/recorded.h"
#include "cuda_import/source.h"

namespace kw::cuda_import {

/// A tensor of the module's interface.
struct PlanTensor {
  std::string word;  // "input", "output", "inout"
  KnownTensor tensor;
};
struct PlanScalar {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::string value;  // "" = none
};

struct Plan {
  std::string task;
  std::vector<PlanTensor> tensors;
  std::vector<PlanScalar> scalars;
  std::vector<Path> paths;  // in the order tried
  std::vector<std::string> notes;
};

/// The lines, each with "//! " and its end. Constants that kernels get by value become scalars.
std::string plan_text(Plan plan, const Source& source);

/// Definitions of the kernels that stand for runtime calls, where the paths use them.
std::string added_kernels(const std::vector<Path>& paths);

/// Names in an expression.
std::set<std::string> names_in(const std::string& expression);
/// Every name that geometry, arguments, conditions and sizes are made of.
std::set<std::string> names_in(const std::vector<Path>& paths);

}  // namespace kw::cuda_import
