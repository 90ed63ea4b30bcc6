#include <fmt/core.h>

#include <cstdio>

#include "commands/command.h"
#include "os/own_program.h"
#include "sandbox/sandbox.h"

namespace kw::commands {

Result<int> behind_walls(const Args& args, Io&) {
  const std::vector<std::string>& words = args.positionals;
  const sandbox::KindRow* const row = words.size() < 3 ? nullptr : sandbox::find_kind(words[0]);
  if (row == nullptr) return input_error("usage: behind-walls KIND FOLDER PROGRAM [ARGUMENTS]");
  sandbox::ForeignProcess job{row->kind, sandbox::worker_files(words[2]), {"TMPDIR=" + words[1]}};
  job.allowed.writing.push_back(words[1]);
  if ((row->calls & sandbox::kDevices) != 0) sandbox::add_gpu(&job.allowed);
  const os::ProcessResult ran = KW_TRY(sandbox::run(job, {words.begin() + 2, words.end()}));
  std::fwrite(ran.out.data(), 1, ran.out.size(), stdout);
  std::fwrite(ran.err.data(), 1, ran.err.size(), stderr);
  return ran.signal != 0 ? 128 + ran.signal : ran.exit_code;
}

}  // namespace kw::commands
