// Bindings: the functions that a file gives to Python, kept by name so that the recording process can
// call them. Arguments and results are passed as words of eight bytes, each value after its kind.
#pragma once

#include <kw_cuda.cuh>

namespace kw_binding {

enum Kind : int64_t { kNone, kBool, kInt, kReal, kTensor, kList, kText };
using Words = std::vector<int64_t>;

struct Reader {
  const int64_t* at;
  int64_t next() { return *at++; }
  bool take(Kind kind) {
    if (*at != kind) return false;
    ++at;
    return true;
  }
  /// Skips one value.
  void skip() {
    switch (next()) {
      case kNone:
        break;
      case kTensor:
        at += 5;
        at += 2 * next();
        break;
      case kList:
        for (int64_t left = next(); left > 0; --left) skip();
        break;
      case kText: {
        const int64_t bytes = next();
        at += (bytes + 7) / 8;
        break;
      }
      default:
        ++at;
    }
  }
};

template <typename T>
struct Always : std::false_type {};
[[noreturn]] inline void wrong(const char* wanted) { c10::kw_fail(std::string("incompatible function arguments: ") + wanted + " is needed"); }

/// How a value of a type is read and written. A type without a specialization cannot be bound.
template <typename T, typename = void>
struct Value {
  static constexpr bool known = false;
};
template <>
struct Value<at::Tensor> {
  static constexpr bool known = true;
  static at::Tensor read(Reader& from) {
    if (from.take(kNone)) return {};
    if (!from.take(kTensor)) wrong("a tensor");
    auto storage = std::make_shared<at::KwStorage>();
    storage->base = reinterpret_cast<void*>(from.next());
    storage->bytes = from.next();
    storage->place = from.next() == 0 ? at::kCUDA : at::kCPU;
    const int64_t offset = from.next(), type = from.next(), rank = from.next();
    std::vector<int64_t> sizes(from.at, from.at + rank), strides(from.at + rank, from.at + 2 * rank);
    from.at += 2 * rank;
    return {storage, offset, static_cast<at::ScalarType>(type), sizes, strides};
  }
  static void write(const at::Tensor& one, Words& to) {
    if (!one.defined()) return to.push_back(kNone);
    const at::KwStorage& storage = *one.kw_storage();
    to.insert(to.end(), {kTensor, reinterpret_cast<int64_t>(storage.base), storage.bytes, storage.place.is_cuda() ? 0 : 1,
                         one.storage_offset(), static_cast<int64_t>(one.scalar_type()), one.dim()});
    for (const int64_t extent : one.sizes()) to.push_back(extent);
    for (const int64_t step : one.strides()) to.push_back(step);
  }
};
template <>
struct Value<bool> {
  static constexpr bool known = true;
  static bool read(Reader& from) {
    if (!from.take(kBool)) wrong("a bool");
    return from.next() != 0;
  }
  static void write(bool one, Words& to) { to.insert(to.end(), {kBool, one ? 1 : 0}); }
};
template <typename T>
struct Value<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static constexpr bool known = true;
  static T read(Reader& from) {
    if (!from.take(kInt) && !from.take(kBool)) wrong("an int");
    return static_cast<T>(from.next());
  }
  static void write(T one, Words& to) { to.insert(to.end(), {kInt, static_cast<int64_t>(one)}); }
};
template <typename T>
struct Value<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static constexpr bool known = true;
  static T read(Reader& from) {
    if (from.take(kInt) || from.take(kBool)) return static_cast<T>(from.next());
    if (!from.take(kReal)) wrong("a float");
    const int64_t word = from.next();
    double value;
    std::memcpy(&value, &word, 8);
    return static_cast<T>(value);
  }
  static void write(T one, Words& to) {
    const double value = one;
    int64_t word;
    std::memcpy(&word, &value, 8);
    to.insert(to.end(), {kReal, word});
  }
};
template <>
struct Value<at::Scalar> {
  static constexpr bool known = true;
  static at::Scalar read(Reader& from) { return Value<double>::read(from); }
  static void write(const at::Scalar& one, Words& to) { Value<double>::write(one.real, to); }
};
template <>
struct Value<at::ScalarType> {
  static constexpr bool known = true;
  static at::ScalarType read(Reader& from) { return static_cast<at::ScalarType>(Value<int64_t>::read(from)); }
  static void write(at::ScalarType one, Words& to) { Value<int64_t>::write(static_cast<int64_t>(one), to); }
};
template <>
struct Value<std::string> {
  static constexpr bool known = true;
  static std::string read(Reader& from) {
    if (!from.take(kText)) wrong("a string");
    const int64_t bytes = from.next();
    std::string text(reinterpret_cast<const char*>(from.at), static_cast<size_t>(bytes));
    from.at += (bytes + 7) / 8;
    return text;
  }
  static void write(const std::string& one, Words& to) {
    to.insert(to.end(), {kText, static_cast<int64_t>(one.size())});
    const size_t first = to.size();
    to.resize(first + (one.size() + 7) / 8, 0);
    if (!one.empty()) std::memcpy(to.data() + first, one.data(), one.size());
  }
};
template <>
struct Value<std::nullopt_t> {
  static constexpr bool known = true;
  static void write(std::nullopt_t, Words& to) { to.push_back(kNone); }
};
template <typename T>
struct Value<std::optional<T>> {
  static constexpr bool known = Value<T>::known;
  static std::optional<T> read(Reader& from) {
    if (from.take(kNone)) return std::nullopt;
    return Value<T>::read(from);
  }
  static void write(const std::optional<T>& one, Words& to) { one ? Value<T>::write(*one, to) : to.push_back(kNone); }
};
template <typename T>
struct Value<std::vector<T>> {
  static constexpr bool known = Value<T>::known;
  static std::vector<T> read(Reader& from) {
    if (!from.take(kList)) wrong("a list");
    std::vector<T> out;
    for (int64_t left = from.next(); left > 0; --left) out.push_back(Value<T>::read(from));
    return out;
  }
  static void write(const std::vector<T>& all, Words& to) {
    to.insert(to.end(), {kList, static_cast<int64_t>(all.size())});
    for (const T& one : all) Value<T>::write(one, to);
  }
};
template <typename T>
struct Value<c10::ArrayRef<T>> {
  static constexpr bool known = Value<T>::known;
  static c10::ArrayRef<T> read(Reader& from) { return Value<std::vector<T>>::read(from); }
  static void write(const c10::ArrayRef<T>& all, Words& to) { Value<std::vector<T>>::write(all.values, to); }
};
template <typename T, size_t kCount>
struct Value<std::array<T, kCount>> {
  static constexpr bool known = Value<T>::known;
  static std::array<T, kCount> read(Reader& from) {
    const std::vector<T> all = Value<std::vector<T>>::read(from);
    if (all.size() != kCount) wrong("a list of another length");
    std::array<T, kCount> out;
    std::copy(all.begin(), all.end(), out.begin());
    return out;
  }
  static void write(const std::array<T, kCount>& all, Words& to) { Value<std::vector<T>>::write({all.begin(), all.end()}, to); }
};
template <typename... Types>
struct Value<std::tuple<Types...>> {
  static constexpr bool known = (Value<Types>::known && ...);
  static void write(const std::tuple<Types...>& all, Words& to) {
    to.insert(to.end(), {kList, static_cast<int64_t>(sizeof...(Types))});
    std::apply([&](const Types&... one) { (Value<Types>::write(one, to), ...); }, all);
  }
};
template <typename A, typename B>
struct Value<std::pair<A, B>> {
  static constexpr bool known = Value<A>::known && Value<B>::known;
  static void write(const std::pair<A, B>& all, Words& to) { Value<std::tuple<A, B>>::write({all.first, all.second}, to); }
};
}  // namespace kw_binding

