// Keeps terms within the C++ types of the numbers they stand for. Internal.
#pragma once

#include "cuda_import/host_value.h"

namespace kw::cuda_import {

/// The term as a number of that type. Where a shape may leave the type, the shape is excluded from
/// the path's domain; an Unknown value if that would exclude small shapes, or is not possible.
HostValue fitted(HostState& host, const TermRef& term, IntKind kind,
                 const cuda_source::Token& where);
/// Whether the term is at least 0; may exclude empty tensors from the path's domain.
bool nonnegative(HostState& host, const TermRef& term);
/// Whether |term| is at most `bound`; may exclude larger shapes from the path's domain.
bool within(HostState& host, const TermRef& term, int64_t bound);

/// Conditions that hold while it lives, as in one branch. Exclusions that are made meanwhile count
/// only where they hold.
class Assumption {
 public:
  Assumption(HostState& host, TermRef condition);
  ~Assumption();
  Assumption(const Assumption&) = delete;
  Assumption& operator=(const Assumption&) = delete;

 private:
  HostState& host_;
  TermRef condition_;
  size_t before_;
};

}  // namespace kw::cuda_import
