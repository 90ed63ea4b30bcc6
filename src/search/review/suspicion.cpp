#include "review/suspicion.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/text.h"
#include "kernel/bind.h"
#include "kernel/parse.h"
#include "kernel/select.h"
#include "review/walk.h"

namespace kw::review {
namespace {

constexpr int64_t kMostStaticShared = 48 * 1024, kMostShared = 227 * 1024, kMostThreads = 1024;
constexpr size_t kMostWalked = 50'000;  // tokens
constexpr double kFactor = 0.6, kLeast = 0.1;

/// One kernel of the source: where its body is, what its parameters are called.
struct SourceKernel {
  std::vector<std::string> templates, parameters;
  size_t begin = 0, end = 0;  // of the body, braces left out
};

/// The last name of each item of a list in brackets: "typename Index, int kVec" -> Index, kVec.
std::vector<std::string> last_names(const std::vector<WalkToken>& tokens, size_t begin,
                                    size_t end) {
  std::vector<std::string> names;
  std::string last;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].text == "(" || tokens[i].text == "[") i = closing(tokens, i);
    if (i >= end) break;
    if (tokens[i].text == ",") names.push_back(last);
    if (tokens[i].kind == cuda_source::SourceKind::Identifier) last = tokens[i].text;
  }
  if (begin < end) names.push_back(last);
  return names;
}

std::optional<SourceKernel> find_kernel(const std::vector<WalkToken>& tokens,
                                        const std::string& name) {
  size_t template_begin = 0, template_end = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text == "template" && i + 1 < tokens.size()) {
      template_begin = i + 2;
      template_end = i + 2;
      while (template_end < tokens.size() && tokens[template_end].text != ">") ++template_end;
    }
    if (tokens[i].text == "}" || tokens[i].text == ";") template_begin = template_end = 0;
    if (tokens[i].text != "__global__") continue;
    while (i < tokens.size() && tokens[i].text != name && tokens[i].text != "{") {
      if (tokens[i].text == "(") i = closing(tokens, i);
      ++i;
    }
    if (i + 1 >= tokens.size() || tokens[i].text != name || tokens[i + 1].text != "(") continue;
    const size_t close = closing(tokens, i + 1);
    if (close + 1 >= tokens.size() || tokens[close + 1].text != "{") continue;
    SourceKernel found;
    found.templates = last_names(tokens, template_begin, template_end);
    found.parameters = last_names(tokens, i + 2, close);
    found.begin = close + 2;
    found.end = std::min(closing(tokens, close + 1), tokens.size());
    return found;
  }
  return std::nullopt;
}

/// "k<int, 4>" -> "int", "4".
std::vector<std::string> template_arguments(const std::string& expression) {
  const size_t open = expression.find('<');
  if (open == std::string::npos || !expression.ends_with(">")) return {};
  std::vector<std::string> words;
  for (const std::string& word :
       split(std::string_view(expression).substr(open + 1, expression.size() - open - 2), ','))
    words.emplace_back(trim(word));
  return words;
}

int64_t elements_of(const kernel::TensorDecl& tensor, const kernel::Scope& scope) {
  Interval count = Interval::exactly(1);
  for (const kernel::Expr& extent : tensor.shape) {
    const Result<int64_t> value = kernel::evaluate(extent, scope);
    if (!value) return -1;
    count = multiply(count, Interval::exactly(*value));
  }
  return tensor.strides.empty() ? count.low : -1;
}

class LaunchLook {
 public:
  LaunchLook(const kernel::Module& module, const std::vector<WalkToken>& tokens,
             const kernel::Scope& scope, const kernel::Selection& selection)
      : module_(module), tokens_(tokens), scope_(scope), selection_(selection) {}

