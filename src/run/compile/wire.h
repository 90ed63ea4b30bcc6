// Requests and outcomes as bytes: for the compile workers' frames and for cache entries. Not meant
// for other versions of this program; a reader refuses what it does not understand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

/// What a worker is told once, before its first request.
struct WorkerSetup {
  std::string library, builtins;            // NVRTC's two files
  std::string version;                      // shown in outcomes: "NVRTC 13.0.88"
  std::vector<std::string> header_folders;  // the compiler's own
  std::vector<std::string> readable;        // all it may read
  std::string scratch_folder;               // the only place it may write to
  bool precompile = true;                   // headers, into that folder
  uint64_t memory_bytes = 0;
};

/// What it answers.
struct WorkerHello {
  std::string error;  // why it cannot work, or ""
  bool confined = false;
  std::string unconfined_reason;
};

/// What it answers to each request.
struct WorkerReply {
  ports::CompileOutcome outcome;
  std::string error;        // an environment Error instead of an outcome
  bool wants_rest = false;  // it holds so many precompiled headers that it should be replaced
};

std::string encode(const WorkerSetup& value);
std::string encode(const WorkerHello& value);
std::string encode(const WorkerReply& value);
std::string encode(const ports::CompileRequest& value);
std::string encode(const ports::CompileOutcome& value);
/// False when the bytes are not exactly one such value; it is then unspecified.
bool decode(std::string_view bytes, WorkerSetup* value);
bool decode(std::string_view bytes, WorkerHello* value);
bool decode(std::string_view bytes, WorkerReply* value);
bool decode(std::string_view bytes, ports::CompileRequest* value);
bool decode(std::string_view bytes, ports::CompileOutcome* value);

}  // namespace kw::compile
