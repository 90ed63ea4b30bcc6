// The op table's cases as forward graphs whose gradients are asked for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "table.h"
#include "tensor/host_tensor.h"

namespace kw::derive {

/// Names of the table files.
std::vector<std::string> table_names();
/// The cases of one, those that must be refused left out. `dtype`: every T becomes this one, and
/// each line one case; empty: as the table has it.
std::vector<ops::Case> cases_of(const std::string& table, const std::string& dtype);
/// Calls back with every case's graph; those our front end refuses are left out.
void for_graphs(const std::vector<ops::Case>& cases,
                const std::function<void(const ops::Case&, const graph::Graph&)>& with);

/// The case's inputs, then drawn upstream gradients: parallel to backward.inputs.
std::vector<tensor::HostTensor> inputs_for(const ops::Case& one, const graph::Graph& backward);

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

}  // namespace kw::derive
