// The problem: a foreign launcher knows neither dims nor which of its buffers are outputs. The
// choice: its parameters are matched with the reference's tensors and dims, by name and then by
// order. The launcher is then followed once per path, and the paths become the launch groups of one
// plan. The alternative, asking the user for a plan, needs the work that import should save. The
// cost: parameters whose meaning is unclear must be given by the user; the problem says which.
#include "cuda_import/import.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/text.h"
#include "cuda_import/device_text.h"
#include "cuda_import/host_code_reader.h"
#include "cuda_import/plan_lines.h"
#include "cuda_import/source.h"
#include "cuda_source/cuda_types.h"
#include "kernel/module.h"
#include "kernel/parse_module.h"
#include "kernel/plan_names.h"

namespace kw::cuda_import {

namespace {

using cuda_source::Diagnostic;

constexpr size_t kMostPaths = 24;

void add_problem(std::vector<Diagnostic>& out, Diagnostic one) {
  for (const Diagnostic& known : out) {
    if (known.line == one.line && known.message == one.message) return;
  }
  out.push_back(std::move(one));
}

bool launches_directly(const HostSource& source, const Item& item) {
  for (size_t i = item.body_first; i < item.body_last; ++i) {
    const cuda_source::Token& token = source.tokens[i];
    if (token.is("<<<") || token.is("cudaLaunchKernel") || token.is("cudaLaunchCooperativeKernel"))
      return true;
  }
  return false;
}

bool calls(const HostSource& source, const Item& item, const std::string& name) {
  for (size_t i = item.body_first; i < item.body_last; ++i) {
    if (source.tokens[i].text == name) return true;
  }
  return false;
}

const Item* choose_launcher(const HostSource& source, const std::string& wanted,
                            std::vector<Diagnostic>& problems) {
  std::vector<const Item*> hosts, marked, direct;
  std::vector<std::string> names;
  for (const Item& item : source.outline.items) {
    if (item.kind != Item::Kind::Host || last_name(item.name) == "main") continue;
    hosts.push_back(&item);
    names.push_back(last_name(item.name));
    if (!wanted.empty() && last_name(item.name) == wanted) return &item;
    if (item.c_linkage) marked.push_back(&item);
    if (launches_directly(source, item)) direct.push_back(&item);
  }
  if (!wanted.empty()) {
    problems.push_back({0, 0, 1, fmt::format("there is no host function '{}'", wanted),
                        "its host functions are: " + (names.empty() ? "none" : join(names, ", "))});
    return nullptr;
  }
  std::vector<const Item*> choice = marked.empty() ? direct : marked;
  // If several functions call each other, the launcher is the one that no other calls.
  std::erase_if(choice, [&](const Item* one) {
    return std::ranges::any_of(choice, [&](const Item* other) {
      return other != one && calls(source, *other, last_name(one->name));
    });
  });
  if (choice.size() == 1) return choice.front();
  std::vector<std::string> found;
  for (const Item* one : choice) found.push_back(last_name(one->name));
  const bool module = source.text.find("//! kernelwright") != std::string_view::npos;
  if (choice.empty())
    problems.push_back({0, 0, 1, "the file has no host function that launches a kernel",
                        module ? "it is a kernel module already"
                               : "write extern \"C\" void solve(const float* a, float* b, int n) "
                                 "with 'kernel<<<grid, block>>>(a, b, n);'"});
  else
    problems.push_back({0, 0, 1,
                        fmt::format("the file has several launchers: {}", join(found, ", ")),
                        "choose one with --launcher NAME"});
  return nullptr;
}

class Importer {
 public:
  explicit Importer(const ImportRequest& request) : request_(request), source_(request.text) {}

