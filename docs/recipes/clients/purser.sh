# A client for Purser with sh and curl 7.84. Copy it, source it and change it. The README explains its rules.
: "${PURSER_URL:=http://127.0.0.1:3300}" "${PURSER_KEY:?is not set}"
newline='
'

# Begins with the environment, because Test and Live share idempotency keys: live:chat:msg_5521
purser_key() (
  environment=${PURSER_KEY#pur_}
  IFS=:
  echo "${environment%%_*}:$*"
)

# Each function prints the response and returns 0, even for a denial. On an error, it prints the response to standard error and returns 1.
purser_check() { purser_call check "$1" 1; }
purser_consume() { purser_call consume "$1" 10; }
purser_hold() { purser_call holds "$1" 10; }
purser_extend() { purser_call "holds/$1/extend" "$2" 10; }
purser_settle() { purser_call "holds/$1/settle" "$2" 30; }
purser_release() { purser_call "holds/$1/release" "$2" 30; }

# Reads a response from standard input, and prints one field.
purser_field() { sed -n "s/^.*[{,]\"$1\":\"\{0,1\}\([^,\"}]*\).*\$/\1/p"; }

# Sends the same bytes again until there is a definite response or the deadline has passed.
purser_call() (
  deadline=$(($(date +%s) + $3)) backoff=200
  while :; do
    left=$((deadline - $(date +%s)))
    # The API key is not passed as an argument, because other users of the machine can see arguments.
    output=$(printf 'header = "Authorization: Bearer %s"' "$PURSER_KEY" |
      curl -s -K - -m $((left > 3 ? 3 : left > 0 ? left : 1)) -H 'Content-Type: application/json' \
        --data-raw "$2" -w '\n%{http_code} %header{retry-after}' "$PURSER_URL/v1/$1") || output="${newline}000 "
    answer=${output%"$newline"*} result=${output##*"$newline"}
    status=${result% *} retry_after=${result#* }
    case $status in
      200) printf '%s\n' "$answer" && exit ;;
      000 | 429 | 5??) ;;
      *) printf '%s\n' "$answer" >&2 && exit 1 ;;
    esac
    case $retry_after in '' | *[!0-9]*) retry_after=0 ;; esac
    wait=$((retry_after * 1000 + $(od -An -N2 -tu2 /dev/urandom) % backoff))
    if [ $(($(date +%s) * 1000 + wait)) -ge $((deadline * 1000)) ]; then
      printf '%s\n' "${answer:-no response from Purser}" >&2 && exit 1
    fi
    sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
    backoff=$((backoff < 2500 ? backoff * 2 : 5000))
  done
)

# PROGRAM | purser_stream CUSTOMER FEATURE KEY STEP: prints each line for which the customer can pay. Each line is one unit. Charges for the
# printed lines, even after a signal. Prints the settlement to standard error. STEP is the extra quantity to hold at each extension.
purser_stream() (
  body="{\"customerId\":\"$1\"" used=0 held=1 extended_at=$(date +%s)
  opened=$(purser_hold "$body,\"feature\":\"$2\",\"idempotencyKey\":\"$3\",\"quantity\":1}") || exit 1
  case $opened in *'"allowed":true'*) ;; *) echo "$opened" >&2 && exit 1 ;; esac
  hold=$(echo "$opened" | purser_field holdId)
  finish() {
    if [ "$used" = 0 ]; then purser_release "$hold" "$body}"; else purser_settle "$hold" "$body,\"quantity\":$used}"; fi
  }
  trap 'finish >&2' EXIT
  trap 'exit 130' HUP INT PIPE TERM
  while IFS= read -r line; do
    total=$((used + 1 + $4))
    # Extends the hold by several lines at once, and also well before it expires.
    while [ "$used" -ge "$held" ] || [ $(($(date +%s) - extended_at)) -gt 450 ]; do
      answer=$(purser_extend "$hold" "$body,\"quantity\":$total,\"expiresInSeconds\":900}") || exit 1
      case $answer in
        *'"allowed":true'*) held=$total extended_at=$(date +%s) ;;
        *) total=$(echo "$answer" | purser_field affordableQuantity) ;;
      esac
      [ "$total" -gt "$used" ] || exit 0
    done
    used=$((used + 1))
    printf '%s\n' "$line"
  done
)
