// The problem: a foreign CUDA file has no shapes, and a reference has no launcher; a kernel module
// needs both. The choice: the launcher's head is read first and its dtypes help to read a flat
// reference. Then the reference's tensors and dims help cuda_import to follow the launcher. The
// alternative, importing without a reference, works too if --input describes every tensor. The
// cost: verify must be given the dtypes again; task_words holds these options.
#include "reference/import_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/ascii.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "frontend/spec_text.h"
#include "kernel/parse_module.h"
#include "os/files.h"
#include "reference/load_reference.h"

namespace kw::reference {

namespace {

bool is_module(const std::string& text) {
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).starts_with("//! kernelwright")) return true;
  }
  return false;
}

std::string module_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name) {
    const bool fine = is_name_char(c) || c == '.' || c == '-';
    if (!fine) c = '_';
  }
  return name.empty() ? "kernel" : name;
}

/// Separates "x:fp16[B,D]" from "rows=B".
Status read_inputs(const std::vector<std::string>& texts, cuda_import::ImportRequest& request) {
  for (const std::string& text : texts) {
    const size_t colon = text.find(':'), equals = text.find('=');
    if (colon < equals) {
      Result<frontend::TensorText> tensor =
          frontend::parse_tensor_text(std::string_view(text).substr(colon + 1));
      if (!tensor) return std::move(tensor).error().context("--input " + text);
      request.given.push_back(
          {std::string(trim(text.substr(0, colon))), tensor->dtype, tensor->shape});
    } else if (equals != std::string::npos && equals > 0) {
      request.numbers[std::string(trim(text.substr(0, equals)))] = trim(text.substr(equals + 1));
    } else {
      return input_error("--input: '{}' is neither NAME:DTYPE[SHAPE] nor NAME=EXPRESSION", text);
    }
  }
  return Done{};
}

/// The options that the reference's reader can use: tensors, and values that are plain numbers.
std::vector<std::string> reference_inputs(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const bool tensor = text.find(':') < equals;
    if (tensor || parse_double(trim(text.substr(equals + 1)))) out.push_back(text);
  }
  return out;
}

task_formats::LauncherParameters launcher_parameters(const cuda_import::LauncherHead& head) {
  task_formats::LauncherParameters out;
  for (const cuda_import::CParameter& one : head.parameters) {
    if (one.type.pointers > 0) {
      if (one.type.dtype) out.buffers[one.name] = *one.type.dtype;
    } else if (one.type.dtype) {
      (tensor::is_float(*one.type.dtype) ? out.reals : out.integers).insert(one.name);
    }
  }
  return out;
}

Status take_task(const task::Task& task, cuda_import::ImportRequest& request) {
  request.has_reference = true;
  request.task = task.name;
  const task::Dims& dims = task.benchmark_shapes.front();
  for (const auto& [name, value] : dims) request.dims.insert(name);
  for (const task::TensorSpec& one : task.inputs)
    request.inputs.push_back({one.name, one.dtype, one.shape});
  const graph::Graph graph = KW_TRY(task.graph_at(dims));
  for (const graph::NamedNode& one : graph.outputs) {
    const graph::Node& node = graph[one.node];
    cuda_import::KnownTensor known{one.name, node.dtype, {}};
    for (const graph::Dim& dim : node.shape) known.shape.push_back(dim.text());
    request.outputs.push_back(std::move(known));
  }
  for (const task::ScalarSpec& one : task.scalars) {
    request.scalars.push_back({one.name, tensor::is_float(one.dtype)
                                             ? fmt::format("{}", one.number)
                                             : std::to_string(one.integer)});
  }
  return Done{};
}

