// A provider reached over HTTP, for any wire format and base URL. One exchange per call, no
// retries.
#pragma once

#include <memory>
#include <string>

#include "llm/clock.h"
#include "llm/config.h"
#include "llm/http.h"
#include "llm/provider.h"
#include "llm/wire.h"

namespace kw::llm {

class HttpProvider : public LlmProvider {
 public:
  /// Borrows the configuration, the row, the HTTP client and the clock.
  HttpProvider(const Config& config, const ProviderRow& row, Secret key, Http& http, Clock& clock);

  std::string name() const override { return row_.name; }
  Capabilities capabilities() const override;
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  HttpRequest http_request(const Request& request, const Json& body, Streaming streaming) const;
  Outcome read(const HttpOutcome& got, const Assembler* stream) const;
  Outcome read_json(const std::string& text) const;

  const Config& config_;
  const ProviderRow& row_;
  const Wire& wire_;
  Secret key_;
  Http& http_;
  Clock& clock_;
};

}  // namespace kw::llm
