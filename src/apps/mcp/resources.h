// Resources: documents of the program, its catalogue, runs and jobs, each with its own URI.
#pragma once

#include <functional>
#include <string>

#include "core/json.h"
#include "mcp/jobs.h"
#include "mcp/rpc.h"

namespace kw::mcp {

class Resources {
 public:
  Resources(const Runner& runner, const Jobs& jobs, std::function<bool()> stopped)
      : runner_(runner), jobs_(jobs), stopped_(std::move(stopped)) {}

  /// Rows for resources/list: documents, catalogue, and the newest runs.
  Json::Array rows(bool titles) const;
  /// Rows for resources/templates/list.
  static Json::Array templates(bool titles);
  /// The {uri, mimeType, text} of a URI. When it is not found, the Fault has the code `not_found`.
  RpcReply read(const std::string& uri, int not_found) const;

 private:
  Result<Json> command(std::vector<std::string> words) const;
  Result<std::string> text_of(const std::string& path, std::string* type) const;
  Result<std::string> run_text(const std::vector<std::string>& parts, std::string* type) const;
  Result<std::string> job_text(const std::string& handle) const;

  const Runner& runner_;
  const Jobs& jobs_;
  std::function<bool()> stopped_;
};

}  // namespace kw::mcp
