#include "store/layout.h"

#include <algorithm>

namespace kw::store {

bool is_candidate_id(std::string_view word) {
  return word.size() == 16 && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_leftover(std::string_view name) { return name.find(".tmp-") != std::string_view::npos; }

}  // namespace kw::store
