// SPDX-License-Identifier: Apache-2.0
// Sources that are read block by block: the order of their samples, and what a loader makes of
// them.
#include "core/base/file.h"
#include "core/base/hdf5_file.h"
#include "core/data/loader.h"
#include "core/data/scan.h"
#include "core/data/split.h"
#include "core/data/views.h"
#include "core/data/write_samples.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

using namespace weft;
using namespace weft::data::test;
using config::Json;
using data::Batch;
using data::Cursor;
using data::Loader;
using data::LoaderOptions;
using data::Sampler;

namespace {

constexpr std::int64_t kSampleBytes = 8; // of NumberSource: a number and a class

std::shared_ptr<NumberSource> blocks_of(std::int64_t samples, std::int64_t block) {
    auto out = std::make_shared<NumberSource>(
        samples, [](std::int64_t i) { return static_cast<std::int32_t>(i % 7); });
    for (std::int64_t first = 0; first < samples; first += block) {
        out->starts.push_back(first);
    }
    out->starts.push_back(samples);
    return out;
}

LoaderOptions streaming(std::int64_t batch_size, int workers, bool endless = true,
                        bool drop_last = false) {
    LoaderOptions options;
    options.batch_size = batch_size;
    options.workers = workers;
    options.prefetch = 3;
    options.endless = endless;
    options.drop_last = drop_last;
    return options;
}

/// 500 images [3, 2] of bytes with classes 0 to 4, in plain HDF5.
std::filesystem::path write_images(const Folder& folder) {
    const auto path = folder.path() / "images.h5";
    const std::vector<Hdf5Spec> specs = {{"images", Hdf5Type::u8, {500, 3, 2}},
                                         {"labels", Hdf5Type::i64, {500}}};
    const std::vector<Hdf5Dataset> placed = create_hdf5(path, specs);
    std::vector<std::uint8_t> images(500 * 6);
    std::vector<std::int64_t> labels(500);
    for (std::size_t i = 0; i < images.size(); ++i) {
        images[i] = static_cast<std::uint8_t>(i * 37 % 251);
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::int64_t>(i % 5);
    }
    File file(path, File::Mode::read_write);
    file.write_at(std::as_bytes(std::span(images)), placed[0].offset);
    file.write_at(std::as_bytes(std::span(labels)), placed[1].offset);
    return path;
}

Json chunks(const char* cache, const Json& more) {
    Json train = {{"type", "hdf5"},
                  {"path", peer("chunks.h5")},
                  {"inputs", "x"},
                  {"targets", "y"},
                  {"scale", "none"}};
    train.update(more);
    return {{"train", train}, {"validation", nullptr}, {"cache", cache}};
}

} // namespace

class StreamTest : public QObject {
    Q_OBJECT

private slots:
    // peers/make_order.py is a second implementation, in Python.
    void the_order_is_that_of_its_description() {
        std::ifstream file(peer("order.txt"));
        std::string line;
        int cases = 0;
        while (std::getline(file, line)) {
            std::istringstream text(line);
            std::int64_t samples = 0, block = 0, window_rows = 0, epoch = 0;
            std::uint64_t seed = 0;
            text >> samples >> block >> window_rows >> seed >> epoch;
            const auto source = blocks_of(samples, block);
            const Sampler sampler(*source, true, seed, window_rows * kSampleBytes);
            Loader loader(source, sampler, streaming(samples, 1, false), {epoch, 0});
            const std::vector<float> loaded = floats(loader.next()->inputs);
            for (std::int64_t position = 0; position < samples; ++position) {
                std::int64_t expected = -1;
                text >> expected;
                QCOMPARE(sampler.index(epoch, position), expected);
                QCOMPARE(loaded[static_cast<std::size_t>(position)], static_cast<float>(expected));
            }
            ++cases;
        }
        QCOMPARE(cases, 5);
    }

    void every_epoch_has_every_sample_once() {
        for (const std::int64_t samples : {1, 2, 3, 17, 64, 65, 1000}) {
            for (const std::int64_t block : {1, 4, 16, 1000}) {
                for (const std::int64_t window_rows : {1, 5, 40, 5000}) {
                    const auto source = blocks_of(samples, block);
                    const Sampler sampler(*source, true, 3, window_rows * kSampleBytes);
                    for (const std::int64_t epoch : {0, 1, 1000000}) {
                        std::set<std::int64_t> seen;
                        for (std::int64_t i = 0; i < samples; ++i) {
                            seen.insert(sampler.index(epoch, i));
                        }
                        QCOMPARE(static_cast<std::int64_t>(seen.size()), samples);
                        QCOMPARE(*seen.rbegin(), samples - 1);
                    }
                }
            }
        }
    }

