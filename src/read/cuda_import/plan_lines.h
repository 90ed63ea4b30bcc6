// Writes plan lines from a followed launcher's records. Internal.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda_import/import.h"
#include "cuda_import/launcher_records.h"
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
  std::string value;  // "": none
};

struct ImportPlan {
  std::string task;
  std::vector<PlanTensor> tensors;
  std::vector<PlanScalar> scalars;
  std::vector<Path> paths;  // in the order tried
  std::vector<std::string> notes;
};

/// The lines, each with "//! " and a newline. Constants that kernels get by value become scalars.
std::string plan_text(ImportPlan plan, const HostSource& source);

/// Definitions of the kernels that replace runtime calls, if the paths use them.
std::string added_kernels(const std::vector<Path>& paths);

/// The names in an expression.
std::set<std::string> names_in(const std::string& expression);
/// Every name in geometry, arguments, conditions and sizes.
std::set<std::string> names_in(const std::vector<Path>& paths);

}  // namespace kw::cuda_import