  Imported run() {
    const Item* launcher = choose_launcher(source_, request_.launcher, out_.problems);
    const std::string called = launcher == nullptr ? "" : last_name(launcher->name);
    const DeviceText device = device_text(source_, called);
    for (const Diagnostic& one : device.problems) add_problem(out_.problems, one);
    if (launcher == nullptr) return std::move(out_);
    out_.launcher = last_name(launcher->name);
    parameters_ = source_.parameters(*launcher);
    check_parameters();
    for (const Item& item : source_.outline.items) {
      if (item.kind == Item::Kind::Host && last_name(item.name) != "main") check_directives(item);
    }
    if (!out_.problems.empty() && bad_parameters_) return std::move(out_);
    follow(*launcher);
    settle_tensors();
    settle_numbers();
    if (std::ranges::all_of(plan_.paths, [](const Path& one) { return one.launches.empty(); }) &&
        out_.problems.empty())
      problem(0, 0, fmt::format("'{}' launches nothing", out_.launcher), "");
    if (request_.zero_outputs) clear_outputs();
    warn_of_sums();
    if (out_.problems.empty()) write(device);
    for (const std::string& note : device.notes) out_.notes.push_back(note);
    std::ranges::stable_sort(out_.problems, {}, &Diagnostic::line);
    if (!out_.problems.empty()) out_.module.clear();
    return std::move(out_);
  }

 private:
  void problem(int line, int column, std::string message, std::string hint) {
    add_problem(out_.problems, {line, column, 1, std::move(message), std::move(hint)});
  }

  void check_parameters() {
    for (const CParameter& one : parameters_) {
      const CType& type = one.type;
      const std::string what = fmt::format("parameter '{}' is '{}'", one.name, type.text());
      if (one.name.empty())
        bad(one, fmt::format("a parameter of type '{}' has no name", type.text()), "");
      else if (type.pointers > 1)
        bad(one, what + ": a pointer to pointers", "pass each buffer by itself");
      else if (type.pointers == 0 && type.base.starts_with("cudaStream"))
        continue;
      else if (!type.known())
        bad(one, what + ", which is not a type known here",
            "pointers and numbers of CUDA's own types can be passed");
      else if (type.pointers == 0 && type.size > tensor_size(type))
        bad(one, what + ": a vector", "pass its elements");
    }
  }

  static int tensor_size(const CType& type) {
    return type.dtype ? tensor::dtype_size(*type.dtype) : 0;
  }

  void bad(const CParameter& one, std::string message, std::string hint) {
    bad_parameters_ = true;
    problem(one.line, one.column, std::move(message), std::move(hint));
  }

  void check_directives(const Item& function) {
    const size_t begin = source_.tokens[function.first].begin;
    const size_t end = source_.tokens[function.last - 1].end;
    for (const cuda_source::Directive& one : source_.lexed.directives) {
      const cuda_source::SourceToken& hash = source_.lexed.tokens[one.first];
      const bool conditional = one.name.starts_with("if") || one.name.starts_with("el");
      if (conditional && hash.begin > begin && hash.begin < end)
        problem(hash.line, hash.column, "conditional compilation inside a function of the host",
                "keep only the branch that is used");
    }
  }

  std::string plan_name(const std::string& name) const {
    return kernel::reserved_name(name).empty() ? name : name + "_";
  }

  /// The dim with a parameter's name, or with that name in other capitals.
  std::string dim_of(const std::string& name) const {
    if (request_.dims.count(name)) return name;
    std::vector<std::string> near;
    for (const std::string& one : request_.dims) {
      if (lower_case(one) == lower_case(name)) near.push_back(one);
    }
    return near.size() == 1 ? near.front() : "";
  }

  HostValue argument(const CParameter& one) {
    HostValue value;
    if (one.type.pointers > 0) {
      value.kind = HostValue::Kind::Pointer;
      value.text = plan_name(one.name);
      value.type = one.type;
      return value;
    }
    if (!one.type.dtype) return value;
    const auto given = request_.numbers.find(one.name);
    if (tensor::is_float(*one.type.dtype)) {
      value.kind = HostValue::Kind::Scalar;
      value.text = plan_name(one.name);
      value.type = one.type;
      return value;
    }
    const IntKind kind = integer_kind(one.type).value_or(IntKind::I64);
    if (given != request_.numbers.end()) {
      if (const auto number_given = parse_int(given->second))
        return integer_value(number(*number_given), IntKind::I64);
      const std::set<std::string> names = names_in(given->second);
      const bool plain = names == std::set<std::string>{given->second};
      return parameter_value(plain ? given->second : "(" + given->second + ")", kind,
                             std::ranges::all_of(names, [&](auto& name) { return is_dim(name); }) &&
                                 given->second.find('-') == std::string::npos);
    }
    const std::string dim = dim_of(one.name);
    if (!dim.empty() && dim != one.name)
      out_.notes.push_back(fmt::format("'{}' is matched with the dim {}", one.name, dim));
    const std::string name = dim.empty() ? plan_name(one.name) : dim;
    return parameter_value(name, kind, is_dim(name));
  }

