// SPDX-License-Identifier: Apache-2.0
#include "core/data/formats/format_list.h"
#include "core/data/loader.h"
#include "core/data/tables/table.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

struct Opened {
    Folder folder;
    data::DataSet set;

    std::vector<float> input(std::int64_t i) const { return input_floats(*set.train, i); }
    bool noted(const std::string& text) const { return data::test::noted(set, text); }
    std::string notes() const {
        std::string out;
        for (const std::string& note : set.notes) {
            out += note + "\n";
        }
        return out;
    }
};

Json csv_section(const std::filesystem::path& path, const char* more) {
    Json train = config::json_of(more);
    train["type"] = "csv";
    train["path"] = path.string();
    return {{"train", train}, {"validation", nullptr}};
}

/// Opens a table as it is written, unscaled unless `more` says otherwise.
Opened opened(const std::string& content, const char* more = "{}", bool raw = true) {
    Opened out;
    Json section = csv_section(out.folder.write("table.csv", content), more);
    if (raw && !section["train"].contains("scale")) {
        section["train"]["scale"] = "none";
        section["train"]["scale_targets"] = "none";
    }
    out.set = open(section);
    return out;
}

std::optional<Error> refused(const std::string& content, const char* more = "{}") {
    return error_of([&] { opened(content, more); });
}

std::vector<float> target_floats(const data::Source& source, std::int64_t index) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(source.info().target.bytes()));
    source.read(index, input, target);
    return floats(target);
}

const std::string kFlowers = "length,width,kind\n5.1,3.5,setosa\n6.2,2.9,virginica\n"
                             "4.9,3.0,setosa\n6.0,2.2,virginica\n";

} // namespace

class CsvTest : public QObject {
    Q_OBJECT

private slots:
    void columns_whose_numbers_hide_all_others_are_told() {
        const std::string wild = "a,b,kind\n1,4,x\n-1e300,5,y\n3,70000,x\n";
        const char* kind = R"({"targets": "kind"})";
        const Opened plain = opened(wild, kind);
        QVERIFY2(plain.noted("numbers of column 'a' reach -1e+300"), plain.notes().c_str());
        QVERIFY2(plain.noted("numbers of column 'b' reach 70000 and go in as they are"),
                 plain.notes().c_str());
        const Opened standardised = opened(wild, kind, false);
        QVERIFY(standardised.noted("column 'a' reach"));
        QVERIFY(!standardised.noted("column 'b' reach"));
        QVERIFY(!opened("a,b,kind\n1,4,x\n2,999,y\n", kind).noted("reach"));
        const Folder folder;
        const auto path = folder.write("table.csv", wild);
        const Json section = csv_section(path, R"({"targets": "kind", "scale": "none"})");
        const auto warnings = data::outline_data(normalised(section), {}).warnings;
        QCOMPARE(warnings.size(), std::size_t(2));
    }

    void texts_in_the_target_are_classes_and_numbers_go_in() {
        const Opened table = opened(kFlowers);
        const data::SampleInfo& info = table.set.train->info();
        QCOMPARE(ir::to_text(info.input), std::string("f32[2]"));
        QCOMPARE(ir::to_text(info.target), std::string("i32[]"));
        QVERIFY((info.class_names == std::vector<std::string>{"setosa", "virginica"}));
        QCOMPARE(table.set.train->samples(), 4);
        QCOMPARE(table.input(1), (std::vector<float>{6.2F, 2.9F}));
        QCOMPARE(table.set.train->label(1), 1);
        QCOMPARE(target_integers(*table.set.train, 2), std::vector<std::int32_t>{0});
    }

    void separators_are_found_data() {
        QTest::addColumn<QByteArray>("separator");
        for (const char* separator : {",", ";", "\t", "|"}) {
            QTest::newRow(separator) << QByteArray(separator);
        }
    }

    void separators_are_found() {
        QFETCH(QByteArray, separator);
        std::string content = kFlowers;
        std::replace(content.begin(), content.end(), ',', separator[0]);
        const Opened table = opened(content);
        QCOMPARE(table.input(0), (std::vector<float>{5.1F, 3.5F}));
        QCOMPARE(table.set.train->info().classes, 2);
    }

