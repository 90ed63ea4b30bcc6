// A file may hold several functions and classes, and parameters without types. This file chooses
// the reference by a fixed list of names, then by being the only function, the annotated one, the
// one that no other calls, or the one named like the file. The file is not run for that: a name
// that a function reads counts as a call. It reads parameters from the syntax tree and
// get_inputs(), not from a call. For reference(**kwargs) the parameters are the keys that the body
// reads. The alternative, to ask the user for each input, works for every file but costs an option
// per parameter. If the choice is not clear, the Error names the option to pass.
#include "frontend/entry.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/legal.h"
#include "frontend/names.h"
#include "frontend/numbers.h"

namespace kw::frontend {
namespace {

/// Whether a function of a file cannot be the reference, by its name.
bool is_helper_name(const std::string& name) {
  return name.starts_with("_") || name == "get_inputs" || name == "get_init_inputs" ||
         name == "main" || name == "workload_model" || name.starts_with("test");
}

/// The functions and classes that the file defines, in its order.
struct Definition {
  std::string name;
  const Json* tree = nullptr;
  bool is_class = false;
};

std::vector<Definition> definitions(const Source& source) {
  std::vector<Definition> all;
  for (const Json& statement : source.tree["body"].items()) {
    const std::string& kind = statement["_"].as_string();
    if (kind == "FunctionDef" || kind == "ClassDef")
      all.push_back({statement["name"].as_string(), &statement, kind == "ClassDef"});
  }
  return all;
}

/// Whether calls inside this function say that the called one is a part of something. A test or
/// main() calls the reference itself.
bool is_harness_name(const std::string& name) {
  return name == "main" || name == "workload_model" || name.starts_with("test") ||
         name.starts_with("_test");
}

/// Collects every name that a tree reads.
void find_names(const Json& node, int depth, std::set<std::string>& names) {
  if (depth > 200) return;
  for (const Json& item : node.items()) find_names(item, depth + 1, names);
  if (node["_"].as_string() == "Name") names.insert(node["id"].as_string());
  for (const auto& [key, child] : node.members()) find_names(child, depth + 1, names);
}

/// The names that other functions and classes of the file use.
std::set<std::string> used_by_others(const std::vector<Definition>& all) {
  std::set<std::string> used;
  for (const Definition& one : all) {
    if (is_harness_name(one.name)) continue;
    std::set<std::string> names;
    find_names(*one.tree, 0, names);
    names.erase(one.name);  // recursion
    used.merge(names);
  }
  return used;
}

bool has_method(const Definition& cls, std::string_view name) {
  const auto& body = (*cls.tree)["body"].items();
  return std::any_of(body.begin(), body.end(), [&](const Json& statement) {
    return statement["_"].as_string() == "FunctionDef" && statement["name"].as_string() == name;
  });
}

/// Whether a class can be called with tensors: a module, or a class with a call of its own. A
/// dataclass of settings cannot.
bool is_callable(const Definition& cls) {
  const auto& bases = (*cls.tree)["bases"].items();
  return has_method(cls, "forward") || has_method(cls, "__call__") ||
         std::any_of(bases.begin(), bases.end(), [](const Json& base) {
           const std::string& name =
               base[base["_"].as_string() == "Attribute" ? "attr" : "id"].as_string();
           return name == "Module" || name == "Sequential";
         });
}

/// Whether a tensor parameter of the function, or of a class's forward(), has dtype and shape.
bool is_annotated(const Definition& one) {
  const Json* function = one.tree;
  for (const Json& statement : (*one.tree)["body"].items()) {
    if (one.is_class && statement["name"].as_string() == "forward") function = &statement;
  }
  for (const char* group : {"posonlyargs", "args", "kwonlyargs"}) {
    for (const Json& arg : (*function)["args"][group].items()) {
      const Result<Annotation> read = parse_annotation(arg["annotation"]);
      // An annotation with a mistake is meant as one; reading the parameters reports it.
      if (!read || read->kind == Annotation::Kind::Tensor) return true;
    }
  }
  return false;
}

/// "RMSNorm", "rms_norm" and "rms-norm" are the same name.
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : lower_case(name)) {
    if (c != '_' && c != '-') plain += c;
  }
  return plain;
}

