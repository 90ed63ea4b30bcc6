// Shells complete commands, options and values. Each shell has its own language for that, so the
// scripts only pass the words on: `kernelwright complete -- WORDS` answers with a line "words",
// "files" or "folders", and then a line per proposal, with a tab before what it means. So the rows
// decide, in one function, for all shells. Scripts with all options written out were the
// alternative. They are three times a thousand lines, and stale after an update. The cost: each Tab
// starts the program, which takes a few milliseconds.
#include "options/complete.h"

#include <algorithm>

#include "core/text.h"

namespace kw::options {
namespace {

using From = Completion::From;

struct Script {
  const char* shell;
  const char* text;
};
constexpr Script kScripts[] = {
    {"bash",
     R"(# kernelwright completions bash > ~/.local/share/bash-completion/completions/kernelwright
_kernelwright() {
  local word=${COMP_WORDS[COMP_CWORD]} answer
  [[ $word == = ]] && word=
  mapfile -t answer < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case ${answer[0]} in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    *) COMPREPLY=("${answer[@]:1}"); COMPREPLY=("${COMPREPLY[@]%%$'\t'*}"); return ;;
  esac
  compopt -o filenames 2>/dev/null
}
complete -F _kernelwright kernelwright
)"},
    {"zsh", R"(#compdef kernelwright
# kernelwright completions zsh > "${fpath[1]}/_kernelwright"
_kernelwright() {
  local -a answer
  answer=("${(@f)$("$words[1]" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
    *) shift answer; compadd -- "${(@)answer%%$'\t'*}" ;;
  esac
}
if [[ $funcstack[1] == _kernelwright ]]; then
  _kernelwright "$@"
else
  compdef _kernelwright kernelwright
fi
)"},
    {"fish", R"(# kernelwright completions fish > ~/.config/fish/completions/kernelwright.fish
function __kernelwright_complete
    set -l before (commandline -opc)
    set -l program $before[1]
    set -l word (commandline -ct)
    set -e before[1]
    set -l answer ($program complete -- $before "$word" 2>/dev/null)
    set -l from $answer[1]
    set -e answer[1]
    switch "$from"
        case files
            __fish_complete_path "$word"
        case folders
            __fish_complete_directories "$word"
        case '*'
            printf '%s\n' $answer
    end
end
complete -c kernelwright -f -a '(__kernelwright_complete)'
)"},
};

Completion words_of(const std::vector<std::string>& names) {
  Completion made;
  for (const std::string& name : names) made.words.emplace_back(name, "");
  return made;
}

Completion commands_completion() {
  Completion made;
  for (const Command& command : commands())
    if (!command.hidden) made.words.emplace_back(command.name, command.summary);
  return made;
}

/// In a list such as "eager,com" the last name is completed.
Completion list_completion(const Option& row, const std::string& value) {
  Completion made = words_of(choices_of(row));
  const std::string before = value.substr(0, value.rfind(',') + 1);
  for (auto& [word, about] : made.words) word = before + word;
  return made;
}

Completion value_completion(const Option& row, const std::string& value) {
  if (std::string_view(row.value) == "DIR") return {From::Folders, {}};
  switch (row.type.kind) {
    case Kind::Choice:
      return words_of(choices_of(row));
    case Kind::Choices:
      return list_completion(row, value);
    case Kind::Switch:
      return words_of({"on", "off"});
    case Kind::Module:
    case Kind::Reference:
    case Kind::File:
    case Kind::Path:
    case Kind::Place:
      return {From::Files, {}};
    case Kind::Folder:
    case Kind::Run:
      return {From::Folders, {}};
    default:
      return {};
  }
}

Completion positional_completion(const std::string& positional) {
  if (positional == "COMMAND") return commands_completion();
  if (positional == "SHELL") return words_of(completion_shells());
  if (positional == "ID") return {};
  const bool folders = positional == "DIR" || positional.starts_with("RUN");
  return {folders ? From::Folders : From::Files, {}};
}

/// The words before the unfinished one, as parsing would sort them.
struct Before {
  std::vector<std::string> given;  // options
  size_t positionals = 0;
  bool ended = false;           // by "--"
  const Option* row = nullptr;  // the option whose value is unfinished
};

Before sort_words(const Command& command, const std::vector<std::string>& words) {
  Before before;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (before.ended || !word.starts_with("-")) {
      ++before.positionals;
      continue;
    }
    before.ended = word == "--";
    before.given.push_back(word.substr(0, word.find('=')));
    const Option* row = command.find(word);  // not found with "=": it has its value
    if (row == nullptr || row->is_flag()) continue;
    if (++i + 1 == words.size()) before.row = row;
  }
  return before;
}

Completion options_completion(const Command& command, const std::vector<std::string>& given) {
  Completion made;
  for (const Use& use : command.options) {
    if (use.row->repeats() || std::ranges::count(given, use.row->name) == 0)
      made.words.emplace_back(use.row->name, use.about);
  }
  made.words.emplace_back("--json", "");
  made.words.emplace_back("--help", "");
  return made;
}

Completion argument_completion(const Command& command, const std::vector<std::string>& words) {
  const Before before = sort_words(command, words);
  const std::string& last = words.back();
  if (before.row != nullptr) return value_completion(*before.row, last);
  const size_t equals = last.find('=');
  if (!before.ended && last.starts_with("--") && equals != std::string::npos) {
    const Option* row = command.find(last.substr(0, equals));
    if (row == nullptr || row->is_flag()) return {};
    Completion made = value_completion(*row, last.substr(equals + 1));
    for (auto& [word, about] : made.words) word = last.substr(0, equals + 1) + word;
    return made;
  }
  const bool several = command.positional.ends_with("...");
  const bool named =
      !command.positional.empty() && (several || before.positionals == 0) && !last.starts_with("-");
  if (named || before.ended) return positional_completion(command.positional);
  return options_completion(command, before.given);
}

}  // namespace

std::vector<std::string> completion_shells() {
  std::vector<std::string> names;
  for (const Script& script : kScripts) names.emplace_back(script.shell);
  return names;
}

std::string completion_script(const std::string& shell) {
  for (const Script& script : kScripts)
    if (shell == script.shell) return script.text;
  return "";
}

Completion complete_words(std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  // bash makes three words of --name=value.
  if (words.back() == "=") words.back().clear();
  std::erase(words, "=");
  const Command* command = find_command(words.front());
  Completion made;
  if (words.size() == 1)
    made = commands_completion();
  else if (command != nullptr)
    made = argument_completion(*command, words);
  std::erase_if(made.words, [&](const auto& one) { return !one.first.starts_with(words.back()); });
  return made;
}

}  // namespace kw::options
