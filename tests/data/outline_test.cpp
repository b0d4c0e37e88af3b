// SPDX-License-Identifier: Apache-2.0
// What is said of data before it is opened is what it is once it is open.
#include "tests/data/data_support.h"

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

constexpr std::int64_t kOutlineContext = 8;

void compare(const Json& section) {
    const data::OpenContext context{{}, kOutlineContext, 0};
    const data::DataOutline outline = data::outline_data(normalised(section), context);
    const data::DataSet set = open(section, kOutlineContext);
    QCOMPARE(ir::to_text(outline.sample.input), ir::to_text(set.train->info().input));
    QCOMPARE(ir::to_text(outline.sample.target), ir::to_text(set.train->info().target));
    QCOMPARE(outline.sample.classes, set.train->info().classes);
    QVERIFY(outline.sample.class_names == set.train->info().class_names);
    QCOMPARE(outline.samples, set.train->samples());
    QCOMPARE(outline.has_validation, set.validation != nullptr);
    QCOMPARE(outline.has_test, set.test != nullptr);
    QCOMPARE(outline.cache_bytes, set.cache_bytes()); // test is not read yet
    if (set.test != nullptr) {
        set.test->info();
        QCOMPARE(outline.cache_bytes + outline.test_cache_bytes, set.cache_bytes());
    }
}

Json image_folder(const Folder& folder, const char* prefix, std::uint32_t images) {
    folder.write(std::string(prefix) + "-images-idx3-ubyte.gz",
                 gzip_bytes(idx_bytes({images, 2, 2}, std::string(images * 4, '\x33'))));
    std::string labels;
    for (std::uint32_t i = 0; i < images; ++i) {
        labels += static_cast<char>(i % 3);
    }
    folder.write(std::string(prefix) + "-labels-idx1-ubyte.gz",
                 gzip_bytes(idx_bytes({images}, labels)));
    return {{"train", {{"type", "idx"}, {"path", folder.path().string()}}}};
}

} // namespace

class OutlineTest : public QObject {
    Q_OBJECT

private slots:
    void data_that_are_made_up() {
        for (const char* kind : {"classification", "regression", "images", "tokens"}) {
            for (const Json& validation : {Json{{"split", 0.3}}, Json{{"split", 0.0}}, Json()}) {
                compare({{"train", {{"type", "synthetic"}, {"kind", kind}, {"samples", 41}}},
                         {"validation", validation}});
            }
        }
    }

    void images_with_and_without_a_test_part() {
        const Folder folder;
        const Json section = image_folder(folder, "train", 30);
        compare(section);
        image_folder(folder, "t10k", 12);
        compare(section);
    }

    void a_text_file_and_a_folder_of_them() {
        const Folder folder;
        folder.write("b.txt", std::string(300, 'b'));
        folder.write("a.txt", std::string(211, 'a'));
        compare({{"train", {{"type", "text"}, {"path", (folder.path() / "a.txt").string()}}}});
        compare({{"train", {{"type", "text"}, {"path", folder.path().string()}}}});
    }

    void a_validation_source_of_its_own() {
        const Folder folder;
        folder.write("a.txt", std::string(211, 'a'));
        folder.write("b.txt", std::string(300, 'b'));
        compare({{"train", {{"type", "text"}, {"path", (folder.path() / "a.txt").string()}}},
                 {"validation", {{"type", "text"}, {"path", (folder.path() / "b.txt").string()}}}});
    }

    void tables_arrays_and_images() {
        const Folder folder;
        const std::string peers = std::string(WEFT_TEST_DATA) + "/peers/";
        std::string table = "a,b,c\n";
        for (int i = 0; i < 50; ++i) {
            table += std::to_string(i) + "," + (i == 9 ? "" : i % 3 == 0 ? "x" : "z") +
                     (i == 4 ? "\n" : i == 5 ? ",\n" : i % 2 == 0 ? ",p\n" : ",q\n");
        }
        const std::string csv = folder.write("a.csv", table).string();
        for (const char* missing : {"mean", "drop"}) {
            compare({{"train", {{"type", "csv"}, {"path", csv}, {"missing", missing}}}});
        }
        compare({{"train", {{"type", "csv"}, {"path", csv}, {"targets", "a"}}}});
        for (const char* inputs : {"f4.npy", "fortran.npy"}) {
            compare({{"train",
                      {{"type", "npy"},
                       {"inputs", peers + inputs},
                       {"targets", peers + "labels.npy"}}}});
        }
        compare({{"train", {{"type", "hdf5"}, {"path", peers + "packed.h5"}}}});
        compare({{"train", {{"type", "hdf5"}, {"path", peers + "plain.h5"}}}});
        for (const char* name : {"train/a/1.png", "train/b/2.png", "test/a/1.png", "test/b/3.png"}) {
            const std::filesystem::path to = folder.path() / "set" / name;
            std::filesystem::create_directories(to.parent_path());
            std::filesystem::copy_file(peers + "rgb.png", to);
        }
        const std::string images = (folder.path() / "set").string();
        compare({{"train", {{"type", "images"}, {"path", images}}}});
        compare({{"train", {{"type", "images"}, {"path", images}, {"size", {5, 7}}}}});
        const std::string lines =
            folder.write("a.jsonl", "{\"text\": \"\"}\n{\"text\": \"some words\"}\nno\n"
                                    "{\"text\": \"and some more of them\"}\n")
                .string();
        compare({{"train", {{"type", "jsonl"}, {"path", lines}, {"most_bad", 0.5}}},
                 {"validation", nullptr}});
        const std::string chats =
            folder
                .write("chat.jsonl", "{\"prompt\": \"a\", \"completion\": \"b\"}\n"
                                     "{\"instruction\": \"c\", \"output\": \"d\"}\n")
                .string();
        compare({{"train",
                  {{"type", "chat"},
                   {"path", chats},
                   {"template", "own"},
                   {"own", {{"user", "{content}"}, {"assistant", "{content}"}}}}},
                 {"validation", nullptr}});
    }

