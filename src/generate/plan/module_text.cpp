// The problem: kernels of several regions become one file with one plan. The choice: write the text
// in the order of a module's sections, from the plain values that schedules returned. The
// alternative, a template file, cannot handle sections that may be empty. The cost: both this file
// and the parser of kernel modules know the format.
#include "plan/module_text.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "emit/emit.h"
#include "plan/groups.h"
#include "plan/switches.h"

namespace kw::generate {

namespace {

constexpr size_t kMostCombinations = 60;
constexpr size_t kMostSwitched = 960;
constexpr size_t kLongKernel = 80;

/// The number of lines from `at` to the closing brace of the definition there.
size_t length_from(const std::vector<std::string_view>& lines, size_t at) {
  size_t end = at;
  while (end < lines.size() && lines[end] != "}") ++end;
  return end - at + 1;
}

/// Adds a blank line between definitions, and above a long kernel a comment with the reason.
std::string laid_out(std::string_view source) {
  const std::vector<std::string_view> lines = split_lines(source);
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool follows = i > 0 && (lines[i - 1] == "}" || lines[i - 1] == "};");
    if (follows && !lines[i].empty()) text += "\n";
    const bool kernel = lines[i].starts_with("template") && i + 1 < lines.size() &&
                        lines[i + 1].starts_with("__global__");
    if (kernel && length_from(lines, i + 1) > kLongKernel) {
      text += "// One long kernel: its steps share what is kept in registers and shared memory.\n";
    }
    text += std::string(lines[i]) + "\n";
  }
  return text;
}

class ModuleText {
 public:
  ModuleText(const task::Task& task, const std::vector<Sequence>& sequences, bool switches)
      : task_(task),
        sequences_(sequences),
        names_(sequences[0].program->names),
        switches_(switches) {
    for (const Sequence& sequence : sequences) {
      for (const Kernel& kernel : sequence.kernels) {
        functions_.insert(kernel.functions.begin(), kernel.functions.end());
      }
    }
  }

  std::string text(const std::string& note) {
    std::string body = device_code(note);
    if (switches_) {
      switched_ = with_switches(body);
      body = switched_.code;
    }
    plan("kernelwright 1", "");
    plan("task", task_name());
    write_tensors();
    write_lets();
    write_tunes(body);
    write_methods();
    write_groups();
    return plan_ + "\n" + body;
  }

 private:
  void plan(const std::string& word, const std::string& rest) {
    plan_ +=
        rest.empty() ? fmt::format("//! {}\n", word) : fmt::format("//! {:<7} {}\n", word, rest);
  }

  std::string task_name() const {
    std::string name = task_.name;
    for (char& c : name) {
      const bool fine =
          is_ascii_alnum(c) || std::string_view("_.-/").find(c) != std::string_view::npos;
      if (!fine) c = '_';
    }
    return name.empty() ? "task" : name;
  }

  void note_dims(const std::string& text) {
    for (const std::string& word : identifiers(text)) {
      if (task_.dims.count(word) > 0) shown_dims_.insert(word);
    }
  }

  void tensor(const char* word, const std::string& name, DType dtype, const std::string& shape) {
    plan(word, fmt::format("{}: {}[{}]", name, tensor::dtype_name(dtype), shape));
    note_dims(shape);
  }

  void write_tensors() {
    const Program& program = *sequences_[sequences_[0].program->special ? 1 : 0].program;
    for (const task::TensorSpec& spec : task_.inputs) {
      const std::string& name = names_.inputs.at(spec.name);
      const bool both = names_.in_place.count(name) > 0;
      tensor(both ? "inout" : "input", name, spec.dtype, join(spec.shape, ", "));
    }
    for (const Store& output : program.outputs) {
      if (names_.in_place.count(output.to.name) > 0) continue;
      std::vector<std::string> shape;
      for (const Dim& dim : output.to.shape) shape.push_back(plain(dim, program));
      tensor("output", output.to.name, output.to.dtype, join(shape, ", "));
    }
    for (const auto& [dim, range] : task_.dims) {
      if (shown_dims_.count(dim) > 0) continue;
      plan("scalar", fmt::format("{}: int64 = {}", dim, task_.benchmark_shapes[0].at(dim)));
    }
    // Python's floats are doubles: 1 - beta ** step must not start from a rounded beta.
    for (const task::ScalarSpec& spec : task_.scalars) {
      if (!spec.runtime) continue;
      const bool floats = tensor::is_float(spec.dtype);
      plan("scalar", floats ? fmt::format("{}: fp64 = {}", spec.name, spec.number)
                            : fmt::format("{}: int64 = {}", spec.name, spec.integer));
    }
    std::set<std::string> written;
    for (const Sequence& sequence : sequences_) {
      for (const Buffer& buffer : sequence.partition.scratch) {
        if (!written.insert(buffer.name).second) continue;
        std::vector<std::string> shape;
        for (const Dim& dim : buffer.shape) shape.push_back(dim.text());
        plan("scratch", fmt::format("{}: {}[{}]", buffer.name, tensor::dtype_name(buffer.dtype),
                                    join(shape, ", ")));
      }
      for (const Kernel& kernel : sequence.kernels) {
        for (const Scratch& scratch : kernel.scratch) {
          if (!written.insert(scratch.name).second) continue;
          plan("scratch",
               fmt::format("{}: {}[{}]{}", scratch.name, tensor::dtype_name(scratch.dtype),
                           scratch.extent, scratch.fill.empty() ? "" : " " + scratch.fill));
        }
      }
    }
  }

