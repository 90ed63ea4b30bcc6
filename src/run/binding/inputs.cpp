// A program needs contents for every buffer that it reads. The user names an .npy file, or a family
// with a seed, or neither. Then floats become Normal and integers Uniform, with a seed derived from
// the run's seed and the buffer's position, so that a run can be repeated.
// Random inputs without a seed would be simpler, but then a failure could not be shown again. The
// cost: adding a buffer changes the seeds of the buffers after it.
#include "binding/inputs.h"

#include "core/text.h"
#include "os/entropy.h"
#include "tensor/npy.h"

namespace kw::binding {

namespace {

using tensor::HostTensor;

bool looks_like_a_file(const std::string& text) {
  return text.find('/') != std::string::npos ||
         (text.size() > 4 && text.substr(text.size() - 4) == ".npy");
}

Result<tensor::IntegerRange> parse_range(const std::string& text) {
  const auto dots = text.find("..");
  if (dots != std::string::npos) {
    const auto low = parse_int(text.substr(0, dots));
    const auto high = parse_int(text.substr(dots + 2));
    if (low && high && *low <= *high) return tensor::IntegerRange{*low, *high};
  }
  return input_error("'{}' is not a range of integers; write LOW..HIGH, e.g. 0..99", text);
}

bool is_read(const kernel::Buffer& buffer) {
  return buffer.present &&
         (buffer.role == kernel::Role::Input || buffer.role == kernel::Role::Inout);
}

Result<HostTensor> seeded(const kernel::Buffer& buffer, const InputSource* source, uint64_t seed) {
  InputSource chosen;
  if (source != nullptr) {
    chosen = *source;
  } else if (!tensor::is_float(buffer.dtype)) {
    chosen.family = tensor::Family::Uniform;
  }
  return tensor::make_input(buffer.dtype, buffer.shape, chosen.family, chosen.seed.value_or(seed),
                            chosen.range);
}

std::string readable_names(const kernel::Module& module) {
  std::vector<std::string> names;
  for (const kernel::TensorDecl& decl : module.tensors) {
    if (decl.role == kernel::Role::Input || decl.role == kernel::Role::Inout)
      names.push_back(decl.name);
  }
  return names.empty() ? "it has no inputs" : "its inputs are " + join(names, ", ");
}

Result<const kernel::TensorDecl*> find_input(const kernel::Module& module,
                                             const std::string& name) {
  const kernel::TensorDecl* decl = module.find_tensor(name);
  if (decl != nullptr && (decl->role == kernel::Role::Input || decl->role == kernel::Role::Inout))
    return decl;
  const char* what = decl == nullptr ? "has no tensor" : "does not read";
  return input_error("--input {}: the module {} '{}'; {}", name, what, name,
                     readable_names(module));
}

}  // namespace

Result<InputSource> parse_input_source(const std::string& text) {
  InputSource source;
  if (looks_like_a_file(text)) {
    source.file = text;
    return source;
  }
  const std::vector<std::string> parts = split(text, ':');
  const auto family = tensor::family_from_name(parts[0]);
  if (!family) {
    return input_error("'{}' is neither an .npy file nor an input family{}; families: {}", parts[0],
                       did_you_mean(parts[0], tensor::family_names()),
                       join(tensor::family_names(), ", "));
  }
  source.family = *family;
  if (parts.size() > 3)
    return input_error("'{}': write FAMILY, FAMILY:SEED or FAMILY:SEED:LOW..HIGH", text);
  if (parts.size() > 1) {
    const auto seed = parse_int(parts[1]);
    if (!seed || *seed < 0)
      return input_error("'{}': '{}' is not a seed (0, 1, 2, …)", text, parts[1]);
    source.seed = static_cast<uint64_t>(*seed);
  }
  if (parts.size() > 2) source.range = KW_TRY(parse_range(parts[2]));
  return source;
}

Result<NamedTensors> read_input_files(const kernel::Module& module, const InputSources& sources) {
  NamedTensors tensors;
  for (const auto& [name, source] : sources) {
    const kernel::TensorDecl* decl = KW_TRY(find_input(module, name));
    if (source.file.empty()) continue;
    Result<HostTensor> read = tensor::read_npy(source.file, decl->dtype);
    if (!read) return std::move(read).error().context("--input " + name);
    tensors[name] = std::move(read).value();
  }
  return tensors;
}

Result<std::vector<HostTensor>> make_inputs(const kernel::Program& program,
                                            const InputSources& sources, const NamedTensors& files,
                                            uint64_t seed) {
  std::vector<HostTensor> tensors;
  for (const kernel::Buffer& buffer : program.buffers) {
    tensors.push_back({buffer.dtype, buffer.shape, {}});
    if (!is_read(buffer)) continue;
    const auto source = sources.find(buffer.name);
    const auto file = files.find(buffer.name);
    if (file != files.end()) {
      if (file->second.shape != buffer.shape) {
        return input_error("--input {}: the file has shape {} where {} is expected", buffer.name,
                           tensor::shape_text(file->second.shape),
                           tensor::shape_text(buffer.shape));
      }
      tensors.back() = file->second;
      continue;
    }
    const InputSource* given = source == sources.end() ? nullptr : &source->second;
    tensors.back() = KW_TRY(seeded(buffer, given, seed * 1000003 + tensors.size()));
  }
  return tensors;
}

Status check_memory(const kernel::Program& program, uint64_t available, int copies,
                    const std::string& where) {
  if (available == 0) return Done{};
  uint64_t total = 0;
  const kernel::Buffer* largest = nullptr;
  for (const kernel::Buffer& buffer : program.buffers) {
    total += static_cast<uint64_t>(buffer.bytes) * static_cast<uint64_t>(copies);
    if (largest == nullptr || buffer.bytes > largest->bytes) largest = &buffer;
    if (total > available) {
      return environment_error(
          "the tensors need {} or more of {}, {} is available; the largest, {} {}, takes {}",
          human_bytes(total), where, human_bytes(available), largest->name,
          tensor::shape_text(largest->shape), human_bytes(static_cast<uint64_t>(largest->bytes)));
    }
  }
  return Done{};
}

const tensor::HostTensor* input_named(const graph::Graph& graph,
                                      const std::vector<tensor::HostTensor>& inputs,
                                      const std::string& name) {
  for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
    if (graph.inputs[i].name == name) return &inputs[i];
  }
  return nullptr;
}

Result<uint64_t> secret_seed() { return KW_TRY(os::random_bits()) >> 1; }

}  // namespace kw::binding
