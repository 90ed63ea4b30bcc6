#!/bin/sh
# A few modules of the study, by hand and generated, twice each with fresh secrets: slice.sh HONEST_STUDY
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for only in matmul_special examples/rms_norm internal/gelu_fp16; do
  rm -f "$folder/results.jsonl"
  "$1" "$folder/results.jsonl" --times 2 --budget 0.2 --only "$only" > "$folder/out" || { cat "$folder/out"; exit 1; }
  cat "$folder/out"
  # A module that cannot be judged, or none at all, is no success.
  grep -q ERROR "$folder/out" && exit 1
  grep -q 'time 1: 0 of [1-9]' "$folder/out" || exit 1
done
