-- Replace the running memory of a conversation if it was not changed since it was read (compare and set).
-- KEYS[1] hash mind:{ns}       conversation (hashed) -> version, space, JSON
-- KEYS[2] sorted set mind:{ns}:used  conversation -> seconds of its last turn
-- ARGV[1] conversation, ARGV[2] version it was read as, ARGV[3] JSON, ARGV[4] most conversations, ARGV[5] ttl in seconds
local known = redis.call('HGET', KEYS[1], ARGV[1])
local version = known and string.match(known, '^(%d+) ') or '0'
if version ~= ARGV[2] then
    return 0
end
local now, most, ttl = tonumber(redis.call('TIME')[1]), tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HSET', KEYS[1], ARGV[1], (tonumber(version) + 1) .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[2], now, ARGV[1])
-- include keep_newest
return 1
