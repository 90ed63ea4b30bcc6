// The problem: a robust-kbench task is a Python file plus configurations, and our reader takes a
// KernelBench file. The choice: append one configuration to the file's text, its ints as named
// globals, so that they can become dims. Facts about the file itself (signatures, input names) are
// read from its syntax tree. The alternative, a second entry point into the tracer, would need
// its own rules for dims. The cost: the names must be unique over all configurations, so RkbNames
// looks at all of them first.
#include "task_formats/rkb_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "frontend/names.h"
#include "os/inside.h"

namespace kw::task_formats {
namespace {

const Json* child_named(const Json& body, std::string_view kind, std::string_view name) {
  const Json* found = nullptr;
  for (const Json& statement : body.items()) {
    if (statement["_"].as_string() == kind && statement["name"].as_string() == name)
      found = &statement;  // the last definition is valid, as in Python
  }
  return found;
}

/// Whether an expression is a literal; if so, sets its value.
bool literal(const Json& node, Json* out) {
  const std::string& kind = node["_"].as_string();
  if (kind == "Constant") {
    const std::string& type = node["type"].as_string();
    if (type == "none") *out = Json();
    if (type == "bool" || type == "int" || type == "str" || type == "float") *out = node["value"];
    return type == "none" || type == "bool" || type == "int" || type == "str" ||
           (type == "float" && node["value"].is_number());
  }
  if (kind == "UnaryOp" && node["op"].as_string() == "USub") {
    Json value;
    if (!literal(node["operand"], &value) || !value.is_number()) return false;
    if (value.is_int()) *out = Json(-value.as_int());
    if (!value.is_int()) *out = Json(-value.as_double());
    return true;
  }
  if (kind != "Tuple" && kind != "List") return false;
  *out = Json::array();
  for (const Json& item : node["elts"].items()) {
    Json value;
    if (!literal(item, &value)) return false;
    out->push(std::move(value));
  }
  return true;
}

Signature signature_of(const Json& function, size_t skip) {
  Signature signature;
  const Json& args = function["args"];
  const auto add = [&](const std::string& name, const Json* fallback) {
    signature.names.push_back(name);
    if (!fallback) signature.required.push_back(name);
    if (!fallback) return;
    Json value;
    if (literal(*fallback, &value)) signature.defaults[name] = std::move(value);
  };
  std::vector<std::string> positional;
  for (const char* group : {"posonlyargs", "args"}) {
    for (const Json& arg : args[group].items()) positional.push_back(arg["arg"].as_string());
  }
  const Json::Array& defaults = args["defaults"].items();
  for (size_t i = skip; i < positional.size(); ++i) {
    const size_t behind = positional.size() - i;
    add(positional[i], behind <= defaults.size() ? &defaults[defaults.size() - behind] : nullptr);
  }
  const Json::Array& by_keyword = args["kwonlyargs"].items();
  for (size_t i = 0; i < by_keyword.size(); ++i) {
    const Json& fallback = args["kw_defaults"].items()[i];
    add(by_keyword[i]["arg"].as_string(), fallback.is_null() ? nullptr : &fallback);
  }
  signature.any_keyword = args["kwarg"].is_object();
  return signature;
}

std::string docstring_of(const Json& function) {
  const Json::Array& body = function["body"].items();
  if (body.empty() || body[0]["_"].as_string() != "Expr") return "";
  return body[0]["value"]["value"].as_string();
}

/// The text before "Args:", without the indentation of its lines.
std::string description_of(const Json& tree) {
  const Json* function = child_named(tree["body"], "FunctionDef", "forward_fn");
  if (!function) return "";
  const std::string whole = docstring_of(*function);
  std::string text;
  for (const std::string_view line : split_lines(whole)) {
    const std::string_view bare = trim(line);
    if (bare.starts_with("Args:") || bare.starts_with("Returns:")) break;
    text += std::string(bare) + "\n";
  }
  return std::string(trim(text));
}

/// `input_names = [...]` at file level; empty if the file has none.
std::optional<std::vector<std::string>> listed_names(const Json& tree) {
  std::optional<std::vector<std::string>> names;
  for (const Json& statement : tree["body"].items()) {
    for (const Json& target : statement["targets"].items()) {
      if (target["id"].as_string() != "input_names") continue;
      names.emplace();
      for (const Json& item : statement["value"]["elts"].items())
        names->push_back(item["value"].as_string());
    }
  }
  return names;
}

void check_input_names(const RkbFile& file, std::vector<FolderProblem>* problems) {
  const auto listed = listed_names(file.source->tree);
  if (!listed) {
    problems->push_back(
        {"input-names", fmt::format("{} has no input_names", file.source->name), false});
  } else if (*listed != file.input_names) {
    problems->push_back(
        {"input-names",
         fmt::format("{}: input_names is [{}], but Model.forward takes [{}]", file.source->name,
                     join(*listed, ", "), join(file.input_names, ", ")),
         false});
  }
}

/// The folder's own harness replaces forward_fn with a candidate and passes it to the model as
/// `fn`.
void check_forward_call(const RkbFile& file, const Json& model,
                        std::vector<FolderProblem>* problems) {
  const Json* forward = child_named(model["body"], "FunctionDef", "forward");
  if (!forward) return;  // the reader reports that
  const Signature signature = signature_of(*forward, 1);
  const bool takes = signature.any_keyword || contains(signature.names, "fn");
  if (!takes)
    problems->push_back({"forward-call",
                         fmt::format("{}: Model.forward takes no 'fn': the folder's own harness "
                                     "cannot put a kernel into it",
                                     file.source->name),
                         true});
  const bool has = child_named(file.source->tree["body"], "FunctionDef", "forward_fn") != nullptr;
  if (!has && file.source->name == "func_forward.py")
    problems->push_back(
        {"forward-call",
         fmt::format("{} has no forward_fn(), which the folder's own harness asks for",
                     file.source->name),
         true});
}

/// The names that the file itself defines.
std::set<std::string> taken_names(const Json& tree) {
  std::set<std::string> names;
  for (const Json& statement : tree["body"].items()) {
    if (statement["name"].is_string()) names.insert(statement["name"].as_string());
    for (const Json& target : statement["targets"].items()) names.insert(target["id"].as_string());
    names.insert(statement["target"]["id"].as_string());
    for (const Json& alias : statement["names"].items()) {
      const bool renamed = alias["asname"].is_string();
      const std::string& whole = alias[renamed ? "asname" : "name"].as_string();
      names.insert(whole.substr(0, whole.find('.')));
    }
  }
  return names;
}

bool has_ints(const Json& value) {
  if (value.is_int()) return true;
  return value.is_array() &&
         std::ranges::any_of(value.items(), [](const Json& one) { return one.is_int(); });
}

}  // namespace

Result<RkbFile> read_rkb_file(const std::string& path, std::vector<FolderProblem>* problems) {
  RkbFile file;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  const std::string text =
      KW_TRY(os::read_inside(folder, path.substr(slash + 1), frontend::kMaxSourceBytes));
  file.source = KW_TRY(frontend::parse_python(text, path));
  const Json& body = file.source->tree["body"];
  const Json* model = child_named(body, "ClassDef", "Model");
  const Json* inputs = child_named(body, "FunctionDef", "get_inputs");
  if (!model || !inputs)
    return input_error("{} has no {}", file.source->name, model ? "get_inputs()" : "class Model");
  if (const Json* init = child_named((*model)["body"], "FunctionDef", "__init__"))
    file.init = signature_of(*init, 1);
  file.get_inputs = signature_of(*inputs, 0);
  file.description = description_of(file.source->tree);
  if (const Json* forward = child_named((*model)["body"], "FunctionDef", "forward")) {
    file.input_names = signature_of(*forward, 1).names;
    std::erase(file.input_names, "fn");
  }
  check_input_names(file, problems);
  check_forward_call(file, *model, problems);
  return file;
}

std::string python_literal(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  if (value.is_int()) return fmt::format("{}", value.as_int());
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const Json& item : value.items()) items.push_back(python_literal(item));
    return "[" + join(items, ", ") + "]";
  }
  if (value.is_object()) {
    std::vector<std::string> items;
    for (const auto& [key, item] : value.members())
      items.push_back(Json(key).dump() + ": " + python_literal(item));
    return "{" + join(items, ", ") + "}";
  }
  return value.dump();  // Python writes numbers and strings the same way
}

