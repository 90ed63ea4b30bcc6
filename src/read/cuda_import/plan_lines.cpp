// The problem: the recorded paths of a launcher must become one plan. The choice: one launch group
// per path with a 'when' of its conditions; a single group if all paths launch the same. Constants
// that kernels get by value become scalars with a value, under unused names. The alternative,
// merging paths with common launches, would hide the launcher's own structure. The cost: plans of
// launchers with many conditions are long.
#include "cuda_import/plan_lines.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::cuda_import {

namespace {

std::string line(const std::string& word, const std::string& rest) {
  return fmt::format("//! {:<7} {}\n", word, rest);
}

void collect(const TermRef& term, std::set<std::string>& out) {
  if (!term) return;
  if (term->op == TermOp::Name) {
    for (const std::string& name : names_in(term->name)) out.insert(name);
  }
  for (const TermRef& part : term->parts) collect(part, out);
}

std::string extents_text(const Extents& extents) {
  std::string text = extents.x->text();
  const bool z = extents.z->constant() != 1, y = z || extents.y->constant() != 1;
  if (y) text += ", " + extents.y->text();
  if (z) text += ", " + extents.z->text();
  return text;
}

const CParameter* parameter_of(const HostSource& source, const std::string& kernel, size_t number,
                               std::vector<CParameter>& keep) {
  for (const Item& item : source.outline.items) {
    if (item.kind != Item::Kind::Kernel || item.name != kernel) continue;
    keep = source.parameters(item);
    return number < keep.size() ? &keep[number] : nullptr;
  }
  return nullptr;
}

class Writer {
 public:
  Writer(ImportPlan plan, const HostSource& source) : plan_(std::move(plan)), source_(source) {
    for (const PlanTensor& one : plan_.tensors) names_.insert(one.tensor.name);
    for (const PlanScalar& one : plan_.scalars) names_.insert(one.name);
    for (const std::string& one : cuda_import::names_in(plan_.paths)) names_.insert(one);
    for (const Path& path : plan_.paths)
      for (const RecordedScratch& one : path.scratch) names_.insert(one.name);
  }

  std::string run() {
    std::string launches;
    const bool same = all_the_same();
    for (size_t i = 0; i < plan_.paths.size(); ++i) {
      if (same && i > 0) break;
      launches += group(plan_.paths[i], !same);
    }
    std::string out = line("kernelwright", "1") + line("task", plan_.task);
    for (const PlanTensor& one : plan_.tensors) {
      out += line(one.word,
                  fmt::format("{}: {}[{}]", one.tensor.name, tensor::dtype_name(one.tensor.dtype),
                              join(one.tensor.shape, ", ")));
    }
    for (const PlanScalar& one : plan_.scalars) {
      out += line("scalar", fmt::format("{}: {}{}", one.name, tensor::dtype_name(one.dtype),
                                        one.value.empty() ? "" : " = " + one.value));
    }
    return out + scratch_lines() + launches;
  }

 private:
  // A path without launches is outside the module's domain. The last path states its condition too,
  // because launches after a 'when' belong to that 'when'.
  std::string group(const Path& path, bool conditional) {
    if (path.launches.empty()) return "";
    std::string out;
    TermRef all = number(1);
    if (conditional) {
      for (const TermRef& one : path.conditions) all = make_term(TermOp::And, {all, one});
    }
    for (const TermRef& one : path.domain) all = make_term(TermOp::And, {all, one});
    if (!all->constant()) out += line("when", all->text());
    int repeat = -1;
    for (const RecordedLaunch& launch : path.launches) {
      if (launch.repeat != repeat) {
        if (repeat >= 0) out += line("end", "");
        repeat = launch.repeat;
        if (repeat >= 0) {
          const RecordedRepeat& one = path.repeats[static_cast<size_t>(repeat)];
          out += line("repeat",
                      fmt::format("{} in {}..{}", one.name, one.begin->text(), one.end->text()));
        }
      }
      out += launch_line(launch);
    }
    if (repeat >= 0) out += line("end", "");
    return out;
  }

  std::string launch_line(const RecordedLaunch& launch) {
    std::string text = fmt::format("{} grid({}) block({})", launch.kernel,
                                   extents_text(launch.grid), extents_text(launch.block));
    if (launch.shared->constant() != 0) text += fmt::format(" shared({})", launch.shared->text());
    if (launch.cooperative) text += " cooperative";
    std::vector<std::string> arguments;
    for (size_t i = 0; i < launch.arguments.size(); ++i) arguments.push_back(argument(launch, i));
    return line("launch", fmt::format("{} args({})", text, join(arguments, ", ")));
  }

