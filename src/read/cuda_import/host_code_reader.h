// Interprets a launcher's host code with symbols for its parameters, and records its launches. One
// run follows one path; the caller sets the decisions for conditions on the shape. Code that cannot
// be interpreted is a problem with its place; running never fails. Internal.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cuda_import/host_value.h"
#include "cuda_import/launcher_records.h"
#include "cuda_import/source.h"
#include "cuda_source/diagnostics.h"

namespace kw::cuda_import {

struct HostCodeResult {
  Path path;
  std::vector<bool> decisions;  // all decisions taken, with those the caller set
  std::vector<cuda_source::Diagnostic> problems;
  std::set<std::string> written, used;  // tensors that kernels may write; that they get at all
  std::vector<std::string> notes;
};

/// `arguments` are parallel to the launcher's parameters.
HostCodeResult read_host_code(const HostSource& source, std::vector<bool> decisions,
                              const Item& launcher, const std::vector<HostValue>& arguments);

}  // namespace kw::cuda_import
