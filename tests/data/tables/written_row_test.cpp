// SPDX-License-Identifier: Apache-2.0
// A row that somebody writes is the same sample as that row in a file.
#include "core/data/tables/written_row.h"
#include "tests/data/data_support.h"

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

constexpr const char* kHouses = "size;town;year;price\n"
                                "44,25;Köln;1915;120\n180,5;Paris;1977;410\n"
                                ";Paris;2001;330\n93;;1950;205\n"
                                "60;Köln;1931;151\n71;Paris;1988;260\n";

struct Table {
    Folder folder;
    Json section;
    data::DataSet set;

    explicit Table(const Json& more = Json::object()) {
        Json train = {{"type", "csv"}, {"path", folder.write("houses.csv", kHouses).string()}};
        train.update(more);
        section = {{"train", train}, {"validation", nullptr}};
        set = open(section);
    }

    const data::Encoding& encoding() const { return *set.train->encoding(); }

    /// Of the first row of a file with this content, as `weft predict` reads it.
    std::vector<float> of_file(const std::string& content) const {
        data::Notes notes;
        const auto source = data::open_input(normalised(section), {}, *set.train,
                                             folder.write("new.csv", content), notes);
        return input_floats(*source, 0);
    }
};

} // namespace

class WrittenRowTest : public QObject {
    Q_OBJECT

private slots:
    void columns_are_those_that_go_in_with_their_categories_and_means() {
        const Table table;
        const auto columns = data::input_columns(&table.encoding());
        QCOMPARE(columns.size(), std::size_t{3});
        QCOMPARE(columns[0].name, std::string("size"));
        QVERIFY(columns[0].categories.empty());
        // (44.25 + 180.5 + 93 + 60 + 71) / 5
        QCOMPARE(columns[0].instead, std::string("89,75"));
        QCOMPARE(columns[1].name, std::string("town"));
        QVERIFY((columns[1].categories == std::vector<std::string>{"Köln", "Paris"}));
        QCOMPARE(columns[2].name, std::string("year"));
        QVERIFY(data::input_columns(nullptr).empty());
    }

    void a_written_row_is_the_sample_that_its_file_is() {
        for (const Json& more : {Json::object(), Json{{"categories", "index"}},
                                 Json{{"scale", "none"}}, Json{{"missing", "zero"}}}) {
            const Table table(more);
            const auto same = [&](const std::vector<std::string>& cells, const std::string& row) {
                return data::sample_of_row(table.encoding(), cells) ==
                       table.of_file("size;town;year\n" + row + "\n");
            };
            QVERIFY2(same({"70,5", "Paris", "1960"}, "70,5;Paris;1960"), more.dump().c_str());
            QVERIFY2(same({"", "Köln", "1960"}, ";Köln;1960"), more.dump().c_str());
            QVERIFY2(same({" 1e2 ", "", "NA"}, "1e2;;NA"), more.dump().c_str());
        }
    }

    void the_cells_of_a_sample_are_those_of_its_row() {
        for (const Json& more : {Json::object(), Json{{"categories", "index"}}}) {
            const Table table(more);
            const auto cells = [&](std::int64_t index) {
                return data::row_of_sample(table.encoding(), input_floats(*table.set.train, index));
            };
            QVERIFY((cells(0) == std::vector<std::string>{"44,25", "Köln", "1915"}));
            QVERIFY((cells(1) == std::vector<std::string>{"180,5", "Paris", "1977"}));
            QVERIFY((cells(2) == std::vector<std::string>{"89,75", "Paris", "2001"})); // the mean
            QVERIFY((cells(3) == std::vector<std::string>{"93", "", "1950"}));
        }
    }

    // A number less the mean in f32, and the mean again, is mostly another one.
    void a_short_number_comes_back_as_it_was_data() {
        QTest::addColumn<QString>("cell");
        for (const char* cell : {"0", "1", "7", "0.5", "12.25"}) {
            QTest::newRow(cell) << cell;
        }
    }

    void a_short_number_comes_back_as_it_was() {
        QFETCH(QString, cell);
        std::string rows[] = {"price", "1", "2", "3"};
        for (int column = 1; column <= 20; ++column) {
            const std::string values[] = {";c" + std::to_string(column), ";" + cell.toStdString(),
                                          ";" + std::to_string(1.37 * column),
                                          ";" + std::to_string(29.3 * column)};
            for (std::size_t row = 0; row < 4; ++row) {
                rows[row] += values[row];
            }
        }
        const Folder folder;
        const auto path = folder.write("short.csv", rows[0] + "\n" + rows[1] + "\n" + rows[2] +
                                                        "\n" + rows[3] + "\n");
        const Json section = {
            {"train", {{"type", "csv"}, {"path", path.string()}, {"targets", {"price"}}}},
            {"validation", nullptr}};
        const data::DataSet set = open(section);
        const auto cells = data::row_of_sample(*set.train->encoding(), input_floats(*set.train, 0));
        QVERIFY((cells == std::vector<std::string>(20, cell.toStdString())));
    }

    void what_is_wrong_with_a_cell_is_said_by_column() {
        const Table table;
        const auto refused = [&](const std::vector<std::string>& cells) {
            return error_of([&] { data::sample_of_row(table.encoding(), cells); });
        };
        const auto number = refused({"70.5", "Paris", "1960"});
        QVERIFY(number && number->where() == "size" && number->text() == "'70.5' is no number");
        QVERIFY(number->hint().find("decimal commas") != std::string::npos);
        const auto town = refused({"70,5", "Pariss", "1960"});
        QVERIFY(town && town->where() == "town");
        QVERIFY(town->hint().find("Paris") != std::string::npos);
        const Table complete(Json{{"missing", "drop"}});
        const auto missing = error_of(
            [&] { data::sample_of_row(complete.encoding(), std::vector<std::string>(3)); });
        QVERIFY(missing && missing->where() == "size" && !missing->hint().empty());
        QVERIFY(!data::input_columns(&complete.encoding())[0].may_be_missing);
    }
};

WEFT_TEST(WrittenRowTest)
#include "written_row_test.moc"
