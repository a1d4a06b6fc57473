-- Read a canvas without its vectors, as a few long strings: clients parse one faster than some hundred short ones.
-- KEYS    as in canvas_enter.lua
-- ARGV[1] maximum of memories: a canvas with more is corrupt, and reading it would block the server
-- Returns the mark of a complete canvas; ids and energy keys, greatest first; ids and last accesses; ids and the places
--         of their vectors. Values are separated by blanks, which no id contains.
for i, size in ipairs({redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]), redis.call('HLEN', KEYS[3])}) do
    if size > tonumber(ARGV[1]) + 1 then
        return redis.error_reply('ERR ' .. KEYS[i] .. ' holds too many memories')
    end
end
local known, mark = redis.call('HGETALL', KEYS[3]), ''
local places = {}
for i = 1, #known, 2 do
    if known[i] == '' then
        mark = known[i + 1]
    else
        places[#places + 1] = known[i]
        places[#places + 1] = known[i + 1]
    end
end
return {
    mark,
    table.concat(redis.call('ZREVRANGE', KEYS[1], 0, -1, 'WITHSCORES'), ' '),
    table.concat(redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'), ' '),
    table.concat(places, ' ')
}
