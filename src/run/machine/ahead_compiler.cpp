// A judge knows what it will compile long before it needs the image, so threads compile in advance.
// The one who needs an image that no thread has begun compiles it itself: that is faster than
// waiting. Errors are not remembered, because they are about the machine at that moment: a later
// attempt may succeed. A thread never ends the process, even when memory runs out. The cost: images
// that are never used may be compiled.
#include "machine/ahead_compiler.h"

#include <fmt/core.h>

#include <new>
#include <system_error>

namespace kw::machine {
namespace {

constexpr size_t kRemembered = 1024;  // answers, each a few tens of kilobytes
constexpr size_t kSources = 64;       // the sources read last, each some tens of kilobytes

std::string key_of(const ports::CompileRequest& request) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n", request.file_name, request.target,
                                static_cast<int>(request.image), request.timeout_seconds);
  for (const auto& [name, value] : request.defines) key += fmt::format("{}={}\n", name, value);
  for (const std::string& kernel : request.kernels) key += kernel + "\n";
  for (const std::string& folder : request.include_folders) key += folder + "\n";
  return key + request.source;
}

}  // namespace

AheadCompiler::AheadCompiler(ports::Compiler& inner, int threads, Kernels kernels)
    : inner_(inner), kernels_(kernels) {
  for (int i = 0; i < threads; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      break;  // fewer threads do the same work
    }
  }
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

void AheadCompiler::ahead(ports::CompileRequest request) {
  if (threads_.empty()) return;
  std::vector<compile::Slice> slices = slices_of(request);
  if (slices.empty()) return announce(std::move(request));
  for (compile::Slice& slice : slices) announce(std::move(slice.request));
}

void AheadCompiler::announce(ports::CompileRequest request) {
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
    Result<ports::CompileOutcome> answer = guarded_compile(request);
    lock.lock();
    note_answer(key, *slot, std::move(answer));
  }
}

// A thread must not end the process: the machine may lack memory.
Result<ports::CompileOutcome> AheadCompiler::guarded_compile(const ports::CompileRequest& request) {
  try {
    return inner_.compile(request);
  } catch (const std::bad_alloc&) {
    return environment_error("compiling ahead: out of memory");
  } catch (const std::system_error& refused) {
    return environment_error("compiling ahead: {}", refused.what());
  }
}

void AheadCompiler::note_answer(const std::string& key, Slot& slot,
                                Result<ports::CompileOutcome> answer) {
  const bool failed = !answer;
  slot.answer.emplace(std::move(answer));
  changed_.notify_all();
  // Callers that wait get an Error, but it is not remembered: a later attempt may succeed.
  if (failed) {
    slots_.erase(key);
    return;
  }
  answered_.push_back(key);
  while (answered_.size() > kRemembered) {
    slots_.erase(answered_.front());
    answered_.pop_front();
  }
}

Result<ports::CompileOutcome> AheadCompiler::compile(const ports::CompileRequest& request) {
  if (std::optional<ports::Compiled> made = KW_TRY(compile_apart(request)))
    return ports::CompileOutcome{std::move(made), std::nullopt};
  return compile_one(request);
}

std::vector<compile::Slice> AheadCompiler::slices_of(const ports::CompileRequest& request) {
  if (kernels_ == Kernels::Together || !request.apart || request.kernels.size() < 2) return {};
  std::shared_ptr<const compile::KernelTexts> texts;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [source, read] : texts_) {
      if (source == request.source) texts = read;
    }
  }
  if (!texts) {
    texts = std::make_shared<const compile::KernelTexts>(compile::kernel_texts(request.source));
    const std::lock_guard lock(mutex_);
    texts_.emplace_back(request.source, texts);
    if (texts_.size() > kSources) texts_.pop_front();
  }
  return compile::slices_of(request, *texts);
}

// When compiling apart fails, the whole module is compiled: its diagnostics have the right lines.
Result<std::optional<ports::Compiled>> AheadCompiler::compile_apart(
    const ports::CompileRequest& request) {
  const std::vector<compile::Slice> slices = slices_of(request);
  if (slices.empty()) return std::optional<ports::Compiled>();
  if (!threads_.empty()) {
    for (const compile::Slice& slice : slices) announce(slice.request);
  }
  std::vector<ports::Compiled> parts;
  for (const compile::Slice& slice : slices) {
    ports::CompileOutcome part = KW_TRY(compile_one(slice.request));
    if (!part.compiled) return std::optional<ports::Compiled>();
    parts.push_back(std::move(*part.compiled));
  }
  return compile::joined(request, slices, parts);
}

Result<ports::CompileOutcome> AheadCompiler::compile_one(const ports::CompileRequest& request) {
  const std::string key = key_of(request);
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Slot> slot =
      slots_.try_emplace(key, std::make_shared<Slot>()).first->second;
  if (slot->started) {
    changed_.wait(lock, [&] { return slot->answer.has_value(); });
    return *slot->answer;
  }
  // No thread has started on it: compiling here is faster than waiting.
  slot->started = true;
  std::erase_if(waiting_, [&](const auto& item) { return item.first == key; });
  lock.unlock();
  Result<ports::CompileOutcome> answer = inner_.compile(request);
  lock.lock();
  note_answer(key, *slot, answer);
  return answer;
}

}  // namespace kw::machine
