// SPDX-License-Identifier: Apache-2.0
// Dates in tables: read as Python's datetime reads them, and the same in every file of a run.
#include "core/data/recognise.h"
#include "core/data/tables/date.h"
#include "core/data/tables/written_row.h"
#include "tests/data/data_support.h"

#include <cmath>
#include <numbers>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

using data::DateOrder;
using data::DatePart;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kExact = 1e-9;

bool near(double a, double b, double by = kExact) {
    return std::abs(a - b) <= by;
}

struct Dates {
    Folder folder;
    Json section;
    data::DataSet set;

    explicit Dates(const std::string& content, const Json& more = Json::object()) {
        Json train = {{"type", "csv"}, {"path", folder.write("table.csv", content).string()}};
        train.update(more);
        section = {{"train", train}, {"validation", nullptr}};
        set = open(section);
    }
    const data::SampleInfo& info() const { return set.train->info(); }
    data::Column column(std::size_t i) const {
        return data::describe(normalised(section), {}).columns.at(i);
    }
};

/// Three weeks of days from Monday, 2023-01-02, with a number to predict.
std::string days_table(const char* notes = "") {
    std::string out = "when,value\n";
    for (int day = 2; day <= 22; ++day) {
        out += (day < 10 ? "2023-01-0" : "2023-01-") + std::to_string(day) + "," +
               std::to_string(day % 7) + ".5\n";
    }
    return out + notes;
}

const Json kRaw = {{"scale", "none"}, {"scale_targets", "none"}};

} // namespace

