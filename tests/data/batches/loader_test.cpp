// SPDX-License-Identifier: Apache-2.0
#include "core/data/loader.h"

#include "core/base/clock.h"
#include "core/base/stage_meter.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>

using namespace weft;
using namespace weft::data::test;
using data::Batch;
using data::Cursor;
using data::Loader;
using data::LoaderOptions;
using data::Sampler;

namespace {

std::shared_ptr<NumberSource> numbers(std::int64_t samples) {
    return std::make_shared<NumberSource>(
        samples, [](std::int64_t i) { return static_cast<std::int32_t>(i % 10); });
}

LoaderOptions options_of(std::int64_t batch_size, int prefetch, bool endless = true,
                         bool drop_last = false) {
    LoaderOptions options;
    options.batch_size = batch_size;
    options.prefetch = prefetch;
    options.endless = endless;
    options.drop_last = drop_last;
    return options;
}

} // namespace

class LoaderTest : public QObject {
    Q_OBJECT

private slots:
    void prefetch_changes_nothing() {
        const Sampler sampler(103, true, 9);
        Loader plain(numbers(103), sampler, options_of(10, 0), {});
        const std::vector<SeenBatch> expected = take(plain, 40);
        for (const int prefetch : {1, 4}) {
            Loader ahead(numbers(103), sampler, options_of(10, prefetch), {});
            QVERIFY(take(ahead, 40) == expected);
        }
    }

    void the_last_batch_of_an_epoch_is_padded_with_weight_zero() {
        Loader loader(numbers(7), Sampler(7, false, 0), options_of(4, 2, false), {});
        const std::vector<SeenBatch> seen = take(loader, 10);
        QCOMPARE(seen.size(), std::size_t(2));
        QCOMPARE(seen[1].samples, 3);
        QCOMPARE(seen[1].count, 3.0);
        QCOMPARE(seen[1].inputs, (std::vector<float>{4, 5, 6, 4}));
        QCOMPARE(seen[1].targets, (std::vector<std::int32_t>{4, 5, 6, 4}));
        QCOMPARE(seen[1].weights, (std::vector<float>{1, 1, 1, 0}));
        QCOMPARE(seen[1].first_sample, 4);
        QVERIFY((seen[0].after == Cursor{0, 4}));
        QVERIFY((seen[1].after == Cursor{1, 0}));
    }

    void a_damaged_sample_is_replaced_weighs_nothing_and_is_named() {
        for (const int prefetch : {0, 2}) {
            const auto source = numbers(7);
            source->damaged = 1;
            Loader loader(source, Sampler(7, false, 0), options_of(4, prefetch, false), {});
            const Batch* batch = loader.next();
            QCOMPARE(batch->samples, 4); // the cursor goes past it
            QVERIFY((batch->after == Cursor{0, 4}));
            QCOMPARE(batch->count, 3.0);
            QCOMPARE(floats(batch->inputs), (std::vector<float>{0, 0, 2, 3})); // again sample 0
            QCOMPARE(integers(batch->targets), (std::vector<std::int32_t>{0, 0, 2, 3}));
            QCOMPARE(batch->weights, (std::vector<float>{1, 0, 1, 1}));
            QCOMPARE(batch->left_out.size(), std::size_t(1));
            QCOMPARE(batch->left_out[0].index, 1);
            QCOMPARE(batch->left_out[0].fault, std::string("sample 1: is damaged"));
            QVERIFY(loader.next()->left_out.empty());
        }
    }

    // Three loaders as ranks have them: rows 1 and 4 are made by two of them. The first row of the
    // second batch is damaged, so that who has none of the sound ones looks for the first of them;
    // the last batch is short.
    void loaders_that_share_rows_make_those_of_one_together() {
        using enum data::RowUse;
        const std::vector<std::vector<data::RowUse>> shares = {
            {counted, counted, none, none, none, none},
            {none, made, counted, counted, counted, none},
            {none, none, none, none, made, counted}};
        for (const bool streams : {false, true}) {
            const auto source = std::make_shared<NumberSource>(23, [](std::int64_t i) {
                return static_cast<std::int32_t>(i % 4) - 1; // a quarter has no class
            });
            if (streams) {
                source->starts = {0, 5, 10, 15, 20, 23};
            } else {
                source->damaged = 6;
            }
            for (const int prefetch : {0, 2}) {
                LoaderOptions options = options_of(6, prefetch, false);
                options.workers = prefetch;
                const Sampler sampler(*source, streams, 3);
                Loader whole(source, sampler, options, {});
                std::vector<std::unique_ptr<Loader>> loaders;
                for (const auto& rows : shares) {
                    options.rows = rows;
                    loaders.push_back(std::make_unique<Loader>(source, sampler, options, Cursor{}));
                }
                int batches = 0;
                while (const Batch* all = whole.next()) {
                    double count = 0;
                    std::size_t left_out = 0;
                    for (std::size_t i = 0; i < shares.size(); ++i) {
                        const Batch* part = loaders[i]->next();
                        QVERIFY(part->after == all->after && part->samples == all->samples);
                        QCOMPARE(part->first_sample, all->first_sample);
                        for (std::size_t row = 0; row < 6; ++row) {
                            if (shares[i][row] != none) {
                                QCOMPARE(part->weights[row], all->weights[row]);
                                QCOMPARE(floats(part->inputs)[row], floats(all->inputs)[row]);
                                QCOMPARE(integers(part->targets)[row],
                                         integers(all->targets)[row]);
                            }
                        }
                        count += part->count;
                        left_out += part->left_out.size();
                    }
                    QCOMPARE(count, all->count);
                    QCOMPARE(left_out, all->left_out.size());
                    ++batches;
                }
                QCOMPARE(batches, 4);
                QVERIFY(loaders[1]->next() == nullptr);
            }
        }
    }

