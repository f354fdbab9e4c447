#!/usr/bin/env bash
# Runs every command of docs/own-data.md in an empty folder.
# usage: own_data.sh DGAT PAGE
set -euo pipefail
dgat=$1 page=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir bin
ln -s "$(realpath "$dgat")" bin/dgat
export PATH="$folder/bin:$PATH" DGAT_CACHE="$folder/cache"

# A block that opens with ```text, ```python or ```sql and a path is a file; ```sh and a name are commands.
python3 - "$page" << 'PYTHON'
import pathlib, re, sys
page = pathlib.Path(sys.argv[1]).read_text()
for kind, name, body in re.findall(r"^```(text|python|sql|sh) (\S+)\n(.*?)^```$", page, re.M | re.S):
    path = pathlib.Path(name + (".commands" if kind == "sh" else ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body)
PYTHON

run() {  # name of the commands, file they must leave, rows expected in it
  bash -euo pipefail "$1.commands" > "$1.log" 2>&1 || { cat "$1.log"; echo "own_data: $1 failed"; exit 1; }
  rows=$(($(wc -l < "$2") - 1))
  [ "$rows" -eq "$3" ] || { echo "own_data: $2 has $rows rows, expected $3"; exit 1; }
}

run csv people.csv 11
run graphml people.csv 11
for attribute in class prediction probability phi attention; do
  grep -q "attr.name=\"$attribute\"" predicted.graphml ||
    { echo "own_data: predicted.graphml has no $attribute"; exit 1; }
done
# The page says python3; Debian's has the package where another one comes first.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import networkx' 2> /dev/null; then
    ln -sf "$(command -v "$python")" bin/python3
    break
  fi
done
if python3 -c 'import networkx' 2> /dev/null; then
  run networkx karate.csv 34
else
  echo "own_data: Python has no networkx, its section is skipped"
fi
if command -v sqlite3 > /dev/null; then
  run database shop.csv 10
else
  echo "own_data: there is no sqlite3, its section is skipped"
fi
