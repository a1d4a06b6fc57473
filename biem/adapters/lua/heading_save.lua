-- Where a conversation is going; of two that save at once the later one counts.
-- KEYS[1] hash heading:{ns}       conversation (hashed) -> JSON
-- KEYS[2] sorted set heading:{ns}:used  conversation -> seconds of its last route
-- ARGV[1] conversation, ARGV[2] JSON, ARGV[3] most conversations, ARGV[4] ttl in seconds
local now, ttl = tonumber(redis.call('TIME')[1]), tonumber(ARGV[4])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[1])
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. (now - ttl), 'LIMIT', 0, 100)
for i = 1, #gone do
    redis.call('HDEL', KEYS[1], gone[i])
    redis.call('ZREM', KEYS[2], gone[i])
end
local surplus = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[3])
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
