#include "gpu/question.h"

#include <algorithm>
#include <map>

#include "cuda/run_program.h"
#include "cuda/storage_layout.h"
#include "gpu/kept_inputs.h"
#include "ports/audit_hash.h"

namespace kw::gpu {
namespace {

using Inputs = ports::InputViews;

Status check_inputs(const kernel::Program& program, const Inputs& inputs) {
  cuda::ConstBytes bytes;
  for (size_t i = 0; i < inputs.size(); ++i) bytes.emplace_back(inputs[i].data);
  KW_TRY(cuda::check_program(program, cuda::from_host(bytes)));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const kernel::Buffer& buffer = program.buffers[i];
    if (buffer.present && has_input_role(buffer) && inputs[i].dtype != buffer.dtype) {
      return input_error("'{}' is {}, a {} tensor was given", buffer.name,
                         tensor::dtype_name(buffer.dtype), tensor::dtype_name(inputs[i].dtype));
    }
  }
  return Done{};
}

void add(uint64_t& total, uint64_t more) {
  if (__builtin_add_overflow(total, more, &total)) total = UINT64_MAX;
}

/// Names tensors by their contents. A tensor that several programs share is hashed once.
class Namer {
 public:
  explicit Namer(uint64_t most_kept) : most_kept_(most_kept) {}
  InputKey name(const tensor::HostTensor& tensor, uint64_t known_hash) {
    if (tensor.data.empty() || tensor.data.size() > most_kept_) return 0;
    auto [known, fresh] = names_.try_emplace(tensor.data.data(), 0);
    if (!fresh) return known->second;
    const uint64_t hash = known_hash != 0 ? known_hash : ports::audit_hash(tensor.data, 0);
    return known->second = std::max<InputKey>(1, input_key(hash, tensor.data.size()));
  }

 private:
  uint64_t most_kept_;
  std::map<const std::byte*, InputKey> names_;
};

}  // namespace

Result<Question> ask_about(const std::vector<ports::TimedProgram>& programs, int output_places,
                           uint64_t most_kept) {
  Question question;
  question.programs = &programs;
  question.output_places = output_places;
  Namer namer(most_kept);
  for (const ports::TimedProgram& given : programs) {
    if (given.pool.empty()) return input_error(given.program->module_name + " was given no inputs");
    question.keys.emplace_back();
    for (const Inputs& inputs : given.pool) {
      KW_TRY(check_inputs(*given.program, inputs));
      std::vector<InputKey>& keys = question.keys.back().emplace_back();
      for (size_t i = 0; i < inputs.size(); ++i) {
        const kernel::Buffer& buffer = given.program->buffers[i];
        const bool given_here = buffer.present && has_input_role(buffer);
        keys.push_back(given_here ? namer.name(inputs[i], inputs.hash(i)) : 0);
      }
    }
    for (const kernel::Buffer& buffer : given.program->buffers) {
      if (buffer.role == kernel::Role::Scratch) continue;
      const uint64_t dense = buffer.present ? cuda::dense_bytes(buffer) : 0;
      add(question.bytes, std::max(dense, static_cast<uint64_t>(buffer.bytes)));
    }
  }
  return question;
}

}  // namespace kw::gpu