struct Choice {
  std::string name;
  std::string why;  // "" when the file leaves no choice
};

/// Chooses among several definitions; an empty name when that stays open.
Choice choose_among(const std::vector<Definition>& all, std::vector<Definition> candidates,
                    const std::string& path) {
  const auto keep = [&](auto fits) {
    std::vector<Definition> kept;
    std::ranges::copy_if(candidates, std::back_inserter(kept), fits);
    return kept;
  };
  const auto annotated = keep(is_annotated);
  if (annotated.size() == 1) return {annotated[0].name, "its inputs have dtypes and shapes"};
  if (!annotated.empty()) candidates = annotated;
  const std::set<std::string> used = used_by_others(all);
  const auto unused = keep([&](const Definition& one) { return used.count(one.name) == 0; });
  if (unused.size() == 1) return {unused[0].name, "no other function calls it"};
  std::string stem = path.substr(path.rfind('/') + 1);
  stem = plain_name(stem.substr(0, stem.rfind('.')));
  const auto named = keep([&](const Definition& one) { return plain_name(one.name) == stem; });
  if (named.size() == 1) return {named[0].name, "it is named like the file"};
  const auto functions = keep([](const Definition& one) { return !one.is_class; });
  if (functions.size() == 1) return {functions[0].name, "the others are classes"};
  return {};
}

Result<Choice> choose(PythonTracer& tracer, const std::string& wanted) {
  const Source& source = tracer.source();
  const std::vector<Definition> defined = definitions(source);
  std::vector<Definition> candidates;
  std::vector<std::string> all;
  for (const Definition& one : defined) {
    if (is_helper_name(one.name)) continue;
    all.push_back(one.name);
    if (!one.is_class || is_callable(one)) candidates.push_back(one);
  }
  // main() is mostly a program that calls the reference, but not if its inputs are described.
  if (std::ranges::none_of(candidates, is_annotated)) {
    for (const Definition& one : defined) {
      if (one.is_class || one.name.starts_with("_") || !is_helper_name(one.name) ||
          !is_annotated(one))
        continue;
      all.push_back(one.name);
      candidates.push_back(one);
    }
  }
  if (!wanted.empty()) {
    const Value* found = KW_TRY(tracer.global(wanted));
    if (found) return Choice{wanted, ""};
    return input_error("{} has no function '{}'{}; it has: {}", source.name, wanted,
                       did_you_mean(wanted, all), all.empty() ? "none" : join(all, ", "));
  }
  for (const char* name : {"reference", "REFERENCE", "Model"}) {
    const Value* found = KW_TRY(tracer.global(name));
    if (found) return Choice{name, ""};
  }
  if (all.size() == 1) return Choice{all[0], ""};
  if (candidates.size() == 1) return Choice{candidates[0].name, ""};
  if (all.empty())
    return input_error(
        "{} has no function and no model\n  hint: define reference(x, …), or Model and "
        "get_inputs()",
        source.name);
  const Choice chosen = choose_among(defined, candidates, source.path);
  if (!chosen.name.empty()) return chosen;
  return input_error(
      "{} has several functions: {}\n  hint: pass {}:NAME or --function NAME, or name one of them "
      "'reference'",
      source.name, join(all, ", "), source.name);
}

std::string default_text(const Value& value) {
  if (value.is_none()) return "None";
  const auto* text = value.get<std::string>();
  return text ? "'" + *text + "'" : to_text(value);
}

Result<std::vector<Parameter>> read_parameters(PythonTracer& tracer, const Function& function,
                                               size_t skip) {
  const Json& args = (*function.tree)["args"];
  std::vector<Parameter> parameters;
  for (const char* group : {"posonlyargs", "args", "kwonlyargs"}) {
    for (const Json& arg : args[group].items()) {
      Parameter parameter;
      parameter.name = arg["arg"].as_string();
      parameter.keyword_only = std::string_view(group) == "kwonlyargs";
      auto annotation = parse_annotation(arg["annotation"]);
      if (!annotation)
        return error_at(tracer.source(), arg["annotation"], annotation.error().message);
      parameter.annotation = std::move(annotation).value();
      const auto fallback = function.defaults.find(parameter.name);
      parameter.has_default = fallback != function.defaults.end();
      if (parameter.has_default) parameter.fallback = scalar_of(parameter.name, fallback->second);
      if (parameter.has_default && !parameter.fallback)
        parameter.other = default_text(fallback->second);
      parameters.push_back(std::move(parameter));
    }
  }
  parameters.erase(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(
                                                                std::min(skip, parameters.size())));
  return parameters;
}

