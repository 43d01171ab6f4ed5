-- What the rules of the algorithms, between this and checks.lua, stand on.
local pcall = redis.pcall
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local pack, unpack_state, format, concat = struct.pack, struct.unpack, string.format, table.concat
local sub, find = string.sub, string.find

-- By number: 1 token bucket, 2 GCRA, 3 fixed window, 4 sliding window, 5 sliding log. Each has the
-- functions of algorithms/algorithm.ts; a view is changed in place and written at the end.
local rules = {}
local reply = { now }

local function tell(number) reply[#reply + 1] = number end
