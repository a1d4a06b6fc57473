-- Put memories into a canvas and say which are out. Atomic, so that no two writers evict for the same place.
-- KEYS[1] zset canvas:{ns}               id by energy key, the time-invariant order
-- KEYS[2] zset canvas:{ns}:accessed      id by last access, seconds of the epoch
-- KEYS[3] hash canvas:{ns}:vectors       id -> model digest, vector; the empty id marks a canvas that is complete
-- KEYS[4] hash canvas:{ns}:conversations id -> conversation
-- ARGV    model digest, limit, least energy key, least access, ms to live when nobody writes, 1 for a complete canvas,
--         then id, energy key, last access, conversation, digest and vector, …
local digest, limit, ttl = ARGV[1], tonumber(ARGV[2]), ARGV[5]
local least_key, least_access = tonumber(ARGV[3]), tonumber(ARGV[4])
local out = {}

local function drop(id)
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
end

local function evict(id)
    drop(id)
    out[#out + 1] = id
end

-- Who has to make room for a memory of this conversation: see the port's promise.
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
    local own = (size[conversation] or 0) > share -- the newcomer is counted already
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
    for id in pairs(held) do -- what is there in part only, and vectors of another model, which do not compare with ours
        local vector = redis.call('HGET', KEYS[3], id)
        if id ~= '' and not (vector and string.sub(vector, 1, #digest) == digest
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
        redis.call('HSET', KEYS[3], id, ARGV[i + 4])
        redis.call('HSET', KEYS[4], id, conversation)
        while redis.call('ZCARD', KEYS[1]) > limit do
            evict(victim(conversation))
        end
    end
end
for i = 1, 4 do
    redis.call('PEXPIRE', KEYS[i], ttl)
end
local gone, said = {}, {}
for i = 1, #out do -- one that was evicted may have come back with a later entry of the same call
    if not said[out[i]] and not redis.call('ZSCORE', KEYS[1], out[i]) then
        said[out[i]] = true
        gone[#gone + 1] = out[i]
    end
end
return gone
