-- Decides checks of token buckets, all at the instant `now`, in the order given.
-- The algorithm, its unit and a worked number: algorithms/token-bucket.ts.
--
-- KEYS   the bucket keys, each once, all in one slot; no other key is touched
-- ARGV   number of policies, then for each: limit (permits a window), window (ms), burst (permits);
--        then what is asked of each key, in the order of KEYS: an empty text where that is one
--        check of cost 1 under the first policy for all of them; else a JSON array of numbers, for
--        each key: index of its policy, number of runs, and for each run: cost (permits; 0 looks
--        only, below 0 refunds), count (how many checks of that cost; 1 for a refund)
-- Reply  for each run, in order: the level behind it in permits x ms where all its checks were
--        allowed; else -1 minus the level, and for a run of more than one check how many were
--        allowed, which are the first ones. Integers below 2^53 in size
--
-- A bucket's value is three little-endian doubles: level, the time it was true, the window that
-- gives the level its unit. A missing key, or one that holds anything else, is a full bucket.
-- What stays true: a key is written only by a charge, a refund, or a check that finds the clock
-- stepped back; always whole and always with an expiry, at which the bucket is full and so the
-- same as a missing one.

local call, floor, ceil, min = redis.call, math.floor, math.ceil, math.min
local pack, unpack_state, format = struct.pack, struct.unpack, string.format

local limits, windows, bursts = {}, {}, {}
local policies = tonumber(ARGV[1])
for p = 1, policies do
  limits[p], windows[p], bursts[p] =
    tonumber(ARGV[3 * p - 1]), tonumber(ARGV[3 * p]), tonumber(ARGV[3 * p + 1])
end
local asked = ARGV[3 * policies + 2]
local numbers = asked ~= '' and cjson.decode(asked)

local at = 1
local states = call('MGET', unpack(KEYS))
local reply = {}
local size = 0

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
  if state and #state == 24 then
    local was, since, unit = unpack_state('<ddd', state)
    if not (was >= 0 and was < 2 ^ 53 and floor(was) == was and unit >= 1 and unit < 2 ^ 53 and since >= 0) then
      was, since, unit = full, now, window
    end
    if unit ~= window then
      local permits = floor(was / unit)
      if permits >= bursts[p] then
        was = full
      else
        was = permits * window + floor((was - permits * unit) * window / unit)
      end
    end
    if was < full then
      local gained = 0
      if now > since then gained = (now - since) * limit end
      if gained < full - was then level = was + gained end
    end
    stepped_back = now < since
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
      if need * count > level then allowed = floor(level / need) end
      level = level - need * allowed
      changed = changed or allowed > 0 or stepped_back
    elseif need < 0 then
      level = min(full, level - need)
      changed = true
    end
    size = size + 1
    if allowed == count then
      reply[size] = level
    else
      reply[size] = -1 - level
      if count > 1 then
        size = size + 1
        reply[size] = allowed
      end
    end
  end

  if changed then
    if level < full then
      local after = format('%d', ceil((full - level) / limit))
      call('SET', KEYS[i], pack('<ddd', level, now, window), 'PX', after)
    else
      call('DEL', KEYS[i])
    end
  end
end

return reply
