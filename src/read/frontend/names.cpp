// Tables of names with a fixed meaning: Python's builtins, operators, dtypes, contexts without
// effect on values, methods that share memory, random functions. They are data, apart from the
// tracer, so that a new name is one line. A name in the wrong table changes results: an ignored
// call must not change values. The alternative, to ask an installed PyTorch, would make it a
// requirement. The cost: the tables must follow PyTorch's releases by hand.
#include "frontend/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "core/ascii.h"
#include "kernel/plan_names.h"

namespace kw::frontend {

using tensor::DType;

bool is_dim_name(std::string_view name) {
  return identifier(name) == name && kernel::reserved_name(name).empty();
}

std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool plain = is_name_char(c);
    result += plain ? c : '_';
  }
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "_" + result;
  return result;
}

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = 0, end = 0; at < words.size(); at = end + 1) {
    end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
  }
  return false;
}

bool is_builtin(std::string_view name) {
  static constexpr std::string_view kNames =
      "len range min max sum abs float int bool str tuple list dict set enumerate zip reversed "
      "sorted getattr hasattr setattr delattr isinstance print super map filter any all round "
      "divmod pow type callable repr format slice staticmethod classmethod property object "
      "complex bytes frozenset id iter next issubclass vars open input exec eval __import__ "
      "globals locals";
  return has_word(kNames, name) || name.ends_with("Error") || name.ends_with("Exception") ||
         name.ends_with("Warning");
}

namespace {

struct Operator {
  const char* row;
  const char* text;
};

const Operator* operator_of(std::string_view op) {
  static const std::map<std::string_view, Operator> kOperators = {
      {"Add", {"torch.add", "+"}},
      {"Sub", {"torch.sub", "-"}},
      {"Mult", {"torch.mul", "*"}},
      {"Div", {"torch.true_divide", "/"}},
      {"FloorDiv", {"torch.floor_divide", "//"}},
      {"Mod", {"torch.remainder", "%"}},
      {"Pow", {"torch.pow", "**"}},
      {"MatMult", {"torch.matmul", "@"}},
      {"BitAnd", {"torch.bitwise_and", "&"}},
      {"BitOr", {"torch.bitwise_or", "|"}},
      {"BitXor", {"torch.bitwise_xor", "^"}},
      {"LShift", {"torch.bitwise_left_shift", "<<"}},
      {"RShift", {"torch.bitwise_right_shift", ">>"}},
      {"Lt", {"torch.lt", "<"}},
      {"LtE", {"torch.le", "<="}},
      {"Gt", {"torch.gt", ">"}},
      {"GtE", {"torch.ge", ">="}},
      {"Eq", {"torch.eq", "=="}},
      {"NotEq", {"torch.ne", "!="}},
  };
  const auto found = kOperators.find(op);
  return found == kOperators.end() ? nullptr : &found->second;
}

}  // namespace

const char* operator_row(std::string_view op) {
  const Operator* found = operator_of(op);
  return found ? found->row : nullptr;
}

const char* operator_text(std::string_view op) {
  const Operator* found = operator_of(op);
  return found ? found->text : "this operator";
}

std::string canonical(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> kPrefixes[] = {
      {"torch.nn.functional.", "F."},
      {"torch.functional.F.", "F."},
      {"torch.functional.", "torch."},
      {"torch.Tensor.", "Tensor."},
      {"torch.nn.parameter.", "torch.nn."},
      {"torch.nn.modules.module.", "torch.nn."},
      {"torch.nn.modules.", "torch.nn."},
      {"torch._C._nn.", "F."},
      {"torch.linalg.linalg_", "torch.linalg."},
  };
  for (const auto& [from, to] : kPrefixes) {
    if (name.starts_with(from)) return std::string(to) + name.substr(from.size());
  }
  return name;
}