RkbNames::RkbNames(const RkbFile& file, const std::vector<const RkbConfig*>& configs) {
  const std::set<std::string> taken = taken_names(file.source->tree);
  std::set<std::string> apart;  // keys with different values in init and input
  for (const RkbConfig* config : configs) {
    for (const auto& [key, value] : config->init.members()) {
      if (config->input.contains(key) && config->input[key].dump() != value.dump())
        apart.insert(key);
    }
  }
  const auto usable = [&](const std::string& key) {
    const std::string plain =
        frontend::is_dim_name(key) && !taken.count(key) && !frontend::is_builtin(key)
            ? key
            : "cfg_" + frontend::identifier(key);
    return plain;
  };
  for (const RkbConfig* config : configs) {
    for (const auto& [key, value] : config->input.members()) input_[key] = usable(key);
    for (const auto& [key, value] : config->init.members())
      init_[key] = apart.count(key) ? usable("init_" + key) : usable(key);
  }
}

std::string RkbNames::name(bool init, const std::string& key) const {
  const auto& names = init ? init_ : input_;
  const auto found = names.find(key);
  return found == names.end() ? key : found->second;
}

RkbInts RkbNames::ints(const RkbConfig& config) const {
  RkbInts all;
  for (const bool init : {true, false}) {
    for (const auto& [key, value] : (init ? config.init : config.input).members()) {
      if (value.is_int()) all[name(init, key)] = value.as_int();
      for (size_t i = 0; i < value.items().size(); ++i) {
        if (value.items()[i].is_int())
          all[fmt::format("{}_{}", name(init, key), i)] = value.items()[i].as_int();
      }
    }
  }
  return all;
}

