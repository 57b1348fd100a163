#!/bin/sh
# Formats the edited file, and returns the problems that the linter cannot fix itself.
file=$(sed -n 's/.*"file_path" *: *"\([^"]*\)".*/\1/p')
case $file in
  *.ts | *.tsx | *.mjs | *.json) ;;
  *) exit 0 ;;
esac
[ -f "$file" ] || exit 0
root=$(dirname "$0")/../..
output=$("$root/node_modules/.bin/biome" check --write --colors=off "$file" 2>&1) && exit 0
printf '%s\n' "$output" | head -40 >&2
exit 2
