// Optimising must also work without a model. This author writes nothing new: it sets tunables of
// the given kernel and takes designs of code generation whose `method` lines claim the requested
// methods. Each variant is screened, and a claim that changes neither the code nor the machine code
// at this shape is removed. It prefers variants whose claims all hold, and the best of each design
// before the second best of any. Trying all combinations was the alternative; their number is too
// large, so at most 24 are screened. A method that no design has is reported as "cannot".
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/contains.h"
#include "core/text.h"
#include "plan/codegen.h"
#include "variants/variant_pool.h"
#include "workflows/claimed_methods.h"
#include "workflows/task_tools.h"

namespace kw::workflows {
namespace {

constexpr size_t kLooksPerBranch = 4;  // variants screened for each branch
constexpr size_t kMostLooks = 24;
constexpr double kHopeless = 4;  // estimates this many times the best are not branches at first
constexpr const char* kItself = "the kernel itself";

std::string tunes_text(const std::map<std::string, int64_t>& tunes) {
  std::string out;
  for (const auto& [name, value] : tunes) out += fmt::format(" {}={}", name, value);
  return out;
}

class BuiltinAuthor : public optimize::Author {
 public:
  explicit BuiltinAuthor(TaskTools& tools) : tools_(tools), claims_(tools) {}

  Status open();
  std::string name() const override { return "builtin"; }
  Result<optimize::BranchResult> write(const optimize::Assignment& assignment) override;
  std::string cannot_apply(const std::string& method, const std::string& parent) override;

 private:
  /// A screened variant.
  struct Looked {
    variants::Variant variant;
    ports::Outcome look;
  };
  variants::VariantPool pool_with(const std::string& parent) const;
  /// The variants that compile and run, the fastest first. `refused` gets the reason of one that
  /// does not.
  Result<std::vector<Looked>> looked_at(std::vector<variants::Variant> variants,
                                        std::string& refused);
  static std::vector<const Looked*> chosen(const std::vector<Looked>& looked, size_t branches);
  std::string why_not(const std::string& method) const;

  TaskTools& tools_;
  Claims claims_;
  variants::VariantPool designs_;
};

Status BuiltinAuthor::open() {
  generate::Options options;
  options.target = KW_TRY(arch::find_target(tools_.facts.target));
  options.switches = true;
  // The first value in a list is the best guess for the timed shape.
  for (const generate::Design& design : KW_TRY(generate::designs(tools_.task(), options))) {
    try {
      const auto text = generate::generate(tools_.task(), design, options);
      if (text) designs_.add(generate::design_text(design), *text);
    } catch (const Bug&) {
      continue;  // a bug of ours in one design must not affect the others
    }
  }
  return Done{};
}

variants::VariantPool BuiltinAuthor::pool_with(const std::string& parent) const {
  variants::VariantPool pool = designs_;
  pool.add(kItself, parent);
  return pool;
}

std::string BuiltinAuthor::why_not(const std::string& method) const {
  return fmt::format(
      "none of the {} designs for this task uses {}, and the kernel has no switch "
      "for it",
      designs_.size(), method);
}

std::string BuiltinAuthor::cannot_apply(const std::string& method, const std::string& parent) {
  return pool_with(parent).offers(method, tools_.dims()) ? "" : why_not(method);
}

Result<std::vector<BuiltinAuthor::Looked>> BuiltinAuthor::looked_at(
    std::vector<variants::Variant> variants, std::string& refused) {
  std::vector<std::string> texts;
  for (const variants::Variant& variant : variants) texts.push_back(variant.text);
  const std::vector<ports::Outcome> looks =
      KW_TRY(tools_.judge->examine(optimize::candidates_of(texts), ports::Depth::Screen));
  std::vector<Looked> out;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (looks[i].refused.empty())
      out.push_back({std::move(variants[i]), looks[i]});
    else
      refused = variants[i].origin + ": " + looks[i].refused;
  }
  std::ranges::stable_sort(
      out, {}, [](const Looked& one) { return std::pair(one.look.is_lower_bound, one.look.us); });
  return out;
}

// The best of each design before the second best of any: estimates order values of one design
// better than designs.
std::vector<const BuiltinAuthor::Looked*> BuiltinAuthor::chosen(const std::vector<Looked>& looked,
                                                                size_t branches) {
  std::vector<const Looked*> out;
  std::set<std::string> designs;
  for (const bool first : {true, false}) {
    for (const Looked& one : looked) {
      const bool hopeless = one.look.us > kHopeless * looked.front().look.us;
      if (out.size() >= branches || (first && hopeless)) break;
      if (first ? designs.insert(one.variant.origin).second : !contains(out, &one))
        out.push_back(&one);
    }
  }
  return out;
}

Result<optimize::BranchResult> BuiltinAuthor::write(const optimize::Assignment& assignment) {
  optimize::BranchResult written;
  const variants::VariantPool pool = pool_with(assignment.parent);
  variants::VariantRequest request{{}, assignment.inherited, tools_.dims(), {}};
  request.known.insert(variants::identity(assignment.parent));
  for (const std::string& text : assignment.known) request.known.insert(variants::identity(text));
  for (const std::string& method : assignment.methods) {
    if (pool.offers(method, tools_.dims()))
      request.methods.push_back(method);
    else
      written.cannot.push_back(method + ": " + why_not(method));
  }
  if (request.methods.empty()) return written;
  const auto branches = static_cast<size_t>(std::max(1, assignment.branches));
  std::string refused;
  const std::vector<Looked> looked = KW_TRY(
      looked_at(pool.variants(request, std::min(kMostLooks, kLooksPerBranch * branches)), refused));
  std::set<std::string> empty;
  std::vector<optimize::Branch> telling, others;
  for (const Looked* one : chosen(looked, looked.size())) {
    if (telling.size() >= branches) break;
    const auto nothing = KW_TRY(claims_.empty(one->variant.text, assignment.parent));
    bool tells = true;
    for (const std::string& id : one->variant.covered) {
      if (!contains(nothing, id)) continue;
      tells = false;
      empty.insert(id);
    }
    std::string note = one->variant.origin + tunes_text(one->variant.tunes);
    if (!one->variant.lost.empty()) note += ", without " + join(one->variant.lost, ", ");
    (tells ? telling : others)
        .push_back({without_claims(one->variant.text, nothing), std::move(note)});
    written.applied = one->variant.covered;
  }
  if (!telling.empty()) empty.clear();
  written.branches = std::move(telling.empty() ? others : telling);
  if (written.branches.size() > branches) written.branches.resize(branches);
  for (const std::string& method : request.methods) {
    const bool applied = contains(written.applied, method);
    if (!applied)
      written.cannot.push_back(method + ": " +
                               (looked.empty() && !refused.empty()
                                    ? refused
                                    : "not together with the others, or all of it was tried"));
    else if (empty.count(method) > 0)
      written.cannot.push_back(
          method + ": it changes nothing at this shape, or does not show in machine code");
  }
  std::erase_if(written.applied, [&](const std::string& id) { return empty.count(id) > 0; });
  if (written.applied.empty()) written.branches.clear();
  return written;
}

}  // namespace

Result<std::unique_ptr<optimize::Author>> builtin_author(TaskTools& tools) {
  auto author = std::make_unique<BuiltinAuthor>(tools);
  KW_TRY(author->open());
  return std::unique_ptr<optimize::Author>(std::move(author));
}

}  // namespace kw::workflows
