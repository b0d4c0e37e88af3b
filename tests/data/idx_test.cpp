// SPDX-License-Identifier: Apache-2.0
#include "core/data/formats/format_list.h"
#include "tests/data/data_support.h"

#include <array>
#include <cmath>

using namespace weft;
using namespace weft::data::test;

namespace {

constexpr const char* kFashion = "/usr/share/datasets/fashion-mnist";

// Three images of 2 x 2 pixels with labels 2, 0, 1.
const std::string kPixels("\x00\x33\x66\x99\xcc\xff\x01\x02\x03\x04\x05\x06", 12);
const std::string kLabels("\x02\x00\x01", 3);

struct Written {
    Folder folder;
    config::Json section;
};

Written written(const std::string& images, const std::string& labels, const char* ending = "") {
    Written out;
    out.folder.write(std::string("train-images-idx3-ubyte") + ending, images);
    out.folder.write(std::string("train-labels-idx1-ubyte") + ending, labels);
    out.section = {{"train", {{"type", "idx"}, {"path", out.folder.path().string()}}},
                   {"validation", nullptr}};
    return out;
}

std::string good_images() {
    return idx_bytes({3, 2, 2}, kPixels);
}
std::string good_labels() {
    return idx_bytes({3}, kLabels);
}

void expect_error(const Written& files, const char* part_of_text) {
    const auto error = error_of([&] { data::open_data(normalised(files.section), {}); });
    QVERIFY2(error.has_value(), part_of_text);
    QCOMPARE(error->kind(), ErrorKind::data);
    QVERIFY2(error->text().find(part_of_text) != std::string::npos, error->message().c_str());
    QVERIFY2(error->where().find(files.folder.path().string()) == 0, error->where().c_str());
    QVERIFY2(!error->hint().empty(), error->message().c_str());
}

} // namespace

class IdxTest : public QObject {
    Q_OBJECT

private slots:
    void a_hand_built_file_reads_as_written() {
        const Written files = written(good_images(), good_labels());
        const data::DataSet set = open(files.section);
        QCOMPARE(set.train->samples(), 3);
        QCOMPARE(ir::to_text(set.train->info().input), std::string("f32[2,2,1]"));
        QCOMPARE(ir::to_text(set.train->info().target), std::string("i32[]"));
        QCOMPARE(set.train->info().classes, 3);
        QVERIFY(set.train->info().class_names.empty());
        const std::vector<float> first = {0.0F, 0.2F, 0.4F, 0.6F}; // 0x33 is 51 of 255
        QCOMPARE(input_floats(*set.train, 0), first);
        QCOMPARE(input_floats(*set.train, 1)[1], 1.0F);
        QCOMPARE(target_integers(*set.train, 0), std::vector<std::int32_t>{2});
        QCOMPARE(set.train->label(2), 1);
        QVERIFY(set.test == nullptr);
    }

    void a_compressed_file_equals_the_plain_one() {
        const Written plain = written(good_images(), good_labels());
        const Written packed = written(gzip_bytes(good_images()), gzip_bytes(good_labels()), ".gz");
        const data::DataSet a = open(plain.section);
        const data::DataSet b = open(packed.section);
        QCOMPARE(b.train->fingerprint(), a.train->fingerprint());
        for (std::int64_t i = 0; i < 3; ++i) {
            QCOMPARE(input_floats(*b.train, i), input_floats(*a.train, i));
            QCOMPARE(b.train->label(i), a.train->label(i));
        }
    }

    void an_images_file_finds_its_labels_and_test_part() {
        const Written files = written(good_images(), good_labels());
        files.folder.write("t10k-images-idx3-ubyte", idx_bytes({1, 2, 2}, "abcd"));
        files.folder.write("t10k-labels-idx1-ubyte", idx_bytes({1}, std::string(1, '\x01')));
        config::Json section = files.section;
        section["train"]["path"] = (files.folder.path() / "train-images-idx3-ubyte").string();
        const data::DataSet set = open(section);
        QCOMPARE(set.train->samples(), 3);
        QVERIFY(set.test != nullptr);
        QCOMPARE(set.test->samples(), 1);
        QCOMPARE(set.test->label(0), 1);
    }

    void the_test_part_is_not_read_before_its_use() {
        const Written files = written(good_images(), good_labels());
        files.folder.write("t10k-images-idx3-ubyte", "damaged");
        files.folder.write("t10k-labels-idx1-ubyte", "damaged");
        const data::DataSet set = open(files.section);
        QVERIFY(set.test != nullptr);
        QCOMPARE(set.test->cache_bytes(), 0);
        QVERIFY(error_of([&] { set.test->samples(); }).has_value());
    }

    void every_prefix_of_a_plain_file_is_refused() {
        const std::string images = good_images();
        for (std::size_t bytes = 0; bytes < images.size(); ++bytes) {
            const Written files = written(images.substr(0, bytes), good_labels());
            expect_error(files, "ends at byte");
        }
    }

    void every_prefix_of_a_compressed_file_is_refused() {
        const std::string images = gzip_bytes(good_images());
        for (std::size_t bytes = 0; bytes < images.size(); ++bytes) {
            const Written files =
                written(images.substr(0, bytes), gzip_bytes(good_labels()), ".gz");
            expect_error(files, "");
        }
    }

