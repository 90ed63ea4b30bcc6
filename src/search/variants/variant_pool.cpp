// The problem: a caller asks for methods, and existing modules can often use them with other values
// for their tunables. So every assignment of every module is compared with the request. Assignments
// that cover and lose the same methods form one group. The group that misses the fewest methods and
// has a new variant is returned. Its modules give variants in turn, nearest to their best guess
// first. Generating a module for each request would cover more methods, but needs an author. The
// cost: each request checks all assignments, up to 4096 per module, and sees at most 64 variants of
// each.
#include "variants/variant_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/contains.h"
#include "core/hash.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"

namespace kw::variants {
namespace {

using Tunes = std::map<std::string, int64_t>;

constexpr size_t kMostSettings = 4096;  // assignments of one module's tunables
constexpr size_t kMostPerModule = 64;   // variants of one module
// The only method a module can gain without a `method` line: another block size is enough.
constexpr const char* kLaunchConfig = "compute.launch_config";

bool is_plan_line(std::string_view line, std::string_view word) {
  std::string_view rest = trim(line);
  if (!rest.starts_with("//!")) return false;
  rest = trim(rest.substr(3));
  return rest.starts_with(word) && rest.size() > word.size() && rest[word.size()] == ' ';
}

/// Adds the names in an expression and in the `let` values it uses.
void names_in(const kernel::Module& module, const kernel::Expr& expr, std::set<std::string>& out) {
  for (const kernel::ExprNode& node : expr.nodes) {
    if (node.op != kernel::ExprOp::Name || !out.insert(node.name).second) continue;
    if (const kernel::LetDecl* let = module.find_let(node.name)) names_in(module, let->value, out);
  }
}

/// Tunables that set the number of threads of a block.
std::set<std::string> block_tunes(const kernel::Module& module) {
  std::set<std::string> names, out;
  for (const kernel::Group& group : module.groups) {
    for (const kernel::LaunchDecl& launch : group.launches) {
      for (const kernel::Expr& extent : launch.block) names_in(module, extent, names);
    }
  }
  for (const kernel::TuneDecl& tune : module.tunes) {
    if (names.count(tune.name) > 0 && tune.values.size() > 1) out.insert(tune.name);
  }
  return out;
}

/// Methods that the module claims with these values at these dims.
std::vector<std::string> claimed(const kernel::Module& module, Tunes tunes, const Tunes& dims) {
  tunes.insert(dims.begin(), dims.end());
  return kernel::active_methods(module, tunes);
}

/// The number of tunables that differ, then the sum of steps between their values.
std::pair<size_t, size_t> distance(const kernel::Module& module, const Tunes& one,
                                   const Tunes& other) {
  std::pair<size_t, size_t> apart = {0, 0};
  for (const kernel::TuneDecl& tune : module.tunes) {
    const auto at = [&](const Tunes& tunes) {
      return std::ranges::find(tune.values, tunes.at(tune.name)) - tune.values.begin();
    };
    const auto steps = static_cast<size_t>(std::abs(at(one) - at(other)));
    apart.first += steps > 0;
    apart.second += steps;
  }
  return apart;
}

/// The text with a `method` line for kLaunchConfig after its last `tune` line.
std::string with_launch_claim(const std::string& text, const std::set<std::string>& names,
                              const Tunes& now, const Tunes& before) {
  std::vector<std::string> when, off;
  for (const std::string& name : names) {
    if (now.at(name) == before.at(name)) continue;
    when.push_back(fmt::format("{} == {}", name, now.at(name)));
    off.push_back(fmt::format("{}={}", name, before.at(name)));
  }
  const std::string claim = fmt::format("//! method  {} when {}, off {}\n", kLaunchConfig,
                                        join(when, " && "), join(off, ", "));
  const std::vector<std::string_view> lines = split_lines(text);
  size_t last = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_plan_line(lines[i], "tune")) last = i;
  }
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    out += std::string(lines[i]) + "\n";
    if (i == last) out += claim;
  }
  return out;
}

}  // namespace

std::string identity(const std::string& text) {
  const kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return hash_hex(text);
  Tunes chosen;
  if (auto tunes = kernel::default_tunes(*parsed.module)) chosen = std::move(tunes).value();
  std::string plain;
  for (const std::string_view line : split_lines(text)) {
    // A `method` line does not change the code that runs.
    if (is_plan_line(line, "method")) continue;
    const bool tune = is_plan_line(line, "tune");
    plain += std::string(tune ? line.substr(0, line.find(" in ")) : line) + "\n";
  }
  for (const auto& [name, value] : chosen) plain += fmt::format("{}={}\n", name, value);
  return hash_hex(plain);
}

void VariantPool::add(const std::string& origin, const std::string& text) {
  kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return;
  PoolEntry one{origin, std::move(*parsed.module), {}, {}};
  one.assignments = kernel::tune_space(one.module, kMostSettings);
  one.shape_tunes = block_tunes(one.module);
  if (!one.assignments.empty()) modules_.push_back(std::move(one));
}

