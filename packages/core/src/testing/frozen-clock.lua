-- Put in front of a script in tests, clock.lua behind it: the time, and with it the expiry of
-- keys, is the last of ARGV. A value carries the frozen instant of its expiry as one more double;
-- the server itself drops it an hour later by its own clock.
local server = redis
local frozen = tonumber(ARGV[#ARGV])
local redis = {}

local function alive(value)
  if not value or #value < 8 then return value end
  if frozen > struct.unpack('<d', value:sub(-8)) then return false end
  return value:sub(1, -9)
end

function redis.call(command, ...)
  local args = { ... }
  if command == 'TIME' then
    return { tostring(math.floor(frozen / 1000)), tostring(frozen % 1000 * 1000) }
  elseif command == 'MGET' then
    local values = server.call('MGET', ...)
    for i = 1, #args do
      values[i] = alive(values[i])
    end
    return values
  elseif command == 'SET' then
    assert(args[3] == 'PX' and #args == 4, 'every SET has an expiry in ms')
    return server.call('SET', args[1], args[2] .. struct.pack('<d', frozen + args[4]), 'PX', 3600000)
  elseif command == 'DEL' then
    return server.call('DEL', ...)
  end
  error('the frozen clock does not know ' .. command)
end
