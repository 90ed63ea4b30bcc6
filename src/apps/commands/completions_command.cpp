#include "commands/command.h"
#include "core/text.h"
#include "options/complete.h"

namespace kw::commands {

Result<int> completions_command(const Args& args, Io& io) {
  const std::string& shell = args.positionals.front();
  const std::string script = options::completion_script(shell);
  if (script.empty()) {
    return input_error("there are no completions for '" + shell +
                       "'; shells: " + join(options::completion_shells(), ", "));
  }
  io.print(script);
  return io.finish(kOk, Json::object().set("shell", shell).set("text", script));
}

Result<int> complete_command(const Args& args, Io& io) {
  using From = options::Completion::From;
  const options::Completion made = options::complete_words(args.positionals);
  std::string text = made.from == From::Files     ? "files\n"
                     : made.from == From::Folders ? "folders\n"
                                                  : "words\n";
  for (const auto& [word, about] : made.words)
    text += word + (about.empty() ? "" : "\t" + about) + "\n";
  io.print(text);
  return kOk;
}

}  // namespace kw::commands
