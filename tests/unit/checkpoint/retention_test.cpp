// SPDX-License-Identifier: Apache-2.0
// The rule of retention against a slow, independent statement of it, over random histories.
#include "tests/unit/checkpoint/checkpoint_support.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

using Reasons = std::set<std::pair<std::int64_t, std::string>>;

bool counts_for_best(const Entry& entry) {
    return entry.problem.empty() && entry.record.metrics.contains("validation/loss") &&
           entry.record.metrics["validation/loss"].is_number() &&
           entry.record.metric_step == entry.step;
}

/// Counts, for every checkpoint, how many are ahead of it: no sorting, no shared code.
Reasons expected_reasons(const std::vector<Entry>& entries, const ManagerOptions& options) {
    Reasons out;
    for (const Entry& entry : entries) {
        if (!entry.problem.empty()) {
            continue;
        }
        std::int64_t newer = 0;
        std::int64_t better = 0;
        for (const Entry& other : entries) {
            newer += other.problem.empty() && other.step > entry.step ? 1 : 0;
            if (counts_for_best(entry) && counts_for_best(other)) {
                const double mine = entry.record.metrics["validation/loss"].get<double>();
                const double theirs = other.record.metrics["validation/loss"].get<double>();
                const bool wins = options.goal.smaller_is_better ? theirs < mine : theirs > mine;
                better += wins || (theirs == mine && other.step > entry.step) ? 1 : 0;
            }
        }
        if (newer < options.keep_latest || newer == 0) {
            out.insert({entry.step, "newest"});
        }
        if (counts_for_best(entry) && better < options.keep_best) {
            out.insert({entry.step, "best"});
        }
        if (options.keep_every && entry.step % *options.keep_every == 0) {
            out.insert({entry.step, "every " + std::to_string(*options.keep_every)});
        }
        for (const std::string& mark : entry.record.kept_for) {
            if (mark == "by hand") {
                out.insert({entry.step, mark});
            }
        }
    }
    return out;
}

ManagerOptions random_options(std::mt19937& random) {
    ManagerOptions options;
    options.keep_latest = random() % 4;
    options.keep_best = random() % 4;
    if (random() % 2 == 0) {
        options.keep_every = 1 + random() % 20;
    }
    options.goal.smaller_is_better = random() % 2 == 0;
    return options;
}

/// A history with equal metrics, missing ones, old ones, NaN, marks by hand and damaged folders.
Record random_record(std::mt19937& random, std::int64_t step) {
    Record record = record_of(step);
    if (random() % 4 != 0) {
        record.metrics["validation/loss"] = static_cast<double>(random() % 8);
        record.metric_step = random() % 5 == 0 ? step - 1 : step;
    } else if (random() % 2 == 0) {
        record.metrics["validation/loss"] = nullptr; // how a NaN is written
        record.metric_step = step;
    }
    if (random() % 10 == 0) {
        record.kept_for = {"by hand"};
    }
    return record;
}

} // namespace

class RetentionTest : public QObject {
    Q_OBJECT

private slots:
    void random_histories_agree_with_the_slow_rule() {
        std::mt19937 random(20240601);
        for (int trial = 0; trial < 3000; ++trial) {
            const ManagerOptions options = random_options(random);
            std::vector<Entry> entries;
            std::int64_t step = 0;
            for (unsigned i = random() % 15; i > 0; --i) {
                Entry entry;
                step += 1 + random() % 6;
                entry.step = step;
                entry.record = random_record(random, step);
                entry.problem = random() % 8 == 0 ? "damaged" : "";
                entries.push_back(entry);
            }
            std::shuffle(entries.begin(), entries.end(), random);
            Reasons seen;
            for (const Retained& kept : retained(entries, options)) {
                QVERIFY(seen.insert({kept.step, kept.reason}).second);
            }
            QVERIFY(seen == expected_reasons(entries, options));
        }
    }

    void a_run_on_disk_keeps_what_the_slow_rule_keeps() {
        std::mt19937 random(7);
        for (int run = 0; run < 4; ++run) {
            const Folder folder;
            ManagerOptions options = random_options(random);
            options.folder = folder.path();
            options.async = run % 2 == 0;
            Manager manager(options);
            std::vector<Entry> model;
            Arrays arrays;
            arrays.add<float>("x", "parameters", ir::DType::f32, {1}, {1});
            for (std::int64_t step = 1; step <= 12; ++step) {
                Entry entry;
                entry.step = step;
                entry.record = random_record(random, step);
                model.push_back(entry);
                manager.save(arrays.views(), entry.record);
                manager.wait();
                const Reasons reasons = expected_reasons(model, options);
                std::erase_if(model, [&](const Entry& each) {
                    return std::none_of(reasons.begin(), reasons.end(), [&](const auto& reason) {
                        return reason.first == each.step;
                    });
                });
                std::vector<std::int64_t> expected;
                for (const Entry& each : model) {
                    expected.push_back(each.step);
                }
                QCOMPARE(steps_in(folder.path()), expected);
                const std::vector<Saved> saved = manager.take_finished();
                QCOMPARE(saved.size(), std::size_t(1));
                QVERIFY2(saved[0].error.empty() && saved[0].warning.empty(),
                         saved[0].error.c_str());
                Reasons of_this;
                for (const std::string& reason : saved[0].kept_for) {
                    of_this.insert({step, reason});
                }
                QVERIFY(
                    std::includes(reasons.begin(), reasons.end(), of_this.begin(), of_this.end()));
                QVERIFY(!of_this.empty());
            }
        }
    }

    void a_listing_works_the_reasons_out_anew() {
        const Folder folder;
        Record record = record_of(1, 0.2);
        record.config["checkpoint"]["keep_latest"] = 1;
        record.config["checkpoint"]["keep_best"] = 1;
        write_checkpoint(folder.path(), {}, record);
        QCOMPARE(list_checkpoints(folder.path())[0].record.kept_for,
                 (std::vector<std::string>{"newest", "best"}));
        Record second = record_of(2, 0.1);
        second.config = record.config;
        write_checkpoint(folder.path(), {}, second);
        const std::vector<Entry> entries = list_checkpoints(folder.path());
        QVERIFY(entries[0].record.kept_for.empty());
        QCOMPARE(entries[1].record.kept_for, (std::vector<std::string>{"newest", "best"}));
    }

    void settings_come_from_the_configuration() {
        const ManagerOptions options = retention_of(config::json_of(
            R"({"checkpoint": {"keep_latest": 5, "keep_best": 0, "keep_every": 100,
                               "metric": "validation/accuracy", "mode": "max"}})"));
        QCOMPARE(options.keep_latest, 5);
        QCOMPARE(options.keep_best, 0);
        QCOMPARE(options.keep_every.value(), 100);
        QCOMPARE(options.goal.metric, std::string("validation/accuracy"));
        QVERIFY(!options.goal.smaller_is_better);
        QVERIFY(retention_of(config::json_of(R"({"checkpoint": {"keep_latest": "x", "mode": 3}})"))
                    .goal.smaller_is_better);
    }
};

WEFT_TEST(RetentionTest)
#include "retention_test.moc"
