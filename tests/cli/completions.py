"""What a shell is given to complete command lines. bash is run; the scripts of zsh and fish are read by these shells where they are."""
import os
import shutil
import subprocess
import sys

from harness import Harness

h = Harness(sys.argv[1])
for name in ("kernel.cu", "other.py"):
    h.write(name, "")
os.makedirs(h.path("folder"))
# Asks bash as the Tab key does: readline's words, then the function that `complete` names.
ASK = r"""
set -u
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$(complete -p kernelwright | sed 's/.*-F \([^ ]*\) .*/\1/') "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\n' "${COMPREPLY[@]}" | sort
"""
ROWS = [
    (["ver"], "verify version"),
    (["verify", "--dev"], "--device"),
    (["verify", "kernel.cu", "--device", ""], "auto gpu vgpu"),
    (["verify", "kernel.cu", "--device", "=", "v"], "vgpu"),  # --device=v, as bash divides it
    (["verify", "--json", "--device", "="], "auto gpu vgpu"),
    (["bench", "kernel.cu", "--versus", "eager,com"], "eager,compile"),
    (["verify", "k"], "kernel.cu"),
    (["verify", "kernel.cu", "--reference", "o"], "other.py"),
    (["synthesize", "--out", ""], "folder"),
    (["help", "synth"], "synthesize"),
    (["completions", ""], "bash fish zsh"),
    (["doctor", "--"], "--has --help --json --looked"),
    (["nothing", ""], ""),
]
scripts = {}
for shell in ("bash", "zsh", "fish"):
    done = h.run("completions", shell)
    h.check(done.returncode == 0 and "complete --" in done.stdout, "completions " + shell, done)
    scripts[shell] = h.write("script." + shell, done.stdout)
done = h.run("completions", "tcsh")
h.check(done.returncode == 2 and "bash, zsh, fish" in done.stderr, "another shell is refused", done)

for words, expected in ROWS:
    done = subprocess.run(["bash", "--norc", "-c", ASK, "ask", scripts["bash"], h.binary, *words], cwd=h.folder, env=h.environment,
                          capture_output=True, text=True)
    h.check(done.stdout.split() == expected.split() and not done.stderr, "%s gives %s" % (words, expected), done)
for shell, words in {"zsh": ["-n"], "fish": ["--no-execute"]}.items():
    if shutil.which(shell) is None:
        print("not checked: the script of %s, because %s is not installed" % (shell, shell))
        continue
    done = subprocess.run([shell, *words, scripts[shell]], capture_output=True, text=True)
    h.check(done.returncode == 0, "the script of %s is read" % shell, done)
h.finish()
