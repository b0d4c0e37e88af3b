// SPDX-License-Identifier: Apache-2.0
// Protocol buffers on the wire, without a schema: fields by their numbers, read as hostile input
// and written. Source: the encoding chapter of the protocol buffers documentation. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::protobuf {

enum Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message: a number, or the bytes of a fixed or length-delimited value; the other
/// of the two is 0 or empty.
struct Field {
    std::uint64_t number = 0;
    Wire wire = varint;
    std::uint64_t value = 0;
    std::string_view text;

    bool is(std::uint64_t field, Wire type) const { return number == field && wire == type; }
};

/// The fields of a message one after the other.
class Reader {
public:
    /// `message` must outlive the reader and the fields' texts.
    explicit Reader(std::string_view message) : rest_(message) {}

    /// False at the end, and where the bytes are no field.
    bool next(Field& field);
    /// Whether all bytes so far were fields.
    bool sound() const { return sound_; }

private:
    bool fail();
    bool take(std::uint64_t length, std::string_view& into);
    bool take_varint(std::uint64_t& value);

    std::string_view rest_;
    bool sound_ = true;
};

/// A message that grows field by field.
class Writer {
public:
    void add_varint(unsigned field, std::uint64_t value);
    /// A negative number takes ten bytes, as of int32 and int64 fields.
    void add_integer(unsigned field, std::int64_t value) {
        add_varint(field, static_cast<std::uint64_t>(value));
    }
    void add_float(unsigned field, float value);
    void add_double(unsigned field, double value);
    void add_bytes(unsigned field, std::string_view text);
    void add(unsigned field, const Writer& message) { add_bytes(field, message.text()); }
    /// Announces a length-delimited field whose `length` bytes somebody else writes.
    void announce(unsigned field, std::uint64_t length);
    /// The fields of another message as further ones of this.
    void append(const Writer& message) { text_ += message.text(); }

    const std::string& text() const { return text_; }

private:
    void put_varint(std::uint64_t value);
    void put_key(unsigned field, Wire wire);

    std::string text_;
};

} // namespace weft::protobuf
