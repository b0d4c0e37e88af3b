// SPDX-License-Identifier: Apache-2.0
// The "data" section: what is accepted, and what open_data makes of it.
#include "core/data/formats/format_list.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <map>
#include <set>

#include <sys/stat.h>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

Json synthetic(const char* rest = "{}") {
    Json section;
    section["train"] = config::json_of(
        R"({"type": "synthetic", "kind": "classification", "classes": 4, "samples": 400})");
    section.update(config::json_of(rest));
    return section;
}

config::Diagnostics problems_of(const Json& section) {
    config::Checked checked = config::check_fields(section, data::data_fields(), "/data");
    const config::Diagnostics more = data::check_data(checked.value, "/data");
    checked.diagnostics.insert(checked.diagnostics.end(), more.begin(), more.end());
    return checked.diagnostics;
}

} // namespace

class SectionTest : public QObject {
    Q_OBJECT

private slots:
    void every_format_has_a_test_file() {
        for (const data::FormatDef* format : data::kFormats) {
            const std::string name = std::string(format->name) + "_test.cpp";
            const std::filesystem::recursive_directory_iterator files(WEFT_TEST_DATA);
            QVERIFY2(std::any_of(begin(files), end(files),
                                 [&](const auto& file) { return file.path().filename() == name; }),
                     name.c_str());
        }
    }

    void a_pipe_is_refused_by_every_format_and_not_waited_for() {
        const Folder folder;
        const std::string pipe = (folder.path() / "pipe").string();
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        int checked = 0;
        for (const data::FormatDef* format : data::kFormats) {
            Json train = {{"type", std::string(format->name)}};
            for (const config::Field& field : format->fields()) {
                if (field.type == config::FieldType::path && field.required) {
                    train[field.name] = pipe;
                }
            }
            if (train.size() == 1) {
                continue; // it is not made of files
            }
            ++checked;
            const Json section = normalised({{"train", train}});
            for (const auto& error : {error_of([&] { data::open_data(section, {}); }),
                                      error_of([&] { data::outline_data(section, {}); })}) {
                QVERIFY2(error && error->message().find("this is a pipe") != std::string::npos,
                         error ? error->message().c_str() : std::string(format->name).c_str());
                QVERIFY(error->kind() == ErrorKind::data && !error->hint().empty());
            }
        }
        QVERIFY(checked >= 6);
    }

    void defaults_are_those_of_the_reference() {
        const Json section = normalised(synthetic());
        QCOMPARE(section.at("validation").at("split").get<double>(), 0.1);
        QVERIFY(section.at("test").is_null());
        QVERIFY(section.at("transforms").is_array() && section.at("transforms").empty());
        QVERIFY(section.at("tokenizer").is_null());
        QCOMPARE(section.at("shuffle").get<bool>(), true);
        QCOMPARE(section.at("drop_last").get<bool>(), false);
        QCOMPARE(section.at("cache").get<std::string>(), std::string("auto"));
        QCOMPARE(section.at("num_workers").get<int>(), 1);
        QCOMPARE(section.at("prefetch").get<int>(), 2);
    }

    void a_normalised_section_stays_as_it_is() {
        const Json once = normalised(synthetic());
        QVERIFY(normalised(once) == once);
    }

    void mistakes_have_the_pointer_of_their_field_data() {
        QTest::addColumn<QString>("rest");
        QTest::addColumn<QString>("pointer");
        QTest::newRow("split out of range") << R"({"validation": {"split": 1.5}})"
                                            << "/data/validation/split";
        QTest::newRow("unknown in split") << R"({"validation": {"splt": 0.1}})"
                                          << "/data/validation/splt";
        QTest::newRow("validation a number") << R"({"validation": 0.1})"
                                             << "/data/validation";
        QTest::newRow("unknown format") << R"({"validation": {"type": "idxx"}})"
                                        << "/data/validation/type";
        QTest::newRow("validation without path") << R"({"validation": {"type": "idx"}})"
                                                 << "/data/validation/path";
        QTest::newRow("unknown transform") << R"({"transforms": [{"type": "rotate"}]})"
                                           << "/data/transforms/0/type";
        QTest::newRow("std not above 0")
            << R"({"transforms": [{"type": "normalize", "mean": [0], "std": [0]}]})"
            << "/data/transforms/0/std/0";
        QTest::newRow("too many workers") << R"({"num_workers": 65})"
                                          << "/data/num_workers";
        QTest::newRow("unknown field") << R"({"shufle": true})"
                                       << "/data/shufle";
    }

