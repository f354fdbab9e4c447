#!/usr/bin/env bash
# Every verb on graphs that lack something: it works, or it says in one sentence what is missing for it and leaves
# nothing behind.
# usage: bare_graphs.sh DGAT
set -uo pipefail
dgat=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export DGAT_CACHE="$folder/cache"
failures=0

# 40 nodes on a ring with chords. $1: labels by node number as a Python expression, $2: the edges, $3: features or none.
graph() {  # folder, label of i, edges, with features
  mkdir "$1"
  python3 - "$@" << 'PYTHON'
import sys
folder, label, edges, features = sys.argv[1:]
with open(f"{folder}/nodes.csv", "w") as f:
    f.write("id,label" + (",x,y" if features == "yes" else "") + "\n")
    for i in range(40):
        f.write(f"{i},{eval(label)}" + (f",{i % 7},{(i * i) % 5}" if features == "yes" else "") + "\n")
with open(f"{folder}/edges.csv", "w") as f:
    f.write("source,target\n")
    for a, b in eval(edges):
        f.write(f"{a},{b}\n")
PYTHON
}
ring='[(i, (i + s) % 40) for i in range(40) for s in (1, 5)]'
graph few-labels 'i % 2 if i < 12 else ""' "$ring" yes
graph two-labels 'i if i < 2 else ""' "$ring" yes
graph one-class '"a"' "$ring" yes
graph no-labels '""' "$ring" yes
graph no-edges 'i % 2' '[]' yes
graph no-features 'i % 2' "$ring" no
# Even nodes train, and every edge joins an even and an odd node.
graph apart 'i // 2 % 2' "$ring" yes
python3 - << 'PYTHON'
with open("apart.csv", "w") as f:
    f.write("id,split0\n")
    for i in range(40):
        f.write(f"{i},{'train' if i % 2 == 0 else 'val' if i % 8 < 4 else 'test'}\n")
PYTHON

# What must work: a graph and a verb in one word each.
works() {
  case $1 in
    few-labels | apart) [[ $2 != auto ]] || [[ $1 = few-labels ]] ;;
    no-features) true ;;
    no-edges) [[ $2 != auto ]] ;;
    one-class | no-labels | two-labels) [[ $2 = inspect || $2 = spectrum || $2 = rewire || $2 = explore || $2 = convert ]] ;;
  esac
}

check() {  # graph, name of the verb, the folder that a failure must not leave or -, arguments
  local graph=$1 name=$2 out=$3
  shift 3
  "$dgat" "$@" > out.txt 2> err.txt < /dev/null
  local code=$? errors
  errors=$(grep -c '^dgat: ' err.txt)
  if [ $code -eq 0 ]; then
    [ "$errors" -eq 0 ] || { echo "bare_graphs: $graph $name: exit 0 with an error: $(cat err.txt)"; failures=$((failures + 1)); }
    return
  fi
  if works "$graph" "$name"; then
    echo "bare_graphs: $graph $name: exit $code: $(tail -1 err.txt)"
    failures=$((failures + 1))
  fi
  # One sentence about the verb or the data, no crash.
  if [ $code -gt 2 ] || [ "$errors" -ne 1 ] || grep -q 'internal error\|bad_alloc\|nan' err.txt; then
    echo "bare_graphs: $graph $name: exit $code, not one sentence: $(cat err.txt)"
    failures=$((failures + 1))
  fi
  if [ "$out" != - ] && [ -e "$out" ] && [ -n "$(find "$out" -name '*.yaml' -o -name '*.safetensors')" ]; then
    echo "bare_graphs: $graph $name: left $(ls "$out")"
    failures=$((failures + 1))
  fi
}

quick='--splits 2 --steps 4 --hidden 8 --layers 1'
for graph in few-labels two-labels one-class no-labels no-edges no-features apart; do
  more=; [ $graph != apart ] || more='--split-file apart.csv'
  splits=${quick}; [ $graph != apart ] || splits=${quick/--splits 2/}
  check $graph inspect - inspect $graph
  check $graph spectrum - spectrum $graph -k 3
  check $graph convert - convert $graph $graph.graphml
  check $graph rewire - rewire $graph $more
  check $graph auto - rewire $graph --rewire auto $more
  check $graph advise - advise $graph $more
  check $graph explore - explore $graph $more --out $graph.html
  for model in dgat gat gcn resnet h2gcn; do
    check $graph train-$model run-$graph-$model train $graph --model $model $splits $more --out run-$graph-$model
    if [ -e run-$graph-$model/summary.json ]; then
      check $graph predict - predict run-$graph-$model --out p.csv
      check $graph report - report run-$graph-$model
    fi
  done
  check $graph compare - compare $graph --models gat,dgat $splits $more --out compare-$graph
  check $graph ablate-none - ablate $graph --rewire add $splits $more --out ablate-$graph
  check $graph tune - tune $graph --trials 6 $splits $more --out tune-$graph
done
# What is missing is said for the verb.
says() {  # sentence, arguments
  local sentence=$1
  shift
  "$dgat" "$@" > /dev/null 2> err.txt < /dev/null
  grep -qF "$sentence" err.txt || { echo "bare_graphs: $*: $(cat err.txt)"; failures=$((failures + 1)); }
}
for verb in train 'compare --out compare-no-labels --models gat' 'tune --out tune-no-labels' 'ablate --out ablate-no-labels'; do
  says 'training needs labelled nodes of at least two classes, and this data set has no labels' $verb no-labels
done
says 'this data set has labels of one class only' train one-class
says 'is also the input' train few-labels --out few-labels
[ $failures -eq 0 ] || { echo "bare_graphs: $failures failures"; exit 1; }
