// Scans and selections along one dim. Reverse and exclusive scans are Builder::scan's own; masked
// ones are a where() in front.
#pragma once

#include "graph/builder.h"
#include "graph/compose_reduce.h"

namespace kw::graph {

Result<NodeId> cumsum(Builder& b, NodeId x, int dim, MaybeType dtype = {});
Result<NodeId> cumprod(Builder& b, NodeId x, int dim, MaybeType dtype = {});
/// The index is the last of equals.
Result<ValueIndex> cummax(Builder& b, NodeId x, int dim);
Result<ValueIndex> cummin(Builder& b, NodeId x, int dim);
Result<NodeId> logcumsumexp(Builder& b, NodeId x, int dim);

/// Stable; NaN is above all numbers.
Result<ValueIndex> sort(Builder& b, NodeId x, int dim, bool descending);
Result<NodeId> argsort(Builder& b, NodeId x, int dim, bool descending);
/// Sorted, whatever `sorted=` says.
Result<ValueIndex> topk(Builder& b, NodeId x, const Dim& k, int dim, bool largest);
/// The k-th smallest, k from 1.
Result<ValueIndex> kthvalue(Builder& b, NodeId x, const Dim& k, int dim, bool keepdim);
/// The lower of two middles; NaN if there is one.
Result<ValueIndex> median(Builder& b, NodeId x, int dim, bool keepdim);
Result<NodeId> median_of_all(Builder& b, NodeId x);

}  // namespace kw::graph
