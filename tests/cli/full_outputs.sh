#!/usr/bin/env bash
# Output that cannot be written: a full standard output is a failure, a full standard error changes
# nothing about the work or its exit code.  usage: full_outputs.sh path/to/dgat
set -uo pipefail
dgat=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
expect() {  # CODE WHAT
  local code=$?
  [ $code -eq "$1" ] || { echo "$2: exit code $code, not $1"; exit 1; }
}
"$dgat" generate csbm --nodes 80 --classes 3 --splits 1 --out data.npz > /dev/null
"$dgat" inspect data.npz --json > /dev/full 2> full.err
expect 1 "a full standard output"
grep -q "could not be written" full.err
expect 0 "its message"
"$dgat" inspect nothing.npz 2> /dev/full
expect 2 "an error that cannot be said"
options=(--model dgat --rewire add --hidden 8 --heads 2 --layers 1 --steps 5)
"$dgat" train data.npz "${options[@]}" --out full > /dev/null 2> /dev/full
expect 0 "a run whose notices go nowhere"
"$dgat" train data.npz "${options[@]}" --out closed > /dev/null 2>&-
expect 0 "a run without standard error"
