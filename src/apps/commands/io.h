// The output of a command: results to standard output, errors and progress to standard error.
// Colour and progress appear on terminals only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "report/style.h"

namespace kw::commands {

enum Exit : int {
  kOk = 0,
  kCandidateFailed = 1,
  kBadInput = 2,
  kEnvironment = 3,
  kBug = 70,
  kInterrupted = 130
};

/// The exit code for an Error of this blame.
int exit_code(Blame blame);

/// Receives a command's output when kernelwright is used as a library.
struct Listener {
  std::function<void(const std::string&)> progress;  // what is being done now
  std::function<void(const std::string&)> note;      // information that changes no result
  Json document;                                     // as --json prints it, once there is one
};

class Io {
 public:
  Io(std::string command, bool json);
  /// In JSON mode, but to the listener instead of the standard streams.
  Io(std::string command, Listener& listener);

  bool json() const { return json_; }
  const report::Style& style() const { return style_; }
  void print(std::string_view text);
  /// Whether a status line is visible.
  bool live() const { return live_; }
  /// A line of progress on standard error when no terminal shows a status line. Silent in JSON
  /// mode.
  void line(const std::string& what);
  /// Replaces the terminal's status line; "" removes it.
  void progress(const std::string& what);
  /// Information that changes no result, on standard error. Silent in JSON mode. False when it was
  /// not shown.
  bool note(const std::string& what);
  /// Why a command failed that still has a document. Silent in JSON mode.
  void print_error(const std::string& what);
  /// Shows an Error as text or, in JSON mode, as the document. Returns the exit code.
  int fail(const Error& error);
  /// Ends a command: in JSON mode prints {kernelwright, command, ok, exit_code, …document}. Returns
  /// the code.
  int finish(int code, Json document);

 private:
  Json envelope(int code) const;
  void publish(Json document);

  std::string command_;
  bool json_;
  bool live_;  // standard error is a terminal, or there is a listener
  report::Style style_, error_style_;
  bool status_shown_ = false;
  Listener* listener_ = nullptr;
};

/// The version of this program, "0.1.0".
const char* version();

}  // namespace kw::commands
