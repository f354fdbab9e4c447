#!/usr/bin/env bash
# Surroundings that change under a training: the disk is full, the folder cannot be written or is gone, the clock is
# set back. Every one ends with a sentence, loses nothing that was saved, and the run continues to the bits of a run
# without trouble.  usage: surroundings.sh path/to/dgat path/to/libdgat_fail.so
#
# The disk is a tmpfs in a user namespace, where root has no rights over other users' files either. Where the system
# gives no namespace, the test is skipped (exit code 77).
set -uo pipefail
dgat=$(realpath "$1") library=$(realpath "$2")
if [ -z "${DGAT_IN_NAMESPACE:-}" ]; then
  if ! unshare --user --map-root-user --mount true 2> /dev/null; then
    echo "skipped: this system gives no user namespace with mounts"
    exit 77
  fi
  DGAT_IN_NAMESPACE=1 exec unshare --user --map-root-user --mount "$(realpath "$0")" "$dgat" "$library"
fi
folder=$(mktemp -d)
trap 'cd /; umount "$folder"/small "$folder"/fixed 2> /dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export DGAT_CACHE=$folder/cache
fail() {
  echo "$1"
  tail -5 err 2> /dev/null
  exit 1
}
expect() {  # CODE WHAT: the exit code of the command before
  local code=$?
  [ $code -eq "$1" ] || fail "$2: exit code $code, not $1"
}
said() {  # PATTERN WHAT
  grep -Eq "$1" err || fail "$2: no sentence with '$1'"
}
same_as_whole() {  # RUN
  for split in 0 1; do cmp "whole/split-$split.safetensors" "$1/split-$split.safetensors" || fail "$1: other weights"; done
  [ -z "$(find "$1" -name '*.tmp')" ] || fail "$1: temporary files are left"
}
"$dgat" generate csbm --nodes 300 --classes 3 --splits 2 --out data.npz > /dev/null
options=(--model dgat --rewire add --layers 1 --hidden 32 --heads 2 --checkpoint-every 5 --quiet)
steps=(--steps 120)
"$dgat" train data.npz "${options[@]}" "${steps[@]}" --out whole > /dev/null 2> err
expect 0 "a run without trouble"

# A full disk: 64 kB hold the beginning of a run, not its checkpoints.
mkdir small fixed
mount -t tmpfs -o size=64k tmpfs small || { echo "skipped: no tmpfs can be mounted"; exit 77; }
"$dgat" train data.npz "${options[@]}" "${steps[@]}" --out small/run > /dev/null 2> err
expect 1 "a full disk"
said "dgat: .*(No space left|disk full)" "a full disk"
[ -z "$(find small -name '*.tmp')" ] || fail "a full disk: temporary files are left"
mount -o remount,size=8m small
"$dgat" train --resume --out small/run --quiet > /dev/null 2> err ||
  "$dgat" train data.npz "${options[@]}" "${steps[@]}" --out small/run --overwrite > /dev/null 2> err
expect 0 "with more room"
same_as_whole small/run

# A disk that can only be read.
mount -t tmpfs tmpfs fixed && cp data.npz fixed && cp -r whole fixed/run && mount -o remount,ro fixed
"$dgat" train data.npz "${options[@]}" "${steps[@]}" --out fixed/new > /dev/null 2> err
[ $? -ne 0 ] || fail "a disk that can only be read was written"
said "dgat: .*[Rr]ead-only" "a disk that can only be read"
"$dgat" report fixed/run > /dev/null 2> err
[ $? -ne 0 ] || fail "a report on a disk that can only be read"
said "dgat: .*[Rr]ead-only" "a report on a disk that can only be read"
"$dgat" predict fixed/run data.npz --out predictions.csv > /dev/null 2> err
expect 0 "a run that can only be read predicts"

# The folder of a run is removed while it trains: a sentence, and nothing hangs.
"$dgat" train data.npz "${options[@]}" --steps 20000 --patience 0 --out gone > /dev/null 2> err &
run=$!
for _ in $(seq 600); do
  compgen -G 'gone/checkpoints/*.safetensors' > /dev/null && break
  sleep 0.05
done
mv gone removed  # at once: a new checkpoint may appear while a folder is emptied
rm -rf removed
for _ in $(seq 1200); do
  kill -0 $run 2> /dev/null || break
  sleep 0.05
done
kill -9 $run 2> /dev/null && fail "a removed folder: still training after a minute"
wait $run
[ $? -eq 1 ] || fail "a removed folder: exit code is not 1"
said "dgat: .*gone" "a removed folder"

# The clock is set back an hour, in the middle and between a run and its continuation.
DGAT_CLOCK_BACK=3600 LD_PRELOAD=$library "$dgat" train data.npz "${options[@]}" "${steps[@]}" --out clock > /dev/null 2> err
expect 0 "a clock set back"
same_as_whole clock
"$dgat" train data.npz "${options[@]}" "${steps[@]}" --out back > /dev/null 2> err &
run=$!
for _ in $(seq 600); do
  compgen -G 'back/checkpoints/*.safetensors' > /dev/null && break
  sleep 0.02
done
kill -KILL $run 2> /dev/null
wait $run 2> /dev/null
DGAT_CLOCK_BACK=3600 LD_PRELOAD=$library "$dgat" train --resume --out back --quiet > /dev/null 2> err
expect 0 "a continuation with the clock set back"
same_as_whole back
echo "full disk, read-only disk, removed folder, clock set back: sentences, and the same weights"