    void line_ends_of_all_systems_and_a_byte_order_mark_are_read() {
        for (const char* end : {"\r\n", "\r"}) {
            std::string content = "\xef\xbb\xbf";
            for (const char character : kFlowers) {
                character == '\n' ? content += end : content += character;
            }
            const Opened table = opened(content, R"({"columns": ["length"]})");
            QCOMPARE(table.set.train->samples(), 4);
            QCOMPARE(table.input(3), std::vector<float>{6.0F});
        }
    }

    void decimal_commas_between_semicolons_are_numbers() {
        const Opened table = opened("größe;preis\n1,5;10,25\n-2,75;3\n0,5;1e1\n");
        QCOMPARE(table.input(0), std::vector<float>{1.5F});
        QCOMPARE(table.input(1), std::vector<float>{-2.75F});
        QCOMPARE(target_floats(*table.set.train, 0), std::vector<float>{10.25F});
        QCOMPARE(target_floats(*table.set.train, 2), std::vector<float>{10.0F});
        QCOMPARE(ir::to_text(table.set.train->info().target), std::string("f32[1]"));
    }

    // Written by Python's csv: quotes, separators and line ends within quotes.
    void quoted_fields_of_python_read_as_they_were_written() {
        data::CsvReader reader(std::string(WEFT_TEST_DATA) + "/peers/quoted.csv", ',');
        std::vector<std::vector<std::string>> records;
        std::vector<std::int64_t> lines;
        std::vector<std::string> fields;
        while (reader.next(fields)) {
            records.push_back(fields);
            lines.push_back(reader.line());
        }
        QCOMPARE(records.size(), std::size_t(5));
        QVERIFY((records[1] == std::vector<std::string>{"1.5", "a \"quoted\" word", "red"}));
        QVERIFY((records[2] == std::vector<std::string>{"2.5", "two\nlines", "blue"}));
        QVERIFY((records[3] == std::vector<std::string>{"-0.03", "comma, here", "red"}));
        QVERIFY((records[4] == std::vector<std::string>{"4", "", "blue"}));
        QVERIFY((lines == std::vector<std::int64_t>{1, 2, 3, 5, 6}));
    }

    void missing_numbers_take_the_mean_of_the_training_samples() {
        const Opened table = opened("a,y\n1,0\nNA,1\n?,0\n,1\n4,0\n10,1\n");
        QCOMPARE(table.input(1), std::vector<float>{5.0F}); // (1 + 4 + 10) / 3
        QVERIFY2(table.noted("3 values are missing in column 'a'"), table.notes().c_str());
    }

    void the_mean_leaves_validation_samples_out() {
        std::string content = "a,b,y\n";
        for (int i = 0; i < 200; ++i) {
            content += (i % 5 == 0 ? std::string() : std::to_string(i)) + "," + std::to_string(i) +
                       (i % 2 == 0 ? ",no\n" : ",yes\n");
        }
        Folder folder;
        Json section = csv_section(folder.write("t.csv", content), R"({"scale": "none"})");
        section["validation"] = {{"split", 0.5}};
        const data::DataSet set = open(section);
        double sum = 0;
        double count = 0;
        float filled = -1;
        for (std::int64_t i = 0; i < set.train->samples(); ++i) {
            const std::vector<float> row = input_floats(*set.train, i);
            if (static_cast<int>(row[1]) % 5 == 0) {
                filled = row[0];
            } else {
                sum += row[0];
                count += 1;
            }
        }
        QCOMPARE(filled, static_cast<float>(sum / count));
        for (std::int64_t i = 0; i < set.validation->samples(); ++i) {
            const std::vector<float> row = input_floats(*set.validation, i);
            if (static_cast<int>(row[1]) % 5 == 0) {
                QCOMPARE(row[0], filled);
            }
        }
    }

    void missing_values_may_drop_a_row_count_as_zero_or_be_refused() {
        const std::string content = "a,y\n1,x\n,z\n3,x\n4,z\n";
        QCOMPARE(opened(content, R"({"missing": "zero"})").input(1), std::vector<float>{0.0F});
        const Opened dropped = opened(content, R"({"missing": "drop"})");
        QCOMPARE(dropped.set.train->samples(), 3);
        QVERIFY(dropped.noted("1 row is left out: an input is missing"));
        const auto error = refused(content, R"({"missing": "error"})");
        QVERIFY(error && error->where().ends_with("line 3"));
        QVERIFY(!error->hint().empty());
    }

