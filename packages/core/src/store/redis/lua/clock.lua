-- Put in front of every script: the store's clock, in whole milliseconds since the epoch. One
-- reading serves all checks of a call, so that they are decided at one instant.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