    void mistakes_have_the_pointer_of_their_field() {
        QFETCH(QString, rest);
        QFETCH(QString, pointer);
        const config::Diagnostics problems = problems_of(synthetic(rest.toStdString().c_str()));
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems.front().pointer, pointer.toStdString());
    }

    void a_split_takes_its_share_out_of_train() {
        const data::DataSet set = open(synthetic(R"({"validation": {"split": 0.25}})"));
        QCOMPARE(set.train->samples(), 300);
        QCOMPARE(set.validation->samples(), 100);
        std::set<std::vector<float>> all;
        for (const auto& source : {set.train, set.validation}) {
            for (std::int64_t i = 0; i < source->samples(); ++i) {
                all.insert(input_floats(*source, i));
            }
        }
        QCOMPARE(all.size(), std::size_t(400));
    }

    void no_validation_leaves_train_whole() {
        for (const char* rest : {R"({"validation": null})", R"({"validation": {"split": 0}})"}) {
            const data::DataSet set = open(synthetic(rest));
            QVERIFY(set.validation == nullptr);
            QCOMPARE(set.train->samples(), 400);
        }
    }

    void validation_may_be_a_source_of_its_own() {
        const data::DataSet set = open(synthetic(
            R"({"validation": {"type": "synthetic", "kind": "classification", "classes": 4,
                               "samples": 7, "seed": 3}})"));
        QCOMPARE(set.train->samples(), 400);
        QCOMPARE(set.validation->samples(), 7);
    }

    void a_validation_source_of_another_shape_is_refused() {
        const auto error = error_of([] {
            open(synthetic(R"({"validation": {"type": "synthetic", "kind": "regression"}})"));
        });
        QVERIFY(error.has_value());
        QCOMPARE(error->where(), std::string("/data/validation"));
    }

    void random_transforms_leave_validation_alone() {
        Json section = config::json_of(R"({
            "train": {"type": "synthetic", "kind": "images", "shape": [4, 4, 1], "samples": 50},
            "transforms": [{"type": "random_flip", "probability": 1.0}]})");
        const data::DataSet flipped = open(section);
        section.erase("transforms");
        const data::DataSet plain = open(section);
        std::vector<std::byte> input(64);
        flipped.validation->read_in_epoch(0, 0, input, {});
        QCOMPARE(floats(input), input_floats(*plain.validation, 0));
        flipped.train->read_in_epoch(0, 0, input, {});
        QVERIFY(floats(input) != input_floats(*plain.train, 0));
    }

    void relative_paths_count_from_the_base_folder() {
        const Folder folder;
        folder.write("sub/text", "abcdef");
        Json section;
        section["train"] = config::json_of(R"({"type": "text", "path": "sub/text"})");
        section["validation"] = nullptr;
        const data::DataSet set = data::open_data(normalised(section), {folder.path(), 5, 0});
        QCOMPARE(set.train->samples(), 1);
    }

    void formats_recognise_their_files() {
        const Folder folder;
        const auto text = folder.write("a.txt", "Grüße");
        const auto images = folder.write("train-images-idx3-ubyte", idx_bytes({1, 1, 1}, "x"));
        QVERIFY(data::kTextFormat.sniff(text));
        QVERIFY(!data::kTextFormat.sniff(images));
        QVERIFY(data::kIdxFormat.sniff(images));
        QVERIFY(data::kIdxFormat.sniff(folder.path()));
        QVERIFY(!data::kIdxFormat.sniff(text));
    }
};

WEFT_TEST(SectionTest)
#include "section_test.moc"
