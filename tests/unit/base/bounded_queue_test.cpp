// SPDX-License-Identifier: Apache-2.0
#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "tests/support/weft_test.h"

#include <atomic>
#include <numeric>
#include <thread>

using namespace weft;

namespace {

struct Event {
    int kind; // 0: a state, never merged
    int count;
};

bool merge_equal_kinds(Event& older, const Event& newer) {
    if (older.kind == 0 || older.kind != newer.kind) {
        return false;
    }
    older.count += newer.count;
    return true;
}

} // namespace

class BoundedQueueTest : public QObject {
    Q_OBJECT
private slots:
    void items_come_out_in_order() {
        BoundedQueue<int> queue(4);
        QVERIFY(queue.push(1) && queue.push(2) && queue.offer(3));
        QCOMPARE(queue.pop().value(), 1);
        QCOMPARE(queue.try_pop().value(), 2);
        QVERIFY(queue.drain() == std::vector<int>{3});
        QVERIFY(!queue.try_pop());
    }

    void offer_merges_when_full() {
        BoundedQueue<Event> queue(2, merge_equal_kinds);
        for (int i = 0; i < 100; ++i) {
            QVERIFY(queue.offer({1, 1}));
        }
        QCOMPARE(queue.size(), size_t{2});
        int total = 0;
        for (const Event& event : queue.drain()) {
            total += event.count;
        }
        QCOMPARE(total, 100);
    }

    void offer_keeps_what_does_not_merge() {
        BoundedQueue<Event> queue(2, merge_equal_kinds);
        for (int i = 0; i < 10; ++i) {
            QVERIFY(queue.offer({0, i}));
        }
        const auto events = queue.drain();
        QCOMPARE(events.size(), size_t{10});
        for (int i = 0; i < 10; ++i) {
            QCOMPARE(events[static_cast<size_t>(i)].count, i);
        }
    }

    void offer_folds_older_neighbours_before_it_grows() {
        BoundedQueue<Event> queue(3, merge_equal_kinds);
        queue.offer({1, 1});
        queue.offer({1, 1});
        queue.offer({0, 7});
        queue.offer({2, 1});
        const auto events = queue.drain();
        QCOMPARE(events.size(), size_t{3});
        QCOMPARE(events[0].count, 2);
        QCOMPARE(events[1].count, 7);
        QCOMPARE(events[2].kind, 2);
    }

    void close_lets_the_rest_out_and_refuses_more() {
        BoundedQueue<int> queue(2);
        queue.push(1);
        queue.close();
        QVERIFY(!queue.push(2));
        QVERIFY(!queue.offer(3));
        QCOMPARE(queue.pop().value(), 1);
        QVERIFY(!queue.pop());
    }

    void a_stop_request_wakes_both_sides() {
        BoundedQueue<int> full(1);
        full.push(1);
        BoundedQueue<int> empty(1);
        std::stop_source stop;
        std::atomic<bool> pushed = true;
        std::atomic<bool> popped = true;
        std::jthread producer([&] { pushed = full.push(2, stop.get_token()); });
        std::jthread consumer([&] { popped = empty.pop(stop.get_token()).has_value(); });
        stop.request_stop();
        producer.join();
        consumer.join();
        QVERIFY(!pushed);
        QVERIFY(!popped);
        QCOMPARE(full.size(), size_t{1});
    }

    void pop_for_gives_up_after_its_time() {
        BoundedQueue<int> queue(1);
        QVERIFY(!queue.pop_for(std::chrono::duration<double>(0.001)));
    }

    void many_threads_lose_and_double_nothing() {
        constexpr int kProducers = 4;
        constexpr int kEach = 2000;
        BoundedQueue<int> queue(8);
        std::atomic<int64_t> sum = 0;
        std::atomic<int> count = 0;
        std::vector<std::jthread> consumers;
        for (int i = 0; i < 3; ++i) {
            consumers.emplace_back([&] {
                while (const auto item = queue.pop()) {
                    sum += *item;
                    ++count;
                }
            });
        }
        {
            std::vector<std::jthread> producers;
            for (int p = 0; p < kProducers; ++p) {
                producers.emplace_back([&, p] {
                    for (int i = 0; i < kEach; ++i) {
                        queue.push(p * kEach + i);
                    }
                });
            }
        }
        queue.close();
        consumers.clear();
        constexpr int64_t kTotal = kProducers * kEach;
        QCOMPARE(count.load(), static_cast<int>(kTotal));
        QCOMPARE(sum.load(), kTotal * (kTotal - 1) / 2);
    }

    void a_manual_clock_moves_only_when_told() {
        ManualClock clock(1000.0);
        QCOMPARE(clock.steady_s(), 0.0);
        clock.advance(2.5);
        QCOMPARE(clock.steady_s(), 2.5);
        QCOMPARE(clock.epoch_s(), 1002.5);
    }

    void the_system_clock_agrees_with_the_machine() {
        const SystemClock clock;
        const double before = clock.steady_s();
        QVERIFY(clock.steady_s() >= before);
        // Qt reads the same clock on its own; both reads happen within a second of each other.
        const double now_s = static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1e3;
        QVERIFY(std::abs(clock.epoch_s() - now_s) < 1.0);
    }
};

WEFT_TEST(BoundedQueueTest)
#include "bounded_queue_test.moc"