  /// Whether a name is an extent of a tensor, and so at least 0.
  bool is_dim(const std::string& name) const {
    if (request_.dims.count(name)) return true;
    for (const auto* list : {&request_.given, &request_.inputs, &request_.outputs}) {
      for (const KnownTensor& one : *list) {
        if (std::ranges::count(one.shape, name) > 0) return true;
      }
    }
    return false;
  }

  /// What a parameter of that type can hold; a narrow one may not hold an extent.
  static HostValue parameter_value(const std::string& name, IntKind kind, bool is_dim) {
    const bool narrow = bits_of(kind) < 32;
    if (is_dim) {
      const int64_t most = narrow ? kernel::kMaxDim : std::min(kernel::kMaxDim, usual_most(kind));
      return integer_value(named(name, {0, most}, true), narrow ? IntKind::I64 : kind);
    }
    return integer_value(named(name, {lowest(kind), highest(kind)}), kind);
  }

  void follow(const Item& launcher) {
    std::vector<HostValue> arguments;
    for (const CParameter& one : parameters_) arguments.push_back(argument(one));
    std::vector<bool> decisions;
    while (true) {
      HostCodeResult one = read_host_code(source_, decisions, launcher, arguments);
      for (const Diagnostic& found : one.problems) add_problem(out_.problems, found);
      written_.merge(one.written);
      used_.merge(one.used);
      keep_path(std::move(one.path));
      decisions = one.decisions;
      while (!decisions.empty() && !decisions.back()) decisions.pop_back();
      if (decisions.empty() || !out_.problems.empty()) return;
      decisions.back() = false;
      if (plan_.paths.size() < kMostPaths) continue;
      problem(0, 0, fmt::format("the launcher has more than {} ways through it", kMostPaths),
              "conditions on the shape become launch groups");
      return;
    }
  }

  void note_domain(const Path& path) {
    if (path.launches.empty()) return;
    for (const TermRef& one : path.domain) {
      const std::string note = fmt::format(
          "numbers of the host fit their types when {}: other shapes are outside the module's "
          "domain",
          one->text());
      if (std::ranges::count(out_.notes, note) == 0) out_.notes.push_back(note);
    }
  }

  // Scratch with the same name but another size on another path needs another name.
  void keep_path(Path path) {
    if (path.refused) path.launches.clear();
    note_domain(path);
    if (path.launches.empty()) path.scratch.clear();
    if (path.launches.empty() && !path.conditions.empty()) {
      std::vector<std::string> texts;
      for (const TermRef& one : path.conditions) texts.push_back(one->text());
      out_.notes.push_back(fmt::format("nothing is launched when {}: outside the module's domain",
                                       join(texts, " && ")));
    }
    for (RecordedScratch& one : path.scratch) {
      std::string name = plan_name(one.name);
      for (int i = 2; clashes(name, one); ++i) name = fmt::format("{}_{}", one.name, i);
      for (RecordedLaunch& launch : path.launches) {
        for (KernelArgument& argument : launch.arguments) {
          if (argument.kind == KernelArgument::Kind::Tensor && name != one.name)
            argument.name = renamed(argument.name, one.name, name);
        }
      }
      scratch_.insert(one.name);
      one.name = name;
    }
    plan_.paths.push_back(std::move(path));
  }

  /// Renames one tensor in an expression such as "pick(i % 2, a, b)".
  static std::string renamed(const std::string& text, const std::string& from,
                             const std::string& to) {
    std::string out, word;
    for (const char c : text + " ") {
      if (is_name_char(c)) {
        word += c;
        continue;
      }
      out += (word == from ? to : word) + c;
      word.clear();
    }
    out.pop_back();
    return out;
  }

