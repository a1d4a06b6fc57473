-- Part of other scripts: the places of a canvas' vectors, one after another in the string KEYS[5] behind a head of 16
-- bytes: the model's digest, and how many bytes each vector has.
local head = 16
local digest = ARGV[1]
local size = tonumber(redis.call('GETRANGE', KEYS[5], 8, 15)) or 0

local function drop(id)
    local place = tonumber(redis.call('HGET', KEYS[3], id) or nil)
    if place and head + (place + 1) * size <= redis.call('STRLEN', KEYS[5]) then -- overwrite erased data
        redis.call('SETRANGE', KEYS[5], head + place * size, string.rep('\0', size))
    end
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
end