  /// Interfaces use dims only, so lets are replaced by their expressions.
  /// "D", "(D / 2)"; not "H - 2" or "(D / 2) + 2".
  static bool is_one_factor(const std::string& text) {
    int open = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (open == 0 && text[i] == ' ') return false;
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    }
    return true;
  }

  static std::string plain(const Dim& dim, const Program& program) {
    std::map<std::string, Dim> by;
    for (const auto& [name, text] : program.lets) {
      by.insert_or_assign(name, Dim::symbol(is_one_factor(text) ? text : "(" + text + ")", 1));
    }
    return substitute(dim, by).text();
  }

  void write_lets() {
    std::set<std::string> written;
    for (const Sequence& sequence : sequences_) {
      for (const auto& [name, text] : sequence.program->lets) {
        if (written.insert(name).second) plan("let", fmt::format("{} = {}", name, text));
      }
      for (const Kernel& kernel : sequence.kernels) {
        for (const auto& [name, text] : kernel.lets) {
          if (written.insert(name).second) plan("let", fmt::format("{} = {}", name, text));
        }
      }
      for (const auto& [key, number] : sequence.program->numbers) {
        if (!written.insert(number.name).second) continue;
        plan("let", fmt::format("{}: {} = {}", number.name, tensor::dtype_name(number.dtype),
                                number.text));
      }
    }
  }

  void write_tunes(const std::string& body) {
    const auto add = [&](const Tune& one) {
      const auto same = [&](const Tune& other) { return other.name == one.name; };
      if (std::ranges::none_of(tunes_, same)) tunes_.push_back(one);
    };
    fast_math_ = body.find(kFastMath) != std::string::npos;
    if (fast_math_) add({kFastMath, {1, 0}, ""});
    for (const Sequence& sequence : sequences_) {
      for (const Kernel& kernel : sequence.kernels) {
        for (const Tune& one : kernel.tunes) add(one);
      }
    }
    streams_ = body.find("STREAM") != std::string::npos;
    // Rows that are only read are faster when they bypass the caches; with as many stores, it
    // depends.
    const bool stores = body.find("store_pack") != std::string::npos;
    const std::vector<int64_t> first_off = {0, 1}, first_on = {1, 0};
    if (streams_) add({"STREAM", stores ? first_off : first_on, ""});
    for (const Tune& one : switched_.tunes) add(one);
    limit_space();
    for (const Tune& one : tunes_) {
      plan("tune", fmt::format("{} in {}{}", one.name, fmt::join(one.values, ", "),
                               one.where.empty() ? "" : " where " + one.where));
    }
  }

  // Limits the search space. Long lists first lose values between their ends; then later kernels
  // keep only their best guess.
  void limit_space() {
    const auto combinations = [&] {
      size_t product = 1;
      for (const Tune& one : tunes_)
        product = std::min<size_t>(product * one.values.size(), 1 << 20);
      return product;
    };
    while (combinations() > (switches_ ? kMostSwitched : kMostCombinations)) {
      const auto longest =
          std::max_element(tunes_.rbegin(), tunes_.rend(), [](const Tune& one, const Tune& other) {
            return one.values.size() < other.values.size();
          });
      if (longest->values.size() > 2) {
        longest->values.erase(longest->values.end() - 2);
        continue;
      }
      const auto last = std::find_if(tunes_.rbegin(), tunes_.rend(),
                                     [](const Tune& one) { return one.values.size() > 1; });
      last->values.resize(1);
    }
  }

  /// Whether a method can still be switched off with the values in the lists.
  bool has_values(const std::string& off) const {
    for (const std::string& one : split(off, ',')) {
      const size_t equals = one.find('=');
      if (equals == std::string::npos) return false;
      const std::string name(trim(one.substr(0, equals)));
      const std::optional<int64_t> value = parse_int(trim(one.substr(equals + 1)));
      const auto tune =
          std::ranges::find_if(tunes_, [&](const Tune& other) { return other.name == name; });
      if (!value || tune == tunes_.end()) return false;
      if (!contains(tune->values, *value)) {
        return false;
      }
    }
    return true;
  }

