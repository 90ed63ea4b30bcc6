#include "mcp/tool_rows.h"

#include <utility>

namespace kw::mcp {

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> kTools = [] {
    std::vector<Tool> all = kernel_tools();
    for (Tool& tool : run_tools()) all.push_back(std::move(tool));
    return all;
  }();
  return kTools;
}

}  // namespace kw::mcp
