// SPDX-License-Identifier: Apache-2.0
#include "core/config/field.h"
#include "tests/support/weft_test.h"

using namespace weft::config;

class ParseJsonTest : public QObject {
    Q_OBJECT
private slots:
    void documents_come_through_unchanged_and_in_order() {
        const char* text = R"({"b":[1,-2,3.5,true,null,"\u00e4\n"],"a":{"z":{},"y":[]},"c":1e3})";
        const Checked parsed = parse_json(text, "x.json");
        QVERIFY(parsed.ok());
        QCOMPARE(parsed.value.dump(), json_of(text).dump());
    }

    void comments_and_a_byte_order_mark_are_allowed() {
        const Checked parsed = parse_json("\xEF\xBB\xBF{ // one\n \"a\": /* two */ 1\n}", "x.json");
        QVERIFY(parsed.ok());
        QCOMPARE(parsed.value.dump(), std::string(R"({"a":1})"));
    }

    void sixty_four_levels_fit() {
        const std::string text = std::string(64, '[') + std::string(64, ']');
        QVERIFY(parse_json(text, "x.json").ok());
    }

    void big_integers_keep_every_digit() {
        const Checked parsed = parse_json("[9223372036854775807, -9223372036854775808]", "x.json");
        QVERIFY(parsed.ok());
        QCOMPARE(parsed.value.dump(), std::string("[9223372036854775807,-9223372036854775808]"));
    }

    void a_wide_object_is_read_in_linear_time() {
        std::string text = "{";
        for (int i = 0; i < 100'000; ++i) {
            text += (i == 0 ? "" : ",") + std::string("\"k") + std::to_string(i) + "\":0";
        }
        const Checked parsed = parse_json(text + "}", "x.json");
        QVERIFY(parsed.ok());
        QCOMPARE(parsed.value.size(), size_t{100'000});
    }
};

WEFT_TEST(ParseJsonTest)
#include "parse_json_test.moc"
