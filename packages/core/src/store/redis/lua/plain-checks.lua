-- Decides checks of token buckets, all at the instant `now`, in the order given. It is the short way
-- for what most calls are; checks.lua decides everything else.
-- The algorithm, its unit and a worked number: algorithms/token-bucket.ts.
--
-- KEYS   the bucket keys, each once, all in one slot; no other key is touched
-- ARGV   what is asked of each key, in the order of KEYS: an empty text where that is one check of
--        cost 1 under the first policy for all of them; else a JSON array of numbers, for each key:
--        index of its policy, number of runs, and for each run: cost (permits; 0 looks only), count
--        (how many checks of that cost); then, for each policy: limit (permits a window), window
--        (ms), burst (permits), overdraft (permits), how long a lease lives (ms; 0 for none). Of the
--        last policy this may be left out where it is 0, then the overdraft where it is the burst, and
--        then the burst where it is the limit
-- Reply  the time, then for each run, in order: what is missing to a full bucket behind it, in
--        permits x ms, where all its checks fitted; else -1 minus that, and for a run of more than
--        one check how many fitted, which are the first ones. Integers below 2^53 in size
--
-- A bucket's value is three little-endian doubles: what is missing to a full bucket, the time that
-- was true, the window that gives it its unit, below 0 where a settlement had taken the bucket below
-- zero; and behind them what rules/leases.lua has, where permits are out: the rules of checks.lua are
-- made only where there is such a bucket. A missing key, or one that holds anything else, is a full
-- bucket.
-- What stays true: a key is written only by a charge, or by a check that finds the clock stepped
-- back; always whole and always with an expiry, at which the bucket is full and so the same as a
-- missing one.

local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local pack, unpack_state, format = struct.pack, struct.unpack, string.format

local limits, windows, bursts, overdrafts = {}, {}, {}, {}
for p = 1, ceil((#argv - 1) / 5) do
  local from = 5 * p - 3
  limits[p], windows[p] = argv[from] + 0, argv[from + 1] + 0
  bursts[p] = (argv[from + 2] or limits[p]) + 0
  overdrafts[p] = (argv[from + 3] or bursts[p]) + 0
end
local numbers = argv[1] ~= '' and cjson.decode(argv[1])

local at = 1
local states = call('MGET', unpack(KEYS))
local reply = { now }
local size = 1
local rule

-- A bucket of which permits are out: its policy, and as its rule reads it.
local function read_leased(key, p)
  rule = rule or token_bucket_rule()
  local limit, window, burst, overdraft = limits[p], windows[p], bursts[p], overdrafts[p]
  local ttl = (argv[5 * p + 1] or 0) + 0
  local policy = { limit = limit, window = window, burst = burst, overdraft = overdraft, ttl = ttl }
  policy.full = burst * window
  return policy, rule.read(key, policy)
end

for i = 1, #KEYS do
  local p, runs = 1, 1
  if numbers then
    p, runs = numbers[at], numbers[at + 1]
    at = at + 2
  end
  local limit, window = limits[p], windows[p]
  local full = bursts[p] * window

  local level = full
  local stepped_back = false
  local state = states[i]
  local policy, view
  if state and #state > 24 then
    policy, view = read_leased(KEYS[i], p)
    level, stepped_back = view.level, view.stepped_back
  elseif state and #state == 24 then
    local missing, since, unit = unpack_state('<ddd', state)
    local most = full
    if unit < 0 then
      unit, most = -unit, full + overdrafts[p] * window
    end
    if missing >= 0 and missing < 2 ^ 53 and floor(missing) == missing and unit >= 1 and unit < 2 ^ 53 and since >= 0 then
      if unit ~= window then
        local permits = floor(missing / unit)
        missing = permits * window + ceil((missing - permits * unit) * window / unit)
      end
      missing = min(missing, most)
      local gained = 0
      if now > since then gained = (now - since) * limit end
      if gained < missing then level = full - missing + gained end
      stepped_back = now < since
    end
  end

  local changed = false
  for _ = 1, runs do
    local need, count = window, 1
    if numbers then
      need, count = numbers[at] * window, numbers[at + 1]
      at = at + 2
    end
    local allowed = count
    if need > 0 then
      if need * count > level then allowed = max(0, floor(level / need)) end
      level = level - need * allowed
      changed = changed or allowed > 0 or stepped_back
    end
    size = size + 1
    if allowed == count then
      reply[size] = full - level
    else
      reply[size] = -1 - (full - level)
      if count > 1 then
        size = size + 1
        reply[size] = allowed
      end
    end
  end

  if changed and view then
    view.level = level
    rule.write(KEYS[i], policy, view)
  elseif changed then
    if level < full then
      local after = format('%d', ceil((full - level) / limit))
      local unit = level < 0 and -window or window
      call('PSETEX', KEYS[i], after, pack('<ddd', full - level, now, unit))
    else
      call('DEL', KEYS[i])
    end
  end
end

return reply
