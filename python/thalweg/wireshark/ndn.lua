-- Wireshark shows NDN's packets over UDP with this: names, nonces, lifetimes, content, and what the link protocol says.
--
--     wireshark -X lua_script:ndn.lua capture.pcapng
--     tshark -X lua_script:ndn.lua -r capture.pcapng -Y ndn.mark

local ndn = Proto("ndn", "Named Data Networking")

local fields = {
    packet = ProtoField.string("ndn.packet", "Packet"),
    name = ProtoField.string("ndn.name", "Name"),
    nonce = ProtoField.uint32("ndn.nonce", "Nonce", base.HEX),
    lifetime = ProtoField.uint64("ndn.lifetime", "Lifetime (ms)"),
    hop_limit = ProtoField.uint8("ndn.hop_limit", "Hop limit"),
    can_be_prefix = ProtoField.bool("ndn.can_be_prefix", "Can be prefix"),
    must_be_fresh = ProtoField.bool("ndn.must_be_fresh", "Must be fresh"),
    freshness = ProtoField.uint64("ndn.freshness", "Freshness (ms)"),
    content = ProtoField.bytes("ndn.content", "Content"),
    content_length = ProtoField.uint32("ndn.content_length", "Content length"),
    signature = ProtoField.uint64("ndn.signature", "Signature type"),
    sequence = ProtoField.uint64("ndn.sequence", "Link sequence number"),
    index = ProtoField.uint64("ndn.fragment_index", "Fragment"),
    count = ProtoField.uint64("ndn.fragment_count", "Fragments"),
    token = ProtoField.bytes("ndn.token", "PIT token"),
    reason = ProtoField.uint64("ndn.nack", "Refused because", base.DEC,
        { [0] = "no reason", [50] = "congestion", [100] = "duplicate", [150] = "no route" }),
    mark = ProtoField.uint64("ndn.mark", "Congestion mark"),
    label = ProtoField.bytes("ndn.label", "Label"),
}
for _, field in pairs(fields) do
    table.insert(ndn.fields, field)
end

-- A number of 1, 3, 5 or 9 bytes at `at`, and where it ends; nil where the bytes end before.
local function number(buffer, at)
    if at >= buffer:len() then return nil end
    local first = buffer(at, 1):uint()
    if first < 253 then return first, at + 1 end
    local size = first == 253 and 2 or first == 254 and 4 or 8
    if at + 1 + size > buffer:len() then return nil end
    return size == 8 and buffer(at + 1, 8):uint64():tonumber() or buffer(at + 1, size):uint(), at + 1 + size
end

-- Calls `each(kind, value)` for the elements of `buffer`; value is nil where it is empty. False where the bytes end too early.
local function elements(buffer, each)
    local at = 0
    while at < buffer:len() do
        local kind, behind = number(buffer, at)
        if not kind then return false end
        local length, start = number(buffer, behind)
        if not length then return false end
        local there = math.min(length, buffer:len() - start)
        each(kind, there > 0 and buffer(start, there) or nil)
        if there < length then return false end
        at = start + length
    end
    return true
end

local function value(range)
    local length = range and range:len() or 0
    return (length == 1 or length == 2 or length == 4 or length == 8) and range:uint64() or nil
end

local numbered = { [50] = "seg", [52] = "off", [54] = "v", [56] = "t", [58] = "seq" }

local function name_of(range)
    local text = ""
    if range then
        elements(range:tvb(), function(kind, part)
            local count = numbered[kind] and value(part)
            if count then
                text = text .. "/" .. numbered[kind] .. "=" .. tostring(count)
                return
            end
            text = text .. "/" .. (kind ~= 8 and kind .. "=" or "")
            for i = 0, part and part:len() - 1 or -1 do
                local byte = part(i, 1):uint()
                local char = string.char(byte)
                text = text .. (char:match("[%w%-%._~]") and char or string.format("%%%02X", byte))
            end
        end)
    end
    return text == "" and "/" or text