/// Ints by name, so that they can be dims; other values as literals.
std::string RkbNames::argument(bool init, const std::string& key, const Json& value) const {
  if (!has_ints(value)) return python_literal(value);
  if (value.is_int()) return name(init, key);
  std::vector<std::string> items;
  for (size_t i = 0; i < value.items().size(); ++i) {
    const Json& item = value.items()[i];
    items.push_back(item.is_int() ? fmt::format("{}_{}", name(init, key), i)
                                  : python_literal(item));
  }
  return "[" + join(items, ", ") + "]";
}

std::string RkbNames::text(const RkbFile& file, const RkbConfig& config) const {
  std::string text = file.source->text;
  if (!text.ends_with("\n")) text += "\n";
  text += "\n\n# The configuration: what the model and its inputs are made with.\n";
  for (const auto& [name, value] : ints(config)) text += fmt::format("{} = {}\n", name, value);
  std::vector<std::string> inputs, init;
  for (const auto& [key, value] : config.input.members())
    inputs.push_back(fmt::format("{}={}", key, argument(false, key, value)));
  for (const auto& [key, value] : config.init.members())
    init.push_back(fmt::format("{}: {}", Json(key).dump(), argument(true, key, value)));
  text += "configured_inputs = get_inputs\n\n\ndef get_inputs():\n";
  text += fmt::format("    return configured_inputs({})\n\n\n", join(inputs, ", "));
  text += "def get_init_inputs():\n";
  text += fmt::format("    return [[], {{{}}}]\n", join(init, ", "));
  return text;
}

}  // namespace kw::task_formats
