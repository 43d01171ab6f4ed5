-- Token bucket: see algorithms/token-bucket.ts, whose functions these are. A view has `level`, in
-- permits x ms. Value: three doubles, as plain-checks.lua has it.
rules[1] = {
  read = function(key, p)
    local v = { level = p.full, lowest = -p.overdraft * p.window }
    local value = call('MGET', key)[1]
    if not value or #value ~= 24 then return v end
    local missing, since, unit = unpack_state('<ddd', value)
    local most = p.full
    if unit < 0 then
      unit, most = -unit, p.full - v.lowest
    end
    if not (missing >= 0 and missing < 2 ^ 53 and floor(missing) == missing and unit >= 1 and unit < 2 ^ 53 and since >= 0) then
      return v
    end
    v.stepped_back = now < since
    if unit ~= p.window then
      local permits = floor(missing / unit)
      missing = permits * p.window + ceil((missing - permits * unit) * p.window / unit)
    end
    missing = min(missing, most)
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
  give_back = function(p, v, permits) v.level = min(p.full, v.level + permits * p.window) end,
  restart = function() end,
  write = function(key, p, v)
    local missing = p.full - v.level
    if missing == 0 then
      call('DEL', key)
    else
      local unit = v.level < 0 and -p.window or p.window
      call('SET', key, pack('<ddd', missing, now, unit), 'PX', format('%d', ceil(missing / p.limit)))
    end
  end,
  facts = function(p, v) tell(p.full - v.level) end,
}
