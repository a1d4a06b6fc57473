-- Read a canvas in a few long strings: a client takes a string of 150 KB apart faster than some hundred short ones.
-- KEYS    as in canvas_enter.lua
-- Returns the mark of a complete canvas; ids and energy keys, greatest first; ids and last accesses; ids of the vectors,
--         their lengths, and all of them in one. Words are parted by blanks, which no id holds.
local vectors, mark = redis.call('HGETALL', KEYS[3]), ''
local ids, sizes, packed = {}, {}, {}
for i = 1, #vectors, 2 do
    if vectors[i] == '' then
        mark = vectors[i + 1]
    else
        ids[#ids + 1] = vectors[i]
        sizes[#sizes + 1] = #vectors[i + 1]
        packed[#packed + 1] = vectors[i + 1]
    end
end
return {
    mark,
    table.concat(redis.call('ZREVRANGE', KEYS[1], 0, -1, 'WITHSCORES'), ' '),
    table.concat(redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'), ' '),
    table.concat(ids, ' '),
    table.concat(sizes, ' '),
    table.concat(packed)
}
