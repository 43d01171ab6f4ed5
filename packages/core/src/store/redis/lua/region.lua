-- What a region holds of one bucket that lives in another store: permits that its replicas spend
-- together, when to ask that store for more, and what it last said. One question of it, at `now`.
--
-- KEYS   one key; no other is touched
-- ARGV   a JSON array of numbers, and of a text; the first says what is asked:
--          1  takes: 1 where the home store may be asked; whether it is cut off; the policy's terms, as a
--             text; how much longer a greater cost waits, as ms and permits (0: not known); how far ahead to claim (ms); most permits to claim; for how long a claim is waited for (ms); how long one
--             takes (ms); how long the key is of use after its last permits (ms); life of what is lent
--             (ms); holder, 0 where nothing is told or lent; turn; count of numbers, and reports of three
--             numbers each: epoch, permits spent, permits returned; count, and costs; permits to lend
--          2  the answer to a claim: its number; the policy's terms; epoch, permits and life (ms) of the grant; the home
--             store's time; permits left there; time until there is one more (-1: never); until it is
--             full; whether less was granted than was claimed; pace (ms); how long claims take (ms); use
--          3  that a cost was denied by the home store: since when (as told by 1), the policy's
--             terms, the cost, the wait
--             until it fits, pace (ms), how long claims take (ms), use
--          4  that a claim was not answered: its number, pace (ms), use
--          5  owes: permits that were admitted without the home store, or below 0 that came back; use
--          6  puts permits back that were taken here; the home store's time when they were
--          7  forgets all
-- Reply  the time; then for 1: 0 where that question or a later one of its holder told something before;
--        else 1, then for each cost: 1 it was taken; 0 the home store is to be asked; 2 it is
--        denied, and how long (ms); then permits left here, and in the home store (-1: not known), time
--        until there is one more there (-1: never), until it is full, the home store's time when what is
--        spent was granted; permits lent, what reports call them, their life; 1 where the region was cut off since the
--        last question, else 0; then the number of a claim to make, or 0; and with one: permits to claim,
--        permits owed, count of numbers and reports as above. For 6: 1 where they came back here, else 0
--
-- A look is the home store's to answer where nothing is held. A denial is remembered for the terms it was
-- made under. What is lent is named by the claim it came with, which no other claim of the bucket shares: the
-- home store's name for it can come again when all was forgotten here.
--
-- What stays true: a permit is spent, lent or returned once, told of once, and not spent after the life
-- of its grant, which counts from when its claim was ordered. One claim for permits is under way at a
-- time. After the clock stepped back nothing is held: how long it was held is not known then.
local floor, ceil, min, max, exp = math.floor, math.ceil, math.min, math.max, math.exp
local try = pcall
local key = KEYS[1]
local asked = cjson.decode(ARGV[1])
local at = 0

local function take()
  at = at + 1
  return asked[at]
end

local function take_list()
  local list = {}
  for i = 1, take() do
    list[i] = take()
  end
  return list
end

-- How much of a grant's life is used: the rest is for a clock that runs slow.
local USED = 0.95
-- What was asked so long ago (ms) counts for 37 % of what is asked now; the greater average holds.
local SHORT, LONG = 100, 500
-- For so long (ms) after a replica was last cut off, another that is so is not the first.
local CUT = 2000
-- A denial is remembered for no longer (ms): by then permits can have come back to the home store, of
-- another region.
local LONGEST = 1000
local VERSION = 1

local function new()
  return { v = VERSION, seen = now, order = 0, ordered = 0, number = now, calls = 0, permits = 0, at = now - LONG,
    rates = { 0, 0, 0, 0 }, after = 0, owed = 0, leases = {}, heard = {} }
end

local function read()
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then return nil, value end
    call('DEL', key)
    return new()
  end
  if not value then return new() end
  local sound, s = try(cmsgpack.unpack, value)
  if not sound or type(s) ~= 'table' or s.v ~= VERSION then return new() end
  if now < s.seen then
    local fresh = new()
    fresh.number, fresh.owed, fresh.cut = max(s.number, now), s.owed, s.cut
    return fresh
  end
  s.seen = now
  return s
end

local s, failed = read()
if failed then return failed end
local reply = { now }

