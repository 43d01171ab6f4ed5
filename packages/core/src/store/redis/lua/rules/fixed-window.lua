-- Fixed window: see algorithms/fixed-window.ts, whose functions these are. A view has `count`, in
-- permits, and `start`, the time of the window's first call. Value: both, as
-- doubles, and what is out.
local function spend(v, permits)
  if v.count == 0 then v.start = now end
  v.count = v.count + permits
end

rules[3] = {
  read = function(key, p)
    local v = { count = 0, start = 0, young = 0, old = 0, heard = '', before = '' }
    local value = call('MGET', key)[1]
    if not value or #value < 16 or not read_out(v, value, 16) then return v end
    local count, start = unpack_state('<dd', value)
    if not (is_amount(count) and (count > 0 or v.ends) and start >= 0 and start < 2 ^ 53)
        or now - start >= p.window then
      forget_out(v)
      return v
    end
    v.count, v.start = count, start
    if now < start then
      v.start, v.stepped_back = now, true
      forget_out(v)
    else
      roll_in_window(p, v, start)
    end
    if v.count == 0 and not v.ends then v.start = 0 end
    return v
  end,
  fits = function(p, v, cost) return cost == 0 or v.count + cost <= p.limit end,
  charge = function(_, v, cost) spend(v, cost) end,
  overcharge = function(p, v, permits)
    spend(v, min(permits, max(0, p.limit + p.overdraft - v.count)))
  end,
  give_back = function(_, v, permits, taken)
    -- What is out may be spent yet.
    if (taken or now) >= v.start then v.count = max(min(v.count, v.young + v.old), v.count - permits) end
  end,
  restart = function() end,
  write = function(key, p, v)
    if v.count == 0 and not v.ends then
      call('DEL', key)
    else
      call('SET', key, pack('<dd', v.count, v.start) .. write_out(v), 'PX', format('%d', v.start + p.window - now))
    end
  end,
  facts = function(p, v)
    tell(v.count)
    tell(v.count == 0 and 0 or v.start + p.window - now)
  end,
  account = function(_, v, holder, turn, reports)
    local young, old = account(v, holder, turn, reports)
    v.count = max(0, v.count - young - old)
  end,
  grant = function(p, v, extra)
    local start = v.count == 0 and now or v.start
    local permits, epoch, life = grant_in_window(p, v, extra, max(0, p.limit - v.count), start)
    if permits > 0 then spend(v, permits) end
    return permits, epoch, life
  end,
}