// Whether the block size differs from the best guess and no `method` line claims that already.
bool VariantPool::resizes(const PoolEntry& one, const Tunes& tunes) {
  const auto claims = [](const kernel::MethodDecl& method) { return method.id == kLaunchConfig; };
  if (std::ranges::any_of(one.module.methods, claims)) return false;
  return std::ranges::any_of(one.shape_tunes, [&](const std::string& name) {
    return tunes.at(name) != one.assignments.front().at(name);
  });
}

VariantPool::Fit VariantPool::fit(const PoolEntry& one, const Tunes& tunes,
                                  const VariantRequest& request) {
  const std::vector<std::string> has = claimed(one.module, tunes, request.dims);
  const auto offered = [&](const std::string& id) {
    return contains(has, id) || (id == kLaunchConfig && resizes(one, tunes));
  };
  Fit fit;
  for (const std::string& id : request.methods) {
    if (offered(id)) fit.covered.push_back(id);
  }
  for (const std::string& id : request.inherited) {
    if (!offered(id)) fit.lost.push_back(id);
  }
  fit.missing = request.methods.size() - fit.covered.size() + fit.lost.size();
  return fit;
}

bool VariantPool::offers(const std::string& method, const Tunes& dims) const {
  const VariantRequest request{{method}, {}, dims, {}};
  return std::ranges::any_of(modules_, [&](const PoolEntry& one) {
    return std::ranges::any_of(one.assignments, [&](const Tunes& tunes) {
      return !fit(one, tunes, request).covered.empty();
    });
  });
}

Variant VariantPool::made(const PoolEntry& one, const Tunes& tunes, Fit fit) {
  Variant variant{one.origin, kernel::with_tunes(one.module.text, tunes), tunes,
                  std::move(fit.covered), std::move(fit.lost)};
  if (contains(variant.covered, kLaunchConfig) && resizes(one, tunes)) {
    variant.text = with_launch_claim(variant.text, one.shape_tunes, tunes, one.assignments.front());
  }
  return variant;
}

std::vector<Variant> VariantPool::fitting(const PoolEntry& one, const Fit& best,
                                          const VariantRequest& request) {
  std::vector<const Tunes*> fits;
  for (const Tunes& tunes : one.assignments) {
    const Fit here = fit(one, tunes, request);
    if (here.covered == best.covered && here.lost == best.lost) fits.push_back(&tunes);
  }
  if (fits.empty()) return {};
  const Tunes& guess = *fits.front();
  const std::vector<std::string> usual = claimed(one.module, guess, request.dims);
  using Rank = std::pair<int64_t, std::pair<size_t, size_t>>;
  std::vector<std::pair<Rank, const Tunes*>> found;
  for (const Tunes* tunes : fits) {
    // Assignments that switch other methods off come last: the caller did not ask for that.
    const std::vector<std::string> has = claimed(one.module, *tunes, request.dims);
    const auto gone = std::ranges::count_if(
        usual, [&](const std::string& method) { return !contains(has, method); });
    found.emplace_back(Rank{gone, distance(one.module, *tunes, guess)}, tunes);
  }
  std::ranges::stable_sort(found, {}, &std::pair<Rank, const Tunes*>::first);
  std::vector<Variant> out;
  for (const auto& [rank, tunes] : found) {
    Variant variant = made(one, *tunes, best);
    if (request.known.count(identity(variant.text)) == 0) out.push_back(std::move(variant));
    if (out.size() >= kMostPerModule) break;
  }
  return out;
}

std::vector<Variant> VariantPool::variants(const VariantRequest& request, size_t most) const {
  std::vector<Fit> fits;
  for (const PoolEntry& one : modules_) {
    for (const Tunes& tunes : one.assignments) {
      Fit here = fit(one, tunes, request);
      const auto same = [&](const Fit& other) {
        return other.covered == here.covered && other.lost == here.lost;
      };
      if (!here.covered.empty() && std::ranges::none_of(fits, same))
        fits.push_back(std::move(here));
    }
  }
  // If two groups miss equally many, the one with earlier requested methods comes first.
  const auto places = [&](const Fit& fit) {
    std::vector<size_t> at;
    for (size_t i = 0; i < request.methods.size(); ++i) {
      if (contains(fit.covered, request.methods[i])) at.push_back(i);
    }
    return at;
  };
  std::ranges::stable_sort(fits, {}, [&](const Fit& fit) {
    return std::tuple(fit.missing, fit.lost.size(), places(fit));
  });
  for (const Fit& best : fits) {
    std::vector<std::vector<Variant>> families;
    for (const PoolEntry& one : modules_) families.push_back(fitting(one, best, request));
    std::vector<Variant> out;
    std::set<std::string> seen;
    for (size_t turn = 0, left = 1; left > 0 && out.size() < most; ++turn) {
      left = 0;
      for (std::vector<Variant>& family : families) {
        if (turn >= family.size()) continue;
        ++left;
        if (out.size() < most && seen.insert(identity(family[turn].text)).second)
          out.push_back(std::move(family[turn]));
      }
    }
    if (!out.empty()) return out;
  }
  return {};
}

}  // namespace kw::variants
