// The tools a model may call while it writes a kernel: their schemas, and what a call gives. Calls
// that make no sense are answered with what is wrong with them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "llm/request.h"
#include "stages/ports.h"
#include "stages/source.h"

namespace kw::stages {

/// compile, run_virtual_gpu, verify, read_catalog.
std::vector<llm::Tool> tools();

/// Who runs the calls of one attempt.
struct ToolContext {
  ports::Judge* judge = nullptr;
  FindParent parent;
  /// A candidate of this module, with its lineage.
  std::function<record::Candidate(const Submission&)> candidate;
};

struct ToolAnswer {
  llm::ToolResult result;
  std::string candidate;  // id of the one that was looked at; "" when none was
};

Result<ToolAnswer> run_tool(const llm::ToolCall& call, const ToolContext& context);

/// Lines of the catalogue that fit some words; all of it for "".
std::string catalog_text(const std::string& query);

}  // namespace kw::stages
