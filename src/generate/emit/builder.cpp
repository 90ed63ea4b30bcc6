// The problem: all schedules need the same frame around their bodies: names, tunables, signatures
// and variants. The choice: one class writes the frame, and a schedule calls it in the order of its
// plan lines. The alternative, a struct of texts that a function assembles, needs a field for every
// exception: rows with five variants, scatters with three functions. The cost: the order of calls
// is the order of lines in the module, so calls cannot be reordered freely.
#include "emit/builder.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/finalize.h"

namespace kw::generate {

namespace {

// Parameters are aligned below the first one, or indented less if the longest does not fit there.
constexpr size_t kColumns = 98, kMostAligned = 60, kContinued = 4;

/// The head of a __global__ function, and the arguments for it.
struct KernelSignature {
  std::string text;  // "template <…>\n__global__ void … (…)"
  std::vector<std::string> parameters, args;

  void add(const std::string& declaration, const std::string& argument) {
    parameters.push_back(declaration);
    args.push_back(argument);
  }
};

/// Adds the buffers and dims that the emitter used, then `more`.
void add_parameters(KernelSignature& signature, const Emitter& e, const Parameters& more) {
  const Region& region = e.region();
  std::set<std::string> seen;
  const auto pointer = [&](const Buffer& buffer, bool writes) {
    if (e.used().buffers.count(buffer.name) == 0 || !seen.insert(buffer.name).second) return;
    const bool both = writes && region.in_place.count(buffer.name) > 0;
    signature.add(fmt::format("{}{}*{} {}", writes ? "" : "const ", memory_type(buffer.dtype),
                              both ? "" : " __restrict__", buffer.name),
                  buffer.name);
  };
  for (const Store& store : region.stores) {
    if (region.in_place.count(store.to.name) > 0) pointer(store.to, true);
  }
  for (const auto& [node, buffer] : region.loads) pointer(buffer, false);
  for (const Store& store : region.stores) pointer(store.to, true);
  for (const std::string& dim : e.used().parameters) signature.add("Index " + dim, dim);
  for (const auto& [name, type] : e.used().numbers) signature.add(type + " " + name, name);
  for (const auto& [declaration, argument] : more) signature.add(declaration, argument);
}

KernelSignature signature_of(const Emitter& e, const std::string& name,
                             const std::string& templates, const std::string& bounds,
                             const Parameters& more) {
  KernelSignature signature;
  add_parameters(signature, e, more);
  std::string& text = signature.text;
  const std::vector<std::string>& parameters = signature.parameters;
  text = fmt::format("template <{}>\n__global__ void{} {}(", templates,
                     bounds.empty() ? "" : fmt::format(" __launch_bounds__({})", bounds), name);
  size_t column = text.size() - text.rfind('\n') - 1;
  size_t longest = 0;
  for (const std::string& one : parameters) longest = std::max(longest, one.size() + 1);
  const size_t aligned = std::min(column, kMostAligned);
  const std::string indent(aligned + longest > kColumns ? kContinued : aligned, ' ');
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string piece = parameters[i] + (i + 1 < parameters.size() ? "," : ")");
    if (column + piece.size() + (i > 0 ? 1 : 0) > kColumns) {
      text += "\n" + indent;
      column = indent.size();
    } else if (i > 0) {
      text += " ";
      ++column;
    }
    text += piece;
    column += piece.size();
  }
  if (parameters.empty()) text += ")";
  return signature;
}

}  // namespace

Launch DeviceFunction::launch(const std::string& templates, const std::string& grid,
                              const std::string& block, const std::string& shared) const {
  return {fmt::format("{}<{}>", name, templates), grid, block, shared, args};
}

std::string KernelBuilder::results() const {
  std::vector<std::string> names;
  for (const Store& store : region_.stores) names.push_back(store.to.name);
  return join(names, ", ");
}