  std::string argument(const RecordedLaunch& launch, size_t number) {
    const KernelArgument& one = launch.arguments[number];
    if (one.kind == KernelArgument::Kind::Tensor || one.kind == KernelArgument::Kind::Scalar)
      return one.name;
    std::vector<CParameter> keep;
    const CParameter* parameter = parameter_of(source_, launch.base, number, keep);
    const bool typed = parameter != nullptr && parameter->type.dtype.has_value();
    const tensor::DType dtype = typed ? *parameter->type.dtype : tensor::DType::Fp32;
    if (one.kind == KernelArgument::Kind::Integer) {
      // A single scalar must have exactly the parameter's type; an expression fits any integer.
      const auto scalar = std::ranges::find(plan_.scalars, one.term->text(), &PlanScalar::name);
      const bool bare = scalar != plan_.scalars.end() && (!typed || dtype != scalar->dtype);
      return one.term->text() + (bare ? " + 0" : "");
    }
    return constant(parameter != nullptr && !parameter->name.empty() ? parameter->name : "value",
                    dtype, one.real);
  }

  std::string constant(const std::string& wanted, tensor::DType dtype, double value) {
    const std::string text = dtype == tensor::DType::Fp32
                                 ? fmt::format("{}", static_cast<float>(value))
                                 : fmt::format("{}", value);
    const auto known = std::ranges::find_if(plan_.scalars, [&](const PlanScalar& one) {
      return one.name.starts_with(wanted) && one.dtype == dtype && one.value == text &&
             constants_.count(one.name) > 0;
    });
    if (known != plan_.scalars.end()) return known->name;
    std::string name = wanted;
    for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    constants_.insert(name);
    plan_.scalars.push_back({name, dtype, text});
    return name;
  }

  std::string launches_text(const Path& path) const {
    Writer copy(*this);
    Path bare = path;
    bare.conditions.clear();
    return copy.group(bare, false);
  }

  bool all_the_same() const {
    for (const Path& path : plan_.paths) {
      if (launches_text(path) != launches_text(plan_.paths.front())) return false;
      if (!std::ranges::equal(
              path.domain, plan_.paths.front().domain, {},
              [](const TermRef& one) { return one->text(); },
              [](const TermRef& one) { return one->text(); }))
        return false;
    }
    return true;
  }

  std::string scratch_lines() const {
    std::string out;
    std::set<std::string> done;
    for (const Path& path : plan_.paths) {
      for (const RecordedScratch& one : path.scratch) {
        if (!done.insert(one.name).second) continue;
        out += line("scratch", fmt::format("{}: {}[{}]{}", one.name, tensor::dtype_name(one.dtype),
                                           one.count->text(), one.zero ? " = 0" : ""));
      }
    }
    return out;
  }

  ImportPlan plan_;
  const HostSource& source_;
  std::set<std::string> names_, constants_;
};

bool uses(const std::vector<Path>& paths, const char* kernel) {
  return std::ranges::any_of(paths, [&](const Path& path) {
    return std::ranges::any_of(path.launches,
                               [&](const RecordedLaunch& one) { return one.base == kernel; });
  });
}

}  // namespace

std::set<std::string> names_in(const std::string& expression) {
  std::set<std::string> out;
  std::string word;
  for (const char c : expression + " ") {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (letter || (digit && !word.empty())) {
      word += c;
      continue;
    }
    if (!word.empty() && c != '(') out.insert(word);
    word.clear();
  }
  return out;
}

std::set<std::string> names_in(const std::vector<Path>& paths) {
  std::set<std::string> out;
  for (const Path& path : paths) {
    for (const TermRef& one : path.conditions) collect(one, out);
    for (const TermRef& one : path.domain) collect(one, out);
    for (const RecordedScratch& one : path.scratch) collect(one.count, out);
    for (const RecordedRepeat& one : path.repeats) {
      collect(one.begin, out);
      collect(one.end, out);
    }
    for (const RecordedLaunch& one : path.launches) {
      for (const Extents* extents : {&one.grid, &one.block}) {
        collect(extents->x, out);
        collect(extents->y, out);
        collect(extents->z, out);
      }
      collect(one.shared, out);
      for (const KernelArgument& argument : one.arguments) collect(argument.term, out);
    }
  }
  return out;
}

std::string plan_text(ImportPlan plan, const HostSource& source) {
  return Writer(std::move(plan), source).run();
}

std::string added_kernels(const std::vector<Path>& paths) {
  std::string out;
  if (uses(paths, kSetBytes)) {
    out += R"(
// The launcher's cudaMemset.
__global__ void import_set_bytes(void* to, int value, long long bytes) {
  const unsigned int word = (value & 255) * 0x01010101u;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long i = first; i < bytes / 4; i += stride) static_cast<unsigned int*>(to)[i] = word;
  if (first < bytes % 4) {
    static_cast<unsigned char*>(to)[bytes / 4 * 4 + first] = static_cast<unsigned char>(word);
  }
}
)";
  }
  if (uses(paths, kCopyBytes)) {
    out += R"(
// The launcher's cudaMemcpy.
__global__ void import_copy_bytes(void* to, const void* from, long long bytes) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long i = first; i < bytes / 4; i += stride) {
    static_cast<unsigned int*>(to)[i] = static_cast<const unsigned int*>(from)[i];
  }
  if (first < bytes % 4) {
    const long long i = bytes / 4 * 4 + first;
    static_cast<unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
  }
}
)";
  }
  return out;
}

}  // namespace kw::cuda_import
