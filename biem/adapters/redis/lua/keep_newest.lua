-- Included: keeps, with ARGV[1], the `most` conversations used last within `ttl` seconds.
local orphans = redis.call('HLEN', KEYS[1]) - redis.call('ZCARD', KEYS[2]) -- entries without a time of use
if orphans > 100 then -- searching for them would block the server
    redis.call('UNLINK', KEYS[1], KEYS[2])
elseif orphans > 0 then
    for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
        if not redis.call('ZSCORE', KEYS[2], name) then
            redis.call('HDEL', KEYS[1], name)
        end
    end
end
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. (now - ttl), 'LIMIT', 0, 100)
for i = 1, #gone do
    redis.call('HDEL', KEYS[1], gone[i])
    redis.call('ZREM', KEYS[2], gone[i])
end
local surplus = redis.call('ZCARD', KEYS[2]) - most
if surplus > 0 then -- ties are sorted by member: keep the one just written
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
