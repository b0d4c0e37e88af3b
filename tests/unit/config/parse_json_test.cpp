// SPDX-License-Identifier: Apache-2.0
#include "core/config/field.h"
#include "tests/support/weft_test.h"

#include <QElapsedTimer>

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

    void what_programs_wrote_is_read_in_linear_time_and_the_last_of_equal_keys_counts() {
        std::string text = "{\"k0\":-1";
        for (int i = 0; i < 300'000; ++i) {
            text += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
        }
        QElapsedTimer clock;
        clock.start();
        const Json read = json_or_discarded(text + "}");
        // Minutes when each field is looked for among all before it.
        QVERIFY(clock.elapsed() < 10'000);
        QCOMPARE(read.size(), size_t{300'000});
        const auto& fields = read.get_ref<const Json::object_t&>();
        QCOMPARE(fields.front().first, std::string("k0"));
        QCOMPARE(fields.front().second, Json(0));
        QCOMPARE(fields.back().second, Json(299'999));
        QVERIFY(json_or_discarded("{\"a\":1").is_discarded());
        QVERIFY(json_or_discarded(std::string(65, '[') + std::string(65, ']')).is_discarded());
        QVERIFY_EXCEPTION_THROWN(json_of("[1"), Json::parse_error);
    }
};

WEFT_TEST(ParseJsonTest)
#include "parse_json_test.moc"
