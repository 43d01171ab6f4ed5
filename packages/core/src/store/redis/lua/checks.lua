-- Decides whatever is asked of any buckets, all at the instant `now`, in the order given. Stands
-- behind clock.lua, checks-head.lua and rules/*.lua.
--
-- KEYS   the bucket keys, each once, all in one slot; no other key is touched
-- ARGV   a JSON array of numbers: number of policies, then for each: algorithm (as rules has it),
--        limit, window (ms), burst, overdraft (permits), how long a lease lives (ms; 0 for none) and
--        how many permits may be out; then for each key, in the order of KEYS:
--        index of its policy; then, to the end, what is asked, each of one of these forms:
--          1, count, and count times: index of the key, cost, 1 for shadow or 0
--             takes the costs of all, or of none where one that is no shadow does not fit
--          2, the same: answers as 1 would, and takes nothing
--          3, index of the key, permits, the time they were taken or -1: puts permits back
--          4, index of the key, permits: takes permits, fit or not, down to the overdraft
--          5, index of the key: forgets the bucket
--          6, index of the key, holder, turn, count of numbers, and reports of three numbers each:
--             epoch, permits spent, permits returned; count, and costs; permits to grant in advance:
--             takes what is told off what is out, takes each cost that fits, then grants
--          7, index of the key, cost: looks, and takes nothing
-- Reply  the time, then in order: for 1 and 2, for each cost: 1 where it fits or 0, and its rule's
--        facts; for 3 to 5: the facts for a cost of 0; for 6: 0 where that claim or a later one of its
--        holder was heard before; else 1, as 1 has it for each cost, the permits granted, their epoch
--        and life (ms), and the facts for a cost of 0; for 7: permits that are out, then as for 2.
--        Integers below 2^53 in size
--
-- What stays true: a key is written once, whole or by appending, only where something was taken or
-- put back or the clock stepped back, and always with an expiry at which the bucket is full.
local asked = cjson.decode(ARGV[1])
local at = 0

local function take()
  at = at + 1
  return asked[at]
end

local policies = {}
for i = 1, take() do
  local p = { rule = rules[take()], limit = take(), window = take(), burst = take(), overdraft = take(), ttl = take(), share = take() }
  p.full = p.burst * p.window
  policies[i] = p
end

local policy_of, views, dirty = {}, {}, {}
for i = 1, #KEYS do
  local p = policies[take()]
  policy_of[i], views[i] = p, p.rule.read(KEYS[i], p)
end

-- Tells whether a cost fits, and takes it where it does and all of its call are allowed.
local function conclude(i, cost, charges, allowed)
  local p, v = policy_of[i], views[i]
  local fits = p.rule.fits(p, v, cost)
  if charges and cost > 0 then
    if fits and allowed then
      p.rule.charge(p, v, cost)
      dirty[i] = true
    elseif v.stepped_back then
      p.rule.restart(p, v)
      dirty[i] = true
    end
  end
  tell(fits and 1 or 0)
  p.rule.facts(p, v, cost)
end

local function check(charges)
  local first, count = at, take()
  local allowed = true
  for _ = 1, count do
    local i, cost, shadow = take(), take(), take()
    local p = policy_of[i]
    if shadow == 0 and not p.rule.fits(p, views[i], cost) then allowed = false end
  end
  at = first + 1
  for _ = 1, count do
    local i, cost = take(), take()
    take()
    conclude(i, cost, charges, allowed)
  end
end

local function take_list()
  local list = {}
  for i = 1, take() do
    list[i] = take()
  end
  return list
end

local function claim(i, holder, turn, reports, costs, extra)
  local p, v = policy_of[i], views[i]
  local rule = p.rule
  if not is_new(v, holder, turn) then return tell(0) end
  tell(1)
  if #reports > 0 then
    rule.account(p, v, holder, turn, reports)
    dirty[i] = true
  end
  for c = 1, #costs do
    conclude(i, costs[c], true, true)
  end
  local permits, epoch, life = rule.grant(p, v, extra)
  if permits > 0 then dirty[i] = true end
  tell(permits)
  tell(epoch)
  tell(life)
  rule.facts(p, v, 0)
end

while at < #asked do
  local what = take()
  if what <= 2 then
    check(what == 1)
  elseif what == 6 then
    local i, holder, turn = take(), pack('<d', take()), take()
    local reports, costs = take_list(), take_list()
    claim(i, holder, turn, reports, costs, take())
  elseif what == 7 then
    local i, cost = take(), take()
    tell((views[i].young or 0) + (views[i].old or 0))
    conclude(i, cost, false, false)
  elseif what == 5 then
    local i = take()
    local p = policy_of[i]
    call('DEL', KEYS[i])
    views[i], dirty[i] = p.rule.read(KEYS[i], p), nil
    p.rule.facts(p, views[i], 0)
  else
    local i, permits = take(), take()
    local p, v = policy_of[i], views[i]
    local taken = what == 3 and take()
    if permits > 0 then
      if what == 4 then
        p.rule.overcharge(p, v, permits)
      elseif taken >= 0 then
        p.rule.give_back(p, v, permits, taken)
      else
        p.rule.give_back(p, v, permits)
      end
      dirty[i] = true
    end
    p.rule.facts(p, v, 0)
  end
end

for i in pairs(dirty) do
  policy_of[i].rule.write(KEYS[i], policy_of[i], views[i])
end

return reply
