#!/usr/bin/env bash
# dgat-mpi under mpiexec: the weights of one process at every number of ranks, also after a rank was
# killed; ranks that differ are refused; studies share their trials.
# usage: mpi.sh path/to/dgat path/to/dgat-mpi   (exit code 77: skipped)
set -euo pipefail
skip() { echo "$1: skipped"; exit 77; }
command -v mpiexec > /dev/null || skip "no mpiexec (scripts/bootstrap mpi)"
[ -x "$2" ] || skip "no dgat-mpi (make mpi)"
dgat=$(realpath "$1")
dgat_mpi=$(realpath "$2")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
ranks() { mpiexec --oversubscribe --bind-to none "$@"; }
fail() { echo "$1"; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$dgat" generate minesweeper --height 40 --width 50 --splits 2 --out board.npz > /dev/null
options=(--layers 2 --hidden 32 --lr 0.003 --steps 12 --splits 2 --checkpoint-every 3 --quiet)
"$dgat" train board.npz "${options[@]}" --rewire add --out whole > /dev/null

for n in 1 2 3; do
  ranks -n $n "$dgat_mpi" train board.npz "${options[@]}" --rewire add --threads $((n % 2 + 1)) --out ranks-$n > ranks-$n.out
  for split in 0 1; do
    cmp whole/split-$split.safetensors ranks-$n/split-$split.safetensors
  done
  cmp <(sort whole/log.jsonl) <(sort ranks-$n/log.jsonl)  # splits that run side by side write in any order
  [ -e ranks-$n/report.html ] || fail "$n ranks: no report"
  [ "$(grep -c 'written to' ranks-$n.out)" = 1 ] || fail "$n ranks: printed more than once"
  echo "$n ranks: the bits of one process"
done

# The other recipes, by options: norm over all nodes, dropout of alpha and of sparse features.
for recipe in classic deep; do
  small=(--recipe $recipe --layers 2 --hidden 32 --heads 4 --steps 6 --splits 1 --quiet)
  "$dgat" train board.npz "${small[@]}" --out $recipe > /dev/null
  ranks -n 3 "$dgat_mpi" train board.npz "${small[@]}" --out $recipe-3 > /dev/null
  cmp $recipe/split-0.safetensors $recipe-3/split-0.safetensors
  echo "recipe $recipe on 3 ranks: the bits of one process"
done

# A model with a network of its own, two stages and a term in the loss.
own=(--model cpgnn --hidden 20 --steps 10 --splits 1 --quiet)
"$dgat" train board.npz "${own[@]}" --out own > /dev/null
ranks -n 3 "$dgat_mpi" train board.npz "${own[@]}" --out own-3 > /dev/null
cmp own/split-0.safetensors own-3/split-0.safetensors
echo "cpgnn on 3 ranks: the bits of one process"

# A rank is killed; the job ends within 5 seconds, and another number of ranks continues.
long=(--layers 2 --hidden 32 --lr 0.003 --steps 400 --splits 1 --checkpoint-every 5 --eval-every 5 --quiet)
"$dgat" train board.npz "${long[@]}" --out long > /dev/null
mpiexec --oversubscribe --bind-to none -n 3 "$dgat_mpi" train board.npz "${long[@]}" --out killed > /dev/null 2> killed.err &
job=$!
for _ in $(seq 3000); do  # at most a minute; without a new process, or it ends first on a busy machine
  compgen -G 'killed/checkpoints/*' > /dev/null && break
  read -rt 0.02 <> <(:) || true
done
read -ra children < "/proc/$job/task/$job/children" || true  # the file has no line end
victim=${children[-1]:?mpiexec has no ranks}
start=$SECONDS
code=0
kill -KILL "$victim" 2> /dev/null || true
wait $job || code=$?
if [ -e killed/summary.json ]; then
  echo "the kill came too late: the run was over"
else
  [ $code -ne 0 ] || fail "a killed rank: exit code 0"
  [ $((SECONDS - start)) -le 5 ] || fail "a killed rank: the job continued for $((SECONDS - start)) s"
  grep -qi "killed" killed.err || fail "a killed rank: no sentence says so: $(cat killed.err)"
fi
ranks -n 2 "$dgat_mpi" train --resume --out killed --quiet > /dev/null
cmp long/split-0.safetensors killed/split-0.safetensors
echo "a killed rank: exit code $code, continued by 2 ranks with the same bits"

# What differs between ranks is found at the start.
"$dgat" generate minesweeper --height 40 --width 50 --splits 2 --seed 1 --out other.npz > /dev/null
code=0
ranks -n 1 "$dgat_mpi" train board.npz "${options[@]}" --out a : \
      -n 1 "$dgat_mpi" train other.npz "${options[@]}" --out a > /dev/null 2> differ.err || code=$?
[ $code = 2 ] || fail "other data: exit code $code"
grep -q "the data differs between ranks" differ.err || fail "other data: $(cat differ.err)"
code=0
ranks -n 1 "$dgat_mpi" train board.npz "${options[@]}" --out c : \
      -n 1 env DGAT_SIMD=baseline "$dgat_mpi" train board.npz "${options[@]}" --out c > /dev/null 2> simd.err || code=$?
[ $code = 2 ] || fail "other instructions: exit code $code"
grep -q "the instruction set differs between ranks" simd.err || fail "other instructions: $(cat simd.err)"
# Another version of the program: a copy in which eight letters of the commit differ. (A compiler may put more of them apart.)
"$dgat" compare board.npz --models resnet --layers 1 --hidden 16 --steps 1 --splits 1 --quiet --out one > /dev/null
commit=$(sed -n 's/.*"commit":"\(........\)[^"]*".*/\1/p' one/ledger.jsonl)
if [ -z "$commit" ]; then
  echo "another version: skipped, this build has no commit"
else
  LC_ALL=C sed "s/$commit/$(tr 'a-z0-9' 'b-za1-90' <<< "$commit")/g" "$dgat_mpi" > other-dgat-mpi
  chmod +x other-dgat-mpi
  code=0
  ranks -n 1 "$dgat_mpi" train board.npz "${options[@]}" --out d : \
        -n 1 ./other-dgat-mpi train board.npz "${options[@]}" --out d > /dev/null 2> version.err || code=$?
  [ $code = 2 ] || fail "another version: exit code $code"
  grep -q "dgat differs between ranks" version.err || fail "another version: $(cat version.err)"
fi
for refused in "--hidden 30 --heads 2" "--cells 4"; do
  code=0
  ranks -n 2 "$dgat_mpi" train board.npz $refused --out b > /dev/null 2> refused.err || code=$?
  [ $code = 2 ] || fail "$refused: exit code $code"
  [ "$(grep -c '^dgat' refused.err)" = 1 ] || fail "$refused: not one sentence: $(cat refused.err)"
done
echo "other data, instructions and versions are found; what ranks cannot train is refused"

# Studies: every trial once, whoever trains it.
ranks -n 2 "$dgat_mpi" compare board.npz --models gcn,resnet --layers 1 --hidden 16 --steps 5 --splits 2 --quiet --out study > study.out
[ "$(wc -l < study/ledger.jsonl)" = 4 ] || fail "compare: $(wc -l < study/ledger.jsonl) trials instead of 4"
[ "$(grep -c 'written to' study.out)" = 1 ] || fail "compare: printed more than once"
echo "compare: 4 trials, each once"

# The trials of one process, each once, and its choice.
trials_of() { sed -n 's/^{"key":"\([0-9a-f]*\)".*\("test":[^,]*\).*/\1 \2/p' "$1/ledger.jsonl" | sort; }
net=(--layers 1 --hidden 16 --steps 5 --quiet)
search=(tune board.npz --model resnet "${net[@]}" --splits 2 --search lr=0.01,0.003 --trials 6)
"$dgat" "${search[@]}" --out tuned > /dev/null
ranks -n 2 "$dgat_mpi" "${search[@]}" --out tuned-2 > /dev/null
[ "$(trials_of tuned | wc -l)" = 6 ] || fail "tune: $(trials_of tuned | wc -l) trials instead of 6"
cmp <(trials_of tuned) <(trials_of tuned-2)
cmp tuned/config.yaml tuned-2/config.yaml
table=(reproduce synthetic --datasets mixhop-0.1 --nodes 300 "${net[@]}" --splits 1)
"$dgat" "${table[@]}" --out table > /dev/null
ranks -n 2 "$dgat_mpi" "${table[@]}" --out table-2 > /dev/null
[ -n "$(trials_of table)" ] || fail "reproduce: no trials"
cmp <(trials_of table) <(trials_of table-2)
echo "tune and reproduce: the trials and the results of one process"
