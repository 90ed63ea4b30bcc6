// Follows an extension that Python calls: its functions by name.
extern "C" void __attribute__((weak)) kw_extension_bind(::pybind11::module_& kw_module);

namespace {
std::string kw_extension_said;
kw_binding::Words kw_extension_gave;

/// Each parameter's value: given by position, given by name, or the default of the binding.
bool kw_arrange(const kw_binding::Function& function, kw_binding::Reader from, std::vector<kw_binding::Reader>& to) {
  std::vector<const int64_t*> places(function.parameters, nullptr);
  const int64_t in_order = from.next();
  if (in_order > static_cast<int64_t>(function.parameters)) return false;
  for (int64_t i = 0; i < in_order; ++i) {
    places[static_cast<size_t>(i)] = from.at;
    from.skip();
  }
  for (int64_t left = from.next(); left > 0; --left) {
    const std::string name = kw_binding::Value<std::string>::read(from);
    bool found = false;
    for (size_t i = 0; i < function.named.size() && i < places.size(); ++i) {
      if (function.named[i].name != name || places[i] != nullptr) continue;
      places[i] = from.at;
      found = true;
    }
    if (!found) return false;
    from.skip();
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const bool otherwise = i < function.named.size() && !function.named[i].otherwise.empty();
    if (places[i] == nullptr && otherwise) places[i] = function.named[i].otherwise.data();
    if (places[i] == nullptr) return false;
    to.push_back({places[i]});
  }
  return true;
}
}  // namespace

/// The names of the functions, one per line.
extern "C" __attribute__((visibility("default"))) const char* kw_extension_functions() {
  static std::string names;
  if (names.empty() && kw_extension_bind != nullptr) {
    ::pybind11::module_ made;
    kw_extension_bind(made);
  }
  KwLibrary::name_parameters();
  names.clear();
  for (const auto& [name, function] : kw_binding::functions()) names += name + "\n";
  return names.c_str();
}

/// 0: `result` points to the words of the returned value; 1: to the text of the exception.
extern "C" __attribute__((visibility("default"))) int kw_extension_call(const char* name, const int64_t* words, const void** result) {
  kw_extension_gave.clear();
  *result = kw_extension_said.c_str();
  try {
    const auto found = kw_binding::functions().find(name);
    if (found == kw_binding::functions().end()) c10::kw_fail("there is no such function");
    for (const kw_binding::Function& function : found->second) {
      if (!function.call) c10::kw_fail(function.problem);
      std::vector<kw_binding::Reader> arguments;
      if (!kw_arrange(function, {words}, arguments)) continue;
      function.call(arguments, kw_extension_gave);
      *result = kw_extension_gave.data();
      return 0;
    }
    c10::kw_fail(std::string(name) + "(): incompatible function arguments");
  } catch (const std::exception& error) {
    kw_extension_said = error.what();
  } catch (...) {
    kw_extension_said = "a value was thrown that is not an exception";
  }
  *result = kw_extension_said.c_str();
  return 1;
}
