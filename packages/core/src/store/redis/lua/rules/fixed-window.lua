-- Fixed window: see algorithms/fixed-window.ts, whose functions these are. A view has `count`, in
-- permits, and `start`, the time of the window's first call. Value: both, as doubles.
local function spend(v, permits)
  if v.count == 0 then v.start = now end
  v.count = v.count + permits
end

rules[3] = {
  read = function(key, p)
    local v = { count = 0, start = 0 }
    local value = call('MGET', key)[1]
    if not value or #value ~= 16 then return v end
    local count, start = unpack_state('<dd', value)
    if not (count >= 1 and count < 2 ^ 53 and floor(count) == count and start >= 0 and start < 2 ^ 53) then
      return v
    end
    if now - start >= p.window then return v end
    v.count, v.start = count, start
    if now < start then v.start, v.stepped_back = now, true end
    return v
  end,
  fits = function(p, v, cost) return cost == 0 or v.count + cost <= p.limit end,
  charge = function(_, v, cost) spend(v, cost) end,
  overcharge = function(p, v, permits)
    spend(v, min(permits, max(0, p.limit + p.overdraft - v.count)))
  end,
  give_back = function(_, v, permits, taken)
    if v.count > 0 and (taken or now) >= v.start then v.count = max(0, v.count - permits) end
  end,
  restart = function() end,
  write = function(key, p, v)
    if v.count == 0 then
      call('DEL', key)
    else
      call('SET', key, pack('<dd', v.count, v.start), 'PX', format('%d', v.start + p.window - now))
    end
  end,
  facts = function(p, v)
    tell(v.count)
    tell(v.count == 0 and 0 or v.start + p.window - now)
  end,
}
