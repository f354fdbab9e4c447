#!/usr/bin/env bash
# A run that is killed (KILL: nothing can be saved; INT: Ctrl-C) and resumed ends with the same bits
# as one that was never stopped.  usage: kill_and_resume.sh path/to/dgat
set -euo pipefail
dgat=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$dgat" generate csbm --nodes 300 --classes 3 --splits 2 --out data.npz > /dev/null
options=(--layers 2 --hidden 32 --lr 0.003 --steps 120 --checkpoint-every 7 --quiet)
"$dgat" train data.npz "${options[@]}" --out whole > /dev/null

for signal in KILL INT; do
  "$dgat" train data.npz "${options[@]}" --out $signal > /dev/null 2> $signal.err &
  run=$!
  lines=$((10 + RANDOM % 100))
  for _ in $(seq 3000); do  # at most a minute
    ls $signal/checkpoints/*.safetensors > /dev/null 2>&1 && [ "$(wc -l < $signal/log.jsonl)" -ge $lines ] && break
    sleep 0.02
  done
  kill -$signal $run 2> /dev/null || true
  wait $run 2> /dev/null || true
  if [ -e $signal/summary.json ]; then
    echo "$signal came too late: the run was over"
  elif [ $signal = INT ] && ! grep -q "continue with: dgat train --resume --out INT" INT.err; then
    echo "Ctrl-C did not say how to continue: $(cat INT.err)"
    exit 1
  fi
  "$dgat" train --resume --out $signal --quiet > /dev/null
  for split in 0 1; do
    cmp whole/split-$split.safetensors $signal/split-$split.safetensors
  done
  cmp <(sort whole/log.jsonl) <(sort $signal/log.jsonl)
  echo "$signal after $lines lines: same bits"
done