    void a_row_without_its_target_is_left_out_and_told() {
        const Opened table = opened("a,y\n1,x\n2,\n3,z\n4,x\n5,z\n");
        QCOMPARE(table.set.train->samples(), 4);
        QVERIFY2(table.noted("1 row is left out: the target is missing"), table.notes().c_str());
    }

    void categories_become_one_number_each_or_their_place() {
        const std::string content =
            "colour,y\nred,0\ngreen,1\nred,0\ngreen,1\n,1\nblue,0\nblue,1\n";
        const Opened one_hot = opened(content);
        QCOMPARE(one_hot.input(0), (std::vector<float>{0, 0, 1}));
        QCOMPARE(one_hot.input(1), (std::vector<float>{0, 1, 0}));
        QCOMPARE(one_hot.input(4), (std::vector<float>{0, 0, 0}));
        const Opened places = opened(content, R"({"categories": "index"})");
        QCOMPARE(places.input(0), std::vector<float>{2});
        QCOMPARE(places.input(4), std::vector<float>{-1});
    }

    void numbers_are_standardised_by_default() {
        const Opened table = opened("a,y\n1,x\n2,z\n3,x\n6,z\n", "{}", false);
        const double deviation = std::sqrt((4.0 + 1 + 0 + 9) / 4); // of 1, 2, 3, 6 about 3
        QCOMPARE(table.input(0)[0], static_cast<float>(-2 / deviation));
        QCOMPARE(table.input(3)[0], static_cast<float>(3 / deviation));
    }

    void standardised_targets_know_the_units_of_the_file() {
        const Opened table = opened("a,price\n1,100.5\n2,200.5\n3,300.5\n", "{}", false);
        const data::TargetScale scale = table.set.train->target_scale();
        QCOMPARE(scale.mean.size(), std::size_t(1));
        for (std::int64_t i = 0; i < 3; ++i) {
            const double value = target_floats(*table.set.train, i)[0];
            // f32 keeps seven digits.
            QVERIFY(std::abs(value * scale.scale[0] + scale.mean[0] - (100.5 + 100.0 * i)) < 1e-4);
        }
        QVERIFY(table.noted("'price' is standardised"));
    }

    void what_is_said_of_targets_has_four_digits_that_count() {
        const Opened table = opened("a,price\n1,100000.5\n2,200000.25\n3,900009.5\n", "{}", false);
        // Of a third of 1,200,010.25; the deviation is the root of the mean square from there.
        QVERIFY(table.noted("(mean 400,000, deviation 355,900)"));
    }

    void few_whole_numbers_are_classes_and_many_are_not() {
        std::string few = "a,y\n";
        std::string many = "a,y\n";
        for (int i = 0; i < 60; ++i) {
            few += std::to_string(i * 0.5) + "," + std::to_string(i % 3 * 5) + "\n";
            many += std::to_string(i * 0.5) + "," + std::to_string(i) + "\n";
        }
        const Opened classes = opened(few);
        QVERIFY(
            (classes.set.train->info().class_names == std::vector<std::string>{"0", "5", "10"}));
        QCOMPARE(classes.set.train->label(2), 2);
        QCOMPARE(opened(many).set.train->info().classes, 0);
        QCOMPARE(opened(few, R"({"task": "regression"})").set.train->info().classes, 0);
        QCOMPARE(opened(many, R"({"task": "classification"})").set.train->info().classes, 60);
    }

    void several_targets_are_a_regression() {
        const Opened table = opened("a,b,c\n1,2,3\n4,5,6\n7,8,10\n", R"({"targets": ["c", "a"]})");
        QCOMPARE(ir::to_text(table.set.train->info().target), std::string("f32[2]"));
        QCOMPARE(target_floats(*table.set.train, 1), (std::vector<float>{6, 4}));
        QCOMPARE(table.input(1), std::vector<float>{5});
    }

    void damaged_rows_are_named_by_line_counted_and_left_out() {
        std::string content = "a,b,y\n";
        for (int i = 0; i < 100; ++i) {
            content += i == 7    ? "1,2\n"
                       : i == 20 ? "oops,3,x\n"
                                 : std::to_string(i) + ",3.5," + (i % 2 == 0 ? "x\n" : "z\n");
        }
        content += "\n5,6,x"; // a blank line is no row; the last line has no end
        const Opened table = opened(content);
        QCOMPARE(table.set.train->samples(), 99);
        QVERIFY2(table.noted("2 rows are left out"), table.notes().c_str());
        QVERIFY2(table.noted("line 9: it has 2 fields, not 3"), table.notes().c_str());
        QVERIFY2(table.noted("line 22: 'oops' in column 'a' is no number"), table.notes().c_str());
    }