local function tell(number) reply[#reply + 1] = number end

local function write(use)
  local ends = now
  for _, lease in ipairs(s.leases) do
    ends = max(ends, lease.ends)
  end
  call('SET', key, cmsgpack.pack(s), 'PX', string.format('%d', ends - now + use))
end

local function held()
  local left = 0
  for _, lease in ipairs(s.leases) do
    if now < lease.ends then left = left + lease.left end
  end
  return left
end

-- From the oldest, which ends first.
local function spend(cost)
  for _, lease in ipairs(s.leases) do
    if now < lease.ends then
      local permits = min(cost, lease.left)
      lease.left, lease.spent, cost = lease.left - permits, lease.spent + permits, cost - permits
    end
  end
end

-- False where this claim or a later one of its holder was heard before.
local function hear(holder, turn, reports)
  if holder == 0 then return true end
  local name = string.format('%d', holder)
  if s.heard[name] and turn <= s.heard[name] then return false end
  for i = 1, #reports, 3 do
    for _, lease in ipairs(s.leases) do
      if lease.id == reports[i] then
        s.heard[name] = turn
        local spent = min(reports[i + 1], lease.lent)
        local back = min(reports[i + 2], lease.lent - spent)
        lease.lent, lease.spent, lease.left = lease.lent - spent - back, lease.spent + spent, lease.left + back
        s.calls, s.permits = s.calls + spent, s.permits + spent
      end
    end
  end
  return true
end

local function average(i, count, elapsed)
  local rate = count / elapsed
  s.rates[i] = s.rates[i] + (1 - exp(-elapsed / LONG)) * (rate - s.rates[i])
  s.rates[i + 1] = s.rates[i + 1] + (1 - exp(-elapsed / SHORT)) * (rate - s.rates[i + 1])
end

-- Calls and permits a millisecond.
local function demand()
  local elapsed = now - s.at
  if elapsed > 0 then
    average(1, s.calls, elapsed)
    average(3, s.permits, elapsed)
    s.calls, s.permits, s.at = 0, 0, now
  end
  return max(s.rates[1], s.rates[2]), max(s.rates[3], s.rates[4])
end

-- What the home store is to hear: what was spent, and what is left where the life of it is over. What
-- is lent stays; where it is not told of within another life, it never is.
local function reports(all, life)
  local told, kept = {}, {}
  for _, lease in ipairs(s.leases) do
    local over = now >= lease.ends
    local back = (over or all) and lease.left or 0
    if lease.spent > 0 or back > 0 then
      told[#told + 1], told[#told + 2], told[#told + 3] = lease.epoch, lease.spent, back
    end
    lease.spent, lease.left = 0, lease.left - back
    if not over or (lease.lent > 0 and now < lease.ends + life) then kept[#kept + 1] = lease end
  end
  s.leases = kept
  if #kept == 0 then s.heard = {} end
  return told
end

local function has_over()
  for _, lease in ipairs(s.leases) do
    if now >= lease.ends and lease.left > 0 then return true end
  end
end

-- Until there can be another answer, at least: a claim takes so long, and is made that much earlier. With
-- 0 for both, for no longer than nothing fits.
local function deny(terms, cost, fits, pace, claims)
  local til = max(min(fits, now + LONGEST), now + max(pace, claims))
  s.denied = { terms = terms, cost = cost, til = til, fits = fits }
  s.after = til - claims
end

local function lend(permits, ttl)
  local last = s.leases[#s.leases]
  local lent = 0
  -- Half of it stays for the others, unless that is nothing.
  if last and now < last.ends then lent = max(0, min(permits, ceil(last.left / 2))) end
  if lent > 0 then last.left, last.lent = last.left - lent, last.lent + lent end
  tell(lent)
  tell(lent > 0 and last.id or 0)
  tell(lent > 0 and min(ttl, last.ends - now) or 0)
end

local function takes()
  local may_ask, cut, terms, window, limit = take(), take(), take(), take(), take()
  local horizon, most, patience, claims, use, ttl = take(), take(), take(), take(), take(), take()
  local holder, turn = take(), take()
  if not hear(holder, turn, take_list()) then return tell(0) end
  tell(1)
  local costs, wanted = take_list(), take()
  local dry = false
  for _, cost in ipairs(costs) do
    if cost > 0 then s.calls, s.permits = s.calls + 1, s.permits + cost end
    local denied = s.denied
    local left = held()
    if cost == 0 and left == 0 and may_ask == 1 then
      tell(0)
      dry = true
    elseif cost <= left then
      spend(cost)
      tell(1)
    elseif denied and denied.terms == terms and now < denied.til and (cost == denied.cost or (cost > denied.cost and limit > 0)) then
      local longer = limit > 0 and ceil((cost - denied.cost) * window / limit) or 0
      tell(2)
      tell(max(denied.til, denied.fits + longer) - now)
    else
      tell(0)
      dry = true
    end
  end
  local left = held()
  local known = s.left ~= nil
  local first
  for _, lease in ipairs(s.leases) do
    if now < lease.ends then first = first or lease end
  end
  tell(left)
  tell(known and s.left or -1)
  tell(known and s.refill and max(1, s.refill - now) or -1)
  tell(known and s.reset > now and s.reset - now or 0)
  tell(first and first.granted or 0)
  lend(dry and 0 or wanted, ttl)
  -- Replicas do not lose the home store, or find it, at the same moment.
  tell(cut == 1 and now - (s.cut or 0) > CUT and 1 or 0)
  if cut == 1 then s.cut = now end

  local number = 0
  local waits = s.order ~= 0 and now - s.ordered < patience
  if may_ask == 1 and not waits then
    local calls, permits = demand()
    left = held()
    local ahead = (#costs > 0 or wanted > 0) and now >= s.after and left < permits * 2 * claims
    if dry or ahead or s.owed > 0 or has_over() then
      local extra = 0
      if dry or ahead then
        local per_call = calls > 0 and permits / calls or 0
        if per_call <= most then extra = ceil(floor(calls * horizon) * per_call) end
        extra = max(0, min(most, extra - (dry and 0 or left)))
      end
      local told = reports(dry, use)
      if extra > 0 or #told > 0 or s.owed > 0 then
        s.number = s.number + 1
        s.order, s.ordered, number = s.number, now, s.number
        tell(number)
        tell(extra)
        tell(max(0, s.owed))
        tell(#told)
        for i = 1, #told do
          tell(told[i])
        end
        s.owed = min(0, s.owed)
      end
    end
  end
  if number == 0 then tell(0) end
  write(use)
end

local function granted()
  local number, terms, epoch, permits, life, home, left, refill, reset, short, pace, claims, use =
    take(), take(), take(), take(), take(), take(), take(), take(), take(), take(), take(), take(), take()
  if number ~= s.order then return end
  s.order = 0
  s.left, s.refill, s.reset = left, refill >= 0 and now + refill or nil, now + reset
  local ends = s.ordered + floor(life * USED) - 1
  if permits > 0 and ends > now then
    local same
    for _, lease in ipairs(s.leases) do
      if lease.epoch == epoch then same = lease end
    end
    if same then
      same.left, same.ends = same.left + permits, max(same.ends, ends)
    else
      s.leases[#s.leases + 1] = { id = number, epoch = epoch, left = permits, spent = 0, lent = 0, ends = ends, granted = home }
    end
  end
  if short == 1 then
    if left > 0 then
      s.after = now + pace
    else
      local fits = refill >= 0 and s.ordered + refill or now + pace
      deny(terms, 1, fits, pace, claims)
    end
  else
    s.denied = nil
  end
  write(use)
end

local what = take()
if what == 1 then
  takes()
elseif what == 2 then
  granted()
elseif what == 3 then
  local since, terms, cost, wait, pace, claims, use = take(), take(), take(), take(), take(), take(), take()
  local denied = s.denied
  if since <= now and not (denied and denied.terms == terms and denied.til > min(since + wait, now + LONGEST) and denied.cost <= cost) then
    deny(terms, cost, since + wait, pace, claims)
    write(use)
  end
elseif what == 4 then
  local number, pace, use = take(), take(), take()
  if number == s.order then
    s.order, s.after = 0, now + pace
    write(use)
  end
elseif what == 5 then
  s.owed = s.owed + take()
  write(take())
elseif what == 6 then
  local permits, home, use = take(), take(), take()
  local back = 0
  for _, lease in ipairs(s.leases) do
    if back == 0 and now < lease.ends and lease.spent >= permits and home >= lease.granted then
      lease.spent, lease.left, back = lease.spent - permits, lease.left + permits, 1
    end
  end
  if back == 1 then
    s.denied = nil
    write(use)
  end
  tell(back)
else
  call('DEL', key)
end
return reply