    void one_window_has_the_order_of_samples_at_hand() {
        const auto source = blocks_of(300, 40);
        const Sampler streamed(*source, true, 11, 300 * kSampleBytes);
        const Sampler at_hand(300, true, 11);
        for (std::int64_t i = 0; i < 300; ++i) {
            QCOMPARE(streamed.index(2, i), at_hand.index(2, i));
        }
    }

    void in_a_window_every_row_is_as_likely_at_every_place() {
        // 12 rows in one window of two, 12,000 epochs: each of 144 cells expects 1,000. Chi-square
        // has 11 x 11 degrees of freedom; 121 + 5 sqrt(242) is five standard deviations out.
        std::vector<double> cells(144);
        for (std::int64_t epoch = 0; epoch < 12000; ++epoch) {
            const data::RowOrder order = data::RowOrder::shuffled(12, 42, epoch, 1);
            for (std::int64_t place = 0; place < 12; ++place) {
                ++cells[static_cast<std::size_t>(place * 12 + order.row_at(place))];
            }
        }
        double chi_square = 0;
        for (const double count : cells) {
            chi_square += (count - 1000) * (count - 1000) / 1000;
        }
        QVERIFY2(chi_square < 121 + 5 * std::sqrt(242.0), std::to_string(chi_square).c_str());
    }

    void neighbours_in_a_window_are_unrelated() {
        // As in OrderTest: the mean distance of two random rows, and five of its deviations. The
        // places of neighbouring rows are looked at too.
        constexpr std::int64_t kRows = 10007;
        const data::RowOrder order = data::RowOrder::shuffled(kRows, 1, 0, 0);
        std::vector<std::uint32_t> places(kRows);
        order.places(0, places);
        std::vector<std::uint32_t> rows(kRows);
        for (std::size_t row = 0; row < places.size(); ++row) {
            rows[places[row]] = static_cast<std::uint32_t>(row);
        }
        const double n = kRows;
        for (const auto& list : {places, rows}) {
            for (const std::size_t apart : {1U, 2U, 101U}) { // 101 pairs make a line
                double sum = 0;
                for (std::size_t i = apart; i < list.size(); ++i) {
                    sum += std::abs(static_cast<double>(list[i]) -
                                    static_cast<double>(list[i - apart]));
                }
                const double mean = sum / (n - static_cast<double>(apart));
                QVERIFY(std::abs(mean - (n * n - 1) / (3 * n)) < 5 * n / std::sqrt(18 * n));
            }
        }
    }

    void threads_change_nothing_data() {
        QTest::addColumn<int>("batch_size");
        QTest::addColumn<int>("window_rows");
        QTest::addColumn<bool>("drop_last");
        QTest::newRow("many batches in a window") << 10 << 200 << false;
        QTest::newRow("a window per batch") << 40 << 40 << false;
        QTest::newRow("a batch of many windows") << 300 << 40 << false;
        QTest::newRow("the short batch left out") << 64 << 200 << true;
    }

    void threads_change_nothing() {
        QFETCH(int, batch_size);
        QFETCH(int, window_rows);
        QFETCH(bool, drop_last);
        const auto source = blocks_of(1003, 16);
        const Sampler sampler(*source, true, 9, window_rows * kSampleBytes);
        Loader alone(source, sampler, streaming(batch_size, 0, true, drop_last), {});
        const std::vector<SeenBatch> expected = take(alone, 250);
        for (std::size_t row = 0; row < 10; ++row) {
            QCOMPARE(expected[0].inputs[row],
                     static_cast<float>(sampler.index(0, static_cast<std::int64_t>(row))));
        }
        for (const int workers : {1, 4}) {
            Loader loader(source, sampler, streaming(batch_size, workers, true, drop_last), {});
            QVERIFY(take(loader, 250) == expected);
        }
    }

