-- The rate limit of a scope (GCRA): one number, the time at which its allowance is full again. Atomic, server clock.
-- KEYS[1] rate:{ns}
-- ARGV[1] milliseconds that one write costs, ARGV[2] writes, ARGV[3] milliseconds of a whole allowance
-- Returns 0, or the milliseconds until a write is possible; then nothing was taken.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local full_at = tonumber(redis.call('GET', KEYS[1]) or 0)
-- The key expires when the allowance is full: a later time is corrupt.
if not (full_at > now and full_at - now <= redis.call('PTTL', KEYS[1])) then
    full_at = now
end
local over = full_at - now - tonumber(ARGV[3]) + tonumber(ARGV[1])
if over > 0 then
    return math.ceil(over)
end
full_at = full_at + ARGV[1] * ARGV[2]
redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil(full_at - now) + 1)
return 0
