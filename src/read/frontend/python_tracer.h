// Evaluates a Python syntax tree on symbolic values: it computes numbers, and tensors become graph
// nodes. One evaluator makes one trace. It never runs Python; it refuses unknown names by name.
//
// eval_module.cpp   statements at file level    eval_statements.cpp   other statements
// eval_calls.cpp    functions, arguments        eval_expressions.cpp  expressions
// eval_classes.cpp  classes, objects            eval_modules.cpp      nn.Module
// eval_tensors.cpp  op rows, in-place updates   eval_random.cpp       random tensors
// builtins.cpp      functions of Python         torch_library.cpp     functions of libraries
// eval_library.cpp  the library that is written in Python (written.h)
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "frontend/eval_settings.h"
#include "frontend/objects.h"
#include "frontend/syntax.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

class Call;

struct ModuleRow;

class PythonTracer {
 public:
  PythonTracer(std::shared_ptr<const Source> source, TraceSettings settings);
  ~PythonTracer();
  PythonTracer(const PythonTracer&) = delete;
  PythonTracer& operator=(const PythonTracer&) = delete;

  /// Runs the file's own statements. A name whose value failed is an Error only when it is used.
  Status run_module();
  /// The value of a name of the file; null for an unknown name. An Error if computing it failed.
  Result<const Value*> global(const std::string& name);
  /// Calls a function, class or object of the file.
  Result<Value> call(const Value& callee, const Arguments& arguments);

  graph::Builder& graph() { return graph_; }
  const std::map<std::string, Value>& globals() const { return globals_->names; }
  const Source& source() const { return *source_; }
  void set_randomness(Randomness randomness) { randomness_ = randomness; }
  const std::vector<Drawn>& drawn() const { return drawn_; }
  const std::vector<Drawn>& parameters() const { return parameters_; }
  /// Ints at file level that became dims (see Settings), with their values.
  const task::Dims& dims() const { return met_dims_; }
  bool allow_tf32() const { return allow_tf32_; }
  /// The expression of the last return statement of the outermost call; null without one.
  const Json* last_return() const { return last_return_; }

 private:
  enum class Flow : uint8_t { Next, Break, Continue, Return };
  struct Frame {
    std::shared_ptr<Scope> scope;
    std::set<std::string> outside;  // names declared global or nonlocal
    Value returned;
    const Function* function = nullptr;
    Value self;  // the first argument of a method
    /// The library source that holds its code; null for the user's file. Errors in library code are
    /// reported at the place of the call.
    const Source* library = nullptr;
  };

  // Statements.
  Result<Flow> run_all(const Json& statements);
  Result<Flow> run(const Json& statement);
  Result<Flow> run_for(const Json& statement);
  Result<Flow> run_while(const Json& statement);
  Result<Flow> run_if(const Json& statement);
  Result<Flow> run_with(const Json& statement);
  Result<Flow> run_try(const Json& statement);
  Result<Flow> run_return(const Json& statement);
  Result<Flow> run_assert(const Json& statement);
  Result<Flow> run_raise(const Json& statement);
  Result<Flow> run_assign(const Json& statement);
  Result<Flow> run_annotated(const Json& statement);
  Result<Flow> run_augmented(const Json& statement);
  Result<std::optional<Flow>> augment_masked(const Json& statement);
  Result<Flow> run_function(const Json& statement);
  Result<Flow> run_class(const Json& statement);
  Result<Flow> run_import(const Json& statement);
  Result<Flow> run_delete(const Json& statement);
  Result<Flow> run_scope(const Json& statement);
  Status run_module_statement(const Json& statement);
  Value named_dim(const Json& target, Value value);
  Value symbol_for(const std::string& name, const Value& value);
  Status assign(const Json& target, const Value& value);
  Status assign_names(const Json& target, const Value& value);
  void set_name(const std::string& name, Value value);
  Result<Flow> loop_body(const Json& statement, bool* broke);

