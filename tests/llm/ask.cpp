// One question to one model, with the user's configuration: llm_ask PROVIDER:MODEL TEXT [USD].
// Prints {"outcome": …, "ledger": …}. For tests from outside a process.
#include <cstdio>
#include <string>

#include "llm/client.h"
#include "llm/message_json.h"
#include "os/interrupt.h"

namespace {

int run(int argc, char** argv) {
  kw::os::install_interrupt_handler();
  auto config = kw::llm::load_config();
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().message.c_str());
    return 2;
  }
  const auto id = kw::llm::parse_model_id(argv[1], *config);
  if (!id) {
    std::fprintf(stderr, "%s\n", id.error().message.c_str());
    return 2;
  }
  kw::llm::ClientOptions options;
  if (argc > 3) options.limits.usd = std::stod(argv[3]);
  const auto http = kw::llm::make_curl_http();
  const auto client = kw::llm::Client::open(*config, options, *http, kw::llm::real_clock());
  kw::llm::Request request;
  request.messages = {kw::llm::user_message(argv[2])};
  request.max_tokens = 1000;
  const kw::llm::Outcome outcome = (*client)->complete(*id, request, {});
  kw::Json json = kw::Json::object();
  json.set("outcome", kw::llm::to_json(outcome)).set("ledger", (*client)->ledger().json());
  std::printf("%s\n", json.dump(true).c_str());
  return outcome ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return argc < 3 ? 2 : run(argc, argv); }
