-- Save the inertia of a conversation; of concurrent saves the last one wins.
-- KEYS[1] hash heading:{ns}       conversation (hashed) -> JSON
-- KEYS[2] sorted set heading:{ns}:used  conversation -> seconds of its last route
-- ARGV[1] conversation, ARGV[2] JSON, ARGV[3] most conversations, ARGV[4] ttl in seconds
local now, most, ttl = tonumber(redis.call('TIME')[1]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[1])
-- include keep_newest
return 1
