#include "commands/io.h"

#include <unistd.h>

#include <cstdio>

#include "core/text.h"
#include "os/files.h"
#include "os/interrupt.h"

namespace kw::commands {

namespace {

/// Whether this is a terminal that knows control codes. TERM says so; it is unset in some editors.
bool takes_codes(int fd) {
  const std::string kind = os::env("TERM");
  return ::isatty(fd) != 0 && !kind.empty() && kind != "dumb";
}

// Respects NO_COLOR (any value but empty).
bool wants_colour(int fd) { return takes_codes(fd) && os::env("NO_COLOR").empty(); }

void write(FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

const char* version() { return KW_VERSION; }

int exit_code(Blame blame) {
  switch (blame) {
    case Blame::Input:
      return kBadInput;
    case Blame::Environment:
      return kEnvironment;
    case Blame::Bug:
      return kBug;
  }
  return kBug;
}

Io::Io(std::string command, bool json)
    : command_(std::move(command)),
      json_(json),
      live_(!json && takes_codes(STDERR_FILENO)),
      style_{!json && wants_colour(STDOUT_FILENO)},
      error_style_{wants_colour(STDERR_FILENO)} {}

Io::Io(std::string command, Listener& listener)
    : command_(std::move(command)), json_(true), live_(true), listener_(&listener) {}

void Io::print(std::string_view text) {
  progress("");
  if (!json_) write(stdout, text);
}

void Io::progress(const std::string& what) {
  if (!live_ || (what.empty() && !status_shown_)) return;
  status_shown_ = !what.empty();
  if (listener_ != nullptr) {
    if (status_shown_) listener_->progress(what);
    return;
  }
  write(stderr, "\r\033[K" + (what.empty() ? "" : what + "…"));
  std::fflush(stderr);
}

void Io::line(const std::string& what) {
  if (!json_ && !live_) write(stderr, what + "\n");
}

bool Io::note(const std::string& what) {
  progress("");
  if (listener_ != nullptr) listener_->note(what);
  if (!json_)
    write(stderr, report::paint(error_style_, report::Paint::Warning, "kernelwright: note:") + " " +
                      printable(what) + "\n");
  return listener_ != nullptr || !json_;
}

void Io::print_error(const std::string& what) {
  progress("");
  if (!json_)
    write(stderr, report::paint(error_style_, report::Paint::Error, "kernelwright:") + " " +
                      printable(what) + "\n");
}

Json Io::envelope(int code) const {
  Json json = Json::object();
  json.set("kernelwright", version());
  if (!command_.empty()) json.set("command", command_);
  return json.set("ok", code == kOk).set("exit_code", code);
}

void Io::publish(Json document) {
  if (listener_ != nullptr) {
    listener_->document = std::move(document);
  } else {
    write(stdout, document.dump(true) + "\n");
  }
}

int Io::fail(const Error& error) {
  progress("");
  const bool stopped = os::interrupted();
  const int code = stopped ? kInterrupted : exit_code(error.blame);
  const std::string message = stopped ? "interrupted" : error.message;
  if (json_) {
    Json details = Json::object();
    details.set("blame", stopped ? "user" : blame_name(error.blame)).set("message", message);
    publish(envelope(code).set("error", details));
  } else {
    print_error(message);
  }
  return code;
}

int Io::finish(int code, Json document) {
  progress("");
  if (!json_) return code;
  Json json = envelope(code);
  for (const auto& [key, value] : document.members()) json.set(key, value);
  publish(std::move(json));
  return code;
}

}  // namespace kw::commands