/// A flat reference has no dtypes, so a command without the launcher needs them as options.
std::vector<std::string> words_for(const task::Task& task,
                                   const cuda_import::ImportRequest& request,
                                   const ImportOptions& options) {
  std::vector<std::string> words;
  if (task.format == "optimizer") {
    std::vector<cuda_import::KnownTensor> buffers = request.inputs;
    buffers.insert(buffers.end(), request.outputs.begin(), request.outputs.end());
    std::set<std::string> said;
    for (const cuda_import::KnownTensor& one : buffers) {
      if (one.dtype == tensor::DType::Fp32 || !said.insert(one.name).second) continue;
      words.emplace_back("--input");
      words.push_back(
          fmt::format("{}:{}[{}]", one.name, tensor::dtype_name(one.dtype), join(one.shape, ", ")));
    }
  }
  Json dims = Json::object();
  for (const auto& [name, value] : options.dims) dims.set(name, value);
  if (!options.dims.empty()) {
    words.emplace_back("--dims");
    words.push_back(dims.dump());
  }
  return words;
}

}  // namespace

Result<ImportReport> import_module(const std::string& path, const ImportOptions& options) {
  ImportReport report;
  report.file = printable(std::filesystem::path(path).filename().string());
  report.source = KW_TRY(os::read_file(path, cuda_import::kMaxForeignBytes));
  if (report.source.starts_with("\xef\xbb\xbf")) report.source.erase(0, 3);  // byte order mark
  cuda_import::ImportRequest request;
  request.text = report.source;
  request.file_name = report.file;
  request.task = module_name(path);
  request.launcher = options.launcher;
  request.zero_outputs = options.zero_outputs;
  KW_TRY(read_inputs(options.inputs, request));
  if (is_module(report.source)) return input_error("{} is a kernel module already", report.file);
  const cuda_import::LauncherHead head =
      cuda_import::find_launcher(report.source, options.launcher);
  if (head.problems.empty() && !options.reference.empty()) {
    ReferenceRequest reference;
    reference.path = options.reference;
    reference.function = options.function;
    reference.inputs = reference_inputs(options.inputs);
    reference.dims = options.dims;
    reference.spare_inputs = true;
    reference.mode = options.mode;
    reference.launcher = launcher_parameters(head);
    const task::Task task = KW_TRY(load_reference(reference));
    KW_TRY(take_task(task, request));
    report.task_words = words_for(task, request, options);
  }
  report.result = cuda_import::import_launcher(request);
  return report;
}

std::string problems_text(const ImportReport& report) {
  const size_t count = report.result.problems.size();
  return fmt::format(
      "{} cannot become a kernel module: {} problem{}\n{}", report.file, count,
      count == 1 ? "" : "s",
      trim(cuda_source::render_diagnostics(report.result.problems, report.source, report.file)));
}

Json to_json(const ImportReport& report) {
  Json problems = Json::array();
  for (const cuda_source::Diagnostic& one : report.result.problems) {
    problems.push(Json::object()
                      .set("line", one.line)
                      .set("column", one.column)
                      .set("message", one.message)
                      .set("hint", one.hint));
  }
  JsonWriter v;
  v("file", report.file)("launcher", report.result.launcher);
  v("module", report.result.module, Zero::Null)("problems", problems);
  v("notes", report.result.notes)("task_options", report.task_words);
  return v.take();
}

Result<std::string> read_kernel_text(const std::string& path, const ImportOptions& options,
                                     std::vector<std::string>* notes) {
  const std::string text = KW_TRY(os::read_file(path, cuda_import::kMaxForeignBytes));
  if (is_module(text)) return text;
  const ImportReport report = KW_TRY(import_module(path, options));
  if (!report.result.problems.empty()) return input_error(problems_text(report));
  notes->push_back(fmt::format("{} was imported: its launcher '{}' became a plan", report.file,
                               report.result.launcher));
  notes->insert(notes->end(), report.result.notes.begin(), report.result.notes.end());
  std::string told;
  for (size_t i = 0; i + 1 < report.task_words.size(); i += 2) {
    if (report.task_words[i] == "--input")
      told += " --input " + shell_quote(report.task_words[i + 1]);
  }
  if (!told.empty())
    notes->push_back("the reference does not declare its dtypes; reading it needs" + told);
  return report.result.module;
}

}  // namespace kw::reference