    void resuming_at_any_batch_continues_the_same_sequence() {
        for (const bool drop_last : {false, true}) {
            const auto source = blocks_of(230, 16);
            const Sampler sampler(*source, true, 5, 50 * kSampleBytes);
            Loader whole(source, sampler, streaming(12, 1, true, drop_last), {});
            const std::vector<SeenBatch> all = take(whole, 45);
            for (std::size_t i = 0; i + 1 < all.size(); ++i) {
                Loader rest(source, sampler, streaming(12, 2, true, drop_last), all[i].after);
                const std::vector<SeenBatch> seen =
                    take(rest, static_cast<int>(all.size() - i - 1));
                QVERIFY(std::equal(seen.begin(), seen.end(),
                                   all.begin() + static_cast<std::ptrdiff_t>(i) + 1));
            }
        }
    }

    void a_finite_pass_ends_for_good() {
        for (const int workers : {0, 1, 4}) {
            const auto source = blocks_of(100, 16);
            const Sampler sampler(*source, false, 0, 40 * kSampleBytes);
            Loader loader(source, sampler, streaming(30, workers, false), {});
            const std::vector<SeenBatch> seen = take(loader, 100);
            QCOMPARE(seen.size(), std::size_t(4));
            QCOMPARE(seen[3].samples, 10);
            QCOMPARE(seen[3].inputs[9], 99.0F);
            QCOMPARE(seen[3].inputs[10], 90.0F); // its first sample again
            QCOMPARE(seen[3].weights[10], 0.0F);
            QVERIFY(loader.next() == nullptr);
            loader.wait_until_full();
            QVERIFY(loader.next() == nullptr);
        }
    }

    void an_error_comes_after_the_good_batches_and_stays() {
        for (const int workers : {0, 1, 4}) {
            const auto source = blocks_of(100, 10);
            source->broken = 57; // in the third window
            Loader loader(source, Sampler(*source, false, 0, 25 * kSampleBytes),
                          streaming(10, workers), {});
            QCOMPARE(take(loader, 4).size(), std::size_t(4));
            for (int again = 0; again < 2; ++again) {
                const auto error = error_of([&] { loader.next(); });
                QVERIFY(error && error->text() == "sample 57 is broken");
            }
        }
    }

    void an_error_within_a_batch_of_many_windows_is_told() {
        for (const int workers : {0, 1, 4}) {
            for (const std::int64_t broken : {0, 57, 99}) {
                const auto source = blocks_of(100, 10);
                source->broken = broken;
                Loader loader(source, Sampler(*source, false, 0, 20 * kSampleBytes),
                              streaming(100, workers), {});
                const auto error = error_of([&] { loader.next(); });
                QVERIFY(error &&
                        error->text() == "sample " + std::to_string(broken) + " is broken");
                loader.wait_until_full();
            }
        }
    }

    void every_shape_gives_what_one_thread_gives() {
        int faults = 0;
        for (const std::int64_t block : {0, 16, 100}) { // 0: samples at hand
            for (const std::int64_t batch : {8, 33, 700}) {
                for (const std::int64_t broken : {-1, 1777}) {
                    std::vector<std::vector<SeenBatch>> seen;
                    for (const int workers : {0, 1, 5}) {
                        const auto source = blocks_of(3001, block == 0 ? 3001 : block);
                        source->starts = block == 0 ? std::vector<std::int64_t>() : source->starts;
                        source->broken = broken;
                        Loader loader(source, Sampler(*source, true, 3, 400 * kSampleBytes),
                                      streaming(batch, workers), {0, 100});
                        seen.emplace_back();
                        const auto error = error_of([&] {
                            while (seen.back().size() < 150) {
                                seen.back().push_back(take(loader, 1).at(0));
                            }
                        });
                        faults += error.has_value() ? 1 : 0;
                        QVERIFY(broken >= 0 || !error);
                        QVERIFY(error || seen.back().size() == 150);
                    }
                    QVERIFY(seen[1] == seen[0]);
                    QVERIFY(seen[2] == seen[0]);
                }
            }
        }
        QVERIFY(faults > 0 && faults % 3 == 0); // of each shape all or none
    }

    void a_loader_may_go_at_any_moment() {
        for (int taken = 0; taken < 12; ++taken) {
            const auto source = blocks_of(1000, 10);
            Loader loader(source, Sampler(*source, true, 1, 30 * kSampleBytes), streaming(7, 3),
                          {});
            QCOMPARE(take(loader, taken).size(), static_cast<std::size_t>(taken));
        }
    }

    void a_full_loader_holds_two_windows_and_its_batches() {
        const auto source = blocks_of(1000, 10);
        const Loader loader(source, Sampler(*source, true, 1, 100 * kSampleBytes), streaming(8, 1),
                            {});
        QCOMPARE(loader.buffer_bytes(), 2 * 100 * kSampleBytes + 4 * 8 * (kSampleBytes + 4));
    }