/// Collects the keys in kwargs["x"] and kwargs.get("x"), in order, each once.
void find_keys(const Json& node, const std::string& kwargs, int depth,
               std::vector<std::string>& keys) {
  if (depth > 200) return;
  for (const Json& item : node.items()) find_keys(item, kwargs, depth + 1, keys);
  const std::string& kind = node["_"].as_string();
  const bool get = kind == "Call" && node["func"]["attr"].as_string() == "get";
  const Json& object = get ? node["func"]["value"] : node["value"];
  const bool asked = (get || kind == "Subscript") && object["id"].as_string() == kwargs;
  const Json& key = get && !node["args"].items().empty() ? node["args"].items().front()["value"]
                                                         : node["slice"]["value"];
  if (asked && key.is_string() && !contains(keys, key.as_string())) keys.push_back(key.as_string());
  for (const auto& [name, child] : node.members()) find_keys(child, kwargs, depth + 1, keys);
}

/// The keys that reference(**kwargs) reads are its parameters.
void read_keywords(const Function& function, Found& found) {
  std::vector<std::string> keys;
  find_keys((*function.tree)["body"], (*function.tree)["args"]["kwarg"]["arg"].as_string(), 0,
            keys);
  for (const std::string& key : keys) {
    Parameter parameter;
    parameter.name = key;
    parameter.keyword_only = true;
    found.parameters.push_back(std::move(parameter));
  }
}

Status read_function(PythonTracer& tracer, const Function& given, size_t skip, Found& found) {
  // A wrapper takes *args; the function that it wraps says what they are.
  const Function* described = &given;
  while (described->wrapped) described = described->wrapped.get();
  const Function& function = *described;
  const Json& args = (*function.tree)["args"];
  found.any_positional = !args["vararg"].is_null();
  found.any_keyword = !args["kwarg"].is_null();
  found.parameters = KW_TRY(read_parameters(tracer, function, skip));
  if (found.any_keyword && !found.any_positional) read_keywords(function, found);
  return Done{};
}

}  // namespace

std::optional<task::ScalarSpec> scalar_of(const std::string& name, const Value& value) {
  task::ScalarSpec spec;
  spec.name = name;
  if (const auto* flag = value.get<bool>()) {
    spec.dtype = tensor::DType::Bool;
    spec.integer = *flag ? 1 : 0;
  } else if (const auto* integer = value.get<graph::Dim>()) {
    spec.dtype = tensor::DType::Int64;
    spec.integer = integer->value();
  } else if (const auto* number = value.get<Float>()) {
    spec.number = *number;
  } else {
    return std::nullopt;
  }
  return spec;
}

Result<Found> find_entry(PythonTracer& tracer, const std::string& wanted) {
  Found found;
  Choice chosen = KW_TRY(choose(tracer, wanted));
  found.name = std::move(chosen.name);
  found.why = std::move(chosen.why);
  const Value value = *KW_TRY(tracer.global(found.name));
  const Value* method = nullptr;
  if (const auto* function = value.get<std::shared_ptr<Function>>()) {
    KW_TRY(read_function(tracer, **function, 0, found));
    return found;
  }
  if (const auto* cls = value.get<std::shared_ptr<Class>>()) {
    found.is_model = true;
    method = (*cls)->find((*cls)->kind == ClassKind::Module ? "forward" : "__call__");
  } else if (const auto* object = value.get<std::shared_ptr<Object>>()) {
    found.is_model = true;
    method =
        (*object)->cls->find((*object)->cls->kind == ClassKind::Module ? "forward" : "__call__");
    if (!method) {
      found.any_positional = true;
      return found;
    }
  } else if (value.get<Library>()) {
    found.any_positional = true;
    return found;
  }
  const auto* function = method ? method->get<std::shared_ptr<Function>>() : nullptr;
  if (!function)
    return input_error("{}: '{}' is {}, neither a function nor a model with forward()",
                       tracer.source().name, found.name, type_name(value));
  KW_TRY(read_function(tracer, **function, 1, found));
  return found;
}

