// The user's options for reviewers. Only values; soft_verify.h uses them.
#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"

namespace kw::review {

struct SoftVerifyOptions {
  std::string model;    // "": no reviewers
  std::string prompts;  // a folder; "tuned": the result of tune-verifiers; "": the shipped ones
  bool reflect = false;
  bool reject = false;  // a unanimous, confident rejection keeps a candidate from the judge
};
void fields(auto& v, SoftVerifyOptions& o) {
  v("model", o.model)("prompts", o.prompts)("reflect", o.reflect)("reject", o.reject);
}
Json to_json(const SoftVerifyOptions& options);

/// Input Error for options about reviewers when there are no reviewers.
Status check_reviewers(const SoftVerifyOptions& options, bool verifiers);

}  // namespace kw::review