namespace {

std::optional<DType> torch_dtype(std::string_view name) {
  static const std::map<std::string_view, DType> kTypes = {
      {"float32", DType::Fp32},        {"float", DType::Fp32},
      {"float64", DType::Fp64},        {"double", DType::Fp64},
      {"float16", DType::Fp16},        {"half", DType::Fp16},
      {"bfloat16", DType::Bf16},       {"int64", DType::Int64},
      {"long", DType::Int64},          {"int32", DType::Int32},
      {"int", DType::Int32},           {"int16", DType::Int16},
      {"short", DType::Int16},         {"int8", DType::Int8},
      {"uint8", DType::Uint8},         {"uint16", DType::Uint16},
      {"uint32", DType::Uint32},       {"uint64", DType::Uint64},
      {"bool", DType::Bool},           {"float8_e4m3fn", DType::Fp8e4m3},
      {"float8_e5m2", DType::Fp8e5m2}, {"float8_e8m0fnu", DType::E8m0}};
  const auto found = kTypes.find(name);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<Value> library_constant(const std::string& name) {
  const size_t dot = name.rfind('.');
  const std::string home = name.substr(0, dot), word = name.substr(dot + 1);
  if (home != "torch" && home != "math" && home != "numpy") return std::nullopt;
  if (word == "pi") return Value(std::numbers::pi);
  if (word == "e") return Value(std::numbers::e);
  if (word == "tau") return Value(2 * std::numbers::pi);
  if (word == "inf") return Value(static_cast<double>(INFINITY));
  if (word == "nan") return Value(static_cast<double>(NAN));
  if (home != "torch") return std::nullopt;
  if (const auto dtype = torch_dtype(word)) return Value(DTypeValue{*dtype});
  if (word == "newaxis") return Value(None{});
  static const std::set<std::string_view> kLayouts = {"contiguous_format", "preserve_format",
                                                      "channels_last", "strided", "sparse_coo"};
  if (kLayouts.count(word)) return Value(word);
  return std::nullopt;
}

bool is_harmless_context(const std::string& name) {
  static constexpr std::string_view kNames =
      "torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled "
      "torch.autograd.no_grad torch.autograd.enable_grad torch.compile torch.jit.script "
      "torch.jit.script_method torch.jit.ignore torch.jit.export torch.jit.unused "
      "torch.profiler.record_function torch.autograd.profiler.record_function "
      "torch.cuda.nvtx.range torch.cuda.device torch.cuda.stream torch.device "
      "contextlib.nullcontext functools.lru_cache functools.cache functools.wraps "
      "typing.overload typing.no_type_check torch.compiler.disable torch._dynamo.disable "
      "torch.fx.wrap torch.jit.interface torch.cuda.amp.custom_fwd torch.amp.custom_fwd "
      "torch.autograd.set_detect_anomaly torch.random.fork_rng kernelwright.names "
      "kernelwright.op";
  return has_word(kNames, name);
}

bool is_ignored_call(const std::string& name) {
  static constexpr std::string_view kNames =
      "torch.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all torch.seed "
      "torch.cuda.synchronize torch.cuda.empty_cache torch.set_num_threads "
      "torch.use_deterministic_algorithms torch.set_printoptions torch.cuda.set_device "
      "torch.set_default_device torch._assert torch._check warnings.warn warnings.filterwarnings "
      "warnings.simplefilter random.seed math.random.seed builtins.print torch.jit.annotate "
      "torch._dynamo.reset logging.info logging.warning torch.cuda.init "
      "torch.autograd.set_detect_anomaly";
  return has_word(kNames, name);
}

std::optional<Sharing> sharing_of(std::string_view method) {
  static constexpr std::string_view kViews =
      "view view_as unsqueeze squeeze transpose permute t swapaxes swapdims movedim moveaxis "
      "expand expand_as broadcast_to narrow select split split_with_sizes chunk tensor_split "
      "hsplit vsplit dsplit unfold unbind unflatten detach T mT H mH adjoint diagonal to type "
      "type_as float double half "
      "bfloat16 long int bool cuda cpu";
  if (has_word(kViews, method)) return Sharing::View;
  if (has_word("reshape reshape_as flatten ravel", method)) return Sharing::Reshape;
  if (method == "contiguous") return Sharing::Contiguous;
  return std::nullopt;
}

bool is_random(const std::string& name) {
  static constexpr std::string_view kNames =
      "torch.randn torch.rand torch.randint torch.randn_like torch.rand_like torch.randperm "
      "torch.normal torch.randint_like torch.bernoulli torch.multinomial torch.poisson "
      "Tensor.normal_ Tensor.uniform_ Tensor.random_ Tensor.bernoulli_ Tensor.exponential_ "
      "Tensor.bernoulli Tensor.multinomial Tensor.cauchy_ Tensor.log_normal_ Tensor.geometric_";
  return has_word(kNames, name);
}

}  // namespace kw::frontend
