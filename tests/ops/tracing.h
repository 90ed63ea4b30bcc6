// Cases of the op table through our own front end: each expression becomes a function of one
// generated Python file, which is parsed once and traced per case.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "table.h"

namespace kw::frontend {
struct Source;
}

namespace kw::ops {

class Tracing {
 public:
  static Result<Tracing> parse(const std::vector<Case>& cases);
  /// The graph of case `i`; outputs are named "out0", "out1", …
  Result<graph::Graph> trace(const Case& one, size_t i) const;

 private:
  std::shared_ptr<const frontend::Source> source_;  // shared with every trace
};

}  // namespace kw::ops
