"""A client for Purser, for Python 3.9 without dependencies. Copy it and change it. The README explains its rules."""
import http.client
import json
import os
import random
import time
import urllib.parse

URL = urllib.parse.urlsplit(os.environ.get("PURSER_URL", "http://127.0.0.1:3300"))
API_KEY = os.environ.get("PURSER_KEY", "")
ATTEMPT_SECONDS, HOLD_SECONDS = 3, 900
Connection = http.client.HTTPSConnection if URL.scheme == "https" else http.client.HTTPConnection

class PurserError(Exception):
    def __init__(self, message, status, code):
        super().__init__(message)
        self.status, self.code = status, code  # 0 and None if there was no response

def make_key(*parts):
    """Begins with the environment, because Test and Live share idempotency keys: `live:chat:msg_5521`."""
    return ":".join([API_KEY.split("_")[1], *map(str, parts)])

def check(**body): return call("check", body, 1)
def consume(*, idempotencyKey, **body): return call("consume", {**body, "idempotencyKey": idempotencyKey})
def hold(*, idempotencyKey, **body): return call("holds", {**body, "idempotencyKey": idempotencyKey})
def extend(hold_id, **body): return call(f"holds/{hold_id}/extend", body)
def settle(hold_id, **body): return call(f"holds/{hold_id}/settle", body, 30)
def release(hold_id, **body): return call(f"holds/{hold_id}/release", body, 30)

def call(path, body, deadline_seconds=10):
    """Sends the same bytes again until there is a definite response or the deadline has passed."""
    headers = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}
    deadline, backoff = time.monotonic() + deadline_seconds, 0.2
    while True:
        status, retry_after, answer = 0, "", {}
        connection = Connection(URL.netloc, timeout=max(0.001, min(ATTEMPT_SECONDS, deadline - time.monotonic())))
        try:
            connection.request("POST", f"{URL.path}/v1/{path}", json.dumps(body), headers)
            response = connection.getresponse()
            status, retry_after = response.status, response.headers.get("Retry-After", "")
            answer = json.load(response)
            if status == 200:
                return answer
        except (OSError, http.client.HTTPException, ValueError):
            pass  # The connection broke, or a proxy responded with something other than JSON.
        finally:
            connection.close()
        may_retry = status in (0, 200, 429) or status >= 500
        wait = (int(retry_after) if retry_after.isdecimal() else 0) + random.uniform(0, backoff)
        if not may_retry or time.monotonic() + wait >= deadline:
            raise PurserError(f"{path}: {answer.get('detail', 'no response')}", status, answer.get("code"))
        time.sleep(wait)
        backoff = min(2 * backoff, 5)

def stream(work, step, *, customerId, **body):
    """Holds credits while `work(use)` runs, and charges for what was used, even if `work` raises. Before each part, `work` calls `use`
    with the part's quantity. If `use` returns False, the customer cannot pay, and `work` stops. `step`: extra quantity per extension."""
    answer = hold(customerId=customerId, quantity=1, **body)
    if not answer["allowed"]:
        return answer
    hold_id, who = answer["holdId"], {"customerId": customerId}
    held, used, extended_at = 1, 0, time.monotonic()
    def use(more):
        nonlocal held, used, extended_at
        # Extends the hold by several parts at once, and also well before it expires.
        total = used + more + step
        while used + more > held or time.monotonic() > extended_at + HOLD_SECONDS / 2:
            answer = extend(hold_id, **who, quantity=total, expiresInSeconds=HOLD_SECONDS)
            if answer["allowed"]:
                held, extended_at = total, time.monotonic()
            elif (total := answer["affordableQuantity"]) < used + more:
                return False
        used += more
        return True
    try:
        work(use)
    finally:
        answer = settle(hold_id, **who, quantity=used) if used else release(hold_id, **who)
    return answer
