-- Permits that replicas hold in advance: see algorithms/outstanding.ts and window-leases.ts, whose
-- functions these are. A view with some has `ends`, `since`, `epoch`, `young`, `old`, `heard` and `before`:
-- who was heard in this epoch and the one before, 16 bytes each, holder and turn as doubles. In a
-- value they stand behind the rest: young, old, epoch, since, ends and the size of `heard`, as doubles, then
-- `heard` and `before`.
local function is_amount(number) return number >= 0 and number < 2 ^ 53 and floor(number) == number end

-- False where what stands behind the first `plain` bytes is none of ours.
local function read_out(v, value, plain)
  v.young, v.old, v.heard, v.before = 0, 0, '', ''
  local rest = #value - plain
  if rest == 0 then return true end
  if rest < 48 or rest % 16 ~= 0 then return false end
  local young, old, epoch, since, ends, size = unpack_state('<dddddd', value, plain + 1)
  if not (is_amount(young) and is_amount(old) and is_amount(epoch) and is_amount(since) and is_amount(ends) and since < ends
      and is_amount(size) and size % 16 == 0 and size <= rest - 48) then
    return false
  end
  v.young, v.old, v.epoch, v.since, v.ends = young, old, epoch, since, ends
  local list = plain + 49
  v.heard, v.before = sub(value, list, list + size - 1), sub(value, list + size)
  return true
end

local function write_out(v)
  if not v.ends then return '' end
  return pack('<dddddd', v.young, v.old, v.epoch, v.since, v.ends, #v.heard) .. v.heard .. v.before
end

local function forget_out(v)
  v.young, v.old, v.heard, v.before, v.epoch, v.since, v.ends = 0, 0, '', '', nil, nil, nil
end

local function next_epoch(v, length)
  if v.young == 0 then return forget_out(v) end
  v.young, v.old, v.epoch, v.since, v.ends = 0, v.young, v.epoch + 1, v.ends, v.ends + length
  v.heard, v.before = '', v.heard
end

-- The turn last heard of a holder, and where it stands.
local function find_turn(list, holder)
  local i = find(list, holder, 1, true)
  while i and i % 16 ~= 1 do
    i = find(list, holder, i + 1, true)
  end
  if i then return unpack_state('<d', list, i + 8), i end
end

local function is_new(v, holder, turn)
  local last = find_turn(v.heard, holder) or find_turn(v.before, holder)
  return not last or turn > last
end

-- How many permits came back, of this epoch and of the one before.
local function account(v, holder, turn, reports)
  local young, old, back_young, back_old, known = v.young, v.old, 0, 0, false
  for i = 1, #reports, 3 do
    local epoch, spent, returned = reports[i], reports[i + 1], reports[i + 2]
    if epoch == v.epoch then
      back_young = back_young + min(returned, max(0, young - spent))
      young, known = max(0, young - spent - returned), true
    elseif v.ends and epoch == v.epoch - 1 then
      back_old = back_old + min(returned, max(0, old - spent))
      old, known = max(0, old - spent - returned), true
    end
  end
  if known then
    local _, i = find_turn(v.heard, holder)
    local entry = holder .. pack('<d', turn)
    v.heard = i and sub(v.heard, 1, i - 1) .. entry .. sub(v.heard, i + 16) or v.heard .. entry
  end
  v.young, v.old = young, old
  return back_young, back_old
end

local function grant(v, permits, length)
  if permits > 0 then
    if not v.ends then v.epoch, v.since, v.ends = now, now, now + length end
    v.young = v.young + permits
  end
  return v.epoch or 0
end

local function window_end(p, start, at) return at + p.window - (at - start) % p.window end

local function roll_in_window(p, v, start)
  while v.ends and v.ends <= now do
    local length = p.ttl > 0 and p.ttl or v.ends - v.since
    next_epoch(v, min(length, window_end(p, start, v.ends) - v.ends))
  end
end

-- Permits, their epoch and their life.
local function grant_in_window(p, v, extra, there, start)
  local permits = max(0, min(extra, there, p.share - v.young - v.old))
  local life = min(p.ttl, window_end(p, start, now) - now)
  return permits, grant(v, permits, life), life
end
