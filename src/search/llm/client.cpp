#include "llm/client.h"

#include <utility>

#include "llm/command_provider.h"
#include "llm/deadline.h"
#include "llm/degrade.h"
#include "llm/http_provider.h"
#include "llm/rate_limit.h"
#include "llm/redacting.h"
#include "os/permissions.h"

namespace kw::llm {

namespace {

/// A clock for replays that does not sleep: the recorded run has waited already.
class SleeplessClock : public Clock {
 public:
  explicit SleeplessClock(Clock& real) : real_(real) {}
  double now() override { return real_.now(); }
  double unix_time() override { return real_.unix_time(); }
  bool sleep(double, const std::function<bool()>& cancelled) override {
    return real_.sleep(0, cancelled);
  }

 private:
  Clock& real_;
};

}  // namespace

/// The decorators of one provider; each borrows the one before it.
struct Client::Stack {
  explicit Stack(Clock& clock) : sleepless(clock) {}
  SleeplessClock sleepless;
  std::vector<std::unique_ptr<LlmProvider>> layers;

  template <typename T, typename... Args>
  void wrap(Args&&... args) {
    layers.push_back(std::make_unique<T>(*layers.back(), std::forward<Args>(args)...));
  }
};

Client::Client(const Config& config, ClientOptions options, Http& http, Clock& clock)
    : config_(config),
      options_(std::move(options)),
      http_(http),
      clock_(clock),
      spending_(options_.limits, clock) {}

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::open(const Config& config, ClientOptions options,
                                             Http& http, Clock& clock) {
  std::unique_ptr<Client> client(new Client(config, std::move(options), http, clock));
  if (!client->options_.replay_path.empty())
    client->cassette_.emplace(KW_TRY(Cassette::load(client->options_.replay_path)));
  if (!client->options_.record_path.empty())
    client->writer_.emplace(os::real_disk(), client->options_.record_path);
  return client;
}

Result<std::unique_ptr<LlmProvider>> Client::bottom(const std::string& name) {
  const ProviderRow* row = config_.provider(name);
  const bool command = name == "command";
  if (row == nullptr && !command) {
    const ModelId unknown = KW_TRY(parse_model_id(name + ":model", config_));
    return input_error("unknown provider '" + unknown.provider + "'");
  }
  if (cassette_) {
    const Capabilities can = command ? CommandProvider().capabilities()
                                     : Capabilities{row->tools, row->caching, true, row->stream};
    return std::unique_ptr<LlmProvider>(std::make_unique<Replaying>(name, can, *cassette_));
  }
  if (const std::string why = os::why_forbidden(os::Runs::Commands); command && !why.empty())
    return input_error("command: " + why);
  if (command && !options_.programs)
    return input_error(
        "command: the resumed folder names this program, and a folder may come from anywhere; pass "
        "--allow-commands to run it");
  if (command) return std::unique_ptr<LlmProvider>(std::make_unique<CommandProvider>());
  Secret key = KW_TRY(find_key(*row));
  return std::unique_ptr<LlmProvider>(
      std::make_unique<HttpProvider>(config_, *row, std::move(key), http_, clock_));
}

Result<LlmProvider*> Client::provider(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& stack = stacks_[name];
  if (stack != nullptr) return stack->layers.back().get();
  auto made = std::make_unique<Stack>(clock_);
  made->layers.push_back(KW_TRY(bottom(name)));
  const ProviderRow* row = config_.provider(name);
  if (!cassette_) made->wrap<Redacting>(all_keys(config_));
  if (writer_) made->wrap<Recording>(*writer_);
  if (!options_.faults.empty()) made->wrap<Faulty>(options_.faults);
  if (row != nullptr && !cassette_) {
    made->wrap<Deadline>(row->timeout_seconds, clock_);
    made->wrap<RateLimiting>(
        RateLimits{row->requests_per_minute, row->tokens_per_minute, row->max_parallel}, clock_);
  }
  made->wrap<Accounting>(ledger_, config_);
  made->wrap<Budgeted>(spending_, config_);
  Clock& waiting = cassette_ ? static_cast<Clock&>(made->sleepless) : clock_;
  made->wrap<Retrying>(options_.retry, waiting, options_.seed, options_.on_retry);
  made->wrap<Degrading>();
  stack = std::move(made);
  return stack->layers.back().get();
}

Outcome Client::complete(const ModelId& id, Request request, const Watch& watch) {
  auto found = provider(id.provider);
  if (!found) {
    Failure failure;
    const bool no_key = config_.provider(id.provider) != nullptr;
    failure.kind = no_key ? FailureKind::Auth : FailureKind::NotFound;
    failure.message = found.error().message;
    return failure;
  }
  request.model = id.model;
  return (*found)->complete(request, watch);
}

void Client::restore(const std::vector<LedgerEntry>& entries) {
  for (const LedgerEntry& entry : entries) {
    ledger_.add(entry);
    spending_.restore(entry);
  }
}

size_t Client::left_to_replay() { return cassette_ ? cassette_->left() : 0; }

}  // namespace kw::llm
