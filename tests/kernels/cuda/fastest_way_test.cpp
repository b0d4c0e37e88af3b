// SPDX-License-Identifier: Apache-2.0
// Choices between ways to compute the same, with a clock that says what the test wants.
#include "kernels/cuda/code_store.h"
#include "kernels/cuda/fastest_way.h"
#include "kernels/cuda/module.h"
#include "tests/kernels/cases/harness.h"
#include "tests/kernels/emulation/product_ways.h"
#include "tests/support/weft_test.h"

#include <thread>

using namespace weft;
using kernels::cuda::FastestWay;

namespace {

using Ways = std::vector<std::string>;
using Times = std::map<std::string, double>; // [way]

constexpr double kTimeEnough = 100;

/// A process that times, and counts how often it did.
class Process {
public:
    explicit Process(double most_seconds = kTimeEnough) : choice_(most_seconds) {}

    std::string choose(const std::string& key, const Ways& ways, const Times& times) {
        const auto way = choice_.choose(key, ways, [&](std::size_t one) -> std::optional<double> {
            ++timed_;
            const auto found = times.find(ways[one]);
            if (found == times.end()) {
                throw kernels::Failure{WEFT_LIBRARY_ERROR, "this way does not work"};
            }
            return found->second;
        });
        return way ? ways[*way] : "none";
    }
    int timed() const { return timed_; }
    FastestWay& choice() { return choice_; }

private:
    FastestWay choice_;
    int timed_ = 0;
};

void keep_in(const QTemporaryDir& folder) {
    QCOMPARE(weft_cuda_set_cache_folder(qPrintable(folder.path())), WEFT_OK);
}

const Ways kWays = {"a", "b", "c"};
const Times kSecondIsBest = {{"a", 3e-3}, {"b", 1e-3}, {"c", 2e-3}};

} // namespace

class CudaFastestWay : public QObject {
    Q_OBJECT

private slots:
    void cleanup() {
        weft_cuda_set_cache_folder(nullptr);
        test::set_product_times(nullptr);
    }

    void the_fastest_way_is_chosen_and_timed_once() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process first;
        QCOMPARE(first.choose("key", kWays, kSecondIsBest), std::string("b"));
        QCOMPARE(first.choose("key", kWays, {{"a", 0.0}, {"b", 1.0}}), std::string("b"));
        QCOMPARE(first.timed(), 3);
        // What else it hangs on is another choice.
        QCOMPARE(first.choose("another key", kWays, {{"a", 1.0}, {"b", 2.0}, {"c", 0.5}}),
                 std::string("c"));
        QCOMPARE(first.timed(), 6);
    }

    void the_next_process_reads_the_choice_whatever_its_place_is() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process().choose("key", kWays, kSecondIsBest);
        Process next;
        QCOMPARE(next.choose("key", {"c", "a", "b"}, {}), std::string("b"));
        QCOMPARE(next.timed(), 0);
    }

    void a_choice_that_is_no_way_any_more_is_made_again() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process().choose("key", kWays, kSecondIsBest);
        Process next;
        QCOMPARE(next.choose("key", {"a", "c"}, kSecondIsBest), std::string("c"));
        QCOMPARE(next.timed(), 2);
    }

    void a_damaged_choice_is_made_again_and_written_again() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process().choose("key", kWays, kSecondIsBest);
        const QStringList files = QDir(folder.path()).entryList(QDir::Files);
        QCOMPARE(files.size(), 1);
        QFile file(folder.filePath(files[0]));
        QVERIFY(file.open(QFile::ReadWrite));
        QByteArray bytes = file.readAll();
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        QVERIFY(file.seek(0) && file.write(bytes) == bytes.size());
        file.close();
        Process next;
        QCOMPARE(next.choose("key", kWays, {{"a", 1.0}, {"b", 2.0}, {"c", 0.5}}), std::string("c"));
        QCOMPARE(next.timed(), 3);
        Process third;
        QCOMPARE(third.choose("key", kWays, {}), std::string("c"));
        QCOMPARE(third.timed(), 0);
    }

    // Otherwise two runs could choose differently, and differ in bits.
    void where_nothing_is_kept_the_library_chooses() {
        Process process;
        QCOMPARE(process.choose("key", kWays, kSecondIsBest), std::string("a"));
        QCOMPARE(process.timed(), 0);
    }

    void when_the_time_is_up_the_library_chooses_for_good() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process hasty(0);
        QCOMPARE(hasty.choose("key", kWays, kSecondIsBest), std::string("a"));
        QCOMPARE(hasty.timed(), 0);
        Process next;
        QCOMPARE(next.choose("key", kWays, kSecondIsBest), std::string("a"));
        QCOMPARE(next.timed(), 0);
    }

    void a_way_that_does_not_work_is_out() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process process;
        QCOMPARE(process.choose("key", kWays, {{"a", 3e-3}, {"c", 2e-3}}), std::string("c"));
    }

    void what_cannot_be_timed_now_is_chosen_later() {
        const QTemporaryDir folder;
        keep_in(folder);
        Process process;
        QVERIFY(!process.choice().choose("key", kWays, [](std::size_t) { return std::nullopt; }));
        QCOMPARE(process.choose("key", kWays, kSecondIsBest), std::string("b"));
    }

    void devices_that_time_at_once_agree() {
        const QTemporaryDir folder;
        keep_in(folder);
        FastestWay choice(kTimeEnough);
        std::array<std::optional<std::size_t>, 2> chosen;
        std::atomic<int> timing{0};
        const auto device = [&](std::size_t self) {
            chosen[self] = choice.choose("key", kWays, [&](std::size_t way) {
                ++timing; // both time before one of them is through
                while (way == 0 && timing < 2) {
                    std::this_thread::yield();
                }
                return std::optional(way == self ? 1.0 : 2.0);
            });
        };
        std::thread other(device, 1);
        device(0);
        other.join();
        QVERIFY(chosen[0].has_value());
        QVERIFY(chosen[0] == chosen[1]);
        Process next;
        QCOMPARE(next.choose("key", kWays, {}), kWays[*chosen[0]]);
    }

    void a_product_runs_in_the_fastest_way() {
        const QTemporaryDir folder;
        keep_in(folder);
        int timed = 0;
        const test::ProductTimes times = [&](std::size_t way) {
            ++timed;
            return std::optional(way == 1 ? 1e-3 : 2e-3);
        };
        test::set_product_times(&times);
        const test::Call call{
            "matmul",
            {test::noise(WEFT_F32, {5, 37}, 1), test::noise(WEFT_F32, {37, 11}, 2)},
            {test::type_of(WEFT_F32, {5, 11})},
            {},
            {},
            {}};
        QCOMPARE(test::run(weft_cuda_backend(), call).status, WEFT_OK);
        QCOMPARE(timed, 2);
        QCOMPARE(test::last_product_way(), std::size_t{1});
        QCOMPARE(test::run(weft_cuda_backend(), call).status, WEFT_OK); // another kernel for it
        QCOMPARE(timed, 2);
        QCOMPARE(test::last_product_way(), std::size_t{1});
    }
};

WEFT_TEST(CudaFastestWay)
#include "fastest_way_test.moc"
