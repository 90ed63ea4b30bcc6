#include "clib/shared_context.h"

#include <fmt/core.h>

#include <map>
#include <mutex>

#include "core/hash.h"

namespace kw::clib {
namespace {

std::mutex& contexts_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Never destroyed: at the end of the process the driver may be unloaded before us.
std::map<int, SharedContext*>& contexts() {
  static auto* all = new std::map<int, SharedContext*>();
  return *all;
}

/// Remembers the thread's current context and restores it at the end.
class KeepCurrent {
 public:
  explicit KeepCurrent(const cuda::Api& api) : api_(api) {
    if (api_.context_pop == nullptr || api_.context_push == nullptr) return;
    if (api_.context_pop(&before_) == cuda::kSuccess) api_.context_push(before_);
  }
  ~KeepCurrent() {
    if (before_ != nullptr) api_.context_set(before_);
  }
  KeepCurrent(const KeepCurrent&) = delete;
  KeepCurrent& operator=(const KeepCurrent&) = delete;

 private:
  const cuda::Api& api_;
  cuda::CuContext before_ = nullptr;
};

}  // namespace

struct SharedContext::Images {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<cuda::LoadedImage>> by_hash;
};

Result<std::unique_ptr<SharedContext>> SharedContext::open(int ordinal) {
  std::unique_ptr<SharedContext> shared(new SharedContext());
  shared->ordinal_ = ordinal;
  shared->driver_ = KW_TRY(cuda::Driver::open());
  const KeepCurrent keep(shared->driver_->api());
  shared->context_ = KW_TRY(cuda::Context::create(*shared->driver_, ordinal));
  shared->images_ = std::make_shared<Images>();
  return shared;
}

Result<SharedContext*> SharedContext::of(int ordinal) {
  const std::lock_guard lock(contexts_mutex());
  const auto found = contexts().find(ordinal);
  if (found != contexts().end()) return found->second;
  std::unique_ptr<SharedContext> shared = KW_TRY(open(ordinal));
  return contexts()[ordinal] = shared.release();
}

Result<cuda::LoadedImage*> SharedContext::image(const ports::Compiled& compiled) {
  const std::lock_guard lock(images_->mutex);
  auto& image = images_->by_hash[hash_hex(compiled.image)];
  if (image == nullptr) {
    const WithContext here(*this);
    auto loaded = cuda::LoadedImage::load(*context_, compiled.kind, compiled.image);
    if (!loaded) {
      images_->by_hash.erase(hash_hex(compiled.image));
      return std::move(loaded).error();
    }
    image = std::move(loaded).value();
  }
  return image.get();
}

WithContext::WithContext(const SharedContext& shared) : api_(shared.context().api()) {
  const cuda::CuContext context = shared.context().handle();
  if (api_.context_push != nullptr && api_.context_pop != nullptr) {
    pushed_ = api_.context_push(context) == cuda::kSuccess;
  } else {
    api_.context_set(context);
  }
}

WithContext::~WithContext() {
  cuda::CuContext popped = nullptr;
  if (pushed_) api_.context_pop(&popped);
}

}  // namespace kw::clib
