#include <map>

#include "core/diff.h"
#include "core/json_writer.h"
#include "os/files.h"
#include "os/inside.h"
#include "store/find.h"
#include "store/run.h"
#include "workflows/inspect.h"

namespace kw::workflows {

namespace {

constexpr uint64_t kMostKernelBytes = uint64_t{16} << 20;

using Leaves = std::map<std::string, std::string>;

// {"a": {"b": 1}} -> "a.b" = "1". Lists are leaves, because positions differ between runs.
void flatten(const Json& json, const std::string& name, Leaves* leaves) {
  if (!json.is_object()) {
    (*leaves)[name] = json.dump();
    return;
  }
  for (const auto& [key, value] : json.members()) flatten(value, name + "." + key, leaves);
}

std::vector<Difference> differences(const Leaves& before, const Leaves& after) {
  std::vector<Difference> found;
  for (const auto& [name, value] : before) {
    const auto other = after.find(name);
    if (other == after.end()) {
      found.push_back({name, value, ""});
    } else if (other->second != value) {
      found.push_back({name, value, other->second});
    }
  }
  for (const auto& [name, value] : after) {
    if (before.count(name) == 0) found.push_back({name, "", value});
  }
  return found;
}

Leaves asked_of(const store::RunInputs& inputs) {
  Leaves leaves;
  flatten(inputs.spec, "spec", &leaves);
  flatten(inputs.config, "config", &leaves);
  flatten(inputs.env, "env", &leaves);
  return leaves;
}

// The quality of the kernel, not the course of the run: traces and wall times always differ.
Leaves outcome_of(const Json& report) {
  Leaves leaves;
  for (const char* name :
       {"passed", "failed_stage", "failure_reason", "correctness", "performance"}) {
    if (report.contains(name)) flatten(report[name], name, &leaves);
  }
  return leaves;
}

std::string kernel_of(const std::string& folder) {
  Result<std::string> text = os::read_inside(folder, "final/kernel.cu", kMostKernelBytes);
  return text ? std::move(text).value() : "";
}

}  // namespace

bool RunDiff::same() const {
  return asked.empty() && came_out.empty() && prompt.empty() && reference.empty() && kernel.empty();
}

Result<RunDiff> diff_runs(const std::string& root, const std::string& before,
                          const std::string& after) {
  const std::string first = KW_TRY(store::find_run(root, before));
  const std::string second = KW_TRY(store::find_run(root, after));
  const store::Run a = KW_TRY(store::Run::open(first, store::Access::Read));
  const store::Run b = KW_TRY(store::Run::open(second, store::Access::Read));
  const store::RunInputs asked_a = KW_TRY(a.inputs());
  const store::RunInputs asked_b = KW_TRY(b.inputs());
  RunDiff diff;
  diff.before = store::summarize(first).run;
  diff.after = store::summarize(second).run;
  diff.asked = differences(asked_of(asked_a), asked_of(asked_b));
  diff.came_out = differences(outcome_of(a.report()), outcome_of(b.report()));
  const auto changed = [&](const std::string& old_text, const std::string& new_text,
                           const char* name) {
    return unified_diff(old_text, new_text, a.id() + "/" + name, b.id() + "/" + name);
  };
  diff.prompt = changed(asked_a.prompt, asked_b.prompt, "inputs/prompt.txt");
  diff.reference = changed(asked_a.reference, asked_b.reference, "inputs/reference.py");
  diff.kernel = changed(kernel_of(first), kernel_of(second), "final/kernel.cu");
  return diff;
}

void fields(auto& v, Difference& d) { v("what", d.what)("before", d.before)("after", d.after); }

Json to_json(const RunDiff& diff) {
  JsonWriter v;
  v("before", to_json(diff.before))("after", to_json(diff.after))("same", diff.same());
  v("asked", diff.asked)("came_out", diff.came_out)("prompt_diff", diff.prompt);
  return v("reference_diff", diff.reference)("kernel_diff", diff.kernel).take();
}

}  // namespace kw::workflows