class DateTest : public QObject {
    Q_OBJECT

private slots:
    // datetime.fromisoformat of Python 3.11: weekday(), timetuple().tm_yday, timestamp().
    void moments_are_those_of_pythons_datetime_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("weekday"); // from Monday
        QTest::addColumn<int>("day_of_year");
        QTest::addColumn<int>("days_of_year");
        QTest::addColumn<double>("timestamp");
        QTest::addColumn<double>("seconds_of_day");
        const auto row = [](const char* text, int weekday, int day_of_year, int days, double stamp,
                            double seconds) {
            QTest::newRow(text) << QByteArray(text) << weekday << day_of_year << days << stamp
                                << seconds;
        };
        row("2023-04-03T12:30:00+02:00", 0, 93, 365, 1680517800, 45000);
        row("2023-04-03 12:30:00+0200", 0, 93, 365, 1680517800, 45000);
        row("2023-04-03T23:30-05:00", 0, 93, 365, 1680582600, 84600);
        row("2000-02-29", 1, 60, 366, 951782400, 0);
        row("1969-07-20T20:17:40Z", 6, 201, 365, -14182940, 73060);
        row("1969-07-20 20:17:40.25", 6, 201, 365, -14182939.75, 73060.25);
        row("2024/12/31", 1, 366, 366, 1735603200, 0);
        row("1900-03-01", 3, 60, 365, -2203891200, 0);
        row("31.12.2024", 1, 366, 366, 1735603200, 0);
        row("12/31/2024", 1, 366, 366, 1735603200, 0);
        row("12/31/2024 1:30 PM", 1, 366, 366, 1735603200 + 48600, 48600);
        row("12/31/2024 12:05 am", 1, 366, 366, 1735603200 + 300, 300);
    }

    void moments_are_those_of_pythons_datetime() {
        QFETCH(QByteArray, text);
        QFETCH(int, weekday);
        QFETCH(int, day_of_year);
        QFETCH(int, days_of_year);
        QFETCH(double, timestamp);
        QFETCH(double, seconds_of_day);
        const auto read = data::instant_of(text.toStdString(), DateOrder::month_first);
        QVERIFY(read.has_value());
        QCOMPARE(read->utc_s(), timestamp);
        const auto is = [&](DatePart sine, DatePart cosine, double share) {
            return near(data::part_of(*read, sine), std::sin(kTurn * share)) &&
                   near(data::part_of(*read, cosine), std::cos(kTurn * share));
        };
        QVERIFY(is(DatePart::week_sine, DatePart::week_cosine, weekday / 7.0));
        QVERIFY(is(DatePart::year_sine, DatePart::year_cosine, (day_of_year - 1.0) / days_of_year));
        QVERIFY(is(DatePart::day_sine, DatePart::day_cosine, seconds_of_day / 86400));
        QVERIFY(near(data::part_of(*read, DatePart::elapsed), timestamp / 86400));
    }

    void what_is_no_date_is_not_taken_for_one() {
        for (const char* text : {"",
                                 "2023",
                                 "20230403",
                                 "2023-13-01",
                                 "2023-02-29",
                                 "30.02.2024",
                                 "2023-04",
                                 "1.2.3",
                                 "12:30:00",
                                 "2023-04-03x",
                                 "2023-04-03T25:00",
                                 "2023-04-03T12:60",
                                 "2023-04-03T12",
                                 "2023-04-03 12:30:00+2",
                                 "2023-04-03 12:30 13:00",
                                 "2023-04/03",
                                 "03-04-23",
                                 "April 3, 2023",
                                 "2023-04-03 13:30 PM",
                                 "192.168.10.2023",
                                 "a2023-04-03"}) {
            QVERIFY2(!data::instant_of(text, DateOrder::day_first), text);
        }
    }

    void the_order_of_day_and_month_is_the_columns() {
        const auto day = data::instant_of("3/4/2023", DateOrder::day_first);
        const auto month = data::instant_of("3/4/2023", DateOrder::month_first);
        QCOMPARE(data::date_text(*day), std::string("2023-04-03"));
        QCOMPARE(data::date_text(*month), std::string("2023-03-04"));
        QVERIFY(!data::instant_of("25/4/2023", DateOrder::month_first));
        QCOMPARE(data::date_text(*data::instant_of("3.4.2023", DateOrder::month_first)),
                 std::string("2023-04-03"));

        const char* tail = ",1.5\n04/05/2023,2.5\n05/06/2023,3.5\n06/07/2023,5.5\n";
        const auto earliest = [&](const char* first) {
            return Dates(std::string("when,value\n") + first + tail, {{"columns", {"when"}}})
                .column(0)
                .earliest;
        };
        QCOMPARE(earliest("25/01/2023"), std::string("2023-01-25"));
        QCOMPARE(earliest("01/25/2023"), std::string("2023-01-25"));
        QCOMPARE(Dates(std::string("when,value\n25/04/2023") + tail).column(0).latest,
                 std::string("2023-07-06"));
        QCOMPARE(Dates(std::string("when,value\n04/25/2023") + tail).column(0).latest,
                 std::string("2023-06-07"));
    }

    void dates_that_may_be_read_two_ways_are_left_out_and_said() {
        const std::string table = "a,when,value\n1.5,01/02/2023,1.5\n2.5,03/04/2023,2.5\n"
                                  "3.5,05/06/2023,3.5\n4.5,07/08/2023,5.5\n";
        const Dates dates(table);
        QVERIFY(noted(dates.set, "column 'when' is left out: it has dates whose day and month "
                                 "cannot be told apart, such as 01/02/2023"));
        QCOMPARE(ir::to_text(dates.info().input), std::string("f32[1]"));
        QVERIFY(dates.column(1).unclear_dates);
    }

    void a_column_of_dates_goes_in_as_its_parts() {
        const Dates dates(days_table(), kRaw);
        QCOMPARE(ir::to_text(dates.info().input), std::string("f32[5]"));
        QCOMPARE(dates.info().input_names,
                 (std::vector<std::string>{"when: day of week, sine", "when: day of week, cosine",
                                           "when: day of year, sine", "when: day of year, cosine",
                                           "when: elapsed days"}));
        QVERIFY(
            noted(dates.set, "column 'when' goes in as day of week, day of year, each as sine"));
        const std::vector<float> tuesday = input_floats(*dates.set.train, 1); // 2023-01-03
        const std::vector<float> expected = {float(std::sin(kTurn / 7)), float(std::cos(kTurn / 7)),
                                             float(std::sin(kTurn * 2 / 365)),
                                             float(std::cos(kTurn * 2 / 365)),
                                             19360}; // date(2023, 1, 3) - date(1970, 1, 1)
        for (std::size_t i = 0; i < expected.size(); ++i) {
            QVERIFY(near(tuesday[i], expected[i], 1e-6));
        }
        const data::Column column = dates.column(0);
        QVERIFY(column.kind == data::Column::Kind::date);
        QCOMPARE(column.earliest, std::string("2023-01-02"));
        QCOMPARE(column.latest, std::string("2023-01-22"));
    }

    void only_what_has_passed_is_standardised() {
        const Dates raw(days_table(), kRaw);
        const Dates scaled(days_table());
        double sum = 0;
        for (std::int64_t i = 0; i < scaled.set.train->samples(); ++i) {
            const auto a = input_floats(*raw.set.train, i);
            const auto b = input_floats(*scaled.set.train, i);
            QVERIFY(std::equal(a.begin(), a.begin() + 4, b.begin())); // on their circles
            sum += b[4];
        }
        QVERIFY(near(sum, 0, 1e-5)); // f32 of 21 numbers around 1
    }

    // 2023-01-08 is a Sunday, and so is 2023-01-15: the end of the week is beside its beginning.
    void times_of_day_are_parts_where_there_are_any() {
        const Dates dates("when,value\n2023-01-08T23:59:00Z,1.5\n2023-01-09T00:01:00Z,2.5\n"
                          "2023-01-10T12:00:00Z,3.5\n2023-01-11T18:00:00Z,5.5\n",
                          kRaw);
        QCOMPARE(ir::to_text(dates.info().input), std::string("f32[7]"));
        const auto late = input_floats(*dates.set.train, 0);
        const auto early = input_floats(*dates.set.train, 1);
        const double apart = std::hypot(late[4] - early[4], late[5] - early[5]);
        QVERIFY(near(apart, kTurn * 2 / 1440, 1e-5)); // two minutes of a day
        const auto noon = input_floats(*dates.set.train, 2);
        QVERIFY(near(noon[4], 0, 1e-6) && near(noon[5], -1, 1e-6));
        QVERIFY(dates.column(0).has_times);
    }

    void missing_and_damaged_dates_are_treated_like_numbers() {
        const Dates dates(days_table(",3.5\nn/a,4.5\n"), kRaw);
        QVERIFY(noted(dates.set, "2 values are missing in column 'when': the mean of the"));
        QCOMPARE(dates.set.train->samples(), 23);
        // The middle of 21 days in a row, 2023-01-12, and three whole weeks: 0 on that circle.
        const auto mean = input_floats(*dates.set.train, 21);
        QVERIFY(near(mean[4], 19369, 1e-2));
        QVERIFY(near(mean[0], 0, 1e-6) && near(mean[1], 0, 1e-6));
        Json drop = kRaw;
        drop["missing"] = "drop";
        QCOMPARE(Dates(days_table(",3.5\n"), drop).set.train->samples(), 21);
        const Dates damaged(days_table("2023-02-30,3.5\n"), kRaw);
        QCOMPARE(damaged.set.train->samples(), 21);
        QVERIFY(noted(damaged.set, "line 23: '2023-02-30' in column 'when' is no date"));
    }

    void remarks_are_left_out_by_decision_and_damage_is_none() {
        std::string table = "when,remark,value\n";
        for (int i = 10; i < 30; ++i) {
            table += "2023-01-" + std::to_string(i) + ",it was day " + std::to_string(i) + "," +
                     std::to_string(i) + ".5\n";
        }
        const Dates dates(table + "2023-02-30,x,1.5\n");
        bool remark = false;
        bool damage = false;
        for (const data::Note& note : dates.set.notes) {
            remark = remark || (note.is_decision && note.find("'remark' is left out") == 7);
            damage = damage || (!note.is_decision && note.find("is no date") != note.npos);
        }
        QVERIFY(remark);
        QVERIFY(damage);
    }

    void files_to_predict_and_written_rows_give_the_same_parts() {
        const Dates dates("when,value\n2023-01-08 23:59+01:00,1.5\n25.07.2023 00:01,2.5\n"
                          "2023-01-10T12:00:00Z,3.5\n2024-02-29T18:00:00Z,5.5\n");
        const data::Encoding& encoding = *dates.set.train->encoding();
        const auto columns = data::input_columns(&encoding);
        QCOMPARE(columns.size(), std::size_t(1));
        QVERIFY(columns[0].instead.starts_with("2023-"));
        for (const char* cell : {"2023-05-01 08:15", "", "1.2.2024 07:00:30", "2022-12-31"}) {
            data::Notes notes;
            const auto source = data::open_input(
                normalised(dates.section), {}, *dates.set.train,
                dates.folder.write("new.csv", std::string("when,x\n") + cell + ",1\n"), notes);
            QCOMPARE(data::sample_of_row(encoding, std::vector<std::string>{cell}),
                     input_floats(*source, 0));
        }
        const auto cells = [&](std::int64_t row) {
            return data::row_of_sample(encoding, input_floats(*dates.set.train, row)).front();
        };
        QCOMPARE(cells(0), std::string("2023-01-08 23:59+01:00"));
        QCOMPARE(cells(1), std::string("2023-07-25 00:01"));
        QCOMPARE(cells(3), std::string("2024-02-29 18:00"));
        const auto refused = error_of(
            [&] { data::sample_of_row(encoding, std::vector<std::string>{"2023-02-30"}); });
        QVERIFY(refused && refused->text().find("is no date") != std::string::npos);
    }
};

WEFT_TEST(DateTest)
#include "date_test.moc"
