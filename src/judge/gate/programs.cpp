// The problem: a module may need other kernels or constants at other shapes, and compiling is slow.
// Each shape selects a variant; its key is the defines and kernels, and every key is compiled once.
// Image bytes are dropped after loading, because the device keeps them. The alternative, one
// compile per shape, would repeat the same work for most shapes. If a compiler cannot make cubins,
// all later compiles make PTX, which every device accepts.
#include "gate/programs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iterator>
#include <string_view>

#include "core/text.h"
#include "kernel/kernel_name.h"
#include "ptx/parse.h"
#include "shapes/code_thresholds.h"

namespace kw::gate {

namespace {

std::vector<kernel::KernelInfo> kernel_infos(const ports::Compiled& compiled) {
  std::vector<kernel::KernelInfo> infos;
  for (const ports::CompiledKernel& kernel : compiled.kernels) {
    infos.push_back({kernel.expression, kernel.entry, kernel.signature, kernel.resources.registers,
                     std::max<int64_t>(kernel.resources.static_shared, 0),
                     kernel.resources.max_threads});
  }
  return infos;
}

std::string variant_key(const kernel::Selection& selection) {
  std::string key;
  for (const auto& [name, value] : selection.defines) key += fmt::format("{}={};", name, value);
  for (const std::string& kernel : selection.kernels) key += kernel + ";";
  return key;
}

}  // namespace

Result<kernel::Selection> Programs::select(const shapes::Matching& matching, const task::Task& task,
                                           const graph::Graph& graph, const task::Dims& dims) {
  const kernel::Bindings bindings =
      KW_TRY(shapes::bind_shape(module_, matching, task, graph, dims, fixed_));
  return kernel::select(module_, bindings);
}

// Only some compilers make cubins; every device accepts PTX.
Result<ports::CompileOutcome> Programs::compile(const kernel::Selection& selection) {
  ports::CompileRequest request =
      ports::compile_request(module_, selection, fixed_.target.name, timeout_seconds_);
  request.image = kind_;
  request.apart = true;
  Result<ports::CompileOutcome> outcome = compiler_.compile(request);
  if (outcome || kind_ == ports::ImageKind::Ptx) return outcome;
  request.image = ports::ImageKind::Ptx;
  Result<ports::CompileOutcome> second = compiler_.compile(request);
  if (!second) return outcome;
  kind_ = ports::ImageKind::Ptx;
  return second;
}

namespace {

/// Matches "red.global.add.f32" or "atom.add.v2.f32" with any qualifiers between, except in shared
/// memory.
bool adds_floats_in_memory(const std::string& ptx) {
  for (const std::string_view line : split_lines(ptx)) {
    for (const std::string_view name : {"atom.", "red."}) {
      const size_t at = line.find(name);
      if (at == std::string_view::npos || (at > 0 && std::isspace(line[at - 1]) == 0)) continue;
      const std::string_view op = line.substr(at, line.find_first_of(" \t", at) - at);
      const auto has = [&](std::string_view part) { return op.find(part) != op.npos; };
      if (has(".add") && has(".f32") && !has(".shared")) return true;
    }
  }
  return false;
}

}  // namespace

void Programs::note_ptx(const ports::Compiled& compiled, Image* image) {
  adds_in_memory_ = adds_in_memory_ || adds_floats_in_memory(compiled.image);
  const Result<ptx::Module> code = ptx::parse(compiled.image);
  if (!code) return;
  inputs::merge(inputs::immediates_of(*code), &immediates_);
  image->extents = shapes::code_extents(*code);
  for (size_t group = 0; group < module_.groups.size(); ++group) {
    for (const kernel::LaunchDecl& launch : module_.groups[group].launches) {
      for (const ports::CompiledKernel& kernel : compiled.kernels) {
        const int at = code->find_function(kernel.entry);
        if (at < 0 || kernel::base_name(kernel.expression) != kernel::base_name(launch.kernel))
          continue;
        const ptx::Function& function = code->functions[static_cast<size_t>(at)];
        auto& known = image->thresholds[static_cast<int>(group)];
        std::ranges::move(shapes::code_thresholds(function, launch), std::back_inserter(known));
        image->conditions[static_cast<int>(group)].emplace_back(function, launch);
      }
    }
  }
}

Result<const Programs::Image*> Programs::image_for(const kernel::Selection& selection) {
  const std::string key = variant_key(selection);
  const auto known = images_.find(key);
  if (known != images_.end()) return &known->second;
  const auto start = std::chrono::steady_clock::now();
  ports::CompileOutcome outcome = KW_TRY(compile(selection));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  compile_seconds_ += passed.count();
  ++compiles_;
  Image image;
  if (outcome.failed) {
    image.failed = std::move(outcome.failed);
    compiler_name_ = image.failed->compiler;
  } else {
    compiler_name_ = outcome.compiled->compiler;
    const Result<ports::ImageId> id = device_.load(*outcome.compiled);
    if (!id && id.error().blame != Blame::Input) return id.error();
    if (id)
      image.id = *id;
    else
      image.not_loaded = id.error().message;
    if (kind_ == ports::ImageKind::Ptx) note_ptx(*outcome.compiled, &image);
    outcome.compiled->image.clear();
    image.compiled = std::move(*outcome.compiled);
  }
  return &images_.emplace(key, std::move(image)).first->second;
}

Result<Built> Programs::build(const shapes::Matching& matching, const task::Task& task,
                              const graph::Graph& graph, const task::Dims& dims) {
  Built built;
  const Result<kernel::Bindings> bindings =
      shapes::bind_shape(module_, matching, task, graph, dims, fixed_);
  const Result<kernel::Selection> selection =
      bindings ? kernel::select(module_, *bindings) : Result<kernel::Selection>(bindings.error());
  if (!selection) {
    built.not_served = selection.error().message;
    return built;
  }
  const Image* image = KW_TRY(image_for(*selection));
  if (image->failed) {
    built.failed = image->failed;
    return built;
  }
  Result<kernel::Program> program =
      kernel::instantiate(module_, *bindings, *selection, kernel_infos(image->compiled));
  if (!program) {
    built.not_served = program.error().message;
  } else if (!image->not_loaded.empty()) {
    built.not_loaded = image->not_loaded;
  } else {
    built.ready = Built::Ready{image->id, std::move(program).value(), selection->group};
  }
  return built;
}

Result<shapes::VariantCode> Programs::code_at(const shapes::Matching& matching,
                                              const task::Task& task,
                                              const shapes::ShapeCase& shape) {
  const Result<kernel::Selection> selection = select(matching, task, shape.graph, shape.dims);
  if (!selection) return shapes::VariantCode{};
  const Image* image = KW_TRY(image_for(*selection));
  shapes::VariantCode code{image->extents, {}, {}, shape.dims};
  const auto thresholds = image->thresholds.find(selection->group);
  if (thresholds != image->thresholds.end()) code.thresholds = thresholds->second;
  const auto conditions = image->conditions.find(selection->group);
  if (conditions != image->conditions.end()) code.conditions = conditions->second;
  return code;
}

void Programs::note_branches(ports::ImageId image, const std::vector<ports::BranchWays>& launches) {
  for (const ports::BranchWays& launch : launches) {
    ports::BranchWays& known = branches_[{image, launch.entry}];
    if (known.ways.empty()) known = launch;
    for (size_t i = 0; i < launch.ways.size(); ++i) known.ways[i] |= launch.ways[i];
  }
}

std::vector<int> Programs::one_way_branches() const {
  std::vector<int> lines;
  for (const auto& [kernel, known] : branches_) {
    for (size_t i = 0; i < known.ways.size(); ++i) {
      if (known.ways[i] != (ports::kBranchTaken | ports::kBranchPassed))
        lines.push_back(known.lines[i]);
    }
  }
  return lines;
}

ports::InputViews program_inputs(const kernel::Program& program, const shapes::Matching& matching,
                                 const std::vector<tensor::HostTensor>& inputs,
                                 const std::vector<uint64_t>& hashes) {
  ports::InputViews views;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const int from = matching.tensors[i].input;
    const auto at = static_cast<size_t>(from);
    if (from < 0 || !program.buffers[i].present)
      views.add(nullptr);
    else
      views.add(&inputs[at], at < hashes.size() ? hashes[at] : 0);
  }
  return views;
}

std::vector<const ports::Compiled*> Programs::compiled() const {
  std::vector<const ports::Compiled*> all;
  for (const auto& [key, image] : images_) {
    if (!image.failed) all.push_back(&image.compiled);
  }
  return all;
}

}  // namespace kw::gate