    void small_windows_and_many_batches_ahead_do_not_wait_for_each_other() {
        const auto source = blocks_of(64, 4);
        LoaderOptions options = streaming(4, 2, false);
        options.prefetch = 16;
        Loader loader(source, Sampler(*source, true, 1, 4 * kSampleBytes), options, {});
        loader.wait_until_full();
        QCOMPARE(take(loader, 100).size(), std::size_t(16));
    }

    void what_is_read_block_by_block_is_what_is_kept() {
        for (const char* inputs : {"x", "parts", "big"}) {
            const data::DataSet kept = open(chunks("auto", {{"inputs", inputs}}));
            const data::DataSet streamed = open(chunks("none", {{"inputs", inputs}}));
            QVERIFY(kept.train->blocks().empty());
            QCOMPARE(streamed.train->blocks().size(), std::size_t(2)); // one block, its end
            QCOMPARE(streamed.train->cache_bytes(), 0);
            QCOMPARE(streamed.train->info().classes, 3);
            for (const std::int64_t i : {0, 63, 64, 299}) {
                QCOMPARE(input_floats(*streamed.train, i), input_floats(*kept.train, i));
                QCOMPARE(target_integers(*streamed.train, i), target_integers(*kept.train, i));
                QCOMPARE(streamed.train->label(i), i % 3);
            }
        }
    }

    // Whole numbers of this size add up exactly, in any order.
    void means_of_blocks_are_those_of_samples() {
        const Json scaled = {
            {"scale", "standardize"}, {"targets", "plain"}, {"task", "regression"}};
        const data::DataSet kept = open(chunks("auto", scaled));
        const data::DataSet streamed = open(chunks("none", scaled));
        for (const std::int64_t i : {0, 150, 299}) {
            const auto expected = input_floats(*kept.train, i);
            const auto seen = input_floats(*streamed.train, i);
            for (std::size_t k = 0; k < expected.size(); ++k) {
                QVERIFY(std::abs(seen[k] - expected[k]) < 1e-6); // rounding of the sums
            }
        }
        const auto expected = kept.train->target_scale();
        const auto seen = streamed.train->target_scale();
        for (std::size_t k = 0; k < 6; ++k) {
            QVERIFY(std::abs(seen.mean[k] - expected.mean[k]) < 1e-9);
            QVERIFY(std::abs(seen.scale[k] - expected.scale[k]) < 1e-9);
        }
    }

    void a_scan_finds_the_same_block_by_block() {
        std::vector<data::ScanReport> reports;
        for (const char* cache : {"auto", "none"}) {
            auto report = data::scan(normalised(chunks(cache, Json::object())), {});
            QVERIFY(report.has_value());
            reports.push_back(std::move(*report));
        }
        const data::PartScan& kept = reports[0].parts.at(0);
        const data::PartScan& streamed = reports[1].parts.at(0);
        QCOMPARE(streamed.class_counts, (std::vector<std::int64_t>{100, 100, 100}));
        QCOMPARE(streamed.class_counts, kept.class_counts);
        QCOMPARE(streamed.mean, kept.mean);
        QCOMPARE(streamed.deviation, kept.deviation);
        QCOMPARE(streamed.maximum, 0.25 * 1799 - 7);
        QCOMPARE(streamed.duplicates, 0);
        QCOMPARE(streamed.duplicate_share, 1);
    }

