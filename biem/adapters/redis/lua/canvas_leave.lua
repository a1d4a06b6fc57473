-- Remove memories from a canvas, with their vectors.
-- KEYS    as in canvas_enter.lua
-- ARGV    model digest, then ids
-- include canvas_places
for i = 2, #ARGV do
    drop(ARGV[i])
end
return 1
