-- The requests of an API key (GCRA): one number, the time at which its allowance is full again. Atomic, server clock.
-- KEYS[1] requests:{hash of the key's id}
-- ARGV[1] milliseconds that one request costs, ARGV[2] milliseconds of a whole allowance
-- Returns whether the request is admitted (1 or 0), and the milliseconds until the allowance is full again.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local full_at = tonumber(redis.call('GET', KEYS[1]) or 0)
-- The key expires when the allowance is full: a later time is corrupt.
if not (full_at > now and full_at - now <= redis.call('PTTL', KEYS[1])) then
    full_at = now
end
local new = full_at + tonumber(ARGV[1])
if new - now > tonumber(ARGV[2]) then
    return {0, string.format('%.0f', full_at - now)}
end
redis.call('SET', KEYS[1], string.format('%.0f', new), 'PX', math.ceil(new - now) + 1)
return {1, string.format('%.0f', new - now)}
