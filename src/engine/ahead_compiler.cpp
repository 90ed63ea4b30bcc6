#include "engine/ahead_compiler.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::engine {
namespace {

constexpr size_t kRemembered = 256;  // answers, each a few tens of kilobytes

std::string key_of(const exec::CompileRequest& request) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n", request.file_name, request.target,
                                static_cast<int>(request.image), request.timeout_seconds);
  for (const auto& [name, value] : request.defines) key += fmt::format("{}={}\n", name, value);
  for (const std::string& kernel : request.kernels) key += kernel + "\n";
  for (const std::string& folder : request.include_folders) key += folder + "\n";
  return key + request.source;
}

}  // namespace

AheadCompiler::AheadCompiler(exec::Compiler& inner, int threads) : inner_(inner) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

AheadCompiler::~AheadCompiler() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void AheadCompiler::ahead(exec::CompileRequest request) {
  if (threads_.empty()) return;
  std::string key = key_of(request);
  {
    const std::lock_guard lock(mutex_);
    if (!slots_.try_emplace(key, std::make_shared<Slot>()).second) return;
    waiting_.emplace_back(std::move(key), std::move(request));
  }
  changed_.notify_all();
}

void AheadCompiler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    auto [key, request] = std::move(waiting_.front());
    waiting_.pop_front();
    const std::shared_ptr<Slot> slot = slots_.at(key);
    slot->started = true;
    lock.unlock();
    Result<exec::CompileOutcome> answer = inner_.compile(request);
    lock.lock();
    slot->answer.emplace(std::move(answer));
    answered_.push_back(key);
    forget_old();
    changed_.notify_all();
  }
}

void AheadCompiler::forget_old() {
  while (answered_.size() > kRemembered) {
    slots_.erase(answered_.front());
    answered_.pop_front();
  }
}

Result<exec::CompileOutcome> AheadCompiler::compile(const exec::CompileRequest& request) {
  const std::string key = key_of(request);
  {
    std::unique_lock lock(mutex_);
    const auto known = slots_.find(key);
    if (known != slots_.end() && known->second->started) {
      const std::shared_ptr<Slot> slot = known->second;
      changed_.wait(lock, [&] { return slot->answer.has_value(); });
      return *slot->answer;
    }
    if (known != slots_.end()) {
      // Nobody has begun: quicker done here than waited for.
      std::erase_if(waiting_, [&](const auto& item) { return item.first == key; });
      slots_.erase(known);
    }
  }
  return inner_.compile(request);
}

}  // namespace kw::engine
