-- What a conversation has on its mind, replaced only if nobody else did since it was read.
-- KEYS[1] hash mind:{ns}       conversation (hashed) -> version, space, JSON
-- KEYS[2] sorted set mind:{ns}:used  conversation -> seconds of its last turn
-- ARGV[1] conversation, ARGV[2] version it was read as, ARGV[3] JSON, ARGV[4] most conversations, ARGV[5] ttl in seconds
local known = redis.call('HGET', KEYS[1], ARGV[1])
local version = known and string.match(known, '^(%d+) ') or '0'
if version ~= ARGV[2] then
    return 0
end
local now, ttl = tonumber(redis.call('TIME')[1]), tonumber(ARGV[5])
redis.call('HSET', KEYS[1], ARGV[1], (tonumber(version) + 1) .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[2], now, ARGV[1])
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. (now - ttl), 'LIMIT', 0, 100)
for i = 1, #gone do
    redis.call('HDEL', KEYS[1], gone[i])
    redis.call('ZREM', KEYS[2], gone[i])
end
local surplus = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if surplus > 0 then -- the greater member goes last among equals, so keep the one just written
    for _, oldest in ipairs(redis.call('ZRANGE', KEYS[2], 0, math.min(surplus, 100))) do
        if surplus > 0 and oldest ~= ARGV[1] then
            redis.call('HDEL', KEYS[1], oldest)
            redis.call('ZREM', KEYS[2], oldest)
            surplus = surplus - 1
        end
    end
end
redis.call('EXPIRE', KEYS[1], math.max(1, math.ceil(ttl)))
redis.call('EXPIRE', KEYS[2], math.max(1, math.ceil(ttl)))
return 1