    void too_many_damaged_rows_are_an_error() {
        std::string content = "a,b,y\n";
        for (int i = 0; i < 100; ++i) {
            content += i % 8 == 0 ? "1\n" : std::to_string(i) + ",1.5," + (i % 2 ? "x\n" : "z\n");
        }
        const auto error = refused(content);
        QVERIFY(error.has_value());
        QVERIFY2(error->text().find("13 of 100 rows") == 0, error->text().c_str());
        QCOMPARE(opened(content, R"({"most_bad": 0.2})").set.train->samples(), 87);
    }

    void a_truncated_file_loses_its_last_row_only() {
        const Opened table = opened(kFlowers.substr(0, kFlowers.size() - 12), R"({"most_bad": 1})");
        QCOMPARE(table.set.train->samples(), 3);
        QVERIFY(table.noted("line 5: it has 2 fields, not 3"));
    }

    void what_is_no_table_is_refused() {
        QVERIFY(refused("").has_value());
        QVERIFY(refused("a,b\n").has_value());
        const auto open_quote = refused("a,y\n1,\"x\n2,z\n3,x\n");
        QVERIFY(open_quote.has_value());
        QVERIFY2(open_quote->where().ends_with("line 2"), open_quote->where().c_str());
        const auto zeros = refused(std::string("a,y\n1,\0\n", 8));
        QVERIFY(zeros && zeros->text().find("zero bytes") != std::string::npos);
        const auto wide = refused(std::string("\xff\xfe"
                                              "a\0,\0",
                                              6));
        QVERIFY(wide && wide->text().find("UTF-16") != std::string::npos);
    }

    void wrong_names_of_columns_say_which_are_near() {
        const auto error = refused(kFlowers, R"({"targets": "kinds"})");
        QVERIFY(error.has_value());
        QCOMPARE(error->where(), std::string("/data/train/targets"));
        QVERIFY2(error->hint().find("kind") != std::string::npos, error->hint().c_str());
    }

    void columns_without_use_are_left_out_with_a_reason() {
        std::string content = "id,name,fixed,a,y\n";
        for (int i = 0; i < 30; ++i) {
            content += std::to_string(i + 1) + ",person " + std::to_string(i) + ",7," +
                       std::to_string(i * i) + "," + (i % 2 == 0 ? "x\n" : "z\n");
        }
        const Opened table = opened(content);
        QCOMPARE(ir::to_text(table.set.train->info().input), std::string("f32[1]"));
        QVERIFY(table.noted("'id' is left out: it numbers the rows"));
        QVERIFY(table.noted("'name' is left out: it has 30 different texts"));
        QVERIFY(table.noted("'fixed' is left out: it is the same in every row"));
        const Opened asked = opened(content, R"({"columns": ["id", "fixed"]})");
        QCOMPARE(asked.input(4), (std::vector<float>{5, 7}));
    }

    void a_table_without_a_header_calls_its_columns_by_place() {
        const Opened table = opened("1.5,2,x\n2.5,3,z\n3.5,4,x\n4,4,z\n");
        QCOMPARE(table.set.train->samples(), 4);
        QCOMPARE(table.input(0), (std::vector<float>{1.5F, 2}));
        const Opened named = opened("1.5,2,x\n2.5,3,z\n3.5,4,x\n", R"({"targets": "column 1"})");
        QCOMPARE(target_floats(*named.set.train, 0), std::vector<float>{1.5F});
    }

    void old_encodings_are_read_as_windows_1252() {
        const Opened table = opened("a,y\n1,gr\xfcn\n2,\x80uro\n3,gr\xfcn\n4,\x80uro\n");
        QVERIFY((table.set.train->info().class_names == std::vector<std::string>{"grün", "€uro"}));
    }

    void other_files_follow_columns_and_classes_of_training() {
        Folder folder;
        Json section = csv_section(folder.write("train.csv", kFlowers), R"({"scale": "none"})");
        const auto other =
            folder.write("other.csv", "kind,extra,width,length\nvirginica,1,2.5,7\nsetosa,1,3,5\n");
        section["validation"] = section["train"];
        section["validation"]["path"] = other.string();
        const data::DataSet set = open(section);
        QCOMPARE(set.validation->samples(), 2);
        QCOMPARE(input_floats(*set.validation, 0), (std::vector<float>{7, 2.5F}));
        QCOMPARE(set.validation->label(0), 1);
    }

