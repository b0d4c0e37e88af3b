// SPDX-License-Identifier: Apache-2.0
// What is told while data are opened, that a stop ends it, and that what was read of a file is not
// read again while the file is as it was.
#include "core/base/clock.h"
#include "core/data/recognise.h"
#include "tests/data/data_support.h"
#include "tests/data/image_support.h"

#include <chrono>

using namespace weft;
using namespace weft::data::test;
using config::Json;
using data::Opening;

namespace {

constexpr std::int64_t kOpeningContext = 8;

/// Files that were written a while ago.
void age(const std::filesystem::path& path) {
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) -
                                               std::chrono::hours(1));
}

std::string table(int rows) {
    std::string out = "size;colour;price\n";
    for (int i = 0; i < rows; ++i) {
        out +=
            std::to_string(i % 17) + (i % 2 == 0 ? ";red;" : ";blue;") + std::to_string(i) + ".5\n";
    }
    return out;
}

/// A version 1.0 file of numpy (numpy.lib.format) with f8 [rows].
std::string npy_column(int rows) {
    std::string header =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }";
    header.resize(117, ' ');
    std::string out = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n";
    for (int i = 0; i < rows; ++i) {
        const double value = i;
        out.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return out;
}

/// A section of each format whose opening reads its files.
Json section_of(const std::string& format, const Folder& folder) {
    Json train = {{"type", format}};
    if (format == "csv") {
        train["path"] = folder.write("prices.csv", table(40)).string();
    } else if (format == "jsonl") {
        std::string lines;
        for (int i = 0; i < 40; ++i) {
            lines += "{\"text\": \"document " + std::to_string(i) + "\"}\n";
        }
        train["path"] = folder.write("texts.jsonl", lines).string();
    } else if (format == "chat") {
        std::string lines;
        for (int i = 0; i < 40; ++i) {
            lines += "{\"prompt\": \"a\", \"completion\": \"b\"}\n";
        }
        train["path"] = folder.write("chats.jsonl", lines).string();
        train["template"] = "own";
        train["own"] = {{"user", "{content}"}, {"assistant", "{content}"}};
    } else if (format == "text") {
        train["path"] = folder.write("book.txt", std::string(400, 'a')).string();
    } else if (format == "npy") {
        train["inputs"] = folder.write("x.npy", npy_column(40)).string();
        train["targets"] = folder.write("y.npy", npy_column(40)).string();
    } else if (format == "hdf5") {
        train["path"] = (std::filesystem::path(WEFT_TEST_DATA) / "peers/packed.h5").string();
    } else if (format == "images") {
        for (const char* kind : {"cats", "dogs"}) {
            std::filesystem::create_directories(folder.path() / kind);
            for (int i = 0; i < 5; ++i) {
                folder.write(std::string(kind) + "/" + std::to_string(i) + ".png",
                             png_bytes(plain_image(4, 4, {9})));
            }
        }
        train["path"] = folder.path().string();
    }
    return {{"train", train}, {"validation", nullptr}};
}

void add_formats() {
    QTest::addColumn<QString>("format");
    for (const char* format : {"csv", "jsonl", "chat", "text", "npy", "hdf5", "images"}) {
        QTest::newRow(format) << format;
    }
}

std::vector<Opening> told_by(const std::function<void(const data::OpenContext&)>& work) {
    std::vector<Opening> told;
    data::OpenContext context;
    context.sequence_length = kOpeningContext;
    context.on_opening = [&told](const Opening& opening) { told.push_back(opening); };
    work(context);
    return told;
}

} // namespace

class OpeningTest : public QObject {
    Q_OBJECT

private slots:
    void a_table_is_read_twice_and_says_so() {
        const Folder folder;
        const Json section = normalised(section_of("csv", folder));
        const auto bytes =
            static_cast<std::int64_t>(std::filesystem::file_size(folder.path() / "prices.csv"));
        const std::vector<Opening> told =
            told_by([&](const auto& context) { data::open_data(section, context); });
        QVERIFY(told.size() >= 2);
        QCOMPARE(told.front().name, std::string("prices.csv"));
        QCOMPARE(told.front().unit, std::string("rows"));
        QCOMPARE(told.front().pass, 1);
        QCOMPARE(told.front().passes, 2);
        QCOMPARE(told.front().total, 0); // nobody has counted them
        QCOMPARE(told.front().total_bytes, bytes);
        QCOMPARE(told.back().pass, 2);
        QCOMPARE(told.back().total, 40);
    }

    void every_format_tells_that_it_begins_data() { add_formats(); }
    void every_format_tells_that_it_begins() {
        QFETCH(QString, format);
        const Folder folder;
        const Json section = normalised(section_of(format.toStdString(), folder));
        const std::vector<Opening> told =
            told_by([&](const auto& context) { data::open_data(section, context); });
        QVERIFY(!told.empty());
        QVERIFY(!told.front().name.empty());
        QVERIFY(told.front().total > 0 || told.front().total_bytes > 0);
    }

