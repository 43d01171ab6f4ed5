-- Put in front of every script: the store's clock, in whole milliseconds since the epoch. One
-- reading serves all checks of a call, so that they are decided at one instant.
local call = redis.call
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
