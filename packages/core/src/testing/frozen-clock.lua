-- Put in front of a script in tests, clock.lua behind it: the time, and with it the expiry of
-- keys, is the last of ARGV, and is taken off it. The frozen instant at which a key expires stands beside it under
-- another key; the server itself drops both an hour later by its own clock.
local server = redis
local frozen = tonumber(ARGV[#ARGV])
ARGV[#ARGV] = nil
local HOUR = 3600000
local redis = {}

local function expire(key, after)
  server.call('SET', key .. ':frozen', frozen + after, 'PX', HOUR)
end

-- Drops a key whose frozen instant has passed, as the server would have.
local function drop_expired(key)
  local at = server.call('GET', key .. ':frozen')
  if at and frozen > tonumber(at) then server.call('DEL', key, key .. ':frozen') end
end

local function run(call, command, ...)
  local args = { ... }
  if command == 'TIME' then
    return { tostring(math.floor(frozen / 1000)), tostring(frozen % 1000 * 1000) }
  elseif command == 'MGET' then
    for i = 1, #args do
      drop_expired(args[i])
    end
    return call('MGET', ...)
  elseif command == 'GET' or command == 'STRLEN' or command == 'ZREMRANGEBYSCORE' then
    drop_expired(args[1])
    return call(command, ...)
  elseif command == 'GETRANGE' or command == 'SETRANGE' or command == 'APPEND' then
    return call(command, ...)
  elseif command == 'ZRANGEBYSCORE' or command == 'ZADD' or command == 'ZREM' or command == 'ZCARD' then
    return call(command, ...)
  elseif command == 'SET' then
    assert(args[3] == 'PX' and #args == 4, 'every SET has an expiry in ms')
    expire(args[1], args[4])
    return call('SET', args[1], args[2], 'PX', HOUR)
  elseif command == 'PSETEX' then
    expire(args[1], args[2])
    return call('PSETEX', args[1], HOUR, args[3])
  elseif command == 'PEXPIRE' then
    expire(args[1], args[2])
    return call('PEXPIRE', args[1], HOUR)
  elseif command == 'DEL' then
    return call('DEL', args[1], args[1] .. ':frozen')
  end
  error('the frozen clock does not know ' .. command)
end

function redis.call(...) return run(server.call, ...) end
function redis.pcall(...) return run(server.pcall, ...) end