    void a_loader_reads_no_samples_of_rows_that_others_make() {
        const auto source = numbers(8);
        source->broken = 1; // whoever reads it fails
        LoaderOptions options = options_of(4, 0, false);
        options.rows = {data::RowUse::counted, data::RowUse::none, data::RowUse::counted,
                        data::RowUse::counted};
        Loader loader(source, Sampler(8, false, 0), options, {});
        QCOMPARE(take(loader, 9).size(), std::size_t(2));
        QCOMPARE(loader.use().samples, 6);
        QCOMPARE(loader.buffer_bytes(), 3 * 12);
    }

    void a_finite_pass_has_every_sample_once_and_then_ends_for_good() {
        for (const int prefetch : {0, 3}) {
            Loader loader(numbers(50), Sampler(50, true, 1), options_of(8, prefetch, false), {});
            std::multiset<float> all;
            for (const SeenBatch& batch : take(loader, 100)) {
                all.insert(batch.inputs.begin(), batch.inputs.begin() + batch.samples);
            }
            QCOMPARE(all.size(), std::size_t(50));
            QCOMPARE(std::set<float>(all.begin(), all.end()).size(), std::size_t(50));
            QVERIFY(loader.next() == nullptr);
            QVERIFY(loader.next() == nullptr);
        }
    }

    void an_endless_pass_goes_on_with_the_next_epoch_in_a_new_batch() {
        Loader loader(numbers(5), Sampler(5, true, 1), options_of(3, 2), {});
        const std::vector<SeenBatch> seen = take(loader, 4);
        QCOMPARE(seen[1].samples, 2);
        QCOMPARE(seen[2].samples, 3);
        QCOMPARE(seen[2].first_sample, 5);
        const Sampler sampler(5, true, 1);
        QCOMPARE(seen[2].inputs[0], static_cast<float>(sampler.index(1, 0)));
    }

    void drop_last_leaves_out_the_short_batch() {
        Loader loader(numbers(10), Sampler(10, true, 1), options_of(4, 2, true, true), {});
        for (const SeenBatch& batch : take(loader, 6)) {
            QCOMPARE(batch.samples, 4);
        }
        Loader finite(numbers(10), Sampler(10, true, 1), options_of(4, 2, false, true), {});
        QCOMPARE(take(finite, 9).size(), std::size_t(2));
    }

    void a_batch_larger_than_the_data_with_drop_last_is_refused() {
        const auto error = error_of([] {
            Loader loader(numbers(3), Sampler(3, true, 1), options_of(4, 2, true, true), {});
        });
        QVERIFY(error && error->text().find("dropped") != std::string::npos);
    }

    void resuming_at_any_batch_continues_the_same_sequence() {
        for (const bool drop_last : {false, true}) {
            const Sampler sampler(23, true, 5);
            Loader whole(numbers(23), sampler, options_of(4, 2, true, drop_last), {});
            const std::vector<SeenBatch> expected = take(whole, 30);
            for (std::size_t stop = 1; stop < 20; ++stop) {
                Loader rest(numbers(23), sampler, options_of(4, 3, true, drop_last),
                            expected[stop - 1].after);
                const std::vector<SeenBatch> seen = take(rest, 10);
                for (std::size_t i = 0; i < 10; ++i) {
                    QVERIFY(seen[i] == expected[stop + i]);
                }
            }
        }
    }

    void max_batches_limits_a_pass() {
        LoaderOptions options = options_of(4, 2, false);
        options.max_batches = 2;
        Loader loader(numbers(23), Sampler(23, true, 5), options, {});
        QCOMPARE(take(loader, 9).size(), std::size_t(2));
    }

    void an_error_comes_after_the_good_batches_and_stays() {
        for (const int prefetch : {0, 1, 4}) {
            const auto source = numbers(20);
            source->broken = 9;
            Loader loader(source, Sampler(20, false, 0), options_of(4, prefetch, false), {});
            QCOMPARE(loader.next()->samples, 4);
            QCOMPARE(loader.next()->samples, 4);
            const auto error = error_of([&] { loader.next(); });
            QVERIFY(error && error->text() == "sample 9 is broken");
            QVERIFY(error_of([&] { loader.next(); }).has_value());
        }
    }

