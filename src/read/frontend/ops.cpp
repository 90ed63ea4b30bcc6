// Joins the tables. Spellings that differ by a rule need no row. torch.nn.functional.x is F.x. x_
// is x, and the tracer writes the result back.
#include <algorithm>
#include <list>
#include <map>

#include "core/text.h"
#include "frontend/library_rows.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using Index = std::map<std::string, const OpRow*, std::less<>>;

Index build_index() {
  Index index;
  for (const auto& table :
       {pointwise_rows(), arithmetic_rows(), cast_rows(),        reduction_rows(), norm_rows(),
        scan_rows(),      selection_rows(),  matmul_rows(),      einsum_rows(),    movement_rows(),
        joining_rows(),   indexing_rows(),   distance_rows(),    creation_rows(),  conv_rows(),
        pool_rows(),      attention_rows(),  interpolate_rows(), recurrent_rows(), pad_rows(),
        helper_rows()}) {
    for (const OpRow& row : table) {
      for (std::string& name : split(row.names, ' ')) index.emplace(std::move(name), &row);
    }
  }
  static std::list<OpRow> rows;  // written in Python
  for (const LibraryRow& one : library_rows()) {
    if (!one.is_op) continue;
    rows.push_back({one.names.c_str(), one.signature.c_str(), nullptr, &one});
    for (std::string& name : split(one.names, ' ')) index.emplace(std::move(name), &rows.back());
  }
  return index;
}

const Index& index() {
  static const Index kIndex = build_index();
  return kIndex;
}

}  // namespace

const OpRow* find_op(std::string_view name) {
  constexpr std::string_view kFunctional = "torch.nn.functional.";
  if (name.starts_with("torch.ops.")) return find_aten(name);
  std::string spelling(name);
  if (name.starts_with(kFunctional)) {
    spelling = "F." + std::string(name.substr(kFunctional.size()));
  }
  auto found = index().find(spelling);
  const bool in_place = spelling.ends_with("_") && !spelling.ends_with("__");
  if (found == index().end() && in_place) {
    spelling.pop_back();
    found = index().find(spelling);
  }
  return found == index().end() ? nullptr : found->second;
}

const std::vector<std::string>& op_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, row] : index()) {
      if (!name.starts_with("aten.")) names.push_back(name);
    }
    return names;
  }();
  return kNames;
}

}  // namespace kw::frontend
