"""Runs one call of the Python client: `driver.py consume '{…}'`, or a stream with a part for each line."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "docs/recipes/clients"))
import purser  # noqa: E402


def stream(customer, feature, key, step, parts, fail_after):
    def work(use):
        for part in range(1, int(parts) + 1):
            if part > int(fail_after):
                raise RuntimeError("the work failed")
            if not use(1):
                return
            print(part, flush=True)

    ended = purser.stream(work, int(step), customerId=customer, feature=feature, idempotencyKey=key)
    print(json.dumps(ended), file=sys.stderr)


command, *args = sys.argv[1:]
try:
    if command == "key":
        print(purser.make_key(*args))
    elif command == "stream":
        stream(*args)
    else:
        *ids, body = args
        print(json.dumps(getattr(purser, command)(*ids, **json.loads(body))))
except purser.PurserError as error:
    sys.exit(f"{error.status} {error.code} {error}")
