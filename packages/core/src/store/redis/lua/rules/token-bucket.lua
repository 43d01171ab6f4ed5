-- Token bucket: see algorithms/token-bucket.ts, whose functions these are. A view has `level`, in
-- permits x ms. Value: three doubles, as plain-checks.lua has it, and what is out.
local function refill(p, v, missing, since, til)
  local gained = til > since and (til - since) * p.limit or 0
  return max(min(v.young + v.old, p.burst) * p.window, missing - gained)
end

local function refill_epochs(p, v, missing, since)
  if now < since then
    v.since, v.ends = v.since + now - since, v.ends + now - since
    since = now
  end
  while v.ends and v.ends <= now do
    missing = refill(p, v, missing, since, v.ends)
    since = v.ends
    next_epoch(v, max(v.ends - v.since, p.ttl))
  end
  return refill(p, v, missing, since, now)
end

local function put_back(p, v, permits)
  local most = max(0, p.burst - v.young - v.old) * p.window
  v.level = max(v.level, min(most, v.level + permits * p.window))
end

rules[1] = {
  read = function(key, p)
    local v = { level = p.full, lowest = -p.overdraft * p.window, young = 0, old = 0, heard = '', before = '' }
    local value = call('MGET', key)[1]
    if not value or #value < 24 or not read_out(v, value, 24) then return v end
    local missing, since, unit = unpack_state('<ddd', value)
    local most = p.full
    if unit < 0 then
      unit, most = -unit, p.full - v.lowest
    end
    if not (missing >= 0 and missing < 2 ^ 53 and floor(missing) == missing and unit >= 1 and unit < 2 ^ 53 and since >= 0) then
      forget_out(v)
      return v
    end
    v.stepped_back = now < since
    if unit ~= p.window then
      local permits = floor(missing / unit)
      missing = permits * p.window + ceil((missing - permits * unit) * p.window / unit)
    end
    missing = min(missing, most)
    if v.ends then
      v.level = p.full - refill_epochs(p, v, missing, since)
      return v
    end
    local gained = 0
    if now > since then gained = (now - since) * p.limit end
    if gained < missing then v.level = p.full - missing + gained end
    return v
  end,
  fits = function(p, v, cost) return cost == 0 or cost * p.window <= v.level end,
  charge = function(p, v, cost) v.level = v.level - cost * p.window end,
  overcharge = function(p, v, permits)
    v.level = max(min(v.level, v.lowest), v.level - permits * p.window)
  end,
  give_back = put_back,
  restart = function() end,
  write = function(key, p, v)
    local missing = p.full - v.level
    if missing == 0 and not v.ends then
      call('DEL', key)
      return
    end
    local after = missing == 0 and 0 or ceil(missing / p.limit)
    if v.ends then after = after + v.ends + max(v.ends - v.since, p.ttl) - now end
    local unit = v.level < 0 and -p.window or p.window
    call('SET', key, pack('<ddd', missing, now, unit) .. write_out(v), 'PX', format('%d', after))
  end,
  facts = function(p, v) tell(p.full - v.level) end,
  account = function(p, v, holder, turn, reports)
    local young, old = account(v, holder, turn, reports)
    put_back(p, v, young + old)
  end,
  grant = function(p, v, extra)
    local there = max(0, floor(v.level / p.window))
    local permits = max(0, min(extra, there, p.share - v.young - v.old))
    v.level = v.level - permits * p.window
    local epoch = grant(v, permits, p.ttl)
    return permits, epoch, v.ends and min(p.ttl, v.ends - v.since) or 0
  end,
}