std::string KernelBuilder::tune(const char* text, const Values& values, const std::string& where) {
  kernel_.tunes.push_back({name(text), values, where});
  return name(text);
}

void KernelBuilder::tune_method(const char* id, const char* text, const Values& values) {
  tune(text, values);
  if (values.size() > 1) method_of(id, text);
}

void KernelBuilder::switch_method(const char* id, const char* text) {
  const std::string own = tune(text, {1, 0});
  method(id, own + " == 1", own + "=0");
}

void KernelBuilder::method(const std::string& id, const std::string& when, const std::string& off) {
  kernel_.methods.push_back({id, when, off});
}

void KernelBuilder::methods(std::initializer_list<const char*> ids) {
  for (const char* id : ids) method(id);
}

std::string KernelBuilder::let(const char* text, const std::string& value) {
  const auto same = [&](const auto& known) { return known.first == name(text); };
  if (std::ranges::none_of(kernel_.lets, same)) {
    kernel_.lets.emplace_back(name(text), value);
  }
  return name(text);
}

std::string KernelBuilder::items(const char* text, const std::string& count) {
  const std::string own = let(text, count);
  kernel_.lets.emplace_back(
      own + "_ITEMS",
      fmt::format("1 + ({0} > 1) + ({0} > 2) + ({0} > 3) + 2 * ({0} > 4) + 2 * ({0} > 6) + "
                  "4 * ({0} > 8) + 4 * ({0} > 12)",
                  own));
  return own + "_ITEMS";
}

void KernelBuilder::scratch(const std::string& name, DType dtype, const std::string& extent,
                            const std::string& fill) {
  kernel_.scratch.push_back({name, dtype, extent, fill});
}

void KernelBuilder::need(const std::vector<std::string>& functions) {
  kernel_.functions.insert(functions.begin(), functions.end());
}

DeviceFunction KernelBuilder::function(const Emitter& e, const std::string& what,
                                       const std::string& name, const std::string& templates,
                                       const std::string& bounds, const std::string& body,
                                       const Parameters& more) {
  const KernelSignature signature = signature_of(e, name, templates, bounds, more);
  std::string& source = kernel_.source;
  if (!source.empty() && !source.ends_with("\n\n")) source += "\n";
  source +=
      fmt::format("// {}\n{} {{\n{}}}\n", replace_all(what, "\n", "\n// "), signature.text, body);
  kernel_.functions.insert(e.used().functions.begin(), e.used().functions.end());
  kernel_.cut_short = kernel_.cut_short || e.overflowed();
  return {name, signature.args};
}

void KernelBuilder::variant(const std::vector<std::string>& when, std::vector<Launch> launches) {
  kernel_.variants.push_back({all_of(when), std::move(launches)});
}

void KernelBuilder::each_variant(bool packed, std::vector<std::string> aligned,
                                 const Launches& launches, const std::string& always) {
  const std::string fits = fits_int(region_);
  if (packed) {
    aligned.insert(aligned.end(), {fits, always});
    variant(aligned, launches({"int", name("VEC"), true}));
  }
  if (!fits.empty()) variant({fits, always}, launches({"int", "1"}));
  variant({always}, launches({fits.empty() ? "int" : "long long", "1"}));
}

void KernelBuilder::each_variant(bool packed, const Packs& packs, const std::string& extent,
                                 const Launches& launches, const std::string& always) {
  std::vector<std::string> aligned = packs.conditions(name("VEC"));
  aligned.push_back(fmt::format("{} % {} == 0", extent, name("VEC")));
  each_variant(packed, std::move(aligned), launches, always);
}

void KernelBuilder::put_first(const std::string& when, const Launch& instead_of_first) {
  Variant first = kernel_.variants.front();
  first.when = when;
  first.launches[0] = instead_of_first;
  kernel_.variants.insert(kernel_.variants.begin(), std::move(first));
}

Kernel KernelBuilder::finish() {
  finalize(kernel_, context_);
  return take();
}

}  // namespace kw::generate
