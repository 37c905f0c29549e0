#!/bin/sh
# Runs one call of the shell client: `driver.sh consume '{…}'`, or a stream that prints each part on a line.
set -eu
client="$(dirname "$0")/../../../../docs/recipes/clients/purser.sh"
. "$client"
command=$1
shift
if [ "$command" != stream ]; then
  "purser_$command" "$@"
  exit
fi
customer=$1 feature=$2 key=$3 step=$4 parts=$5 fail_after=$6
if [ "$fail_after" -ge "$parts" ]; then
  seq "$parts" 2>/dev/null | purser_stream "$customer" "$feature" "$key" "$step"
  exit
fi
# The program writes some lines and hangs. Then the user presses Ctrl+C, which sends a signal to every process of the pipeline.
lines=$(mktemp)
export PURSER_URL PURSER_KEY
# shellcheck disable=SC2016 # the inner shell expands these
setsid sh -c '. "$1"; { seq "$2" && exec sleep 60; } 2>/dev/null | purser_stream "$3" "$4" "$5" "$6"' \
  sh "$client" "$fail_after" "$customer" "$feature" "$key" "$step" >"$lines" &
stream=$!
is_held() { curl -sf -H "Authorization: Bearer $PURSER_KEY" "$PURSER_URL/v1/customers/$customer/holds?status=open" | grep -q hld_; }
if [ "$fail_after" = 0 ]; then until is_held; do sleep 0.05; done; fi
while [ "$(wc -l <"$lines")" -lt "$fail_after" ]; do sleep 0.05; done
kill -s TERM -- "-$stream"
wait "$stream" || true
cat "$lines"
rm "$lines"
exit 1
