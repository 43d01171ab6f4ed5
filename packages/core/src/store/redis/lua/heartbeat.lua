-- Counts the replicas that share a prefix: each says again and again that it is there, and is
-- forgotten where it has not done so for long.
--
-- KEYS   one sorted set: the ids of the replicas, each with the time of its last heartbeat
-- ARGV   the id of this replica; for how long its heartbeat counts (ms; 0 if it leaves)
-- Reply  how many replicas there are now, in an array
--
-- What stays true: a heartbeat counts no longer than that after it, and the key exists no longer
-- after the last one. A time that lies ahead, since the clock has stepped back, is taken as now.
-- Anything else under the key is replaced.

local key, id, life = KEYS[1], ARGV[1], ARGV[2] + 0

if life == 0 then
  call('ZREM', key, id)
  return { call('ZCARD', key) }
end

local at = string.format('%d', now)
local dropped = redis.pcall('ZREMRANGEBYSCORE', key, '-inf', string.format('%d', now - life))
if type(dropped) == 'table' then
  if not string.find(dropped.err, 'WRONGTYPE', 1, true) then return dropped end
  call('DEL', key)
end
for _, ahead in ipairs(call('ZRANGEBYSCORE', key, '(' .. at, '+inf')) do
  call('ZADD', key, at, ahead)
end
call('ZADD', key, at, id)
call('PEXPIRE', key, string.format('%d', life))
return { call('ZCARD', key) }
