-- GCRA: see algorithms/gcra.ts, whose functions these are. A view has `ahead`, in units of
-- 1 / limit ms. Value: three doubles: ahead, the time it was true, the limit that gives the unit,
-- below 0 where a settlement had taken it further ahead than a call may.
rules[2] = {
  read = function(key, p)
    local v = { ahead = 0, most = (p.burst + p.overdraft) * p.window }
    local value = call('MGET', key)[1]
    if not value or #value ~= 24 then return v end
    local ahead, since, unit = unpack_state('<ddd', value)
    local most = p.full
    if unit < 0 then
      unit, most = -unit, v.most
    end
    if not (ahead >= 0 and ahead < 2 ^ 53 and floor(ahead) == ahead and unit >= 1 and unit < 2 ^ 53 and since >= 0) then
      return v
    end
    v.stepped_back = now < since
    if p.limit == 0 then return v end
    if unit ~= p.limit then
      local ms = floor(ahead / unit)
      ahead = ms * p.limit + ceil((ahead - ms * unit) * p.limit / unit)
    end
    ahead = min(ahead, most)
    local passed = 0
    if now > since then passed = (now - since) * p.limit end
    if passed < ahead then v.ahead = ahead - passed end
    return v
  end,
  fits = function(p, v, cost) return cost == 0 or cost * p.window <= p.full - v.ahead end,
  charge = function(p, v, cost) v.ahead = v.ahead + cost * p.window end,
  overcharge = function(p, v, permits) v.ahead = min(v.most, v.ahead + permits * p.window) end,
  give_back = function(p, v, permits) v.ahead = max(0, v.ahead - permits * p.window) end,
  restart = function() end,
  write = function(key, p, v)
    if v.ahead == 0 then
      call('DEL', key)
    else
      local unit = v.ahead > p.full and -p.limit or p.limit
      call('SET', key, pack('<ddd', v.ahead, now, unit), 'PX', format('%d', ceil(v.ahead / p.limit)))
    end
  end,
  facts = function(_, v) tell(v.ahead) end,
}