    void classes_that_training_does_not_have_are_named() {
        Folder folder;
        Json section = csv_section(folder.write("train.csv", kFlowers), "{}");
        section["validation"] = section["train"];
        section["validation"]["path"] =
            folder.write("other.csv", "length,width,kind\n1,2,rose\n1,2,setosa\n").string();
        const auto error = error_of([&] { open(section); });
        QVERIFY(error.has_value());
        QVERIFY2(error->text().find("'rose' is no class") != std::string::npos,
                 error->text().c_str());
    }

    void rows_to_predict_need_no_target() {
        const Opened table = opened(kFlowers);
        Folder folder;
        const Json section =
            normalised(csv_section(folder.write("train.csv", kFlowers), R"({"scale": "none"})"));
        data::Notes notes;
        const auto rows =
            data::open_input(section, {}, *table.set.train,
                             folder.write("new.csv", "width,length\n1.5,2.5\n"), notes);
        QCOMPARE(rows->samples(), 1);
        QCOMPARE(rows->label(0), -1);
        QCOMPARE(input_floats(*rows, 0), (std::vector<float>{2.5F, 1.5F}));
        QVERIFY(rows->info().class_names == table.set.train->info().class_names);
        const auto error = error_of([&] {
            data::open_input(section, {}, *table.set.train,
                             folder.write("short.csv", "width\n1.5\n"), notes);
        });
        QVERIFY(error && error->text().find("'length'") != std::string::npos);
    }

    void a_table_block_by_block_is_the_table() {
        const Folder folder;
        std::string text = "size,colour,remark,price\n";
        const char* colours[] = {"red", "green", "blue"};
        for (int i = 0; i < 20000; ++i) {
            const std::string size = i % 97 == 0 ? "NA" : std::to_string(i * 37 % 1009);
            const char* remark =
                i % 5 == 0 ? "\"two\nlines, one cell\"" : "a remark like any other";
            text += i % 500 == 3 ? "a,b\n\n" // too short, and a blank line
                                 : size + "," + colours[i % 3] + "," + remark + "," +
                                       std::to_string(i % 700) + ".5\n";
        }
        const auto path = folder.write("table.csv", text);
        Json section = {{"train",
                         {{"type", "csv"},
                          {"path", path.string()},
                          {"targets", {"price"}},
                          {"columns", {"size", "colour"}}}},
                        {"validation", nullptr}};
        const data::DataSet kept = open(section);
        section["cache"] = "none";
        const data::DataSet streamed = open(section);
        QCOMPARE(streamed.notes, kept.notes);
        QVERIFY(streamed.train->blocks().size() > 3);
        QCOMPARE(streamed.train->cache_bytes(), 0);
        QCOMPARE(streamed.train->samples(), kept.train->samples());
        QCOMPARE(streamed.train->target_scale().mean, kept.train->target_scale().mean);
        data::LoaderOptions options;
        options.batch_size = 1000;
        options.endless = false;
        options.workers = 3;
        std::vector<std::vector<SeenBatch>> seen;
        for (const auto& source : {kept.train, streamed.train}) {
            data::Loader loader(source, data::Sampler(*source, false, 5), options, {});
            seen.push_back(take(loader, 100));
        }
        QCOMPARE(seen[0].size(), std::size_t(20));
        QVERIFY(seen[0] == seen[1]);
        QCOMPARE(input_floats(*streamed.train, 19000), input_floats(*kept.train, 19000));
        const data::DataOutline outline = data::outline_data(normalised(section), {{}, 0, 0});
        QCOMPARE(outline.samples, kept.train->samples());
        QCOMPARE(outline.cache_bytes, 0);
        QVERIFY(outline.largest_block > 1000 && outline.largest_block < 10000);
        folder.write("table.csv", text.substr(0, text.size() / 2));
        const auto error = error_of([&] { input_floats(*streamed.train, 19000); });
        QVERIFY(error && error->text().find("fewer rows") != std::string::npos);
    }
};

WEFT_TEST(CsvTest)
#include "csv_test.moc"