  void look(const kernel::LaunchDecl& launch, std::vector<Suspicion>& out) {
    const Result<std::string> expression = kernel::kernel_expression(launch, module_, scope_);
    if (!expression || launch.args.empty()) return;
    const std::optional<SourceKernel> kernel =
        find_kernel(tokens_, expression->substr(0, expression->find('<')));
    WalkScope walk;
    if (!kernel || kernel->parameters.size() != launch.args.size() ||
        !geometry(launch, walk, out) || !parameters(launch, *kernel, walk))
      return;
    const std::vector<std::string> values = template_arguments(*expression);
    for (size_t i = 0; i < values.size() && i < kernel->templates.size(); ++i) {
      if (const auto value = parse_int(values[i]))
        walk.names[kernel->templates[i]] = Interval::exactly(*value);
    }
    Walk steps(tokens_, std::move(walk));
    steps.statements(kernel->begin, kernel->end);
    for (const WalkFinding& one : steps.findings())
      out.push_back({Field::Memory, one.line, one.what});
    if (steps.shared_bytes() > kMostStaticShared)
      out.push_back({Field::Compile, launch.line,
                     fmt::format("{} bytes of static shared memory, more than {}",
                                 steps.shared_bytes(), kMostStaticShared)});
  }

 private:
  /// Threads and blocks as intervals; false when an extent has no value or nothing is launched.
  bool geometry(const kernel::LaunchDecl& launch, WalkScope& walk, std::vector<Suspicion>& out) {
    int64_t threads = 1;
    for (size_t i = 0; i < 3; ++i) {
      const std::string axis = std::string(".") + "xyz"[i];
      const int64_t blocks = extent(launch.grid, i), block = extent(launch.block, i);
      if (blocks < 1 || block < 1) return false;
      threads *= std::min(block, kMostThreads + 1);
      walk.names["threadIdx" + axis] = Interval::between(0, block - 1);
      walk.names["blockIdx" + axis] = Interval::between(0, blocks - 1);
      walk.names["blockDim" + axis] = Interval::exactly(block);
      walk.names["gridDim" + axis] = Interval::exactly(blocks);
    }
    if (threads > kMostThreads)
      out.push_back({Field::Compile, launch.line, "a block has more than 1024 threads"});
    if (launch.shared) {
      const Result<int64_t> bytes = kernel::evaluate(*launch.shared, scope_);
      if (bytes && *bytes > kMostShared)
        out.push_back({Field::Compile, launch.line,
                       fmt::format("{} bytes of shared memory, more than a block has", *bytes)});
    }
    for (const auto& [name, value] : selection_.defines)
      walk.names[name] = Interval::exactly(value);
    return true;
  }

  int64_t extent(const std::vector<kernel::Expr>& extents, size_t i) const {
    if (i >= extents.size()) return 1;
    const Result<int64_t> value = kernel::evaluate(extents[i], scope_);
    return value ? *value : -1;
  }

  bool parameters(const kernel::LaunchDecl& launch, const SourceKernel& kernel, WalkScope& walk) {
    for (size_t i = 0; i < launch.args.size(); ++i) {
      const kernel::ExprNode& root = launch.args[i].root();
      const kernel::TensorDecl* tensor =
          root.op == kernel::Op::Name ? module_.find_tensor(root.name) : nullptr;
      if (tensor != nullptr) {
        const int64_t count = elements_of(*tensor, scope_);
        if (count >= 0) walk.extents[kernel.parameters[i]] = Interval::exactly(count);
      } else if (const Result<int64_t> value = kernel::evaluate(launch.args[i], scope_)) {
        walk.names[kernel.parameters[i]] = Interval::exactly(*value);
      }
    }
    return true;
  }

  const kernel::Module& module_;
  const std::vector<WalkToken>& tokens_;
  const kernel::Scope& scope_;
  const kernel::Selection& selection_;
};

/// A value that is rounded to half where it is accumulated.
void look_at_rounding(const std::vector<WalkToken>& tokens, std::vector<Suspicion>& out) {
  for (size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (tokens[i].text == "__half2float" && tokens[i + 2].text == "__float2half")
      out.push_back({Field::Numerics, tokens[i].line, "rounded to half and back"});
    const bool sum = tokens[i].text == "__half" && tokens[i + 2].text == "=" && i > 0 &&
                     tokens[i - 1].text != "const";
    for (size_t k = i; sum && k + 1 < tokens.size() && tokens[k].text != "__global__"; ++k) {
      if (tokens[k].text != tokens[i + 1].text || tokens[k + 1].text != "+=") continue;
      out.push_back({Field::Numerics, tokens[k].line, "a sum is kept in half"});
      break;
    }
  }
}