    void every_changed_bit_of_compressed_data_is_noticed() {
        const std::string whole = gzip_bytes(good_images());
        // The first ten bytes are gzip's header, whose time and system do not bear on the content.
        for (std::size_t byte = 10; byte < whole.size(); ++byte) {
            std::string changed = whole;
            changed[byte] = static_cast<char>(changed[byte] ^ 0x10);
            expect_error(written(changed, gzip_bytes(good_labels()), ".gz"), "");
        }
    }

    void mistakes_are_named_data() {
        QTest::addColumn<QByteArray>("images");
        QTest::addColumn<QByteArray>("labels");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const std::string& images, const std::string& labels,
                            const char* text) {
            QTest::newRow(name) << QByteArray::fromStdString(images)
                                << QByteArray::fromStdString(labels) << QString(text);
        };
        row("not idx", "PNG......................", good_labels(), "not the mark of idx files");
        row("floats", std::string("\0\0\x0d\x03", 4) + good_images().substr(4), good_labels(),
            "not the mark of idx files");
        row("swapped", good_labels(), good_images(), "1 dimensions; images have 3 or 4");
        row("label count", good_images(), idx_bytes({2}, std::string(2, '\0')),
            "2 labels do not match the 3 images");
        row("no samples", idx_bytes({0, 2, 2}, ""), idx_bytes({0}, ""), "no samples");
        row("too long", good_images() + "x", good_labels(), "its header announces");
        row("hostile size", idx_bytes({0xffffffff, 0xffffffff, 0xffffffff}, kPixels), good_labels(),
            "more data than a file of this size can hold");
        row("large size", idx_bytes({1u << 20, 28, 28}, kPixels), good_labels(),
            "more data than a file of this size can hold");
    }

    void mistakes_are_named() {
        QFETCH(QByteArray, images);
        QFETCH(QByteArray, labels);
        QFETCH(QString, text);
        expect_error(written(images.toStdString(), labels.toStdString()),
                     text.toStdString().c_str());
    }

    void a_compressed_hostile_size_allocates_nothing() {
        const std::string hostile = gzip_bytes(idx_bytes({1u << 20, 1024, 1024}, kPixels));
        expect_error(written(hostile, good_labels(), ".gz"),
                     "more data than a file of this size can hold");
    }

    void missing_files_are_named() {
        const Folder folder;
        config::Json section = {{"train", {{"type", "idx"}, {"path", folder.path().string()}}}};
        auto error = error_of([&] { open(section); });
        QVERIFY(error && error->text().find("train-images-idx3-ubyte") != std::string::npos);
        section["train"]["path"] = (folder.path() / "absent").string();
        error = error_of([&] { open(section); });
        QVERIFY(error && error->text().find("no such file") != std::string::npos);
        const std::filesystem::path images = folder.write("train-images-idx3-ubyte", good_images());
        section["train"]["path"] = images.string();
        error = error_of([&] { open(section); });
        QVERIFY(error && error->text().find("train-labels-idx1-ubyte") != std::string::npos);
    }

    void fashion_mnist_has_its_published_facts() {
        if (!std::filesystem::exists(kFashion)) {
            QSKIP("Debian's dataset-fashion-mnist is not installed");
        }
        const data::DataSet set =
            open({{"train", {{"type", "idx"}, {"path", kFashion}}}, {"validation", nullptr}});
        QCOMPARE(set.train->samples(), 60000);
        QCOMPARE(set.test->samples(), 10000);
        QCOMPARE(set.train->info().classes, 10);
        QCOMPARE(set.train->info().class_names.at(9), std::string("Ankle boot"));
        QCOMPARE(set.train->info().class_counts,
                 std::vector<std::int64_t>(10, 6000)); // README of the set
        QCOMPARE(set.test->info().class_names.at(0), std::string("T-shirt/top"));
        QCOMPARE(ir::to_text(set.train->info().input), std::string("f32[28,28,1]"));
        const std::array<int, 5> first = {9, 0, 0, 3, 0};
        for (std::size_t i = 0; i < first.size(); ++i) {
            QCOMPARE(set.train->label(static_cast<std::int64_t>(i)), first[i]);
        }
        std::array<int, 10> counts{};
        for (std::int64_t i = 0; i < 60000; ++i) {
            ++counts[static_cast<std::size_t>(set.train->label(i))];
        }
        for (const int count : counts) {
            QCOMPARE(count, 6000);
        }
    }

    void fashion_mnist_pixels_have_the_published_mean_and_deviation() {
        if (!std::filesystem::exists(kFashion)) {
            QSKIP("Debian's dataset-fashion-mnist is not installed");
        }
        const data::DataSet set =
            open({{"train", {{"type", "idx"}, {"path", kFashion}}}, {"validation", nullptr}});
        double sum = 0;
        double squares = 0;
        for (std::int64_t i = 0; i < set.train->samples(); ++i) {
            for (const float pixel : input_floats(*set.train, i)) {
                sum += pixel;
                squares += double(pixel) * pixel;
            }
        }
        const double count = 60000.0 * 784;
        const double mean = sum / count;
        // 0.2860 and 0.3530 are given to four digits.
        QVERIFY(std::abs(mean - 0.2860) < 5e-5);
        QVERIFY(std::abs(std::sqrt(squares / count - mean * mean) - 0.3530) < 5e-5);
    }
};

WEFT_TEST(IdxTest)
#include "idx_test.moc"
