// SPDX-License-Identifier: Apache-2.0
// A sweep of twelve runs with successive halving whose scheduler is killed again and again: what
// comes out is what the definition says of the runs' own numbers, and no step was trained twice.
#include "core/train/record/run_summary.h"
#include "tests/e2e/queue/queue_process.h"
#include "tests/support/test_folder.h"

#include <algorithm>
#include <map>
#include <set>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;

constexpr int kTrials = 12;
constexpr std::int64_t kRungs[] = {2, 6, 18};
constexpr const char* kMetric = "validation/loss";

/// What a run's log says, without the queue.
struct RunRecord {
    std::vector<std::int64_t> steps; // in the order in which they were trained
    std::vector<std::int64_t> resumed_from;
    std::map<std::int64_t, double> losses; // of evaluations
};

RunRecord record_of(const std::filesystem::path& run) {
    RunRecord out;
    for (const train::Event& event : events_of(run)) {
        if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
            out.steps.push_back(step->step);
        } else if (const auto* resumed = std::get_if<train::ResumedEvent>(&event.payload)) {
            out.resumed_from.push_back(resumed->step);
        } else if (const auto* found = std::get_if<train::EvaluationEvent>(&event.payload)) {
            for (const auto& [name, value] : found->metrics) {
                if (name == kMetric) {
                    out.losses[found->step] = value;
                }
            }
        }
    }
    return out;
}

std::size_t results_in(const queue::Book& book) {
    std::size_t out = 0;
    for (const queue::Entry& entry : book.entries) {
        out += entry.results.size();
    }
    return out;
}

class SweepKillTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;
    std::unique_ptr<QueueRoom> room_;
    std::vector<RunRecord> records_; // by trial
    Json table_;

    /// Trials whose loss at the rung is among the `count` best of `of`; no two are equal here.
    std::set<int> best_of(const std::set<int>& of, std::int64_t step, std::size_t count) const {
        std::vector<std::pair<double, int>> ranks;
        for (const int trial : of) {
            ranks.emplace_back(records_[static_cast<std::size_t>(trial)].losses.at(step), trial);
        }
        std::sort(ranks.begin(), ranks.end());
        std::set<int> out;
        for (std::size_t i = 0; i < count; ++i) {
            out.insert(ranks[i].second);
        }
        return out;
    }

    std::set<int> trained_to(std::int64_t step) const {
        std::set<int> out;
        for (int trial = 0; trial < kTrials; ++trial) {
            const auto& steps = records_[static_cast<std::size_t>(trial)].steps;
            if (!steps.empty() && steps.back() >= step) {
                out.insert(trial);
            }
        }
        return out;
    }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"),
                               config::json_of(R"({"training": {"length": {"steps": 18}}})"));
        room_ = std::make_unique<QueueRoom>(path("runs"));
    }

    void a_sweep_is_queued() {
        const Finished done = room_->weft(
            {"sweep", config_, "--name", "s", "--method", "halving", "--trials", "12", "--vary",
             "optimizer.learning_rate=log:1e-4..1e-1", "--vary", "model.hidden=[8],[24]"});
        QVERIFY2(done.code == 0, done.err.c_str());
        QCOMPARE(room_->book().sweeps.at(0).rungs,
                 (std::vector<std::int64_t>(std::begin(kRungs), std::end(kRungs))));
        QCOMPARE(room_->book().entries.size(), std::size_t{kTrials});
    }

    // At each of these numbers of results the scheduler that is at work is killed; its run goes on
    // without it.
    void its_scheduler_is_killed_and_started_again() {
        for (const std::size_t results : {1, 5, 11, 12, 14, 16}) {
            const auto scheduler = room_->scheduler();
            QTRY_VERIFY_WITH_TIMEOUT(results_in(room_->book()) >= results, 60000);
            kill_hard(*scheduler);
        }
        const auto last = room_->scheduler();
        QCOMPARE(code_of_end(*last), 0);
        const Finished shown = room_->weft({"sweep", "show", "s", "--json"});
        QVERIFY2(shown.code == 0, shown.err.c_str());
        table_ = config::json_of(shown.out);
        QCOMPARE(table_.at("ended").get<int>(), kTrials);
        for (const Json& row : table_.at("trials")) {
            records_.push_back(record_of(row.at("run").get<std::string>()));
        }
    }

    void no_run_is_trained_twice() {
        std::set<std::string> folders;
        for (const Json& row : table_.at("trials")) {
            folders.insert(row.at("run").get<std::string>());
        }
        QCOMPARE(folders.size(), std::size_t{kTrials});
        QCOMPARE(train::list_runs(room_->root()).size(), std::size_t{kTrials});
        for (const RunRecord& record : records_) {
            for (std::size_t i = 0; i < record.steps.size(); ++i) {
                QCOMPARE(record.steps[i], static_cast<std::int64_t>(i) + 1); // each once
            }
        }
    }

    // 12, 4 and 1, and who they are by the runs' own evaluations.
    void each_rung_has_the_best_of_the_one_below() {
        std::set<int> all;
        for (int trial = 0; trial < kTrials; ++trial) {
            all.insert(trial);
        }
        QCOMPARE(trained_to(kRungs[0]), all);
        const std::set<int> second = best_of(all, kRungs[0], 4);
        QCOMPARE(trained_to(kRungs[0] + 1), second);
        QCOMPARE(trained_to(kRungs[1]), second);
        const std::set<int> third = best_of(second, kRungs[1], 1);
        QCOMPARE(trained_to(kRungs[1] + 1), third);
        QCOMPARE(trained_to(kRungs[2]), third);
    }

    void runs_go_on_where_their_rung_ended() {
        for (const RunRecord& record : records_) {
            std::vector<std::int64_t> expected;
            for (const std::int64_t rung : kRungs) {
                if (record.steps.back() > rung) {
                    expected.push_back(rung);
                }
            }
            QCOMPARE(record.resumed_from, expected);
        }
    }

    void the_table_says_what_the_runs_say() {
        const int best = *trained_to(kRungs[2]).begin();
        for (const Json& row : table_.at("trials")) {
            const RunRecord& record = records_[row.at("trial").get<std::size_t>()];
            for (std::size_t rung = 0; rung < std::size(kRungs); ++rung) {
                const Json& value = row.at("values").at(rung);
                QCOMPARE(value.is_null(), record.steps.back() < kRungs[rung]);
                if (!value.is_null()) {
                    QCOMPARE(value.get<double>(), record.losses.at(kRungs[rung]));
                }
            }
            const bool is_best = row.at("trial").get<int>() == best;
            QCOMPARE(row.at("best").get<bool>(), is_best);
            QCOMPARE(row.at("state").get<std::string>(), std::string(is_best ? "done" : "stopped"));
            QCOMPARE(row.at("reason").get<std::string>().starts_with("stopped early"), !is_best);
        }
    }

    // Schedules are those of the full length from the first step on.
    void the_best_is_what_it_would_be_without_a_sweep() {
        for (const Json& row : table_.at("trials")) {
            if (!row.at("best").get<bool>()) {
                continue;
            }
            const auto id = row.at("id").get<std::int64_t>();
            const auto config = queue::config_file(queue::folder_under(room_->root()), id);
            const Finished done =
                train_weft(QString::fromStdString(config.string()), text("alone"), {}, {});
            QVERIFY2(done.code == 0, done.err.c_str());
            const RunRecord alone = record_of(path("alone"));
            const RunRecord& record = records_[row.at("trial").get<std::size_t>()];
            for (const std::int64_t rung : kRungs) {
                QCOMPARE(record.losses.at(rung), alone.losses.at(rung));
            }
        }
    }
};

} // namespace

WEFT_TEST(SweepKillTest)
#include "sweep_kill_test.moc"