  bool clashes(const std::string& name, const RecordedScratch& scratch) const {
    if (request_.dims.count(name)) return true;
    for (const CParameter& one : parameters_) {
      if (one.name == name) return true;
    }
    for (const Path& path : plan_.paths) {
      for (const RecordedScratch& one : path.scratch) {
        if (one.name == name && (one.count->text() != scratch.count->text() ||
                                 one.dtype != scratch.dtype || one.zero != scratch.zero))
          return true;
      }
    }
    return false;
  }

  static const KnownTensor* find(const std::vector<KnownTensor>& list, const std::string& name) {
    const auto at = std::ranges::find(list, name, &KnownTensor::name);
    return at == list.end() ? nullptr : &*at;
  }

  // Matches by name first, then the rest in order, as the judge does.
  void settle_tensors() {
    std::vector<const CParameter*> inputs, outputs;
    std::map<const CParameter*, const KnownTensor*> known;
    std::map<const CParameter*, std::string> words;
    for (const CParameter& one : parameters_) {
      if (one.type.pointers == 0) continue;
      const std::string name = plan_name(one.name);
      const bool read = find(request_.inputs, one.name) != nullptr;
      const bool returned = find(request_.outputs, one.name) != nullptr;
      const bool writes = !one.type.pointee_const && written_.count(name) > 0;
      if (!used_.count(name) && !read && !returned) {
        out_.notes.push_back(fmt::format("'{}' is given to no kernel and was left out", one.name));
        continue;
      }
      if (writes && read && !returned)
        problem(one.line, one.column,
                fmt::format("the reference only reads '{}', but a kernel gets it without const",
                            one.name),
                "write 'const' in the kernel and in the launcher");
      if (!one.type.pointee_const && !writes && used_.count(name))
        out_.notes.push_back(fmt::format("no kernel can write '{}', so it is an input", one.name));
      words[&one] = writes && read && returned ? "inout" : writes ? "output" : "input";
      const KnownTensor* given = find(request_.given, one.name);
      const KnownTensor* named_so =
          find(words[&one] == "input" ? request_.inputs : request_.outputs, one.name);
      known[&one] = given != nullptr ? given : named_so;
      if (named_so == nullptr) (writes ? outputs : inputs).push_back(&one);
    }
    pair_rest(inputs, request_.inputs, known, "input");
    pair_rest(outputs, request_.outputs, known, "output");
    for (const CParameter& one : parameters_) {
      if (words.count(&one)) add_tensor(one, words[&one], known[&one]);
    }
  }

  void pair_rest(const std::vector<const CParameter*>& open,
                 const std::vector<KnownTensor>& reference,
                 std::map<const CParameter*, const KnownTensor*>& known, const char* what) {
    if (!request_.has_reference) return;
    std::vector<const KnownTensor*> left;
    for (const KnownTensor& one : reference) {
      const bool taken = std::ranges::any_of(
          parameters_, [&](const CParameter& other) { return other.name == one.name; });
      if (!taken) left.push_back(&one);
    }
    for (size_t i = 0; i < open.size(); ++i) {
      if (i >= left.size()) {
        if (known[open[i]] == nullptr)
          problem(open[i]->line, open[i]->column,
                  fmt::format("the reference has no {} left for '{}'", what, open[i]->name),
                  "use the same names, or describe it with --input");
        continue;
      }
      if (known[open[i]] == nullptr) known[open[i]] = left[i];
      out_.notes.push_back(fmt::format("'{}' is matched with the reference's '{}' (by position)",
                                       open[i]->name, left[i]->name));
    }
  }

  void add_tensor(const CParameter& one, const std::string& word, const KnownTensor* known) {
    const std::string type = one.type.dtype ? tensor::dtype_name(*one.type.dtype) : "fp32";
    if (known == nullptr) {
      const bool asked = std::ranges::any_of(out_.problems, [&](const Diagnostic& other) {
        return other.line == one.line && other.column == one.column;
      });
      if (!asked)
        problem(one.line, one.column, fmt::format("the shape of '{}' is not known", one.name),
                fmt::format("pass --reference REF, or --input '{}:{}[…]'", one.name, type));
      return;
    }
    PlanTensor tensor{word, *known};
    tensor.tensor.name = plan_name(one.name);
    const auto pointee = cuda_source::find_cuda_type(one.type.base);
    const bool fits =
        one.type.base == "void" || (pointee && cuda_source::may_point_to(*pointee, known->dtype));
    if (!fits)
      problem(one.line, one.column,
              fmt::format("'{}' is '{}' in the launcher, but {} in the reference or --input",
                          one.name, one.type.text(), tensor::dtype_name(known->dtype)),
              fmt::format("pass --input '{}:{}[…]' to both", one.name, type));
    plan_.tensors.push_back(std::move(tensor));
  }

