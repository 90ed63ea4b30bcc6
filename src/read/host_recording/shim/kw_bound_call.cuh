// Follows an extension that a harness calls: KW_FUNCTION by its name in the bindings. KW_ARGUMENTS says
// what each argument is: t a tensor, s one whose values are not needed, w words, () around a tuple.
namespace {
void kw_append(const char kw_kind, void* kw_from, kw_binding::Words& kw_to) {
  if (kw_kind == 'w') {
    const auto* const kw_words = static_cast<const int64_t*>(kw_from);
    kw_to.insert(kw_to.end(), kw_words + 1, kw_words + 1 + kw_words[0]);
    return;
  }
  const auto& kw_given = *static_cast<const KwTensorArgument*>(kw_from);
  const at::Tensor kw_tensor =
      kw_kind == 't' ? kw_given.tensor()
                     : at::empty(std::vector<int64_t>(kw_given.sizes, kw_given.sizes + kw_given.rank),
                                 at::dtype(static_cast<at::ScalarType>(kw_given.type)).device(at::kCUDA));
  kw_binding::Value<at::Tensor>::write(kw_tensor, kw_to);
}

/// The number of values from here to the closing parenthesis, or to the end.
int64_t kw_count(const char* kw_at) {
  int64_t kw_values = 0;
  for (int kw_depth = 0; *kw_at != 0 && kw_depth >= 0; ++kw_at) {
    if (*kw_at != ')' && kw_depth == 0) ++kw_values;
    kw_depth += *kw_at == '(' ? 1 : *kw_at == ')' ? -1 : 0;
  }
  return kw_values;
}
}  // namespace

extern "C" __attribute__((visibility("default"))) void KW_ENTRY(void** kw_args) noexcept {
  kw_extension_functions();
  kw_binding::Words kw_words = {kw_count(KW_ARGUMENTS)};
  for (const char* kw_at = KW_ARGUMENTS; *kw_at != 0; ++kw_at) {
    if (*kw_at == '(')
      kw_words.insert(kw_words.end(), {kw_binding::kList, kw_count(kw_at + 1)});
    else if (*kw_at != ')')
      kw_append(*kw_at, *kw_args++, kw_words);
  }
  kw_words.push_back(0);
  const void* kw_result = nullptr;
  if (kw_extension_call(KW_FUNCTION, kw_words.data(), &kw_result) != 0) {
    if (kw_refused) return;
    std::fprintf(stderr, "%s\n", static_cast<const char*>(kw_result));
    std::abort();
  }
  kw_binding::Reader kw_given{static_cast<const int64_t*>(kw_result)};
  const int64_t kw_results = kw_given.take(kw_binding::kList) ? kw_given.next() : 1;
  for (int64_t kw_i = 0; kw_i < kw_results; ++kw_i) {
    const at::Tensor kw_one = kw_binding::Value<at::Tensor>::read(kw_given);
    if (kw_one.defined()) kw_give(static_cast<int>(kw_i), kw_one);
  }
}