  // Expressions.
  Result<Value> eval(const Json& node);
  Result<Value> eval_kind(const Json& node);
  Result<Value> eval_constant(const Json& node);
  Result<Value> eval_name(const Json& node);
  Result<Value> eval_binary(const Json& node);
  Result<Value> eval_unary(const Json& node);
  Result<Value> eval_bool_op(const Json& node);
  Result<Value> eval_compare(const Json& node);
  Result<Value> eval_choice(const Json& node);
  Result<Value> eval_dict(const Json& node);
  Result<Value> eval_comprehension(const Json& node);
  Result<Value> eval_lambda(const Json& node);
  Result<Value> eval_text(const Json& node);
  Result<Value> eval_walrus(const Json& node);
  Result<Value> eval_slice(const Json& node);
  Result<Value> eval_subscript(const Json& node);
  Result<Value> eval_call(const Json& node);
  Result<std::vector<Value>> eval_items(const Json& nodes);
  Status comprehend(const Json& node, size_t level, std::vector<std::pair<Value, Value>>& out);
  Result<Value> binary(std::string_view op, const Value& a, const Value& b);
  Result<Value> compare_values(std::string_view op, const Value& a, const Value& b);
  Result<bool> truth_of(const Value& value);
  Result<std::vector<Value>> iterate(const Value& value);

  // Calls.
  Result<Value> invoke(const Value& callee, Arguments arguments);
  Result<Value> call_function(const Function& function, Arguments arguments, const Value& self);
  Status bind(const Function& function, Arguments& arguments, Scope& scope);
  Result<Value> make_function(const Json& node, const std::string& name);
  Result<Value> decorate(const Json& statement, Value function);
  Result<Value> call_method(const BoundMethod& method, Arguments arguments);
  Result<Value> call_container(const BoundMethod& method, Arguments arguments);
  Result<Value> call_library(const std::string& name, Arguments arguments);
  Result<Value> call_builtin(const std::string& name, Arguments arguments);
  Result<Value> builtin_of_one(const std::string& name, Arguments arguments);
  Result<Value> builtin_length(const Value& value);
  Result<Value> builtin_number(const std::string& name, const Arguments& arguments);
  Result<Value> builtin_reduce(const std::string& name, const Arguments& arguments);
  Result<Value> builtin_sequence(const std::string& name, const Arguments& arguments);
  Result<Value> builtin_sorted(Arguments arguments);
  Result<Value> builtin_attribute(const std::string& name, const Arguments& arguments);
  Result<Value> make_dict(const Value& from, const std::vector<Value>& items);
  Result<Value> type_of(const Value& value);
  Result<Value> bind_as(const std::string& name, const Value& value);
  Result<std::optional<Value>> call_setting(const std::string& name, const Arguments& arguments);
  Result<std::optional<Value>> call_standard(const std::string& name, Arguments arguments);
  Result<std::optional<Value>> call_torch(const std::string& name, Arguments& arguments);
  Result<Value> number_limits(const std::string& name, const Arguments& arguments);

  // Classes and objects.
  Result<Value> make_class(const Json& statement);
  Result<std::shared_ptr<Class>> base_class(const Value& base);
  Result<Value> instantiate(const std::shared_ptr<Class>& cls, Arguments arguments);
  Result<Value> make_library_module(const std::string& name, Arguments arguments);
  /// A class or function of python/library; not set for an unknown name.
  Result<std::optional<Value>> written(const std::string& name);
  /// copy.deepcopy of a module: new weights of the same shapes.
  Result<Value> copy_module(const std::shared_ptr<Object>& object,
                            std::map<const void*, Value>& known);
  Result<Value> call_object(const std::shared_ptr<Object>& object, Arguments arguments);
  Result<Value> run_library_module(const Object& module, const std::string& name,
                                   Arguments arguments);
  Result<Value> init_module(const std::shared_ptr<Object>& object, Arguments arguments);
  Status fill_module(Object& object, const ModuleRow& row, Arguments arguments);
  Status fill_container(Object& object, const std::string& kind, Arguments arguments);
  Result<Value> list_state(const std::shared_ptr<Object>& object, const std::string& name);
  Result<Value> container_method(const std::shared_ptr<Object>& object, const std::string& name,
                                 const std::vector<Value>& given);
  Tensor placeholder(tensor::DType dtype, graph::Shape shape, task::Legal legal);
  Result<Value> module_method(const std::shared_ptr<Object>& object, const std::string& name,
                              Arguments arguments);
  Result<Value> make_super(Arguments arguments);
  Result<Value> make_plain_object(const std::string& name);
  Result<Value> apply_autograd(const std::shared_ptr<Class>& cls, Arguments arguments);
  Result<Value> make_parameter(const Value& tensor);
  Result<Value> convert_module(const std::shared_ptr<Object>& object, tensor::DType dtype);
  /// The attribute; not set when the value has no attribute of that name.
  Result<std::optional<Value>> attribute(const Value& value, const std::string& name);
  Result<std::optional<Value>> object_attribute(const std::shared_ptr<Object>& object,
                                                const std::string& name);
  Status set_attribute(const Value& object, const std::string& name, const Value& value);