    // 128 chunks of 2,048 rows of zeros, of which a quarter and the ends are looked at to open it.
    void a_scan_tells_which_samples_cannot_be_read_and_goes_on() {
        const std::string whole = read_file(peer("zeros.h5"));
        const Folder folder;
        for (std::size_t at = 6000; at < whole.size(); at += 500) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(~damaged[at]);
            const Json section = {{"train",
                                   {{"type", "hdf5"},
                                    {"path", folder.write("damaged.h5", damaged).string()},
                                    {"inputs", "x"},
                                    {"targets", "y"},
                                    {"scale", "none"}}},
                                  {"validation", nullptr},
                                  {"cache", "none"}};
            std::optional<data::ScanReport> report;
            if (error_of([&] { report = data::scan(normalised(section), {}); }) ||
                report->parts[0].unreadable == 0) {
                continue;
            }
            const data::PartScan& part = report->parts[0];
            QCOMPARE(part.unreadable, 2048);
            QVERIFY(part.bad[0].text.find("chunk at [") != std::string::npos);
            QCOMPARE(part.duplicates, (1 << 18) - 2048 - 1);
            return;
        }
        QFAIL("no byte damaged a chunk of x");
    }

    void samples_that_stream_are_written_as_those_at_hand() {
        const Folder folder;
        std::vector<std::string> written;
        for (const char* cache : {"auto", "none"}) {
            const auto to = folder.path() / (std::string(cache) + ".h5");
            QCOMPARE(data::write_samples(normalised(chunks(cache, Json::object())), {}, to).train,
                     300);
            written.push_back(read_file(to));
        }
        QVERIFY(written[0] == written[1]);
    }

    // One window: the same order, random flips included.
    void batches_of_a_stream_are_those_of_samples_at_hand() {
        const Folder folder;
        const Json section = {
            {"train", {{"type", "hdf5"}, {"path", write_images(folder).string()}}},
            {"validation", nullptr},
            {"transforms", {{{"type", "random_flip"}}}}};
        std::vector<std::vector<SeenBatch>> seen;
        for (const char* cache : {"auto", "memory", "none"}) {
            Json with = section;
            with["cache"] = cache;
            const data::DataSet set = open(with);
            QCOMPARE(set.train->blocks().empty(), std::string(cache) != "none");
            Loader loader(set.train, Sampler(*set.train, true, 8), streaming(32, 1), {});
            seen.push_back(take(loader, 40));
        }
        QVERIFY(seen[1] == seen[0]);
        QVERIFY(seen[2] == seen[0]);
    }

    void a_split_of_blocks_takes_the_share_and_leaves_the_rest() {
        const auto source = blocks_of(1000, 64);
        const data::RunSplit split = data::split_by_block(source->starts, 0.1, 4);
        std::set<std::int64_t> all;
        std::int64_t held_out = 0;
        for (const auto* runs : {&split.train, &split.validation}) {
            for (const data::Run& run : *runs) {
                held_out += runs == &split.validation ? run.samples : 0;
                QVERIFY(run.samples > 0 && run.first / 64 == (run.first + run.samples - 1) / 64);
                for (std::int64_t i = run.first; i < run.first + run.samples; ++i) {
                    all.insert(i);
                }
            }
        }
        QCOMPARE(held_out, 100);
        QCOMPARE(all.size(), std::size_t(1000));
        QCOMPARE(split.validation.size(), std::size_t(2)); // a whole block, a part of another
        QVERIFY(data::split_by_block(source->starts, 0.1, 5).validation != split.validation);

        const auto part = data::subset(source, split.validation, "validation");
        Loader loader(part, Sampler(*part, false, 0), streaming(100, 1, false), {});
        const std::vector<float> seen = floats(loader.next()->inputs);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            const bool first = i < static_cast<std::size_t>(split.validation[0].samples);
            const data::Run& run = split.validation[first ? 0 : 1];
            const auto before = first ? 0 : split.validation[0].samples;
            QCOMPARE(seen[i],
                     static_cast<float>(run.first + static_cast<std::int64_t>(i) - before));
        }
    }

    void a_class_that_was_not_there_when_it_was_opened_is_refused() {
        const Folder folder;
        const auto path = write_images(folder);
        Json section = {{"train", {{"type", "hdf5"}, {"path", path.string()}}},
                        {"validation", nullptr},
                        {"cache", "none"}};
        const data::DataSet set = open(section);
        const std::vector<std::int64_t> other = {5};
        const Hdf5Index index = read_hdf5_index(path);
        File(path, File::Mode::read_write)
            .write_at(std::as_bytes(std::span(other)), index.find("labels")->offset + 8 * 77);
        Loader loader(set.train, Sampler(*set.train, true, 8), streaming(32, 1), {});
        const auto error = error_of([&] { loader.next(); });
        QVERIFY(error && error->text().find("target 77 is class 5") != std::string::npos);
    }

    void an_outline_tells_the_largest_block_and_keeps_nothing() {
        const data::DataOutline outline =
            data::outline_data(normalised(chunks("none", Json::object())), {{}, 0, 0});
        QCOMPARE(outline.cache_bytes, 0);
        QCOMPARE(outline.largest_block, 300);
        QCOMPARE(data::outline_data(normalised(chunks("auto", Json::object())), {{}, 0, 0})
                     .largest_block,
                 0);
    }
};

WEFT_TEST(StreamTest)
#include "stream_test.moc"