namespace pybind11 {
/// A Python object that the candidate unpacks itself.
struct object {
  kw_binding::Reader from{nullptr};
  bool is_none() const { return *from.at == kw_binding::kNone; }
  template <typename T>
  T cast() const {
    kw_binding::Reader reader = from;
    return kw_binding::Value<T>::read(reader);
  }
};
using handle = object;
/// A tuple of any values.
struct tuple : object {
  size_t size() const { return static_cast<size_t>(from.at[1]); }
  object operator[](size_t index) const {
    if (index >= size()) c10::kw_fail("tuple index out of range");
    kw_binding::Reader reader{from.at + 2};
    for (; index > 0; --index) reader.skip();
    return {reader};
  }
};
using list = tuple;
template <typename T>
T cast(const object& one) {
  return one.cast<T>();
}
template <typename T>
size_t len(const T& all) {
  return all.size();
}
}  // namespace pybind11

namespace kw_binding {
template <>
struct Value<pybind11::object> {
  static constexpr bool known = true;
  static pybind11::object read(Reader& from) {
    const pybind11::object made{from};
    from.skip();
    return made;
  }
};
template <>
struct Value<pybind11::tuple> {
  static constexpr bool known = true;
  static pybind11::tuple read(Reader& from) {
    if (*from.at != kList) wrong("a tuple");
    const pybind11::tuple made{{from}};
    from.skip();
    return made;
  }
};
template <typename T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

/// The name of a parameter, and its default.
struct Parameter {
  std::string name;
  Words otherwise;
};

struct Function {
  std::string problem;
  size_t parameters = 0;
  std::vector<Parameter> named;
  std::function<void(const std::vector<Reader>&, Words&)> call;
};
inline std::map<std::string, std::vector<Function>>& functions() {
  static auto* const all = new std::map<std::string, std::vector<Function>>;
  return *all;
}

template <typename Callable, typename Result, typename... Args>
Function make(Callable callable) {
  Function made;
  made.parameters = sizeof...(Args);
  constexpr bool known = (Value<Plain<Args>>::known && ... && true) && (std::is_void_v<Result> || Value<Plain<Result>>::known);
  if constexpr (known) {
    made.call = [callable](const std::vector<Reader>& given, Words& result) {
      std::vector<Reader> readers = given;
      size_t i = 0;
      // Braces guarantee that arguments are read from the first to the last.
      std::tuple<Plain<Args>...> args{Value<Plain<Args>>::read(readers[i++])...};
      (void)i;
      if constexpr (std::is_void_v<Result>) {
        std::apply(callable, args);
        result.push_back(kNone);
      } else {
        Value<Plain<Result>>::write(std::apply(callable, args), result);
      }
    };
  } else {
    made.problem = "a parameter or a result that cannot be passed while it is recorded";
  }
  return made;
}
template <typename Result, typename... Args>
Function wrap(Result (*function)(Args...)) {
  return make<Result (*)(Args...), Result, Args...>(function);
}
template <typename Result, typename... Args>
Function wrap(const std::function<Result(Args...)>& function) {
  return make<std::function<Result(Args...)>, Result, Args...>(function);
}
template <typename Lambda, typename = decltype(&Lambda::operator())>
Function wrap(const Lambda& lambda) {
  return wrap(std::function(lambda));
}

}  // namespace kw_binding