  void settle_numbers() {
    std::set<std::string> symbols;
    for (const PlanTensor& one : plan_.tensors) {
      for (const std::string& extent : one.tensor.shape) symbols.merge(names_in(extent));
    }
    const std::set<std::string> used = names_in(plan_.paths);
    std::set<std::string> scalars_used;
    for (const Path& path : plan_.paths) {
      for (const RecordedLaunch& launch : path.launches) {
        for (const KernelArgument& argument : launch.arguments) {
          if (argument.kind == KernelArgument::Kind::Scalar) scalars_used.insert(argument.name);
        }
      }
    }
    for (const CParameter& one : parameters_) {
      if (one.type.pointers > 0 || !one.type.dtype) continue;
      const std::string name = plan_name(one.name);
      if (tensor::is_float(*one.type.dtype) ? !scalars_used.count(name) : !used.count(name))
        continue;
      if (!symbols.count(name)) add_scalar(one, name);
    }
    add_used_dims(used, symbols);
  }

  void add_scalar(const CParameter& one, const std::string& name) {
    const auto given = request_.numbers.find(one.name);
    const auto known = std::ranges::find(request_.scalars, one.name, &KnownScalar::name);
    const bool whole = !tensor::is_float(*one.type.dtype);
    const bool is_known = given != request_.numbers.end() || known != request_.scalars.end() ||
                          (whole && request_.dims.count(name));
    if (request_.has_reference && !is_known) {
      const std::vector<std::string> dims(request_.dims.begin(), request_.dims.end());
      return problem(one.line, one.column,
                     fmt::format("'{}' is neither a dim nor a number of the reference", one.name),
                     whole ? fmt::format("its dims are {}; define it with --input '{}=EXPRESSION'",
                                         dims.empty() ? "none" : join(dims, ", "), one.name)
                           : fmt::format("pass --input '{}=VALUE'", one.name));
    }
    plan_.scalars.push_back({name, *one.type.dtype,
                             given != request_.numbers.end()   ? given->second
                             : known != request_.scalars.end() ? known->value
                                                               : ""});
  }

  // Adds dims that the geometry needs and no shape contains: --input 'n=B * D', or differing names.
  void add_used_dims(const std::set<std::string>& used, const std::set<std::string>& symbols) {
    for (const std::string& name : used) {
      const bool declared = std::ranges::any_of(
          plan_.scalars, [&](const PlanScalar& one) { return one.name == name; });
      if (request_.dims.count(name) && !symbols.count(name) && !declared)
        plan_.scalars.push_back({name, tensor::DType::Int64, ""});
    }
  }

  void clear_outputs() {
    for (const PlanTensor& one : plan_.tensors) {
      if (one.word != "output") continue;
      std::string bytes = std::to_string(tensor::dtype_size(one.tensor.dtype));
      for (const std::string& extent : one.tensor.shape) {
        const bool simple = extent.find_first_of(" +-*/%") == std::string::npos;
        bytes += " * " + (simple ? extent : "(" + extent + ")");
      }
      RecordedLaunch launch =
          bytes_launch_of(kSetBytes,
                          {{KernelArgument::Kind::Tensor, one.tensor.name, nullptr, 0},
                           {KernelArgument::Kind::Integer, "", number(0), 0}},
                          named(bytes));
      for (Path& path : plan_.paths) {
        if (!path.launches.empty()) path.launches.insert(path.launches.begin(), launch);
      }
    }
  }

