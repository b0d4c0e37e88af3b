// SPDX-License-Identifier: Apache-2.0
#include "core/base/protobuf.h"

#include <cstring>

namespace weft::protobuf {

bool Reader::next(Field& field) {
    std::uint64_t key = 0;
    if (rest_.empty() || !take_varint(key)) {
        return false;
    }
    field = {.number = key >> 3, .wire = static_cast<Wire>(key & 7), .text = ""};
    switch (field.wire) {
    case varint: return take_varint(field.value);
    case fixed64: return take(8, field.text);
    case fixed32: return take(4, field.text);
    case bytes: {
        std::uint64_t length = 0;
        return take_varint(length) && take(length, field.text);
    }
    }
    return fail(); // groups, which nobody writes
}

bool Reader::fail() {
    sound_ = false;
    rest_ = {};
    return false;
}

bool Reader::take(std::uint64_t length, std::string_view& into) {
    if (length > rest_.size()) {
        return fail();
    }
    into = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
}

bool Reader::take_varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
        const auto byte = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return fail();
}

void Writer::put_varint(std::uint64_t value) {
    while (value >= 0x80) {
        text_ += static_cast<char>(value | 0x80);
        value >>= 7;
    }
    text_ += static_cast<char>(value);
}

void Writer::put_key(unsigned field, Wire wire) {
    put_varint(std::uint64_t{field} << 3 | wire);
}

void Writer::add_varint(unsigned field, std::uint64_t value) {
    put_key(field, varint);
    put_varint(value);
}

void Writer::add_float(unsigned field, float value) {
    put_key(field, fixed32);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    text_.append(raw, sizeof raw);
}

void Writer::add_double(unsigned field, double value) {
    put_key(field, fixed64);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    text_.append(raw, sizeof raw);
}

void Writer::add_bytes(unsigned field, std::string_view text) {
    announce(field, text.size());
    text_ += text;
}

void Writer::announce(unsigned field, std::uint64_t length) {
    put_key(field, bytes);
    put_varint(length);
}

} // namespace weft::protobuf