    // What is left out of a table is known from its rows only.
    void a_table_of_which_rows_are_left_out_is_counted_without_them() {
        const Folder folder;
        std::string rows;
        for (int i = 0; i < 40; ++i) {
            rows += std::to_string(i) + (i % 2 == 0 ? ",p\n" : ",q\n");
        }
        for (const char* bad : {"", "7\n", "8,\n", ",p\n", "x,p\n"}) {
            const std::string path = folder.write("rows.csv", "a,b\n" + rows + bad).string();
            for (const char* missing : {"mean", "drop"}) {
                compare({{"train", {{"type", "csv"}, {"path", path}, {"missing", missing}}}});
                compare({{"train",
                          {{"type", "csv"}, {"path", path}, {"missing", missing}, {"targets", "a"}}}});
            }
        }
    }

    void images_of_classes_that_training_lacks_are_named() {
        const Folder folder;
        const std::string picture = std::string(WEFT_TEST_DATA) + "/peers/rgb.png";
        const auto put = [&](const std::string& name) {
            const std::filesystem::path to = folder.path() / name;
            std::filesystem::create_directories(to.parent_path());
            std::filesystem::copy_file(picture, to);
        };
        for (int i = 0; i < 6; ++i) {
            for (const char* of : {"train/cats/", "train/dogs/", "val/cats/", "val/dogs/"}) {
                put(of + std::to_string(i) + ".png");
            }
        }
        put("val/cows/1.png");
        const Json section = {
            {"train", {{"type", "images"}, {"path", (folder.path() / "train").string()}}},
            {"validation", {{"type", "images"}, {"path", (folder.path() / "val").string()}}}};
        compare(section); // one of thirteen is left out
        QVERIFY(noted(open(section), "'cows' is no class of the training data"));
        put("val/cows/2.png");
        const auto error = error_of([&] { data::outline_data(normalised(section), {}); });
        QVERIFY(error.has_value()); // two of fourteen are more than data.train.most_bad
        QVERIFY2(error->text().find("cows/1.png") != std::string::npos, error->text().c_str());
    }

    void opening_ends_soon_when_it_is_told_to() {
        const Folder folder;
        std::string lines;
        std::string table = "a,b\n";
        for (int i = 0; i < 100; ++i) {
            lines += "{\"text\": \"some words\"}\n";
            table += std::to_string(i) + (i % 2 == 0 ? ",p\n" : ",q\n");
        }
        for (const char* name : {"set/a/1.png", "set/b/2.png"}) {
            folder.write(name, "no picture: reading it would be an error");
        }
        std::stop_source stop;
        stop.request_stop();
        data::OpenContext context{{}, kOutlineContext, 0};
        context.stop = stop.get_token();
        const Json sources[] = {
            {{"type", "jsonl"}, {"path", folder.write("a.jsonl", lines).string()}},
            {{"type", "csv"}, {"path", folder.write("a.csv", table).string()}},
            {{"type", "text"}, {"path", folder.write("a.txt", table).string()}},
            {{"type", "images"},
             {"path", (folder.path() / "set").string()},
             {"size", {4, 4}},
             {"channels", 3}}};
        for (const Json& source : sources) {
            const auto error =
                error_of([&] { data::open_data(normalised({{"train", source}}), context); });
            QVERIFY2(error.has_value(), source.dump().c_str());
            QVERIFY2(error->kind() == ErrorKind::runtime, error->message().c_str());
        }
    }

    void absent_text_is_an_error_unless_it_may_be_absent() {
        const Json section = normalised({{"train", {{"type", "text"}, {"path", "/nowhere.txt"}}}});
        const data::OpenContext context{{}, kOutlineContext, 0};
        const auto error = error_of([&] { data::outline_data(section, context); });
        QVERIFY(error.has_value());
        QCOMPARE(error->kind(), ErrorKind::data);
        const data::DataOutline outline =
            data::outline_data(section, context, data::Files::may_be_absent);
        QCOMPARE(ir::to_text(outline.sample.input), std::string("i32[8]"));
        QCOMPARE(outline.assumptions.size(), 1U);
    }

    void images_and_labels_that_do_not_match_are_found_without_reading_images() {
        const Folder folder;
        folder.write("train-images-idx3-ubyte", idx_bytes({3, 2, 2}, std::string(12, 'x')));
        folder.write("train-labels-idx1-ubyte", idx_bytes({2}, std::string("\x01\x00", 2)));
        const auto error = error_of([&] {
            data::outline_data(
                normalised({{"train", {{"type", "idx"}, {"path", folder.path().string()}}}}), {});
        });
        QVERIFY(error.has_value());
        QVERIFY(error->text().find("do not match") != std::string::npos);
    }
};

WEFT_TEST(OutlineTest)
#include "outline_test.moc"
