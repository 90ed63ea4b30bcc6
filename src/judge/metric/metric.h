// Compares one output of a candidate with the truth: z = |c - t| / B for every element. NaN,
// infinities, indices and ties have rules of their own. Pure functions; ports/bound.h has the
// formula of B.
#pragma once

#include <string>
#include <vector>

#include "ports/oracle.h"
#include "record/verdict.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::metric {

struct CompareOptions {
  task::Precision precision;
  bool moves_only = false;  // the output only rearranges inputs: -0 must stay -0
  int threads = 0;          // 0: all cores
};

struct Comparison {
  bool pass = true;
  std::string reason;  // one sentence; "" when passed
  record::ErrorSummary summary;
  int64_t telling = 0;            // number of elements at which zeros would fail
  std::vector<std::string> lint;  // why a pass proves little, such as too many discontinuities
};

/// Never fails: every output either is within the bound or gets a reason.
Comparison compare(const ports::Truth& truth, const tensor::HostTensor& got,
                   const CompareOptions& options);

/// Returns the largest rms of z allowed for `elements` values. One element may always reach the
/// limit, so that one unlucky rounding does not reject a small output.
double rms_limit(int64_t elements);

/// Merges one summary into another: the worse of each number, the sum of counts.
void merge(const record::ErrorSummary& part, record::ErrorSummary* into);

/// Formats an element, such as "y[3, 17]".
std::string element_text(const record::Worst& worst);

}  // namespace kw::metric