namespace pybind11 {
struct none {};
struct arg {
  kw_binding::Parameter parameter;
  explicit arg(const char* name) : parameter{name, {}} {}
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
  template <typename T>
  arg& operator=(const T& value) {
    if constexpr (std::is_same_v<T, pybind11::none>)
      parameter.otherwise = {kw_binding::kNone};
    else if constexpr (std::is_convertible_v<T, const char*>)
      kw_binding::Value<std::string>::write(value, parameter.otherwise);
    else
      kw_binding::Value<T>::write(value, parameter.otherwise);
    return *this;
  }
};
struct gil_scoped_release {};
template <typename T>
struct call_guard {};
namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}
struct module_ {
  std::string text;
  std::string& doc() { return text; }
  template <typename Callable, typename... Extras>
  module_& def(const char* name, Callable&& callable, const Extras&... extras) {
    kw_binding::Function made = kw_binding::wrap(callable);
    const auto look = [&](const auto& extra) {
      if constexpr (std::is_same_v<std::decay_t<decltype(extra)>, arg>) made.named.push_back(extra.parameter);
    };
    (look(extras), ...);
    kw_binding::functions()[name].push_back(std::move(made));
    return *this;
  }
  template <typename T>
  void attr(const char*, const T&) {}
};
using module = module_;
}  // namespace pybind11
namespace py = pybind11;

#define TORCH_EXTENSION_NAME kw_extension
#define PYBIND11_MODULE(name, variable, ...) \
  extern "C" __attribute__((visibility("default"))) void kw_extension_bind(::pybind11::module_& variable)

