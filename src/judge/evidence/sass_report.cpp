// A module may claim a method that the compiler removed or never used. So `sass` compiles the
// module to a cubin, disassembles it and shows what the code contains. A method is judged by
// comparison with the same module with the method off, or with another module, at the same dims: a
// count alone rarely proves that a method caused it. Kernels that no launch uses are left out.
// Checking the source text was the alternative; it shows the intent, not the result. The cost: two
// compiles and a disassembler.
#include "evidence/sass_report.h"

#include <algorithm>

#include "binding/load.h"
#include "binding/probe.h"
#include "catalog/catalog.h"
#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "os/interrupt.h"
#include "profile/sass_text.h"

namespace kw::evidence {
namespace {

std::vector<profile::SassFunction> codes_of(const std::vector<SassKernel>& kernels) {
  std::vector<profile::SassFunction> codes;
  for (const SassKernel& kernel : kernels) codes.push_back(kernel.code);
  return codes;
}

/// Machine code of a module's kernels, for every launch group or only the first.
class CodeReader {
 public:
  CodeReader(const SassRequest& request, ports::Compiler& compiler, bool first_group)
      : request_(request),
        compiler_(compiler),
        first_group_(first_group),
        tools_(request.disassembler ? *request.disassembler : compile::find_disassembler()) {}

  Result<std::vector<SassKernel>> read(const kernel::Module& module) {
    kernels_.clear();
    const arch::Target target = KW_TRY(arch::find_target(request_.target));
    const kernel::Bindings fixed =
        KW_TRY(binding::bind_names(module, request_.bindings, {}, target, {}));
    const std::vector<binding::Probe> probes = KW_TRY(binding::probe_groups(module, fixed));
    for (const binding::Probe& probe : probes) {
      KW_TRY(read_group(module, probe));
      if (dims_.empty()) dims_ = probe.bindings.dims;
      if (first_group_) break;
    }
    if (kernels_.empty() && !all_.empty())
      return input_error("{} has no kernel with '{}' in its name; it has {}", module.file_name,
                         request_.function, join(all_, ", "));
    return std::move(kernels_);
  }
  const std::string& compiler_name() const { return compiler_name_; }
  /// The dims of the first group that was read.
  const std::map<std::string, int64_t>& dims() const { return dims_; }

 private:
  Status read_group(const kernel::Module& module, const binding::Probe& probe) {
    ports::CompileRequest ask =
        ports::compile_request(module, probe.selection, request_.target, request_.timeout_seconds);
    ask.image = ports::ImageKind::Cubin;
    const ports::CompileOutcome outcome = KW_TRY(compiler_.compile(ask));
    if (outcome.failed)
      return input_error("{} does not compile: {}", module.file_name, first_error(*outcome.failed));
    compiler_name_ = outcome.compiled->compiler;
    const std::string text = KW_TRY(
        compile::disassemble_once(outcome.compiled->image, tools_, request_.timeout_seconds));
    auto functions = profile::parse_sass(text);
    if (!functions)
      return environment_error("the disassembler's output is not understood: " +
                               functions.error().message);
    // An image has every kernel of the text. Kernels that are never launched are removed.
    const auto launched = [&](const profile::SassFunction& function) {
      return std::ranges::any_of(
          outcome.compiled->kernels,
          [&](const ports::CompiledKernel& kernel) { return kernel.entry == function.name; });
    };
    if (std::ranges::any_of(*functions, launched))
      std::erase_if(*functions, [&](const auto& one) { return !launched(one); });
    for (profile::SassFunction& function : *functions) add(*outcome.compiled, std::move(function));
    return os::check_interrupted();
  }

  void add(const ports::Compiled& compiled, profile::SassFunction function) {
    std::string name = function.name;
    for (const ports::CompiledKernel& kernel : compiled.kernels) {
      if (kernel.entry == function.name) name = kernel.expression;
    }
    if (!contains(all_, name)) all_.push_back(name);
    const bool wanted = request_.function.empty() ||
                        name.find(request_.function) != std::string::npos ||
                        function.name.find(request_.function) != std::string::npos;
    const bool seen =
        std::ranges::any_of(kernels_, [&](const SassKernel& one) { return one.name == name; });
    if (wanted && !seen) kernels_.push_back({std::move(name), std::move(function)});
  }

