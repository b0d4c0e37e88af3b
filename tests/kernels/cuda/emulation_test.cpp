// SPDX-License-Identifier: Apache-2.0
// The emulation itself: threads of a block work together as on a GPU, and what a GPU would do
// silently ends the launch with a text.
#include "kernels/cuda/launch.h"
#include "tests/support/weft_test.h"

#include <numeric>
#include <vector>

using namespace weft::kernels; // cuda::thread, as QObject has one of its own
using namespace weft::kernels::cuda;

namespace {

/// Empty, or what the launch of one block ended with.
QString outcome(int threads, const std::function<void()>& kernel) {
    try {
        emulate(nullptr, {1, 1, threads}, kernel);
    } catch (const Failure& failure) {
        return QString::fromStdString(failure.text);
    }
    return {};
}

} // namespace

class CudaEmulation : public QObject {
    Q_OBJECT

private slots:
    void blocks_and_threads_are_numbered_as_on_a_gpu() {
        std::vector<i64> seen;
        emulate(nullptr, {2, 3, 64}, [&] {
            if (cuda::thread() == 63) {
                seen.insert(seen.end(), {block(), blocks(), block_y(), threads()});
            }
        });
        const std::vector<i64> expected = {0, 2, 0, 64, 1, 2, 0, 64, 0, 2, 1, 64,
                                           1, 2, 1, 64, 0, 2, 2, 64, 1, 2, 2, 64};
        QCOMPARE(seen, expected);
    }

    void threads_see_what_others_wrote_before_the_barrier() {
        std::vector<int> turned(256);
        QCOMPARE(outcome(256,
                         [&] {
                             WEFT_SHARED(int, numbers, 256);
                             numbers[cuda::thread()] = 3 * cuda::thread();
                             barrier();
                             turned[static_cast<std::size_t>(cuda::thread())] =
                                 numbers[255 - cuda::thread()];
                         }),
                 QString());
        for (int t = 0; t < 256; ++t) {
            QCOMPARE(turned[static_cast<std::size_t>(t)], 3 * (255 - t));
        }
    }

    void shuffles_and_votes_stay_within_a_warp() {
        std::vector<int> sums(96);
        std::vector<u32> votes(96);
        emulate(nullptr, {1, 1, 96}, [&] {
            const auto t = static_cast<std::size_t>(cuda::thread());
            int sum = cuda::thread();
            for (int mask = 16; mask > 0; mask /= 2) {
                sum += shuffle_xor(sum, mask);
            }
            sums[t] = sum + 1000 * shuffle(cuda::thread(), 5);
            votes[t] = ballot(cuda::thread() % 32 < cuda::thread() / 32 + 1);
        });
        for (int t = 0; t < 96; ++t) {
            const int first = t / 32 * 32;
            QCOMPARE(sums[static_cast<std::size_t>(t)], 32 * first + 31 * 16 + 1000 * (first + 5));
            QCOMPARE(votes[static_cast<std::size_t>(t)], (1u << (t / 32 + 1)) - 1);
        }
    }

    void a_barrier_that_not_all_threads_reach_is_told() {
        const QString text = outcome(64, [] {
            if (cuda::thread() < 40) {
                barrier();
            }
        });
        QVERIFY2(text.contains("threads part") && text.contains("thread 39"), qPrintable(text));
    }

    void a_shuffle_that_not_all_lanes_reach_is_told() {
        const QString text = outcome(32, [] {
            if (cuda::thread() != 7) {
                shuffle_xor(1, 1);
            }
        });
        QVERIFY2(text.contains("threads part") && text.contains("shuffle"), qPrintable(text));
    }

    void lanes_in_different_collectives_are_told() {
        const QString text = outcome(32, [] {
            if (cuda::thread() < 16) {
                shuffle_xor(1, 1);
            } else {
                ballot(true);
            }
        });
        QVERIFY2(text.contains("threads part") && text.contains("vote"), qPrintable(text));
    }

    void an_index_outside_a_shared_array_is_told() {
        const QString text = outcome(32, [] {
            WEFT_SHARED(float, numbers, 31);
            numbers[cuda::thread()] = 1.0f;
        });
        QVERIFY2(text.contains("outside a shared array") && text.contains("thread 31"),
                 qPrintable(text));
    }

    void reading_what_another_thread_wrote_needs_a_barrier() {
        const QString text = outcome(64, [] {
            WEFT_SHARED(float, numbers, 64);
            numbers[cuda::thread()] = 1.0f;
            const float other = numbers[63 - cuda::thread()];
            (void)other;
        });
        QVERIFY2(text.contains("without a barrier"), qPrintable(text));
    }

    void writing_over_what_another_thread_reads_needs_a_barrier() {
        const QString text = outcome(64, [] {
            WEFT_SHARED(float, total, 1);
            if (cuda::thread() == 0) {
                total[0] = 1.0f;
            }
            barrier();
            const float mine = total[0];
            if (cuda::thread() == 63) { // others may not have read it yet
                total[0] = mine + 1.0f;
            }
        });
        QVERIFY2(text.contains("after another thread read it"), qPrintable(text));
    }

    void a_warp_barrier_orders_its_warp_only() {
        const auto kernel = [](int distance) {
            return [=] {
                WEFT_SHARED(int, numbers, 64);
                numbers[cuda::thread()] = cuda::thread();
                warp_barrier();
                const int other = numbers[cuda::thread() ^ distance];
                (void)other;
            };
        };
        QCOMPARE(outcome(64, kernel(1)), QString());
        QVERIFY(outcome(64, kernel(32)).contains("without a barrier"));
    }

    void a_vector_access_off_its_boundary_is_told() {
        alignas(16) unsigned char bytes[64] = {};
        const QString text = outcome(32, [&] {
            u32 words[4];
            load_vector<16>(bytes + 8, words);
        });
        QVERIFY2(text.contains("not aligned"), qPrintable(text));
    }

    void too_much_shared_memory_is_told() {
        const QString text = outcome(32, [] {
            WEFT_SHARED(float, numbers, 12289);
            numbers[cuda::thread()] = 0.0f;
        });
        QVERIFY2(text.contains("48 KiB"), qPrintable(text));
    }

    void a_grid_that_no_gpu_starts_is_told() {
        QVERIFY(outcome(33, [] {}).contains("no GPU"));
        QVERIFY(outcome(2048, [] {}).contains("no GPU"));
    }

    void a_launch_after_a_failed_one_is_whole() {
        QVERIFY(!outcome(64, [] {
                     if (cuda::thread() == 1) {
                         barrier();
                     }
                 }).isEmpty());
        int ran = 0;
        QCOMPARE(outcome(64,
                         [&] {
                             barrier();
                             ++ran;
                         }),
                 QString());
        QCOMPARE(ran, 64);
    }
};

WEFT_TEST(CudaEmulation)
#include "emulation_test.moc"
