// The problem: a candidate must not run foreign host code while it is timed. The choice: write the
// recorded launches of every shape as plan lines with literal parameters above the file's PTX.
// Fills, copies and uploads become launches of helper kernels; device variables get an initial
// value. The alternative, replaying the recording by a special executor, would need a second path
// through the judge. The cost: the module serves only recorded shapes, and plans are limited to
// kMostLines lines.
#include "host_recording/transplant.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "host_recording/helpers.h"
#include "kernel/parse_module.h"
#include "kernel/plan_names.h"
#include "kernel/recorded.h"

namespace kw::host_recording {
namespace {

constexpr size_t kMostLines = 900;  // of the 1000 lines that a plan may have
constexpr uint64_t kMostUploaded = 64 << 10;

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (is_name_char(c)) {
      word += c;
    } else {
      if (!word.empty()) words.insert(word);
      word.clear();
    }
  }
  return words;
}

class Transplanter {
 public:
  explicit Transplanter(const TransplantRequest& request) : request_(request) {
    for (const TensorLine& tensor : request.tensors) {
      for (const std::string& extent : tensor.shape) visible_.merge(words_of(extent));
      names_.push_back(kernel::reserved_name(tensor.name).empty() ? tensor.name
                                                                  : tensor.name + "_");
    }
  }

  Transplanted run() {
    out_.notes.push_back("its host code ran only to be recorded, and never again");
    for (const ShapeRecord& shape : request_.shapes) add_shape(shape);
    std::string ptx = clean_ptx();
    for (const auto& [name, bytes] : variables_) {
      std::string changed = with_initial_value(ptx, name, bytes);
      if (changed.empty()) refuse(fmt::format("the device variable '{}' cannot be set", name));
      ptx = std::move(changed);
    }
    if (groups_.empty()) refuse("nothing was recorded");
    if (out_.refused.empty()) out_.module = head() + groups_ + ptx;
    if (out_.module.size() > kernel::kMaxModuleBytes) refuse("its device code is too large");
    if (!out_.refused.empty()) out_.module.clear();
    return std::move(out_);
  }

 private:
  void refuse(std::string why) {
    if (out_.refused.empty()) out_.refused = std::move(why);
  }
  void note(const std::string& text) {
    if (!contains(out_.notes, text)) out_.notes.push_back(text);
  }

  std::string condition(const ShapeRecord& shape) const {
    std::vector<std::string> parts;
    for (const auto& [name, value] : shape.dims) {
      if (visible_.count(name) != 0) parts.push_back(fmt::format("{} == {}", name, value));
    }
    return join(parts, " && ");
  }

  void add_shape(const ShapeRecord& shape) {
    const std::string when = condition(shape);
    if (const auto [at, fresh] = seen_.emplace(when, shape.call); !fresh) {
      if (!difference(*at->second, *shape.call).empty())
        refuse("its launches depend on a dim that no tensor has");
      return;
    }
    std::string lines;
    for (const RecordedStep& step : shape.call->steps) lines += step_lines(step);
    const auto count = static_cast<size_t>(std::ranges::count(lines, '\n')) + 1;
    if (lines.empty() || !out_.refused.empty()) return;
    if (lines_ + count > kMostLines) {
      if (lines_ == 0)
        refuse(
            fmt::format("{} launches in one call; a plan has {} lines at most", count, kMostLines));
      return note("some derived shapes were left out: the plan would be too long");
    }
    lines_ += count;
    groups_ += (when.empty() ? "" : "//! when " + when + "\n") + lines;
    for (size_t i = 0; i < shape.call->scratch.size(); ++i)
      scratch_[i].emplace_back(when, shape.call->scratch[i]);
    tell(*shape.call);
  }

  void tell(const RecordedCall& call) {
    if (call.streams > 1)
      note("it used several streams; its launches run in the order it made them");
    if (call.downloads > 0)
      note("it reads device memory back on the host; this did not change its launches");
  }

  std::string step_lines(const RecordedStep& step) {
    switch (step.kind) {
      case RecordedStep::Kind::Launch:
        return launch_line(step.name, step.grid, step.block, step, texts(step.params));
      case RecordedStep::Kind::Fill:
        return helper_line(fill_call(step));
      case RecordedStep::Kind::Copy:
        return helper_line(copy_call(step));
      case RecordedStep::Kind::Move:
        return helper_line(move_call(step));
      case RecordedStep::Kind::Upload:
        return upload_lines(step);
      case RecordedStep::Kind::Symbol:
        set_variable(step);
        return "";
    }
    return "";
  }

  std::string upload_lines(const RecordedStep& step) {
    uploaded_ += step.data.size();
    if (uploaded_ > kMostUploaded * request_.shapes.size() || step.data.size() > kMostUploaded) {
      refuse("more than 64 KiB of data from the host in a call");
      return "";
    }
    note("what the host uploads in a call is written by a kernel inside the timed call");
    std::string lines;
    for (const HelperCall& call : upload_calls(step)) lines += helper_line(call);
    return lines;
  }

  // The image can hold only a value that is the same in all calls.
  void set_variable(const RecordedStep& step) {
    const uint64_t offset = step.numbers.at(0);
    if (offset > kMostUploaded || step.data.size() > kMostUploaded)
      return refuse("a device variable of more than 64 KiB is set by the host");
    std::vector<uint8_t> bytes = step.data;
    bytes.insert(bytes.begin(), offset, 0);
    const auto [at, fresh] = variables_.emplace(step.name, bytes);
    if (!fresh && at->second != bytes)
      refuse(fmt::format("the device variable '{}' is set to several values", step.name));
    note(fmt::format("'{}' has its value from the beginning, not from a copy in every call",
                     step.name));
  }