  // Tensors.
  Result<Value> call_row(const std::string& name, Arguments arguments);
  Result<Value> call_tensor_method(const Tensor& self, const std::string& name,
                                   Arguments arguments);
  Result<Value> plain_method(const Tensor& self, const std::string& name,
                             const Arguments& arguments);
  Result<Value> call_in_place(const Tensor& self, const std::string& name, Arguments arguments);
  Result<std::optional<Value>> tensor_attribute(const Tensor& tensor, const std::string& name);
  Result<Value> random_tensor(const std::string& name, Arguments arguments);
  Value adopt(const std::string& name, const Arguments& arguments, const Value& result);
  Status check_size(const Value& result);
  Status assign_module_item(const std::shared_ptr<Object>& object, const Value& index,
                            const Value& value);
  Result<Value> slice_module(const Object& container, const Value& items);
  Result<Value> detached(const Value& result);  // the result, with no gradient through it
  Status store(const Tensor& target, graph::NodeId value, bool convert);
  Result<graph::NodeId> node_of(const Tensor& tensor);
  bool is_parameter(const Tensor& tensor) const;
  Status update_statistics(Call& call, size_t place, const Arguments& arguments);
  /// Records the number that a parameter is filled with while a module is constructed. Not set: the
  /// parameter gets several numbers.
  void note_fill(const Tensor& parameter, std::optional<double> number);
  /// The number that every element of a tensor has; not set when it is unknown.
  std::optional<double> number_throughout(graph::NodeId id) const;
  std::optional<double> number_given(const Value& value);
  /// The number that a function of torch.nn.init fills its tensor with; not set for several
  /// numbers.
  std::optional<double> fill_of(const std::string& name, const Arguments& arguments);
  /// The number that a tensor holds; not set when it is unknown before the run.
  Result<std::optional<Value>> constant_of(const Tensor& tensor);

  bool in_library() const { return !frames_.empty() && frames_.back()->library; }
  /// Nodes made from now on get this place of the file. Inside library code they get the caller's.
  void mark(std::string origin, const Json& node);
  std::string shown(const Json& node) const;  // its text in the file
  Error refuse(const Json& node, const std::string& message);
  /// The name of an attribute as used inside a class: each class has its own __name.
  std::string private_name(const std::string& name) const;
  Error located(const Json& node, Error error);

  std::shared_ptr<const Source> source_;  // shared: functions point into its tree
  TraceSettings settings_;
  graph::Builder graph_;
  std::shared_ptr<Scope> globals_;
  std::map<std::string, std::shared_ptr<Scope>> libraries_;  // by file (written.h)
  std::vector<Frame*> frames_;
  std::vector<std::weak_ptr<Scope>> scopes_;
  std::vector<std::weak_ptr<Object>> objects_;
  std::map<std::string, Error> failed_names_;  // file-level names whose value was refused
  Randomness randomness_ = Randomness::Refused;
  std::vector<Drawn> drawn_, parameters_;
  task::Dims met_dims_;
  const Json* last_return_ = nullptr;
  const Json* at_ = nullptr;  // the expression or statement being evaluated
  tensor::DType default_dtype_ = tensor::DType::Fp32;
  bool allow_tf32_ = false;
  bool located_ = false;      // the Error being returned already has its place
  bool fatal_ = false;        // the Error being returned must not be kept for later
  bool no_gradient_ = false;  // inside torch.no_grad() or a similar context
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace kw::frontend
