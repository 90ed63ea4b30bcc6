// One output of a candidate against the truth: z = |c - t| / B for every element, and what a z
// cannot say (NaN, infinities, indices, ties). Pure; the formula of B is in exec/bound.h.
#pragma once

#include <string>
#include <vector>

#include "ports/oracle.h"
#include "record/verdict.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

struct CompareOptions {
  task::Precision precision;
  bool moves_only = false;  // the output is a rearrangement of inputs: -0 must stay -0
  int threads = 0;          // 0: all cores
};

struct Comparison {
  bool pass = true;
  std::string reason;  // one sentence; "" when passed
  record::ErrorSummary summary;
  int64_t telling = 0;            // elements at which a kernel that writes zeros would fail
  std::vector<std::string> lint;  // why passing here proves little: too many elements rest on …
};

/// Never fails: whatever the candidate wrote is either within the bound or a reason why not.
Comparison compare(const ports::Truth& truth, const tensor::HostTensor& got,
                   const CompareOptions& options);

/// The largest rms of z that `elements` honest values may show: one element at the limit is always
/// allowed, so that a single unlucky rounding in a small output is no refusal.
double rms_limit(int64_t elements);

/// Folds one summary into another: the worse of each number, the sum of counts.
void merge(const record::ErrorSummary& part, record::ErrorSummary* into);

/// "y[3, 17]".
std::string element_text(const record::Worst& worst);

}  // namespace kw::gate