/// The parameters in the schema of an operator: "f(Tensor x, float eps=1e-5) -> Tensor".
struct KwSchema {
  static std::string bare(const std::string& schema) {
    const std::string name = schema.substr(0, schema.find('('));
    const size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
  }
  static std::vector<kw_binding::Parameter> parameters(const std::string& schema) {
    std::vector<kw_binding::Parameter> all;
    const size_t open = schema.find('('), arrow = schema.rfind("->");
    if (open == std::string::npos) return all;
    const size_t close = schema.rfind(')', arrow);
    std::string word;
    int depth = 0;
    for (size_t i = open + 1; i <= close && close != std::string::npos; ++i) {
      depth += schema[i] == '[' || schema[i] == '(' ? 1 : schema[i] == ']' || schema[i] == ')' ? -1 : 0;
      if (i != close && (schema[i] != ',' || depth > 0)) {
        word += schema[i];
        continue;
      }
      if (word.find_first_not_of(" *") != std::string::npos) all.push_back(parameter(word));
      word.clear();
    }
    return all;
  }

 private:
  static std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  }
  static kw_binding::Parameter parameter(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string head = trimmed(word.substr(0, equals));
    kw_binding::Parameter made{head.substr(head.rfind(' ') + 1), {}};
    if (equals == std::string::npos) return made;
    const std::string type = head.substr(0, head.find_first_of(" ?")), value = trimmed(word.substr(equals + 1));
    if (value == "None")
      made.otherwise = {kw_binding::kNone};
    else if (type == "bool")
      kw_binding::Value<bool>::write(value == "True" || value == "true", made.otherwise);
    else if (type == "float" || type == "Scalar")
      kw_binding::Value<double>::write(std::strtod(value.c_str(), nullptr), made.otherwise);
    else if (type == "int" || type == "SymInt")
      kw_binding::Value<int64_t>::write(std::strtoll(value.c_str(), nullptr, 10), made.otherwise);
    else if (type == "str" && value.size() > 1)
      kw_binding::Value<std::string>::write(value.substr(1, value.size() - 2), made.otherwise);
    return made;
  }
};

/// Operators that are registered with PyTorch: by name without the schema, with and without the name of their library.
struct KwLibrary {
  std::string space, key;
  static std::map<std::string, std::vector<kw_binding::Parameter>>& schemas() {
    static auto* const all = new std::map<std::string, std::vector<kw_binding::Parameter>>;
    return *all;
  }
  void def(const char* schema) { schemas()[space + "::" + KwSchema::bare(schema)] = KwSchema::parameters(schema); }
  template <typename Callable>
  void def(const char* schema, Callable&& callable) {
    def(schema);
    impl(KwSchema::bare(schema).c_str(), std::forward<Callable>(callable));
  }
  template <typename Callable>
  void impl(const char* name, Callable&& callable) {
    // Tensors are on the device: an implementation for another backend is never called.
    if (key == "CPU" || key == "Meta" || key.rfind("Autograd", 0) == 0) return;
    const kw_binding::Function made = kw_binding::wrap(callable);
    kw_binding::functions()[KwSchema::bare(name)].push_back(made);
    kw_binding::functions()[space + "::" + KwSchema::bare(name)].push_back(made);
  }
  template <typename Key, typename Callable>
  void impl(const char* name, Key, Callable&& callable) {
    impl(name, std::forward<Callable>(callable));
  }
  /// Names and defaults of the parameters, from whichever call has the schema.
  static void name_parameters() {
    for (const auto& [name, parameters] : schemas()) {
      for (const std::string& under : {name, KwSchema::bare(name)}) {
        for (kw_binding::Function& function : kw_binding::functions()[under])
          if (function.named.empty()) function.named = parameters;
      }
    }
  }
};
struct KwLibraryMaker {
  KwLibraryMaker(const char* space, const char* key, void (*make)(KwLibrary&)) {
    KwLibrary library{space, key};
    make(library);
  }
};
#define KW_JOINED_(a, b) a##b
#define KW_JOINED(a, b) KW_JOINED_(a, b)
#define KW_LIBRARY(space, key, variable, number)                                                \
  static void KW_JOINED(kw_library_, number)(KwLibrary & variable);                             \
  static const KwLibraryMaker KW_JOINED(kw_library_made_, number)(                              \
      #space, #key, &KW_JOINED(kw_library_, number));                                           \
  static void KW_JOINED(kw_library_, number)(KwLibrary & variable)
#define TORCH_LIBRARY(space, variable) KW_LIBRARY(space, , variable, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(space, variable) KW_LIBRARY(space, , variable, __COUNTER__)
#define TORCH_LIBRARY_IMPL(space, key, variable) KW_LIBRARY(space, key, variable, __COUNTER__)
#define TORCH_FN(function) function
