-- Add memories to a canvas and return those that are out. Atomic, so that no two writers evict for the same slot.
-- KEYS[1] zset canvas:{ns}               id by energy key, the time-invariant order
-- KEYS[2] zset canvas:{ns}:accessed      id by last access, seconds of the epoch
-- KEYS[3] hash canvas:{ns}:vectors       id -> place of its vector, from 0; the empty id marks a complete canvas
-- KEYS[4] hash canvas:{ns}:conversations id -> conversation
-- KEYS[5] string canvas:{ns}:packed      see canvas_places.lua; reading one long string is several times
--                                        cheaper than some hundred fields of a hash
-- ARGV    model digest, limit, least energy key, least access, TTL in ms after the last write, 1 for a complete canvas,
--         then id, energy key, last access, conversation, vector, …
local limit, ttl = tonumber(ARGV[2]), ARGV[5]
local least_key, least_access = tonumber(ARGV[3]), tonumber(ARGV[4])
local out = {}
-- include canvas_places

for i, size in ipairs({redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]), redis.call('HLEN', KEYS[3])}) do
    if size > 10 * limit + 1 then
        return redis.error_reply('ERR ' .. KEYS[i] .. ' holds too many memories')
    end
end

local function evict(id)
    drop(id)
    out[#out + 1] = id
end

-- Vectors of another model are not comparable, and places without vectors are useless: then the canvas is rebuilt.
local there = redis.call('GETRANGE', KEYS[5], 0, 7)
local given = ARGV[11] and #ARGV[11] or size
if there ~= digest or given ~= size then
    local held = redis.call('HLEN', KEYS[3]) - redis.call('HEXISTS', KEYS[3], '')
    local foreign = there ~= '' and there ~= digest
    redis.call('DEL', unpack(KEYS, (held > 0 or foreign) and 1 or 5))
    size = given
    redis.call('SETRANGE', KEYS[5], 0, digest .. string.format('%08d', size))
end
local taken = {}
for _, place in ipairs(redis.call('HVALS', KEYS[3])) do
    taken[place] = true
end

local function keep(id, vector)
    local place = redis.call('HGET', KEYS[3], id)
    local number = place and tonumber(place)
    if not number or number < 0 or number >= 10 * limit or number % 1 ~= 0 then -- not a place assigned by this script
        local free = 0
        while taken[tostring(free)] do
            free = free + 1
        end
        place = tostring(free)
        taken[place] = true
        redis.call('HSET', KEYS[3], id, place)
    end
    redis.call('SETRANGE', KEYS[5], head + tonumber(place) * size, vector)
end

-- The entry to evict for a memory of this conversation: see the port's contract.
local function victim(conversation)
    local pairs_of = redis.call('HGETALL', KEYS[4])
    local conversation_of, size, conversations, largest = {}, {}, 0, 0
    for i = 1, #pairs_of, 2 do
        local name = pairs_of[i + 1]
        conversation_of[pairs_of[i]] = name
        if not size[name] then
            size[name] = 0
            conversations = conversations + 1
        end
        size[name] = size[name] + 1
        largest = math.max(largest, size[name])
    end
    local share = math.max(1, math.floor(limit / conversations))
    local own = (size[conversation] or 0) > share -- the new entry is counted already
    local weakest = redis.call('ZRANGE', KEYS[1], 0, -1)
    for i = 1, #weakest do
        local name = conversation_of[weakest[i]]
        if name == nil or (own and name == conversation) or (not own and size[name] == largest) then
            return weakest[i]
        end
    end
end

if ARGV[6] == '1' then
    local held = {}
    for _, ids in ipairs({
        redis.call('HKEYS', KEYS[3]), redis.call('ZRANGE', KEYS[1], 0, -1), redis.call('HKEYS', KEYS[4])
    }) do
        for i = 1, #ids do
            held[ids[i]] = true
        end
    end
    for id in pairs(held) do -- incomplete entries
        if id ~= '' and not (redis.call('HGET', KEYS[3], id)
            and redis.call('ZSCORE', KEYS[1], id) and redis.call('ZSCORE', KEYS[2], id)) then
            drop(id)
        end
    end
    redis.call('HSET', KEYS[3], '', digest)
end
local weak = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
for i = 1, #weak do
    evict(weak[i])
end
local idle = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[4])
for i = 1, #idle do
    evict(idle[i])
end
for i = 7, #ARGV, 5 do
    local id, conversation = ARGV[i], ARGV[i + 3]
    if tonumber(ARGV[i + 1]) < least_key or tonumber(ARGV[i + 2]) < least_access then
        out[#out + 1] = id
    else
        redis.call('ZADD', KEYS[1], ARGV[i + 1], id)
        redis.call('ZADD', KEYS[2], 'GT', ARGV[i + 2], id)
        keep(id, ARGV[i + 4])
        redis.call('HSET', KEYS[4], id, conversation)
        while redis.call('ZCARD', KEYS[1]) > limit do
            evict(victim(conversation))
        end
    end
end
for i = 1, 5 do
    redis.call('PEXPIRE', KEYS[i], ttl)
end
local gone, said = {}, {}
for i = 1, #out do -- an evicted entry may have been added again in the same call
    if not said[out[i]] and not redis.call('ZSCORE', KEYS[1], out[i]) then
        said[out[i]] = true
        gone[#gone + 1] = out[i]
    end
end
return gone
