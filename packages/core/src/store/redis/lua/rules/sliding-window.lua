-- Sliding window, two weighted counters: see algorithms/sliding-window.ts, whose functions these
-- are. A view has `current` and `previous`, in permits, and `start`, aligned to the clock. Value:
-- four doubles: current, previous, start, the window they were counted in, below 0 where a
-- settlement had taken a count above the limit.
rules[4] = {
  read = function(key, p)
    local v = { current = 0, previous = 0, start = now - now % p.window }
    local value = call('MGET', key)[1]
    if not value or #value ~= 32 then return v end
    local current, previous, start, window = unpack_state('<dddd', value)
    local most = p.limit
    if window < 0 then
      window, most = -window, p.limit + p.overdraft
    end
    if not (current >= 0 and current < 2 ^ 53 and floor(current) == current
        and previous >= 0 and previous < 2 ^ 53 and floor(previous) == previous
        and start >= 0 and start < 2 ^ 53 and window >= 1 and window < 2 ^ 53) then
      return v
    end
    v.stepped_back = now < start
    local own_start = now - now % window
    if start < own_start then
      previous = start == own_start - window and current or 0
      current = 0
    end
    if window ~= p.window then
      local spent = previous * (window - (now - own_start)) + current * window
      current, previous = ceil(spent / window), 0
    end
    v.current, v.previous = min(current, most), min(previous, most)
    return v
  end,
  fits = function(p, v, cost)
    if cost == 0 then return true end
    if cost > p.limit then return false end
    local spent = v.previous * (p.window - (now - v.start)) + v.current * p.window
    return spent <= (p.limit - cost) * p.window
  end,
  charge = function(_, v, cost) v.current = v.current + cost end,
  overcharge = function(p, v, permits)
    v.current = v.current + min(permits, max(0, p.limit + p.overdraft - v.current))
  end,
  give_back = function(p, v, permits, taken)
    taken = taken or now
    if taken >= v.start then
      v.current = max(0, v.current - permits)
    elseif taken >= v.start - p.window then
      v.previous = max(0, v.previous - permits)
    end
  end,
  restart = function() end,
  write = function(key, p, v)
    local ends = v.start + p.window
    if v.current > 0 then
      ends = ends + p.window
    elseif v.previous == 0 then
      call('DEL', key)
      return
    end
    local window = p.window
    if v.current > p.limit or v.previous > p.limit then window = -window end
    call('SET', key, pack('<dddd', v.current, v.previous, v.start, window), 'PX', format('%d', ends - now))
  end,
  facts = function(_, v)
    tell(v.current)
    tell(v.previous)
    tell(now - v.start)
  end,
}