  void write_methods() {
    std::set<std::string> written;
    const auto method = [&](const Method& one) {
      // A method that now has a switch is listed only with it.
      const auto same = [&](const Method& other) { return other.id == one.id; };
      const bool always = one.when.empty() && one.off.empty();
      if (always && std::ranges::any_of(switched_.methods, same)) return;
      std::string text = one.id;
      if (!one.when.empty()) text += " when " + one.when;
      if (!one.off.empty() && has_values(one.off)) text += ", off " + one.off;
      if (written.insert(text).second) plan("method", text);
    };
    for (const Sequence& sequence : sequences_) {
      for (const Kernel& kernel : sequence.kernels) {
        for (const Method& one : kernel.methods) method(one);
      }
    }
    for (const Method& one : switched_.methods) method(one);
    if (streams_) method({"memory.ldg_cache_modifier_hint", "STREAM == 1", "STREAM=0"});
    if (fast_math_) {
      method({"compute.fma_and_fast_math", fmt::format("{} == 1", kFastMath),
              fmt::format("{}=0", kFastMath)});
    }
  }

  void write_groups() {
    for (const Sequence& sequence : sequences_) {
      const std::vector<VariantChoice> groups = launch_groups(sequence, task_.benchmark_shapes);
      std::string before = "?";
      for (const VariantChoice& group : groups) {
        std::vector<std::string> conditions = sequence.program->guards;
        for (size_t k = 0; k < group.size(); ++k) {
          conditions.push_back(sequence.kernels[k].variants[group[k]].when);
        }
        const std::string when = all_of(conditions);
        if (when == before) continue;
        before = when;
        const bool always = when.empty();
        if (!always || groups.size() > 1 || sequences_.size() > 1) {
          plan("when", always ? "true" : when);
        }
        write_launches(sequence, group);
        if (always) return;
      }
    }
  }

  void write_launches(const Sequence& sequence, const VariantChoice& group) {
    for (size_t k = 0; k < group.size(); ++k) {
      for (const Launch& launch : sequence.kernels[k].variants[group[k]].launches) {
        if (!launch.repeat.empty()) plan("repeat", launch.repeat);
        plan("launch", fmt::format("{} grid({}) block({}){} args({})", launch.kernel, launch.grid,
                                   launch.block,
                                   launch.shared.empty() ? "" : " shared(" + launch.shared + ")",
                                   join(launch.args, ", ")));
        if (!launch.repeat.empty()) plan("end", "");
      }
    }
  }

  std::set<std::string> headers() const {
    std::set<std::string> out;
    const auto add = [&](DType dtype) {
      if (*header_of(dtype) != '\0') out.insert(header_of(dtype));
    };
    for (const Sequence& sequence : sequences_) {
      for (const Region& region : sequence.partition.regions) {
        for (const Store& store : region.stores) add(store.to.dtype);
        for (const auto& [node, buffer] : region.loads) add(buffer.dtype);
        for (const NodeId id : roundings(region)) add(region.node(id).dtype);
      }
      for (const Kernel& kernel : sequence.kernels) {
        for (const Scratch& scratch : kernel.scratch) add(scratch.dtype);
      }
    }
    return out;
  }

  std::string device_code(const std::string& note) const {
    CudaWriter w;
    w.comment(note);
    for (const std::string& header : headers()) w.line("#include <{}>", header);
    w.line("");
    std::set<std::string> helpers, approximate;
    for (const std::string& name : functions_)
      (is_helper(name) ? helpers : approximate).insert(name);
    const std::string own = helper_functions(helpers);
    if (!own.empty()) w.raw(own + "\n");
    if (!approximate.empty()) w.raw(device_functions(approximate) + "\n");
    bool first = true;
    for (const Sequence& sequence : sequences_) {
      for (const Kernel& kernel : sequence.kernels) {
        if (!first) w.line("");
        first = false;
        w.raw(laid_out(kernel.source));
      }
    }
    return w.text();
  }

  const task::Task& task_;
  const std::vector<Sequence>& sequences_;
  const Names& names_;
  std::set<std::string> functions_, shown_dims_;
  std::string plan_;
  std::vector<Tune> tunes_;
  bool fast_math_ = false;
  bool streams_ = false;
  bool switches_;
  Switched switched_;
};

}  // namespace

std::string module_text(const task::Task& task, const std::vector<Sequence>& sequences,
                        const std::string& note, bool switches) {
  return ModuleText(task, sequences, switches).text(note);
}

}  // namespace kw::generate
