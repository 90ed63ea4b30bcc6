// Encodes requests and outcomes as bytes, for the compile workers' frames and for cache entries.
// Other versions of this program need not read them; a reader refuses what it does not understand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

/// Sent to a worker once, before its first request.
struct WorkerSetup {
  std::string library, builtins;            // NVRTC's two files
  std::string version;                      // shown in outcomes: "NVRTC 13.0.88"
  std::vector<std::string> header_folders;  // the compiler's own
  std::string scratch_folder;               // the only place that it may write
  bool precompile = true;                   // headers, into that folder
  uint64_t memory_bytes = 0;
};

/// The worker's answer to the setup.
struct WorkerHello {
  std::string error;  // why it cannot work, or ""
};

/// The worker's answer to each request.
struct WorkerReply {
  ports::CompileOutcome outcome;
  std::string error;        // an environment Error instead of an outcome
  bool wants_rest = false;  // replace it: too many precompiled headers, or a crash
};

std::string encode(const WorkerSetup& value);
std::string encode(const WorkerHello& value);
std::string encode(const WorkerReply& value);
std::string encode(const ports::CompileRequest& value);
std::string encode(const ports::CompileOutcome& value);
/// False when the bytes are not exactly one such value; `value` is then unspecified.
bool decode(std::string_view bytes, WorkerSetup* value);
bool decode(std::string_view bytes, WorkerHello* value);
bool decode(std::string_view bytes, WorkerReply* value);
bool decode(std::string_view bytes, ports::CompileRequest* value);
bool decode(std::string_view bytes, ports::CompileOutcome* value);

}  // namespace kw::compile