namespace {

Result<GivenInput> given_input(PythonTracer& tracer, const std::string& name, const Value& value) {
  GivenInput given;
  given.name = name;
  if (const auto* tensor = value.get<Tensor>()) {
    const graph::NodeId node = KW_TRY(read(tracer.graph(), *tensor));
    TensorText text;
    text.dtype = tracer.graph()[node].dtype;
    for (const graph::Dim& extent : tracer.graph()[node].shape) text.shape.push_back(extent.text());
    text.legal = legal_of(tracer.graph(), node, tracer.drawn());
    given.value = std::move(text);
  } else if (auto scalar = scalar_of(name, value)) {
    given.value = std::move(*scalar);
  } else if (!value.is_none()) {
    return input_error("{}: get_inputs() gives {}, not a tensor or a number", tracer.source().name,
                       type_name(value));
  }
  return given;
}

}  // namespace

Result<std::optional<std::vector<GivenInput>>> call_get_inputs(PythonTracer& tracer) {
  const Value* function = KW_TRY(tracer.global("get_inputs"));
  if (!function) return std::optional<std::vector<GivenInput>>();
  tracer.set_randomness(Randomness::Input);
  const Value values = KW_TRY(tracer.call(*function, {}));
  tracer.set_randomness(Randomness::Refused);
  std::vector<GivenInput> result;
  if (const auto* dict = values.get<std::shared_ptr<Dict>>()) {
    for (const auto& [key, value] : (*dict)->items)
      result.push_back(KW_TRY(given_input(tracer, to_text(key), value)));
    return std::optional(std::move(result));
  }
  const std::vector<Value> single = {values};
  const std::vector<Value>* items = items_of(values);
  if (!items && !values.get<Tensor>())
    return input_error("{}: get_inputs() returns {}, not a list of tensors", tracer.source().name,
                       type_name(values));
  for (const Value& value : items ? *items : single)
    result.push_back(KW_TRY(given_input(tracer, "", value)));
  return std::optional(std::move(result));
}

Result<GivenInput> parse_input_option(const std::string& text) {
  const size_t colon = text.find(':'), equals = text.find('=');
  GivenInput given;
  if (colon != std::string::npos && colon < equals) {
    given.name = trim(std::string_view(text).substr(0, colon));
    auto tensor = parse_tensor_text(std::string_view(text).substr(colon + 1));
    if (!tensor) return std::move(tensor).error().context(fmt::format("--input {}", text));
    given.value = std::move(tensor).value();
    if (!given.name.empty()) return given;
  } else if (equals != std::string::npos) {
    given.name = trim(std::string_view(text).substr(0, equals));
    const std::string value(trim(std::string_view(text).substr(equals + 1)));
    task::ScalarSpec spec;
    spec.name = given.name;
    if (value == "true" || value == "True" || value == "false" || value == "False") {
      spec.dtype = tensor::DType::Bool;
      spec.integer = value[0] == 't' || value[0] == 'T';
    } else if (const auto integer = parse_int(value)) {
      spec.dtype = tensor::DType::Int64;
      spec.integer = *integer;
    } else if (const auto number = parse_double(value)) {
      if (std::isnan(*number))
        return input_error(
            "--input {}: a kernel cannot be judged at NaN: every result may be NaN, whatever it "
            "computes; give a number",
            given.name);
      spec.number = *number;
    } else {
      return input_error("--input {}: '{}' is not a number", text, value);
    }
    given.value = spec;
    if (!given.name.empty()) return given;
  }
  return input_error("--input {}: write NAME:DTYPE[SHAPE], like x:fp16[B,D], or NAME=NUMBER", text);
}

}  // namespace kw::frontend
