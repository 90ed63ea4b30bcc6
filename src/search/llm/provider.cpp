#include "llm/provider.h"

namespace kw::llm {

LlmProvider::~LlmProvider() = default;

}  // namespace kw::llm
