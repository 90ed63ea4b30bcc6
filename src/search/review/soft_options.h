// Who reads candidates before hardware is spent on them, as typed. Only values: soft_verify.h does
// the work.
#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"

namespace kw::review {

struct SoftVerifyOptions {
  std::string model;  // "" = nobody is asked
  std::string
      prompts;  // a folder, or "tuned": what tune-verifiers found to be better; "" = shipped
  bool reflect = false;
  bool reject = false;  // unanimous and sure votes keep a candidate from being judged
};
Json to_json(const SoftVerifyOptions& options);
SoftVerifyOptions soft_verify_options_from_json(const Json& json);

/// Input Error for words about readers where there are none.
Status check_readers(const SoftVerifyOptions& options, bool verifiers);

}  // namespace kw::review
