#!/usr/bin/env bash
# record.sh: compiles every probe for its architectures and prints the machine code. Needs a CUDA toolkit with nvcc and nvdisasm.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for probe in probes/*.cu; do
  name=$(basename "$probe" .cu)
  for arch in $(sed -n '1s/.*arch: //p' "$probe"); do
    nvcc -cubin -arch="$arch" -lineinfo -o "$work/cubin" "$probe"
    nvdisasm -c "$work/cubin"
  done > "recorded/$name.txt"
done
nvcc -cubin -arch=sm_90a -lineinfo -o "$work/cubin" probes/loops.cu
cuobjdump -sass "$work/cubin" > recorded/loops_cuobjdump.txt
