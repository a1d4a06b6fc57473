-- Update accesses of memories in a canvas, without their vectors; returns the ids that are not in it.
-- KEYS    as in canvas_enter.lua
-- ARGV    TTL in ms after the last write, then id, energy key, last access, …
local missing = {}
for i = 2, #ARGV, 3 do
    if redis.call('ZSCORE', KEYS[1], ARGV[i]) and redis.call('HEXISTS', KEYS[3], ARGV[i]) == 1 then
        redis.call('ZADD', KEYS[1], ARGV[i + 1], ARGV[i])
        redis.call('ZADD', KEYS[2], 'GT', ARGV[i + 2], ARGV[i])
    else
        missing[#missing + 1] = ARGV[i]
    end
end
for i = 1, 5 do
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
end
return missing
