// MCP clients can show prompts to their user, who picks one and fills in its arguments. Each is a
// row of a table: name, arguments, and a text with {name} in it. The texts tell a model which tools
// to call and in which order, so that it does not have to find out.
// A template language would allow conditions, but none of these texts needs one. Arguments are
// inserted in one pass, so that an argument that contains {name} is not expanded again. The cost:
// texts are compiled into the program.
#include "mcp/prompts.h"

#include <fmt/core.h>

#include <optional>
#include <span>

#include "core/contains.h"
#include "core/text.h"

namespace kw::mcp {
namespace {

struct Gap {
  const char* name;
  const char* about;
  bool required;
  const char* fallback;  // inserted when the argument was not given
};
struct Prompt {
  const char* name;
  const char* title;
  const char* about;
  std::span<const Gap> gaps;
  const char* text;  // {name} = an argument
};

constexpr size_t kMostGap = 100000;

constexpr Gap kOptimizeGaps[] = {
    {"kernel", "the kernel module to make faster", true, ""},
    {"reference", "the PyTorch reference that it must agree with", true, ""},
    {"dims", "the shape to optimise for, as JSON", false, "the task's benchmark shape"},
    {"iterations", "number of iterations", false, "3"}};
constexpr Gap kWriteGaps[] = {
    {"reference", "the PyTorch reference", true, ""},
    {"wishes", "what matters: shape, GPU, precision, latency or throughput", false, "none"}};
constexpr Gap kExplainGaps[] = {{"module", "the kernel module that was judged", true, ""},
                                {"reference", "the PyTorch reference", true, ""}};

constexpr Prompt kPrompts[] = {
    {"optimize_kernel", "Make a kernel faster",
     "The whole loop: evidence, methods, branches, ablation, summary.", kOptimizeGaps,
     "Make the CUDA kernel module {kernel} faster without changing what it computes; {reference} "
     "says what that is. Shape: {dims}. Iterations: {iterations}.\n\n"
     "1. Read kernelwright://skill/SKILL.md. Call doctor: with no GPU every time is an estimate, "
     "and must be called one.\n"
     "2. Call optimize_setup. It refuses a baseline that is wrong: repair that first, with "
     "verify_kernel.\n"
     "3. Per iteration call optimize_open; read roofline.json and analysis.md in the iteration's "
     "folder; choose methods from the catalog tool within the budget; write methods.json and one "
     "kernel per branch; call check_kernel and verify_kernel on each; call optimize_close.\n"
     "4. Take from its answer which methods were effective, ineffective, failed or unverified. "
     "Never claim a gain that it does not confirm. Stop when it says so.\n"
     "5. Call optimize_finalize and report summary.md's headline with its interval.\n"},
    {"write_kernel", "Write a kernel", "From a PyTorch reference to a verified kernel module.",
     kWriteGaps,
     "Write a CUDA kernel module for the PyTorch reference {reference}. Requirements: {wishes}.\n\n"
     "1. Call describe_task and lint_task. If the task cannot distinguish a good kernel from a bad "
     "one, say so and stop.\n"
     "2. Call synthesize with background true. It needs no model; follow it with job_status.\n"
     "3. If its kernel is far from the floor, read kernelwright://docs/kernel-module and "
     "improve the kernel by hand: check_kernel, run_virtual_gpu, verify_kernel, then bench_kernel "
     "after "
     "every change.\n"
     "4. Report the verdict, the time with its interval (or that it is an estimate) and the "
     "distance to the floor.\n"},
    {"explain_verdict", "Explain a verdict", "Why a kernel was stopped, and the smallest repair.",
     kExplainGaps,
     "The kernel module {module} was judged against {reference}. Call verify_kernel with explain "
     "true. Say which stage stopped it and why, in two sentences. Then find the line at fault: "
     "run_virtual_gpu at the failing shape reports races, out-of-bounds accesses and undefined "
     "data with line and thread. Propose the smallest change, apply it to a copy, and verify the "
     "copy before you call it repaired.\n"},
};

const Prompt* find_prompt(const std::string& name) {
  for (const Prompt& prompt : kPrompts) {
    if (name == prompt.name) return &prompt;
  }
  return nullptr;
}

RpcError bad_prompt(const std::string& why) { return {kInvalidParams, why, {}}; }

std::optional<RpcError> check_gaps(const Prompt& prompt, const Json& arguments) {
  std::vector<std::string> names;
  for (const Gap& gap : prompt.gaps) {
    names.emplace_back(gap.name);
    const Json& value = arguments[gap.name];
    if (gap.required && value.as_string().empty())
      return bad_prompt(fmt::format("argument '{}' is missing", gap.name));
    if (!value.is_null() && (!value.is_string() || value.as_string().size() > kMostGap))
      return bad_prompt(
          fmt::format("argument '{}' must be a text of at most {} bytes", gap.name, kMostGap));
  }
  for (const auto& [name, unused] : arguments.members()) {
    if (!contains(names, name))
      return bad_prompt(fmt::format("there is no argument '{}'{}", name.substr(0, 80),
                                    did_you_mean(name, names)));
  }
  return std::nullopt;
}

/// One pass, so that {name} inside an argument is not expanded.
std::string filled_in(const Prompt& prompt, const Json& arguments) {
  std::string out;
  const std::string_view text = prompt.text;
  for (size_t at = 0; at < text.size();) {
    const Gap* here = nullptr;
    for (const Gap& gap : prompt.gaps) {
      if (text.substr(at).starts_with(fmt::format("{{{}}}", gap.name))) here = &gap;
    }
    if (here == nullptr) {
      out += text[at++];
      continue;
    }
    const std::string& given = arguments[here->name].as_string();
    out += given.empty() ? here->fallback : given;
    at += std::string_view(here->name).size() + 2;
  }
  return out;
}

}  // namespace

Json::Array prompt_rows(bool titles) {
  Json::Array rows;
  for (const Prompt& prompt : kPrompts) {
    Json gaps = Json::array();
    for (const Gap& gap : prompt.gaps)
      gaps.push(Json::object()
                    .set("name", gap.name)
                    .set("description", gap.about)
                    .set("required", gap.required));
    Json row = Json::object().set("name", prompt.name);
    if (titles) row.set("title", prompt.title);
    rows.push_back(row.set("description", prompt.about).set("arguments", std::move(gaps)));
  }
  return rows;
}

RpcReply get_prompt(const Json& params) {
  const Prompt* prompt = find_prompt(params["name"].as_string());
  if (prompt == nullptr)
    return bad_prompt(
        fmt::format("there is no prompt '{}'", params["name"].as_string().substr(0, 80)));
  const Json& arguments = params["arguments"];
  if (!arguments.is_null() && !arguments.is_object())
    return bad_prompt("\"arguments\" must be an object");
  if (const auto fault = check_gaps(*prompt, arguments)) return *fault;
  Json content = Json::object().set("type", "text").set("text", filled_in(*prompt, arguments));
  Json message = Json::object().set("role", "user").set("content", std::move(content));
  return Json::object()
      .set("description", prompt->about)
      .set("messages", Json::array().push(std::move(message)));
}

}  // namespace kw::mcp
