// Scans and selections along one dim. Builder::scan has reverse and exclusive scans. A masked scan
// is a where() before the scan.
#pragma once

#include "graph/builder.h"
#include "graph/compose_reduce.h"

namespace kw::graph {

Result<NodeId> cumsum(Builder& b, NodeId x, int dim, MaybeType dtype = {});
Result<NodeId> cumprod(Builder& b, NodeId x, int dim, MaybeType dtype = {});
/// The index of the last among equal elements.
Result<ValueIndex> cummax(Builder& b, NodeId x, int dim);
Result<ValueIndex> cummin(Builder& b, NodeId x, int dim);
Result<NodeId> logcumsumexp(Builder& b, NodeId x, int dim);

/// Stable. NaN sorts above all numbers.
/// `stable`: kernels must keep the order of equal elements too; the node then has attrs.integer 1.
Result<ValueIndex> sort(Builder& b, NodeId x, int dim, bool descending, bool stable = false);
Result<NodeId> argsort(Builder& b, NodeId x, int dim, bool descending, bool stable = false);
/// Always sorted, whatever `sorted=` says.
Result<ValueIndex> topk(Builder& b, NodeId x, const Dim& k, int dim, bool largest);
/// The k-th smallest element; k counts from 1.
Result<ValueIndex> kthvalue(Builder& b, NodeId x, const Dim& k, int dim, bool keepdim);
/// The lower of the two middle elements; NaN if the line contains one.
Result<ValueIndex> median(Builder& b, NodeId x, int dim, bool keepdim);
Result<NodeId> median_of_all(Builder& b, NodeId x);

}  // namespace kw::graph
