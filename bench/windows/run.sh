#!/bin/sh
# Convolutions, pools and attention on a GPU against PyTorch: run.sh KERNELWRIGHT [NAME…]. Each
# reference is synthesized with the built-in designs only; the last lines give its speed.
set -u
here=$(dirname "$0")
program=$1
shift
[ $# -gt 0 ] || set -- $(cd "$here" && ls *.py | sed 's/\.py$//')
for name in "$@"; do
  echo "== $name"
  "$program" synthesize --reference "$here/$name.py" --proposer builtin --versus eager --quick --cross-check never \
    --time "${TIME:-4s}" --candidates "${CANDIDATES:-10}" --out "${OUT:-/tmp/kernelwright-windows}" | tail -n "${LINES_SHOWN:-12}"
done
