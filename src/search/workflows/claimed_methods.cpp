#include "workflows/claimed_methods.h"

#include <algorithm>

#include "catalog/catalog.h"
#include "core/contains.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "profile/sass_verdict.h"

namespace kw::workflows {

Result<const std::string*> Claims::code_of(const std::string& text) {
  auto known = codes_.find(text);
  if (known == codes_.end()) known = codes_.emplace(text, KW_TRY(tools_.code_of(text))).first;
  return &known->second;
}

Result<const Claims::Sass*> Claims::machine_code_of(const std::string& text) {
  auto known = sass_.find(text);
  if (known == sass_.end())
    known = sass_.emplace(text, KW_TRY(tools_.examiner->machine_code(text))).first;
  return &known->second;
}

Result<bool> Claims::seen(const std::string& method, const std::string& text,
                          const std::string& without) {
  const catalog::Method* known = catalog::find(method);
  const Sass& here = *KW_TRY(machine_code_of(text));
  const Sass& there = *KW_TRY(machine_code_of(without));
  if (known == nullptr || !here || !there) return true;
  return profile::sass_verdict(*known, *here, &*there).state != profile::SassState::Absent;
}

Result<std::vector<std::string>> Claims::empty(const std::string& text, const std::string& parent) {
  std::vector<std::string> out;
  const kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return out;
  const auto tunes = kernel::default_tunes(*parsed.module);
  if (!tunes) return out;
  const std::vector<std::string> ids = kernel::active_methods(*parsed.module, *tunes);
  std::vector<std::string> needed = {text};
  for (const std::string& id : ids) {
    if (const auto off = kernel::without_method(*parsed.module, id)) needed.push_back(off->text);
  }
  std::erase_if(needed, [this](const std::string& one) { return codes_.count(one) > 0; });
  tools_.expect(needed);
  for (const std::string& id : ids) {
    const auto off = kernel::without_method(*parsed.module, id);
    const bool same = off && *KW_TRY(code_of(text)) == *KW_TRY(code_of(off->text));
    if (same || !KW_TRY(seen(id, text, off ? off->text : parent))) out.push_back(id);
  }
  return out;
}

std::string without_claims(const std::string& text, const std::vector<std::string>& ids) {
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    std::string_view rest = trim(line);
    bool dropped = false;
    if (rest.starts_with("//!")) {
      rest = trim(rest.substr(3));
      if (rest.starts_with("method ")) {
        rest = trim(rest.substr(7));
        const std::string id(rest.substr(0, rest.find_first_of(" ,\t")));
        dropped = contains(ids, id);
      }
    }
    if (!dropped) out += std::string(line) + "\n";
  }
  return out;
}

}  // namespace kw::workflows
