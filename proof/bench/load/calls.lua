-- Sends one kind of call with distinct idempotency keys, for many customers or one. Prints the figures as one line of JSON.
local customers = tonumber(os.getenv("CUSTOMERS"))
local prefix = os.getenv("RUN")
local template = os.getenv("BODY")
local proof = os.getenv("PROOF")
-- Built once, because the load generator and the service share the CPU.
local path = os.getenv("CALL_PATH")
local fields = " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " .. os.getenv("API_KEY")
  .. "\r\nContent-Type: application/json\r\nContent-Length: "
local head = "POST " .. path .. fields
-- For holds: each hold that a response returns is settled by the next request.
local settles = os.getenv("SETTLES") == "1"
local held = {}
-- For batches: number of events in each request.
local events = tonumber(os.getenv("EVENTS"))
-- UUIDv7 keys, which begin with the time.
local ordered = os.getenv("TIME_ORDERED") == "1"
local count = 0
local threads = {}
bad = 0

function setup(thread)
  table.insert(threads, thread)
end

function init()
  -- Two instances of wrk must not use the same customers in the same order.
  math.randomseed(tonumber(os.getenv("SEED")))
end

local function key()
  count = count + 1
  if not ordered then return prefix .. count end
  local ms = os.time() * 1000 + count % 1000
  return string.format("%08x-%04x-7%03x-8%03x-%012x", math.floor(ms / 65536), ms % 65536, math.random(0, 4095),
    math.random(0, 4095), math.random(0, 2 ^ 31) * 65536 + math.random(0, 65535))
end

local function item()
  return string.format(template, math.random(1, customers), key())
end

local function batch()
  local items = {}
  for i = 1, events do items[i] = item() end
  return '{"events":[' .. table.concat(items, ",") .. "]}"
end

function request()
  local hold = table.remove(held)
  if hold then
    return "POST " .. path .. "/" .. hold.id .. "/settle" .. fields .. #hold.body .. "\r\n\r\n" .. hold.body
  end
  local body = events > 0 and batch() or item()
  return head .. #body .. "\r\n\r\n" .. body
end

if proof ~= "" then
  function response(status, headers, body)
    if settles and string.find(body, '"status":"settled"', 1, true) then return end
    if not string.find(body, proof, 1, true) then bad = bad + 1 end
    if settles then
      local customer, id = string.match(body, '"customerId":"([%w_]+)".*"holdId":"([%w_]+)"')
      if id then table.insert(held, { id = id, body = '{"customerId":"' .. customer .. '"}' }) end
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  for _, thread in ipairs(threads) do failed = failed + thread:get("bad") end
  print(string.format('{"requests":%d,"seconds":%.3f,"errors":%d,"p50Ms":%.3f,"p99Ms":%.3f}', summary.requests,
    summary.duration / 1e6, failed, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
