// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/config/field.h"
#include "tests/support/weft_test.h"

#include <QElapsedTimer>

using namespace weft::config;

namespace {

std::string first_problem(std::string_view text) {
    const Checked parsed = parse_json(text, "run.json");
    if (parsed.ok() || !parsed.value.is_null()) {
        return {};
    }
    return to_text(parsed.diagnostics.front());
}

} // namespace

class HostileJsonTest : public QObject {
    Q_OBJECT
private slots:
    void syntax_errors_name_line_and_column_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("place");
        QTest::addColumn<QByteArray>("words");
        const auto row = [](const char* name, const char* text, const char* place,
                            const char* words) {
            QTest::newRow(name) << QByteArray(text) << QByteArray(place) << QByteArray(words);
        };
        row("missing value", "{\"a\": }", "(line 1, column 7 of run.json)", "unexpected '}'");
        row("second line", "{\n  \"a\": tru\n}", "line 2,", "invalid literal");
        row("trailing comma", "{\"a\": 1,}", "(line 1, column 9 of run.json)",
            "Remove the comma before it.");
        row("nan", "{\"a\": NaN}", "(line 1, column 7 of run.json)", "no NaN and no infinity");
        row("infinity", "[Infinity]", "(line 1, column 2 of run.json)", "no NaN and no infinity");
        row("minus infinity", "[-Infinity]", "(line 1, column 3 of run.json)",
            "no NaN and no infinity");
        row("cut short", "{\"a\": [1, 2", "of run.json)", "ends too early");
        row("empty", "", "(line 1, column 1 of run.json)", "ends too early");
        row("number too large", "{\"a\": 1e400}", "line 1,", "1e400");
        row("invalid utf-8", "{\"a\": \"\xff\"}", "(line 1, column 8 of run.json)", "UTF-8");
        row("text after the end", "{} {}", "(line 1, column 4 of run.json)", "unexpected '{'");
        row("columns are characters", "{\"\u00e4\u00e4\": }", "(line 1, column 8 of run.json)",
            "unexpected '}'");
    }

    void syntax_errors_name_line_and_column() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, place);
        QFETCH(QByteArray, words);
        const std::string found = first_problem(text.toStdString());
        QVERIFY2(found.find(place.toStdString()) != std::string::npos, found.c_str());
        QVERIFY2(found.find(words.toStdString()) != std::string::npos, found.c_str());
    }

    void every_duplicate_key_is_found_with_its_place() {
        const Checked parsed = parse_json(
            "{\"a\": 1,\n \"b\": {\"x\": 1, \"x\": 2},\n \"a\": [{\"y\":1,\"y\":1}]}", "run.json");
        QCOMPARE(parsed.diagnostics.size(), size_t{3});
        QCOMPARE(parsed.diagnostics[0].pointer, std::string("/b/x"));
        QCOMPARE(parsed.diagnostics[1].pointer, std::string("/a"));
        QCOMPARE(parsed.diagnostics[2].pointer, std::string("/a/0/y"));
        QVERIFY(parsed.diagnostics[1].message.find("line 3, column 4") != std::string::npos);
        QVERIFY(parsed.value.is_null());
    }

    void deep_nesting_is_refused_at_once() {
        for (const char* open : {"[", "{\"a\":"}) {
            std::string text;
            for (int i = 0; i < 10'000; ++i) {
                text += open;
            }
            const std::string found = first_problem(text);
            QVERIFY2(found.find("nested deeper than 64") != std::string::npos, found.c_str());
        }
    }

    void a_huge_text_is_not_repeated_in_the_message() {
        const std::string huge(10'000'000, 'x');
        const Checked parsed = parse_json("{\"a\": \"" + huge + "\"}", "run.json");
        QVERIFY(parsed.ok());
        const Checked checked = check_fields(parsed.value, {integer_field("a", 1, "A number.")});
        QCOMPARE(checked.diagnostics.size(), size_t{1});
        QVERIFY(to_text(checked.diagnostics.front()).size() < 300);
        QVERIFY(first_problem("[\"" + huge).size() < 600);
    }

    void a_huge_unknown_key_is_not_repeated_in_the_message() {
        const Json document = {{std::string(1'000'000, 'k'), 1}};
        const Checked checked = check_fields(document, {integer_field("a", 1, "A number.")});
        QCOMPARE(checked.diagnostics.size(), size_t{1});
        QVERIFY(to_text(checked.diagnostics.front()).size() < 300);
    }

    void equal_keys_are_listed_up_to_twenty_and_counted() {
        std::string text = "{\"a\":0";
        for (int i = 0; i < 160'000; ++i) {
            text += ",\"a\":0";
        }
        text += "}";
        QElapsedTimer clock;
        clock.start();
        const Checked parsed = parse_json(text, "run.json", {.keys = 200'000});
        // 40 s when every finding walks the text from its start, some 0.1 s when twenty do.
        QVERIFY(clock.elapsed() < 10'000);
        QCOMPARE(parsed.diagnostics.size(), size_t{21});
        QVERIFY(parsed.diagnostics[19].message.find("given twice") != std::string::npos);
        QCOMPARE(parsed.diagnostics[20].message, std::string("159980 more fields are given twice"));
    }

    void unknown_fields_are_listed_up_to_twenty_and_counted() {
        Json document = Json::object();
        auto& fields = document.get_ref<Json::object_t&>();
        for (int i = 0; i < 50'000; ++i) {
            fields.emplace_back("k" + std::to_string(i), i);
        }
        const Checked checked = check_fields(document, {integer_field("a", 1, "A number.")});
        QCOMPARE(checked.diagnostics.size(), size_t{21});
        QCOMPARE(checked.diagnostics[19].pointer, std::string("/k19"));
        QCOMPARE(checked.diagnostics[20].message, std::string("49980 more fields are unknown"));
    }

    void problems_are_listed_up_to_two_hundred_and_counted() {
        const FieldTable table = {
            list_field("a", Json::array(), integer_field("item", 0, "A number."), "Numbers.")};
        const Json document = {{"a", Json(std::vector<std::string>(5'000, "x"))}};
        const Checked checked = check_fields(document, table);
        QCOMPARE(checked.diagnostics.size(), size_t{201});
        QCOMPARE(checked.diagnostics[199].pointer, std::string("/a/199"));
        QCOMPARE(checked.diagnostics[200].message, std::string("4800 more problems"));
        QVERIFY(!checked.ok());
    }

    void texts_beyond_the_limits_are_refused_with_the_limit_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("size") << QByteArray("[" + QByteArray(60, ' ') + "]")
                              << QByteArray("has 62 B; at most 50 B of run.json are read");
        QTest::newRow("keys") << QByteArray(R"({"a": {"b": 1}, "c": [{"d": 1}]})")
                              << QByteArray("more than 3 fields (line 1, column");
        QTest::newRow("name") << QByteArray(R"({"abcdefghi": 1})")
                              << QByteArray("has 9 bytes; at most 8 are read (line 1, column");
    }

    void texts_beyond_the_limits_are_refused_with_the_limit() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, words);
        const Checked parsed =
            parse_json(text.toStdString(), "run.json", {.bytes = 50, .keys = 3, .key_bytes = 8});
        QCOMPARE(parsed.diagnostics.size(), size_t{1});
        const std::string found = to_text(parsed.diagnostics.front());
        QVERIFY2(found.find(words.toStdString()) != std::string::npos, found.c_str());
        QVERIFY(parsed.value.is_null());
        QVERIFY(parse_json(R"({"a": {"b": 1}, "abcdefgh": []})", "run.json",
                           {.bytes = 50, .keys = 3, .key_bytes = 8})
                    .ok());
    }

    // No single byte of change in a document may crash the reader or give a value that cannot be
    // written out again.
    void every_one_byte_change_is_read_or_refused() {
        const std::string text =
            R"({"a": [1, -2.5e3, "t\u00e4xt"], "b": {"c": null, "d": true}, "e": "\n"})";
        int refused = 0;
        for (size_t at = 0; at < text.size(); ++at) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string changed = text;
                changed[at] = static_cast<char>(byte);
                const Checked parsed = parse_json(changed, "run.json");
                if (parsed.ok()) {
                    QVERIFY(parse_json(parsed.value.dump(), "again").value == parsed.value);
                } else {
                    QVERIFY(weft::is_utf8(to_text(parsed.diagnostics.front())));
                    ++refused;
                }
            }
        }
        QVERIFY(refused > 0);
    }
};

WEFT_TEST(HostileJsonTest)
#include "hostile_json_test.moc"
