/**
 * The token bucket as articles and answers give it, written for this bench: the state is a hash of
 * two floating point numbers, which every call reads and writes, admitted or not.
 *
 * KEYS[1] the bucket; ARGV capacity, refill a second, cost. Replies with 1 or 0 for allowed, the
 * whole number left, and how many milliseconds to wait.
 */
export const ARTICLE_SCRIPT: string = `
local key = KEYS[1]
local capacity = tonumber(ARGV[1])
local rate = tonumber(ARGV[2])
local cost = tonumber(ARGV[3])
local stored = redis.call('HMGET', key, 'tokens', 'ts')
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local tokens = tonumber(stored[1]) or capacity
local ts = tonumber(stored[2]) or now
tokens = math.min(capacity, tokens + math.max(0, now - ts) * rate)
local allowed = 0
local wait_ms = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
else
  wait_ms = math.ceil((cost - tokens) / rate * 1000)
end
redis.call('HSET', key, 'tokens', tokens, 'ts', now)
redis.call('PEXPIRE', key, math.ceil((capacity - tokens) / rate * 1000))
return { allowed, math.floor(tokens), wait_ms }
`
  .trim()
  .replaceAll(/^\s+/gm, '');