  std::string helper_line(const HelperCall& call) {
    return launch_line(call.entry, call.grid, call.block, RecordedStep(), texts(call.params));
  }

  std::vector<std::string> texts(const std::vector<Param>& params) const {
    std::vector<std::string> out;
    for (const Param& param : params) {
      kernel::RecordedParam recorded;
      recorded.bytes = param.bytes;
      for (const Pointer& pointer : param.pointers) {
        const std::string name = pointer.tensor >= 0
                                     ? names_.at(static_cast<size_t>(pointer.tensor))
                                     : scratch_name(static_cast<size_t>(pointer.scratch));
        recorded.pointers.push_back({pointer.at, name, pointer.add});
      }
      out.push_back(kernel::param_text(recorded));
    }
    return out;
  }

  static std::string scratch_name(size_t index) { return fmt::format("scratch_{}", index); }

  static std::string dims_words(const char* word, const kernel::Dim3& dims) {
    if (dims.y == 1 && dims.z == 1) return fmt::format(" {}({})", word, dims.x);
    return fmt::format(" {}({}, {}, {})", word, dims.x, dims.y, dims.z);
  }

  static std::string launch_line(const std::string& entry, const kernel::Dim3& grid,
                                 const kernel::Dim3& block, const RecordedStep& how,
                                 const std::vector<std::string>& params) {
    std::string line =
        "//! launch " + entry + dims_words("grid", grid) + dims_words("block", block);
    if (how.shared > 0) line += fmt::format(" shared({})", how.shared);
    if (how.cluster.count() > 1) line += dims_words("cluster", how.cluster);
    if (how.cooperative) line += " cooperative";
    return line + " params(" + join(params, ", ") + ")\n";
  }

  std::string head() const {
    std::string text = "//! kernelwright 1\n//! task " + request_.task +
                       (request_.backward ? " backward\n" : "\n") + "//! recorded " +
                       request_.origin + "\n";
    for (size_t i = 0; i < request_.tensors.size(); ++i) {
      const TensorLine& tensor = request_.tensors[i];
      text += fmt::format("//! {} {}: {}[{}]\n", kernel::role_name(tensor.role), names_[i],
                          tensor::dtype_name(tensor.dtype), join(tensor.shape, ", "));
    }
    for (const auto& [index, sizes] : scratch_)
      text += fmt::format("//! scratch {}: uint8[{}] align 256\n", scratch_name(index),
                          size_text(sizes));
    return text;
  }

  using Sizes = std::vector<std::pair<std::string, uint64_t>>;  // condition, bytes
  static std::string size_text(const Sizes& sizes) {
    std::vector<std::string> terms;
    for (const auto& [when, bytes] : sizes)
      terms.push_back(when.empty() ? std::to_string(bytes) : fmt::format("({}) * {}", when, bytes));
    return join(terms, " + ");
  }

  // The size of a module is limited; line information is dropped before kernels are refused.
  std::string clean_ptx() const {
    for (const bool with_lines : {true, false}) {
      std::string out;
      for (const std::string_view line : split_lines(request_.ptx)) {
        const std::string_view text = trim(line);
        const bool dropped =
            text.empty() || text.starts_with("//") ||
            (!with_lines && (text.starts_with(".loc") || text.starts_with(".file")));
        if (!dropped) out.append(line).append("\n");
      }
      if (!with_lines || out.size() + groups_.size() < kernel::kMaxModuleBytes - 65536) return out;
    }
    return "";
  }

  const TransplantRequest& request_;
  std::set<std::string> visible_;
  std::vector<std::string> names_;
  std::map<std::string, const RecordedCall*> seen_;
  std::string groups_;
  size_t lines_ = 0;
  uint64_t uploaded_ = 0;
  std::map<size_t, Sizes> scratch_;
  std::map<std::string, std::vector<uint8_t>> variables_;
  Transplanted out_;
};

}  // namespace

Transplanted transplant(const TransplantRequest& request) { return Transplanter(request).run(); }

std::string with_initial_value(const std::string& ptx, const std::string& variable,
                               const std::vector<uint8_t>& bytes) {
  std::string out;
  bool found = false;
  for (const std::string_view line : split_lines(ptx)) {
    const size_t at = line.find(" " + variable);
    const bool declares = at != std::string_view::npos && !found &&
                          (line.find(".const") != std::string_view::npos ||
                           line.find(".global") != std::string_view::npos) &&
                          trim(line).ends_with(";");
    const char next =
        declares && at + 1 + variable.size() < line.size() ? line[at + 1 + variable.size()] : '\0';
    if (!declares || (next != '[' && next != ';' && next != ' ')) {
      out.append(line).append("\n");
      continue;
    }
    // "….align 4 .f32 w;" and "….align 4 .b8 w[16];" both become bytes. A line with '=' already has
    // a value.
    const size_t type = line.rfind('.', at);
    if (type == std::string_view::npos || line.find('=') != std::string_view::npos) return "";
    std::vector<std::string> values;
    for (const uint8_t byte : bytes) values.push_back(std::to_string(byte));
    size_t size = bytes.size();
    if (next == '[' && line.substr(type).starts_with(".b8")) {
      const size_t close = line.find(']', at);
      const std::string_view text =
          line.substr(at + variable.size() + 2, close - at - variable.size() - 2);
      if (const auto declared = parse_int(text))
        size = std::max(size, static_cast<size_t>(*declared));
    }
    out += fmt::format("{}.b8 {}[{}] = {{{}}};\n", line.substr(0, type), variable, size,
                       join(values, ", "));
    found = true;
  }
  return found ? out : "";
}

}  // namespace kw::host_recording