const std::set<std::string> kExponentials = {"exp",  "expf",  "__expf", "exp2f",
                                             "hexp", "hexp2", "exp2",   "fast_exp"};

/// Whether a name, or anything in [begin, end) itself, is added to something.
bool is_summed(const std::vector<WalkToken>& tokens, size_t begin, size_t end,
               const std::string& name) {
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].text == "+=") return true;
  }
  for (size_t i = end; !name.empty() && i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == "__global__") return false;
    if (tokens[i].text == "+=" && tokens[i + 1].text == name) return true;
  }
  return false;
}

/// Sums of exponentials whose argument nothing was taken off: they overflow where values are large.
void look_at_exponentials(const std::vector<WalkToken>& tokens, std::vector<Suspicion>& out) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!kExponentials.contains(tokens[i].text) || tokens[i + 1].text != "(") continue;
    const size_t close = closing(tokens, i + 1);
    if (close >= tokens.size()) return;
    bool lowered = false;
    for (size_t k = i + 2; k < close; ++k) lowered = lowered || tokens[k].text == "-";
    size_t begin = i, end = close;
    const auto stops = [&](size_t k) {
      return tokens[k].text == ";" || tokens[k].text == "{" || tokens[k].text == "}";
    };
    while (begin > 0 && !stops(begin - 1)) --begin;
    while (end < tokens.size() && !stops(end)) ++end;
    std::string name;
    for (size_t k = begin; k + 1 < i; ++k) {
      if (tokens[k + 1].text == "=") name = tokens[k].text;
    }
    if (tokens[begin].text != "return" && !lowered && is_summed(tokens, begin, end, name))
      out.push_back({Field::Numerics, tokens[i].line,
                     "a sum of exponentials from which no maximum was taken off"});
  }
}

}  // namespace

std::vector<Suspicion> suspicions(const kernel::Module& module,
                                  const std::map<std::string, int64_t>& dims) {
  std::vector<Suspicion> out;
  if (!module.recorded.empty()) return out;
  kernel::Bindings bindings;
  bindings.dims = dims;
  const Result<kernel::Selection> selection = kernel::select(module, bindings);
  if (!selection) return out;
  const std::map<std::string, int64_t> tunes(selection->defines.begin(), selection->defines.end());
  kernel::Scope scope = kernel::make_scope(module, bindings, tunes);
  const kernel::Group& group = module.groups[static_cast<size_t>(selection->group)];
  const Result<std::vector<kernel::Step>> steps = kernel::unroll(group, scope);
  if (!steps) return out;
  const std::vector<WalkToken> tokens = walk_tokens(module.text);
  if (tokens.size() > kMostWalked) return out;
  LaunchLook look(module, tokens, scope, *selection);
  for (const kernel::Step& step : *steps) {
    step.enter(scope);
    look.look(*step.launch, out);
    step.leave(scope);
  }
  return out;
}

std::vector<Suspicion> suspicions(const std::string& module_text) {
  const kernel::ParseOutcome parsed = kernel::parse(module_text, "module");
  if (!parsed.module) return {};
  std::vector<Suspicion> all;
  std::set<std::pair<int, Field>> seen;
  const std::vector<std::string> names = parsed.module->dims();
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{3, 127}, {1, 1}, {16, 1024}, {5, 4097}}) {
    std::map<std::string, int64_t> dims;
    for (size_t i = 0; i < names.size(); ++i) dims[names[i]] = shape[i % shape.size()];
    for (Suspicion& one : suspicions(*parsed.module, dims)) {
      if (seen.insert({one.line, one.field}).second) all.push_back(std::move(one));
    }
  }
  const std::vector<WalkToken> tokens = walk_tokens(module_text);
  look_at_rounding(tokens, all);
  look_at_exponentials(tokens, all);
  return all;
}

double suspicion_score(const std::vector<Suspicion>& all) {
  return std::max(kLeast, std::pow(kFactor, static_cast<double>(all.size())));
}

}  // namespace kw::review