    void a_cursor_beyond_the_data_is_refused() {
        const auto error = error_of([] {
            Loader loader(numbers(5), Sampler(5, true, 1), options_of(2, 2), Cursor{0, 6});
        });
        QVERIFY(error && error->text().find("only 5") != std::string::npos);
    }

    void a_loader_may_go_at_any_moment() {
        for (int taken = 0; taken < 6; ++taken) {
            Loader loader(numbers(1000), Sampler(1000, true, 1), options_of(2, 3), {});
            QCOMPARE(take(loader, taken).size(), static_cast<std::size_t>(taken));
        }
    }

    void a_full_loader_reads_nothing_until_a_batch_is_taken() {
        std::atomic<int> reads = 0;
        const auto source = std::make_shared<NumberSource>(1000, [&](std::int64_t) {
            ++reads;
            return 1;
        });
        Loader loader(source, Sampler(1000, true, 1), options_of(2, 3), {});
        loader.wait_until_full();
        QCOMPARE(reads.load(), 4 * 2); // three ahead and the one for the caller
        loader.next();
        loader.wait_until_full(); // the caller holds one of the four
        QCOMPARE(reads.load(), 4 * 2);
        loader.next();
        loader.wait_until_full();
        QCOMPARE(reads.load(), 5 * 2);
    }

    void a_loader_is_full_at_the_end_and_without_a_worker() {
        Loader finite(numbers(3), Sampler(3, false, 0), options_of(2, 8, false), {});
        finite.wait_until_full();
        QCOMPARE(take(finite, 2).size(), 2U);
        QVERIFY(finite.next() == nullptr);
        finite.wait_until_full();
        Loader alone(numbers(3), Sampler(3, false, 0), options_of(2, 0), {});
        alone.wait_until_full();
        QVERIFY(alone.next() != nullptr);
    }

    void ignored_targets_are_not_counted() {
        const auto source =
            std::make_shared<NumberSource>(6, [](std::int64_t i) { return i % 2 == 0 ? -100 : 1; });
        Loader loader(source, Sampler(6, false, 0), options_of(4, 0, false), {});
        QCOMPARE(loader.next()->count, 2.0);
        QCOMPARE(loader.next()->count, 1.0);
    }

    // The work is long beside that of the loader, and the parts differ so much that a busy machine
    // does not turn them round.
    void it_counts_what_preparing_takes_by_stages() {
        const SystemClock clock;
        const auto work = [&](double seconds) {
            for (const double until_s = clock.steady_s() + seconds; clock.steady_s() < until_s;) {
            }
        };
        const auto source = std::make_shared<NumberSource>(40, [&](std::int64_t) {
            const InStage decoding(Stage::decode);
            work(1e-3);
            const InStage reading(Stage::read);
            work(0.1e-3);
            return 1;
        });
        for (const int prefetch : {0, 2}) {
            const double start_s = clock.steady_s();
            Loader loader(source, Sampler(40, true, 1), options_of(4, prefetch, false), {});
            QCOMPARE(take(loader, 100).size(), 10U);
            const data::LoaderUse use = loader.use();
            const double most_s = 2 * (clock.steady_s() - start_s); // a worker and this thread
            QCOMPARE(use.batches, 10);
            QCOMPARE(use.samples, 40);
            const auto of = [&](Stage stage) {
                return use.stages[static_cast<std::size_t>(stage)];
            };
            QVERIFY(of(Stage::decode) > of(Stage::read));
            QVERIFY(of(Stage::read) > 0);
            QVERIFY(of(Stage::transform) == 0);
            const double all_s = std::accumulate(use.stages.begin(), use.stages.end(), 0.0);
            QVERIFY(all_s >= 40 * 1.1e-3 && all_s <= most_s);
            QVERIFY(use.wait_s > 0 && use.wait_s <= most_s / 2);
            QVERIFY(use.ready <= (prefetch + 1) * use.batches);
        }
    }

    void batches_that_wait_for_the_caller_are_ready() {
        Loader loader(numbers(1000), Sampler(1000, true, 1), options_of(2, 3), {});
        loader.wait_until_full();
        loader.next();
        QCOMPARE(loader.use().ready, 4); // three ahead and the one that was taken
    }

    void buffers_are_bounded_by_prefetch_plus_one() {
        const Loader loader(numbers(100), Sampler(100, true, 1), options_of(8, 3), {});
        // 8 rows of one f32, one i32 and one weight, in four buffers.
        QCOMPARE(loader.buffer_bytes(), 4 * 8 * 12);
    }
};

WEFT_TEST(LoaderTest)
#include "loader_test.moc"