  // A kernel with 'atomicAdd(y, …)' may rely on zeros in y.
  void warn_of_sums() {
    for (const PlanTensor& one : plan_.tensors) {
      if (one.word != "output") continue;
      for (const Path& path : plan_.paths) {
        const auto first = std::ranges::find_if(path.launches, [&](const RecordedLaunch& launch) {
          return std::ranges::any_of(launch.arguments, [&](const KernelArgument& argument) {
            return argument.name == one.tensor.name;
          });
        });
        if (first == path.launches.end() || !adds_to(*first, one.tensor.name)) continue;
        out_.notes.push_back(
            fmt::format("'{}' adds to '{}' atomically and nothing clears it first: outputs start "
                        "with arbitrary contents (--zero-outputs clears them)",
                        first->base, one.tensor.name));
        break;
      }
    }
  }

  bool adds_to(const RecordedLaunch& launch, const std::string& tensor) const {
    const auto item = std::ranges::find_if(source_.outline.items, [&](const Item& one) {
      return one.kind == Item::Kind::Kernel && one.name == launch.base;
    });
    if (item == source_.outline.items.end()) return false;
    const std::vector<CParameter> parameters = source_.parameters(*item);
    for (size_t i = 0; i < parameters.size() && i < launch.arguments.size(); ++i) {
      if (launch.arguments[i].name != tensor) continue;
      for (size_t at = item->body_first; at + 2 < item->body_last; ++at) {
        if (!source_.tokens[at].text.starts_with("atomic") || !source_.tokens[at + 1].is("("))
          continue;
        size_t behind = at + 2;
        while (behind < item->body_last &&
               (source_.tokens[behind].is("&") || source_.tokens[behind].is("(")))
          ++behind;
        if (source_.tokens[behind].text == parameters[i].name) return true;
      }
    }
    return false;
  }

  void write(const DeviceText& device) {
    plan_.task = request_.task;
    const std::string plan = plan_text(plan_, source_);
    const std::string added = added_kernels(plan_.paths);
    if (!added.empty())
      out_.notes.emplace_back("cudaMemset and cudaMemcpy became small kernels at the end");
    out_.module = plan + device.text + added;
    const kernel::ParseOutcome parsed = kernel::parse(out_.module, request_.file_name);
    const int before = static_cast<int>(std::ranges::count(plan, '\n'));
    const std::vector<std::string_view> lines = split_lines(out_.module);
    for (const Diagnostic& one : parsed.diagnostics) {
      const int at = one.line - before - 1;
      const bool device_line = at >= 0 && at < static_cast<int>(device.lines.size());
      std::string message = one.message;
      if (!device_line && one.line > 0 && one.line <= static_cast<int>(lines.size()))
        message += fmt::format(" (in '{}')", lines[static_cast<size_t>(one.line - 1)]);
      problem(device_line ? device.lines[static_cast<size_t>(at)] : 0, device_line ? one.column : 0,
              std::move(message), one.hint);
    }
  }

  const ImportRequest& request_;
  const HostSource source_;
  std::vector<CParameter> parameters_;
  ImportPlan plan_;
  std::set<std::string> written_, used_, scratch_;
  bool bad_parameters_ = false;
  Imported out_;
};

bool unreadable(const std::string& text, std::vector<Diagnostic>& problems) {
  if (text.size() > kMaxForeignBytes)
    problems.push_back({0, 0, 1, "the file is larger than 1 MiB", ""});
  else if (trim(text).empty())
    problems.push_back({0, 0, 1, "the file is empty", ""});
  else if (text.find('\0') != std::string::npos)
    problems.push_back({0, 0, 1, "the file is not text: it holds a zero byte", ""});
  return !problems.empty();
}

}  // namespace

Imported import_launcher(const ImportRequest& request) {
  Imported out;
  if (unreadable(request.text, out.problems)) return out;
  return Importer(request).run();
}

LauncherHead find_launcher(const std::string& text, const std::string& name) {
  LauncherHead out;
  if (unreadable(text, out.problems)) return out;
  const HostSource source(text);
  const Item* item = choose_launcher(source, name, out.problems);
  if (item == nullptr) return out;
  out.name = last_name(item->name);
  out.parameters = source.parameters(*item);
  return out;
}

}  // namespace kw::cuda_import
