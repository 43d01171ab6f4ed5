-- Sliding window, two weighted counters: see algorithms/sliding-window.ts, whose functions these
-- are. A view has `current` and `previous`, in permits, and `start`, aligned to the clock. Value:
-- four doubles: current, previous, start, the window they were counted in, below 0 where a
-- settlement had taken a count above the limit; and what is out.
-- An epoch ends with its window: the one before the window's first is the previous window's.
local function is_old_before(v) return v.ends and v.since <= v.start end

rules[4] = {
  read = function(key, p)
    local v = { current = 0, previous = 0, start = now - now % p.window, young = 0, old = 0, heard = '', before = '' }
    local value = call('MGET', key)[1]
    if not value or #value < 32 or not read_out(v, value, 32) then return v end
    local current, previous, start, window = unpack_state('<dddd', value)
    local most = p.limit
    if window < 0 then
      window, most = -window, p.limit + p.overdraft
    end
    if not (current >= 0 and current < 2 ^ 53 and floor(current) == current
        and previous >= 0 and previous < 2 ^ 53 and floor(previous) == previous
        and start >= 0 and start < 2 ^ 53 and window >= 1 and window < 2 ^ 53) then
      forget_out(v)
      return v
    end
    v.stepped_back = now < start
    if window ~= p.window or start > v.start then
      forget_out(v)
    else
      roll_in_window(p, v, start)
    end
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
      -- What is out may be spent yet.
      local out = is_old_before(v) and v.young or v.young + v.old
      v.current = max(min(v.current, out), v.current - permits)
    elseif taken >= v.start - p.window then
      v.previous = max(0, v.previous - permits)
    end
  end,
  restart = function() end,
  write = function(key, p, v)
    local ends = v.start + p.window
    if v.current > 0 or v.ends then
      ends = ends + p.window
    elseif v.previous == 0 then
      call('DEL', key)
      return
    end
    local window = p.window
    if v.current > p.limit or v.previous > p.limit then window = -window end
    call('SET', key, pack('<dddd', v.current, v.previous, v.start, window) .. write_out(v), 'PX', format('%d', ends - now))
  end,
  facts = function(_, v)
    tell(v.current)
    tell(v.previous)
    tell(now - v.start)
  end,
  account = function(_, v, holder, turn, reports)
    local young, old = account(v, holder, turn, reports)
    local before = is_old_before(v) and old or 0
    v.current = max(0, v.current - young - (old - before))
    v.previous = max(0, v.previous - before)
  end,
  grant = function(p, v, extra)
    local spent = v.previous * (p.window - (now - v.start)) + v.current * p.window
    local there = max(0, floor((p.limit * p.window - spent) / p.window))
    local permits, epoch, life = grant_in_window(p, v, extra, there, v.start)
    v.current = v.current + permits
    return permits, epoch, life
  end,
}
