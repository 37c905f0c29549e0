-- Posts events with distinct idempotency keys over 100,000 customers; prints its figures as one line of JSON.
local prefix = os.getenv("RUN")
local count = 0

wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("API_KEY")
wrk.headers["Content-Type"] = "application/json"

local template = '{"customerId":"customer_%d","event":"tokens.generated","quantity":1250,'
  .. '"metadata":{"model":"small"},"idempotencyKey":"bench-%s-%d"}'

function init()
  math.randomseed(os.time())
end

function request()
  count = count + 1
  return wrk.format(nil, "/v1/events", nil, string.format(template, math.random(1, 100000), prefix, count))
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('{"requests":%d,"seconds":%.3f,"errors":%d,"p99Ms":%.3f}',
    summary.requests, summary.duration / 1e6, failed, latency:percentile(99) / 1000))
end
