-- Sliding log: see algorithms/sliding-log.ts, whose functions these are. Value: a head of two
-- doubles, the index of the first entry that counts and the total before the first that is kept;
-- then for each call, oldest first, two doubles: its time, the total of all costs up to it.
-- An entry is read where bisection asks for it: never the whole log, but for what is rare (a
-- refund, a clock that stepped back, and every so often what has left the window is cut off).
--
-- A view has `from` and `n`, the indices, from 0, of the first entry that counts and behind the
-- last; `stored`, how many of them the key holds as they are; and what was read, by index.
local HEAD, ENTRY = 16, 16

local function entry(v, i)
  if not v.times[i] then
    local at = HEAD + ENTRY * i
    v.times[i], v.totals[i] = unpack_state('<dd', call('GETRANGE', v.key, at, at + ENTRY - 1))
  end
  return v.times[i], v.totals[i]
end

local function total_before(v, i)
  if i == 0 then return v.base end
  local _, total = entry(v, i - 1)
  return total
end

local function used(v) return total_before(v, v.n) - total_before(v, v.from) end

local function bisect(from, to, holds)
  while from < to do
    local middle = floor((from + to) / 2)
    if holds(middle) then to = middle else from = middle + 1 end
  end
  return from
end

local function fits_after(p, v, cost)
  local too_much = used(v) + cost - p.limit
  if too_much <= 0 then return 0 end
  local wanted = total_before(v, v.from) + too_much
  local last = bisect(v.from, v.n, function(i)
    local _, total = entry(v, i)
    return total >= wanted
  end)
  return min((entry(v, last)), now) + p.window - now
end

-- What counts, read whole, as the log's only entries, to be written whole.
local function load_all(v)
  local times, totals, base = {}, {}, total_before(v, v.from)
  for i = v.from, v.n - 1 do
    local time, total = entry(v, i)
    times[i - v.from], totals[i - v.from] = time, total - base
  end
  v.times, v.totals, v.n, v.from, v.base, v.stored = times, totals, v.n - v.from, 0, 0, 0
end

-- Brings times that are later than now back to now.
local function settle_log(v)
  if v.n == v.from or (entry(v, v.n - 1)) <= now then return end
  load_all(v)
  for i = v.n - 1, 0, -1 do
    if v.times[i] <= now then return end
    v.times[i] = now
  end
end

local function append(v, permits)
  settle_log(v)
  if permits == 0 then return end
  v.totals[v.n] = total_before(v, v.n) + permits
  v.times[v.n] = now
  v.n = v.n + 1
end

rules[5] = {
  read = function(key, p)
    local v = { key = key, times = {}, totals = {}, from = 0, n = 0, stored = 0, base = 0 }
    local length = pcall('STRLEN', key)
    -- A key that holds no text is an empty log; any other error is had again, to be thrown.
    if type(length) == 'table' and not find(length.err, 'WRONGTYPE', 1, true) then call('STRLEN', key) end
    if type(length) ~= 'number' or length < HEAD + ENTRY or (length - HEAD) % ENTRY ~= 0 then
      return v
    end
    local n = (length - HEAD) / ENTRY
    local from, base = unpack_state('<dd', call('GETRANGE', key, 0, HEAD - 1))
    local time, total = entry(v, n - 1)
    if not (is_amount(from) and from < n and is_amount(base) and is_amount(time) and is_amount(total) and total >= base) then
      v.times, v.totals = {}, {}
      return v
    end
    v.n, v.stored, v.from, v.base = n, n, from, base
    v.from = bisect(v.from, v.n, function(i) return (entry(v, i)) > now - p.window end)
    v.stepped_back = now < time
    return v
  end,
  fits = function(p, v, cost) return cost == 0 or used(v) + cost <= p.limit end,
  charge = function(_, v, cost) append(v, cost) end,
  overcharge = function(p, v, permits)
    append(v, min(permits, max(0, p.limit + p.overdraft - used(v))))
  end,
  give_back = function(_, v, permits, taken)
    settle_log(v)
    load_all(v)
    local kept_times, kept_costs, left = {}, {}, permits
    for i = v.n - 1, 0, -1 do
      local time, cost = v.times[i], v.totals[i] - total_before(v, i)
      local back = (not taken or taken == time) and min(cost, left) or 0
      left = left - back
      if cost > back then
        kept_times[#kept_times + 1], kept_costs[#kept_costs + 1] = time, cost - back
      end
    end
    v.times, v.totals, v.n = {}, {}, #kept_times
    local total = 0
    for i = 0, v.n - 1 do
      total = total + kept_costs[v.n - i]
      v.times[i], v.totals[i] = kept_times[v.n - i], total
    end
  end,
  restart = function(_, v) settle_log(v) end,
  write = function(key, p, v)
    if v.from == v.n then
      call('DEL', key)
      return
    end
    local after = format('%d', (entry(v, v.n - 1)) + p.window - now)
    local added = {}
    for i = v.stored, v.n - 1 do
      added[#added + 1] = pack('<dd', v.times[i], v.totals[i])
    end
    if v.stored == 0 or (v.from > 32 and v.from * 2 > v.n) then
      local kept = ''
      if v.stored > v.from then
        kept = call('GETRANGE', key, HEAD + ENTRY * v.from, HEAD + ENTRY * v.stored - 1)
      end
      local value = pack('<dd', 0, total_before(v, v.from)) .. kept .. concat(added)
      call('SET', key, value, 'PX', after)
    else
      call('SETRANGE', key, 0, pack('<dd', v.from, v.base))
      if #added > 0 then call('APPEND', key, concat(added)) end
      call('PEXPIRE', key, after)
    end
  end,
  facts = function(p, v, cost)
    local spent = used(v)
    tell(spent)
    if spent == 0 then
      tell(cost > p.limit and -1 or 0)
      tell(-1)
      tell(0)
    else
      tell(cost > p.limit and -1 or fits_after(p, v, cost))
      tell(p.limit == 0 and -1 or fits_after(p, v, max(0, p.limit - spent) + 1))
      tell(min((entry(v, v.n - 1)), now) + p.window - now)
    end
  end,
}