  const SassRequest& request_;
  ports::Compiler& compiler_;
  bool first_group_;
  compile::Disassembler tools_;
  std::map<std::string, int64_t> dims_;
  std::vector<SassKernel> kernels_;
  std::vector<std::string> all_;
  std::string compiler_name_;
};

Result<const catalog::Method*> find_method(const std::string& id) {
  if (const catalog::Method* method = catalog::find(id)) return method;
  return input_error("there is no method '{}'{}; 'kernelwright catalog' lists all", id,
                     did_you_mean(id, catalog::ids()));
}

/// The module with the method off. Not set, with a note, when it has no switch for it.
Result<std::optional<kernel::Module>> switched_off(const kernel::Module& module,
                                                   const SassRequest& request, SassReport& report) {
  kernel::Module chosen = module;
  if (!request.bindings.tunes.empty())
    chosen = KW_TRY(binding::parse_module(kernel::with_tunes(module.text, request.bindings.tunes),
                                          module.file_name));
  const auto off = kernel::without_method(chosen, request.method);
  if (!off) {
    report.notes.push_back(off.error().message);
    return std::optional<kernel::Module>();
  }
  for (const std::string& other : off->also_off)
    report.notes.push_back(other + " is switched off with it");
  for (const std::string& tune : off->moved)
    report.notes.push_back("switching it off also changes " + tune);
  return std::optional(KW_TRY(binding::parse_module(off->text, module.file_name)));
}

/// Adds the module to compare with, and its kernels at the same dims.
Status add_other(const kernel::Module& module, const SassRequest& request,
                 const std::map<std::string, int64_t>& dims, ports::Compiler& compiler,
                 SassReport& report) {
  std::optional<kernel::Module> other;
  SassRequest ask = request;
  if (request.against != nullptr) {
    other = *request.against;
    report.other = other->file_name;
  } else if (!request.method.empty()) {
    other = KW_TRY(switched_off(module, request, report));
    report.other = module.file_name + " without " + request.method;
    ask.bindings.tunes.clear();
  }
  if (!other) {
    report.other.clear();
    return Done{};
  }
  ask.bindings.dims = dims;
  if (request.against != nullptr) {
    // Only dims and tunables that the other module has are used.
    const std::vector<std::string> known = other->dims();
    std::erase_if(ask.bindings.dims, [&](const auto& dim) { return !contains(known, dim.first); });
    std::erase_if(ask.bindings.tunes,
                  [&](const auto& tune) { return other->find_tune(tune.first) == nullptr; });
    ask.function.clear();
  }
  report.other_kernels = KW_TRY(CodeReader(ask, compiler, true).read(*other));
  return Done{};
}

}  // namespace

profile::SassFacts SassReport::facts() const { return profile::total_facts(codes_of(kernels)); }
profile::SassFacts SassReport::other_facts() const {
  return profile::total_facts(codes_of(other_kernels));
}

Result<SassReport> show_sass(const kernel::Module& module, const SassRequest& request,
                             ports::Compiler& compiler, const single_run::Progress& progress) {
  SassReport report;
  report.module = module.file_name;
  report.target = request.target;
  report.method = request.method;
  const catalog::Method* method = nullptr;
  if (!request.method.empty()) method = KW_TRY(find_method(request.method));
  if (progress) progress("compiling " + module.file_name);
  const bool compared = method != nullptr || request.against != nullptr;
  CodeReader reader(request, compiler, compared);
  report.kernels = KW_TRY(reader.read(module));
  report.compiler = reader.compiler_name();
  if (progress && compared) progress("compiling what it is compared with");
  KW_TRY(add_other(module, request, reader.dims(), compiler, report));
  if (method == nullptr) return report;
  const std::vector<profile::SassFunction> without = codes_of(report.other_kernels);
  report.verdict = profile::sass_verdict(*method, codes_of(report.kernels),
                                         report.other.empty() ? nullptr : &without);
  return report;
}

namespace {

Json kernels_json(const std::vector<SassKernel>& kernels, bool raw) {
  return json_list(kernels, [raw](auto& v, const SassKernel& kernel) {
    v("name", kernel.name)("symbol", kernel.code.name)("facts", profile::sass_facts(kernel.code));
    std::vector<std::string> code;
    for (const profile::SassInstruction& one : kernel.code.code) code.push_back(one.text());
    v("code", code, When{raw});
  });
}

}  // namespace

Json to_json(const SassReport& report, bool raw) {
  JsonWriter v;
  v("module", report.module)("target", report.target)("compiler", report.compiler);
  v("kernels", kernels_json(report.kernels, raw))("notes", report.notes);
  if (!report.other.empty()) {
    v.group("other", [&](auto& g) {
      g("name", report.other)("kernels", kernels_json(report.other_kernels, raw));
    });
    v("changes", profile::fact_changes(report.other_facts(), report.facts()));
  }
  if (report.verdict) v("method", report.method)("verdict", report.verdict);
  return v.take();
}

}  // namespace kw::evidence
