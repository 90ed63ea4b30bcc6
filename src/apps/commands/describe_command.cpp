#include "verification/describe.h"

#include <fmt/core.h>

#include "commands/command.h"
#include "commands/values.h"
#include "core/text.h"

namespace kw::commands {

namespace {

std::string tensor_lines(const char* label,
                         const std::vector<verification::DescribedTensor>& tensors) {
  std::string text;
  for (const verification::DescribedTensor& tensor : tensors) {
    std::vector<std::string> extents;
    for (const int64_t extent : tensor.extents) extents.push_back(fmt::format("{}", extent));
    text += fmt::format("  {:<8} {}: {}[{}]  = [{}]\n", label, tensor.name, tensor.dtype,
                        join(tensor.shape, ", "), join(extents, ", "));
  }
  return text;
}

std::string description_text(const verification::Description& made, const report::Style& style) {
  std::string text =
      fmt::format("{}  ({}) at {}\n", paint(style, report::Paint::Strong, made.task.name),
                  made.task.format, task::dims_text(made.dims));
  text += tensor_lines("input", made.inputs);
  for (const task::ScalarSpec& scalar : made.task.scalars)
    text +=
        fmt::format("  {:<8} {}: {}\n", "scalar", scalar.name, tensor::dtype_name(scalar.dtype));
  text += tensor_lines("output", made.outputs);
  for (const std::string& guard : made.guards)
    text += fmt::format("  {:<8} {}\n", "assumes", guard);
  for (const std::string& note : made.task.notes) text += fmt::format("  {:<8} {}\n", "note", note);
  text += fmt::format(
      "  {:<8} reads {}, writes {}, {:.3g} flops ({:.3g} in matrix products): {:.3g} flops per "
      "byte\n",
      "cost", human_bytes(static_cast<uint64_t>(made.cost.read_bytes)),
      human_bytes(static_cast<uint64_t>(made.cost.write_bytes)), made.cost.flops,
      made.cost.tensor_flops, made.cost.intensity());
  text += "\n";
  for (const std::string& line : made.ops) text += "  " + line + "\n";
  return text;
}

}  // namespace

Result<int> describe_command(const Args& args, Io& io) {
  const binding::BindingRequest bindings = KW_TRY(binding_options(args));
  const verification::Description made =
      KW_TRY(verification::describe_task({args.positionals.front(),
                                          args.one("--function"),
                                          args.all("--input"),
                                          bindings.dims,
                                          {},
                                          false,
                                          {},
                                          args.one("--mode")}));
  io.print(description_text(made, io.style()));
  return io.finish(kOk, to_json(made));
}

}  // namespace kw::commands
