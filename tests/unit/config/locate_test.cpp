// SPDX-License-Identifier: Apache-2.0
#include "core/config/field.h"
#include "core/config/locate.h"
#include "tests/support/weft_test.h"

using namespace weft::config;

namespace {

constexpr std::string_view kText = R"({
  // what it learns from
  "data": {"path": "a/b", "sizes": [1, 22, {"deep": null}]},
  "naïve": -1.5e3, /* "seed": 9 */ "seed": 3,
  "a/b~c": true
})";

std::string_view at(std::string_view pointer, std::string_view text = kText) {
    const Location place = locate(text, pointer);
    return text.substr(place.begin, place.end - place.begin);
}

} // namespace

class LocateTest : public QObject {
    Q_OBJECT

private slots:
    void a_plain_field_is_found_with_its_value() {
        QCOMPARE(at("/seed"), std::string_view(R"("seed": 3)"));
        QCOMPARE(at("/data/path"), std::string_view(R"("path": "a/b")"));
        QCOMPARE(at("/na\xc3\xafve"), std::string_view("\"na\xc3\xafve\": -1.5e3"));
    }

    void a_list_or_object_is_found_by_its_key() {
        QCOMPARE(at("/data"), std::string_view(R"("data")"));
        QCOMPARE(at("/data/sizes"), std::string_view(R"("sizes")"));
    }

    void items_of_lists_go_by_number() {
        QCOMPARE(at("/data/sizes/1"), std::string_view("22"));
        QCOMPARE(at("/data/sizes/2/deep"), std::string_view(R"("deep": null)"));
    }

    void escaped_names_are_found() {
        QCOMPARE(at("/a~1b~0c"), std::string_view(R"("a/b~c": true)"));
    }

    void a_missing_field_leads_to_the_nearest_one_around_it() {
        QCOMPARE(at("/data/train/type"), std::string_view(R"("data")"));
        QCOMPARE(at("/data/sizes/7"), std::string_view(R"("sizes")"));
        QCOMPARE(locate(kText, "/nothing").begin, std::size_t{0});
    }

    void a_name_that_only_begins_alike_is_another_field() {
        QCOMPARE(at("/seed", R"({"seedling": 1, "seed": 2})"), std::string_view(R"("seed": 2)"));
        QCOMPARE(at("/see", R"({"x": {"seed": 1}})"), std::string_view());
    }

    void lines_and_columns_count_from_one_in_characters() {
        const Location seed = locate(kText, "/seed");
        QCOMPARE(seed.line, std::size_t{4});
        QCOMPARE(seed.column, std::size_t{36}); // the two bytes of ï are one column
    }

    void of_a_field_given_twice_the_last_one_is_meant() {
        const std::string_view text = R"({"seed": 1, "seed": 2})";
        QCOMPARE(at("/seed", text), std::string_view(R"("seed": 2)"));
        QVERIFY(!parse_json(text, "x").ok()); // and parse_json reports it
    }

    void broken_text_leads_to_where_reading_stops_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("line");
        QTest::addColumn<int>("column");
        QTest::newRow("comma before the end") << "{\"a\": 1,\n }" << 2 << 2;
        QTest::newRow("no value") << "{\"a\": ,}" << 1 << 7;
        QTest::newRow("open string") << "{\n\"a: 1}\n" << 2 << 7;
        QTest::newRow("cut off") << "{\"a\": {" << 1 << 8;
        QTest::newRow("more after the end") << "{} 5" << 1 << 4;
        QTest::newRow("no number") << "{\"a\": nan}" << 1 << 7;
        QTest::newRow("empty") << "" << 1 << 1;
    }

    void broken_text_leads_to_where_reading_stops() {
        QFETCH(QString, text);
        QFETCH(int, line);
        QFETCH(int, column);
        const std::string bytes = text.toStdString();
        QVERIFY(!parse_json(bytes, "x").ok());
        const Location place = locate(bytes, "/a");
        QCOMPARE(static_cast<int>(place.line), line);
        QCOMPARE(static_cast<int>(place.column), column);
        QVERIFY(place.end <= bytes.size());
    }

    void text_nested_beyond_the_limit_is_broken_text() {
        const std::string deep = std::string(5000, '[') + std::string(5000, ']');
        QVERIFY(locate(deep, "/0").begin < 100);
    }
};

WEFT_TEST(LocateTest)
#include "locate_test.moc"
