-- HotKV: newest first, at most `window` texts, each id once. Atomic, so two writers cannot leave text without an id.
-- KEYS[1] list hot:{ns}  of ids
-- KEYS[2] hash hot:{ns}:words  id -> lexemes
-- ARGV[1] window, then id, lexemes, id, lexemes, … oldest first
local window = tonumber(ARGV[1])
if redis.call('LLEN', KEYS[1]) ~= redis.call('HLEN', KEYS[2]) then -- one of the two was lost
    redis.call('DEL', KEYS[1], KEYS[2])
end
for i = 2, #ARGV, 2 do
    if redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) == 0 then
        redis.call('LREM', KEYS[1], 1, ARGV[i])
    end
    redis.call('LPUSH', KEYS[1], ARGV[i])
end
local surplus = redis.call('LRANGE', KEYS[1], window, -1)
if #surplus > 0 then
    for i = 1, #surplus do -- one by one: unpack has a limit, and a window may shrink by thousands
        redis.call('HDEL', KEYS[2], surplus[i])
    end
    redis.call('LTRIM', KEYS[1], 0, window - 1)
end
return #surplus
