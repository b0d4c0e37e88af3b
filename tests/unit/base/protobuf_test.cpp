// SPDX-License-Identifier: Apache-2.0
// Bytes from the encoding chapter of the protocol buffers documentation.
#include "core/base/protobuf.h"
#include "tests/support/weft_test.h"

using namespace weft;
using protobuf::Field, protobuf::Reader, protobuf::Writer;

namespace {

std::string bytes(std::initializer_list<int> list) {
    std::string out;
    for (const int byte : list) {
        out += static_cast<char>(byte);
    }
    return out;
}

} // namespace

class ProtobufTest : public QObject {
    Q_OBJECT

private slots:
    void what_the_documentation_writes_is_written() {
        Writer number;
        number.add_varint(1, 150);
        QCOMPARE(number.text(), bytes({0x08, 0x96, 0x01}));
        Writer text;
        text.add_bytes(2, "testing");
        QCOMPARE(text.text(), bytes({0x12, 0x07}) + "testing");
        Writer outer;
        outer.add(3, number);
        QCOMPARE(outer.text(), bytes({0x1a, 0x03, 0x08, 0x96, 0x01}));
        Writer negative; // as a varint of 64 bits
        negative.add_integer(1, -2);
        QCOMPARE(negative.text(),
                 bytes({0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
        Writer fixed; // 25.4 as IEEE 754 numbers, little-endian
        fixed.add_float(5, 25.4F);
        fixed.add_double(6, 25.4);
        QCOMPARE(fixed.text(), bytes({0x2d, 0x33, 0x33, 0xcb, 0x41, 0x31, 0x66, 0x66, 0x66, 0x66,
                                      0x66, 0x66, 0x39, 0x40}));
    }

    // Whoever expects another kind of it finds nothing, not what a field before it said.
    void a_field_holds_nothing_of_another_kind() {
        Writer message;
        message.add_varint(1, 150);
        message.add_bytes(2, "testing");
        message.add_varint(3, 7);
        Reader reader(message.text());
        Field field;
        QVERIFY(reader.next(field) && field.text.empty() && field.text.data() != nullptr);
        QVERIFY(reader.next(field));
        QCOMPARE(field.value, std::uint64_t{0});
        QVERIFY(reader.next(field) && field.text.empty() && field.text.data() != nullptr);
    }

    void fields_come_back_in_order() {
        Writer message;
        message.add_varint(1, 150);
        message.add_bytes(2, "testing");
        message.add_integer(16, -1);
        Reader reader(message.text());
        Field field;
        QVERIFY(reader.next(field) && field.is(1, protobuf::varint));
        QCOMPARE(field.value, std::uint64_t{150});
        QVERIFY(reader.next(field) && field.is(2, protobuf::bytes));
        QCOMPARE(field.text, std::string_view("testing"));
        QVERIFY(reader.next(field) && field.is(16, protobuf::varint));
        QCOMPARE(static_cast<std::int64_t>(field.value), std::int64_t{-1});
        QVERIFY(!reader.next(field));
        QVERIFY(reader.sound());
    }

    void what_is_no_message_is_told_data() {
        QTest::addColumn<QByteArray>("message");
        QTest::newRow("a text longer than the message") << QByteArray("\x12\x08testing");
        QTest::newRow("a number that does not end") << QByteArray("\x08\x96");
        QTest::newRow("a number of eleven bytes")
            << QByteArray("\x08") + QByteArray(11, char(0x80));
        QTest::newRow("half of a fixed number") << QByteArray("\x2d\x33\x33");
        QTest::newRow("a group") << QByteArray("\x0b\x0c");
    }
    void what_is_no_message_is_told() {
        QFETCH(QByteArray, message);
        Reader reader({message.data(), static_cast<std::size_t>(message.size())});
        Field field;
        while (reader.next(field)) {
        }
        QVERIFY(!reader.sound());
    }
};

WEFT_TEST(ProtobufTest)
#include "protobuf_test.moc"