    void a_stop_ends_the_opening_of_every_format_data() { add_formats(); }
    void a_stop_ends_the_opening_of_every_format() {
        QFETCH(QString, format);
        const Folder folder;
        const Json section = normalised(section_of(format.toStdString(), folder));
        std::stop_source stop;
        data::OpenContext context;
        context.sequence_length = kOpeningContext;
        context.stop = stop.get_token();
        context.on_opening = [&stop](const Opening&) { stop.request_stop(); };
        const auto error = error_of([&] { data::open_data(section, context); });
        QVERIFY(error.has_value());
        QVERIFY(error->kind() == ErrorKind::runtime);
    }

    void the_share_counts_bytes_and_passes() {
        QCOMPARE((Opening{.name = "a", .unit = "rows", .done = 7}.share()), 0.0);
        QCOMPARE((Opening{.name = "a", .unit = "images", .done = 5, .total = 20}.share()), 0.25);
        const Opening second{.name = "a",
                             .unit = "rows",
                             .done = 10,
                             .total = 1000, // bytes tell more: rows differ
                             .bytes = 50,
                             .total_bytes = 100,
                             .pass = 2,
                             .passes = 2};
        QCOMPARE(second.share(), 0.75);
        QCOMPARE(data::to_text(second),
                 std::string("a, pass 2 of 2: 10 of 1,000 rows, 50 B of 100 B"));
    }

    void only_what_takes_longer_than_a_second_is_worth_a_word() {
        ManualClock clock;
        std::vector<double> said;
        const data::OnOpening hear = data::when_slow(
            [&said](const Opening&, double seconds) { said.push_back(seconds); }, &clock);
        Opening opening{.name = "a", .unit = "rows"};
        hear(opening);
        clock.advance(0.75);
        opening.done = 1;
        hear(opening);
        QVERIFY(said.empty());
        clock.advance(0.75);
        hear(opening);
        hear(opening); // in the same half second
        clock.advance(0.5);
        hear(opening);
        QCOMPARE(said, (std::vector<double>{1.5, 2.0}));
        opening.done = 0; // another file
        hear(opening);
        clock.advance(0.75);
        opening.done = 1;
        hear(opening);
        QCOMPARE(said.size(), std::size_t(2));
    }

    void an_outline_reads_a_file_once_until_it_changes_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("file");
        QTest::newRow("csv") << "csv"
                             << "prices.csv";
        QTest::newRow("jsonl") << "jsonl"
                               << "texts.jsonl";
        QTest::newRow("npy") << "npy"
                             << "y.npy";
    }

    void an_outline_reads_a_file_once_until_it_changes() {
        QFETCH(QString, format);
        QFETCH(QString, file);
        const Folder folder;
        const Json section = normalised(section_of(format.toStdString(), folder));
        const std::filesystem::path path = folder.path() / file.toStdString();
        for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
            age(entry.path());
        }
        std::int64_t samples = 0;
        const auto outline = [&](const data::OpenContext& context) {
            samples = data::outline_data(section, context).samples;
        };
        QVERIFY(!told_by(outline).empty());
        const std::int64_t first = samples;
        QVERIFY(told_by(outline).empty());
        QCOMPARE(samples, first);
        if (format == "csv") {
            folder.write("prices.csv", table(50));
            age(path);
            QVERIFY(!told_by(outline).empty());
            QCOMPARE(samples, 50);
        } else {
            age(path); // of another time: it may hold other things
            QVERIFY(!told_by(outline).empty());
        }
    }

    void a_file_that_was_just_written_is_read_again() {
        const Folder folder;
        const Json section = normalised(section_of("csv", folder));
        const auto outline = [&](const data::OpenContext& context) {
            data::outline_data(section, context);
        };
        QVERIFY(!told_by(outline).empty());
        QVERIFY(!told_by(outline).empty());
    }

    void what_was_counted_for_an_offer_is_not_counted_again_by_training() {
        const Folder folder;
        const Json section = normalised(section_of("csv", folder));
        const std::filesystem::path path = folder.path() / "prices.csv";
        age(path);
        told_by([&](const auto& context) { data::recognise(path, context); });
        const std::vector<Opening> told =
            told_by([&](const auto& context) { data::open_data(section, context); });
        QCOMPARE(told.size(), std::size_t(1)); // the rows alone
        QCOMPARE(told.front().passes, 1);
        QCOMPARE(told.front().total, 40);
    }
};

WEFT_TEST(OpeningTest)
#include "opening_test.moc"
