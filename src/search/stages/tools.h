// The tools that a model may call while it writes a kernel: their schemas and results. The answer
// to an invalid call says what is wrong with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "llm/request.h"
#include "stages/answer_source.h"
#include "stages/stage_ports.h"

namespace kw::stages {

/// compile, run_virtual_gpu, verify, read_catalog.
std::vector<llm::Tool> tools();

/// What the calls of one attempt need.
struct ToolContext {
  ports::Judge* judge = nullptr;
  FindParent parent;
  /// Makes a candidate from this module, with its parents.
  std::function<record::Candidate(const Submission&)> candidate;
};

struct ToolAnswer {
  llm::ToolResult result;
  std::string candidate;  // id of the examined candidate; "": none
};

Result<ToolAnswer> run_tool(const llm::ToolCall& call, const ToolContext& context);

/// The lines of the catalogue that contain any of the words; all lines for "".
std::string catalog_text(const std::string& query);

}  // namespace kw::stages
