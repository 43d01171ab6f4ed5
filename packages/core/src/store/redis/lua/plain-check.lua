-- One check of one token bucket, which most calls of a quiet server are, and nothing unusual about
-- it: the same as plain-checks.lua, which has its contract, without its loops and tables. Whatever
-- else is asked falls through to that.
local argv, key = ARGV, KEYS[1]
if argv[1] == '' and not KEYS[2] then
  local value = redis.pcall('GET', key)
  local limit, window = argv[2] + 0, argv[3] + 0
  local full, missing = (argv[4] or limit) * window, 0
  if value and #value == 24 then
    local was, since, unit = struct.unpack('<ddd', value)
    if unit == window and was >= 0 and was <= full and was % 1 == 0 and since >= 0 and since <= now then
      missing, value = was - (now - since) * limit, false
      if missing < 0 then missing = 0 end
    end
  end
  if not value then
    if missing + window > full then return { now, -1 - missing } end
    missing = missing + window
    local after = string.format('%d', math.ceil(missing / limit))
    call('PSETEX', key, after, struct.pack('<ddd', missing, now, window))
    return { now, missing }
  end
  -- A key that holds no text is a full bucket; any other error is had again, to be thrown.
  if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then call('GET', key) end
end