end

local interest, data, link

local function add_number(tree, field, range)
    local count = value(range)
    if count then tree:add(field, range, count) end
end

function interest(buffer, tree, said)
    said.packet = "Interest"
    elements(buffer, function(kind, range)
        if kind == 0x07 then
            said.name = name_of(range)
            tree:add(fields.name, range or buffer(0, 0), said.name)
        elseif kind == 0x21 then tree:add(fields.can_be_prefix, true)
        elseif kind == 0x12 then tree:add(fields.must_be_fresh, true)
        elseif kind == 0x0a and range and range:len() == 4 then tree:add(fields.nonce, range)
        elseif kind == 0x0c then add_number(tree, fields.lifetime, range)
        elseif kind == 0x22 and range and range:len() == 1 then tree:add(fields.hop_limit, range)
        end
    end)
end

function data(buffer, tree, said)
    said.packet = "Data"
    elements(buffer, function(kind, range)
        if kind == 0x07 then
            said.name = name_of(range)
            tree:add(fields.name, range or buffer(0, 0), said.name)
        elseif kind == 0x14 and range then
            elements(range:tvb(), function(inner, part)
                if inner == 0x19 then add_number(tree, fields.freshness, part) end
            end)
        elseif kind == 0x15 then
            tree:add(fields.content_length, range and range:len() or 0)
            if range then tree:add(fields.content, range) end
        elseif kind == 0x16 and range then
            elements(range:tvb(), function(inner, part)
                if inner == 0x1b then add_number(tree, fields.signature, part) end
            end)
        end
    end)
end

local function any(buffer, tree, said)
    return elements(buffer, function(kind, range)
        if not range then return end
        if kind == 0x05 then interest(range:tvb(), tree, said)
        elseif kind == 0x06 then data(range:tvb(), tree, said)
        elseif kind == 0x64 then link(range:tvb(), tree, said)
        end
    end)
end

function link(buffer, tree, said)
    elements(buffer, function(kind, range)
        if kind == 0x51 then add_number(tree, fields.sequence, range)
        elseif kind == 0x52 then
            said.piece = value(range)
            add_number(tree, fields.index, range)
        elseif kind == 0x53 then
            said.pieces = value(range)
            add_number(tree, fields.count, range)
        elseif kind == 0x62 and range then tree:add(fields.token, range)
        elseif kind == 0x320 then
            said.refused = true
            if not range then
                tree:add(fields.reason, UInt64(0))
            else
                elements(range:tvb(), function(inner, part)
                    if inner == 0x321 then add_number(tree, fields.reason, part) end
                end)
            end
        elseif kind == 0x340 then
            said.marked = true
            add_number(tree, fields.mark, range)
        elseif kind == 0x3bc and range then tree:add(fields.label, range)
        elseif kind == 0x50 and range then
            if said.pieces and said.pieces > UInt64(1) then
                said.packet = "Piece"
            else
                any(range:tvb(), tree, said)
            end
        end
    end)
end

function ndn.dissector(buffer, info, root)
    if buffer:len() == 0 then return 0 end
    local first = buffer(0, 1):uint()
    if first ~= 0x05 and first ~= 0x06 and first ~= 0x64 then return 0 end
    local tree, said = root:add(ndn, buffer()), {}
    local complete = any(buffer, tree, said)
    local what = said.refused and "Nack" or said.packet or "Link"
    tree:add(fields.packet, what):set_generated()
    if not complete then tree:add_expert_info(PI_MALFORMED, PI_WARN, "it ends too early") end
    local piece = said.piece and string.format(" %s of %s", tostring(said.piece + UInt64(1)), tostring(said.pieces)) or ""
    info.cols.protocol = "NDN"
    info.cols.info = what .. piece .. " " .. (said.name or "") .. (said.marked and " marked" or "")
    return buffer:len()
end

DissectorTable.get("udp.port"):add(6363, ndn)
