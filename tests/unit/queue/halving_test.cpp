// SPDX-License-Identifier: Apache-2.0
// Successive halving against the definitions of the papers, which are written down here a second
// time, slowly: a whole tournament at once, from a table of all values.
#include "core/queue/halving.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <random>
#include <set>

namespace {

using namespace weft::queue;
using Table = std::vector<std::vector<double>>; // [trial][rung]

const double kNone = std::nan("");

HalvingRules synchronous(std::vector<std::int64_t> rungs, int eta) {
    return {false, eta, std::move(rungs), true};
}

/// Jamieson and Talwalkar 2016, figure 1, with |S_k+1| = floor(|S_k| / eta) (Li et al. 2018,
/// algorithm 1): which trials are trained to each rung. S_0 are all.
std::vector<std::set<std::size_t>> survivors_by_definition(const Table& values, std::size_t eta) {
    std::vector<std::set<std::size_t>> out(1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        out[0].insert(i);
    }
    for (std::size_t rung = 0; rung + 1 < values[0].size(); ++rung) {
        std::vector<std::pair<double, std::size_t>> finite;
        for (const std::size_t i : out[rung]) {
            if (std::isfinite(values[i][rung])) {
                finite.emplace_back(values[i][rung], i);
            }
        }
        std::sort(finite.begin(), finite.end());
        std::set<std::size_t> next;
        for (std::size_t i = 0;
             i < finite.size() && i < std::max<std::size_t>(1, out[rung].size() / eta); ++i) {
            next.insert(finite[i].second);
        }
        out.push_back(next);
    }
    return out;
}

/// Trains trials by what decide() says, one at a time in an order of chance, until nothing is left
/// to train. A trial whose value at a rung is NaN fails there instead.
struct Tournament {
    HalvingRules rules;
    Table values;
    std::vector<TrialProgress> trials;
    std::vector<std::set<std::size_t>> trained_to; // by rung
    std::mt19937 chance;

    Tournament(HalvingRules its_rules, Table its_values, unsigned seed)
        : rules(std::move(its_rules)), values(std::move(its_values)), trials(values.size()),
          trained_to(rules.rungs.size()), chance(seed) {}

    std::vector<std::size_t> to_train() {
        const std::vector<Decision> decisions = decide(rules, trials);
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < trials.size(); ++i) {
            if (decisions[i].verdict == Verdict::train) {
                trials[i].rung = decisions[i].rung;
                out.push_back(i);
            }
            if (decisions[i].verdict == Verdict::stop) {
                trials[i].ended = true; // as the queue marks it
            }
        }
        return out;
    }

    void play() {
        for (auto next = to_train(); !next.empty(); next = to_train()) {
            const std::size_t i = next[chance() % next.size()];
            const std::size_t rung = trials[i].rung;
            QCOMPARE(trials[i].values.size(), rung); // never twice to the same rung
            trained_to[rung].insert(i);
            if (std::isnan(values[i][rung])) {
                trials[i].ended = true;
            } else {
                trials[i].values.push_back(values[i][rung]);
            }
        }
    }
};

Table random_table(std::size_t trials, std::size_t rungs, unsigned seed, bool with_failures) {
    std::mt19937 chance(seed);
    Table out(trials, std::vector<double>(rungs));
    for (auto& row : out) {
        for (double& value : row) {
            value = static_cast<double>(chance() % 20); // with ties
            value = with_failures && chance() % 6 == 0 ? kNone : value;
        }
    }
    return out;
}

class HalvingTest : public QObject {
    Q_OBJECT

private slots:
    void rungs_are_powers_of_eta_up_to_the_full_length() {
        using Steps = std::vector<std::int64_t>;
        QCOMPARE(rungs_of(1, 81, 3), (Steps{1, 3, 9, 27, 81})); // Li et al. 2018, table 1
        QCOMPARE(rungs_of(2, 16, 2), (Steps{2, 4, 8, 16}));
        QCOMPARE(rungs_of(10, 100, 3), (Steps{10, 30, 100})); // the last is the full length
        QCOMPARE(rungs_of(5, 5, 4), (Steps{5}));
        const std::int64_t most = std::numeric_limits<std::int64_t>::max();
        QCOMPARE(rungs_of(most / 2, most, 2).back(), most); // no overflow
    }

    void the_first_rung_is_so_short_that_about_one_trial_gets_to_the_last() {
        for (const int eta : {2, 3, 4}) {
            for (std::int64_t trials = 1; trials < 100; ++trials) {
                for (const std::int64_t most : {1, 7, 100, 1000}) {
                    const std::int64_t least = least_of(trials, most, eta);
                    QVERIFY(least >= 1 && least <= most);
                    std::int64_t last = trials;
                    for (std::size_t i = 1; i < rungs_of(least, most, eta).size(); ++i) {
                        QVERIFY(last >= eta); // no rung that halves nothing
                        last /= eta;
                    }
                    QVERIFY(last < eta || least / eta == 0);
                }
            }
        }
    }

    // Hyperband's table 1, bracket s = 4: 81 trials at 1, 27 at 3, 9 at 9, 3 at 27, 1 at 81.
    void sizes_of_rungs_are_those_of_the_paper() {
        Tournament all(synchronous({1, 3, 9, 27, 81}, 3), random_table(81, 5, 1, false), 2);
        all.play();
        const std::size_t expected[] = {81, 27, 9, 3, 1};
        for (std::size_t rung = 0; rung < 5; ++rung) {
            QCOMPARE(all.trained_to[rung].size(), expected[rung]);
        }
    }

    void the_same_trials_go_on_as_by_the_definition_data() {
        QTest::addColumn<int>("trials");
        QTest::addColumn<int>("eta");
        QTest::addColumn<int>("rungs");
        QTest::addColumn<bool>("failures");
        for (const int trials : {1, 2, 3, 5, 12, 40}) {
            for (const int eta : {2, 3, 4}) {
                for (const bool failures : {false, true}) {
                    QTest::addRow("%d trials, eta %d%s", trials, eta, failures ? ", failures" : "")
                        << trials << eta << 3 << failures;
                }
            }
        }
    }

    void the_same_trials_go_on_as_by_the_definition() {
        QFETCH(int, trials);
        QFETCH(int, eta);
        QFETCH(int, rungs);
        QFETCH(bool, failures);
        std::vector<std::int64_t> steps;
        for (std::int64_t step = 1; static_cast<int>(steps.size()) < rungs; step *= eta) {
            steps.push_back(step);
        }
        for (unsigned seed = 0; seed < 50; ++seed) {
            const Table values = random_table(static_cast<std::size_t>(trials),
                                              static_cast<std::size_t>(rungs), seed, failures);
            Tournament played(synchronous(steps, eta), values, seed + 1000);
            played.play();
            QCOMPARE(played.trained_to,
                     survivors_by_definition(values, static_cast<std::size_t>(eta)));
        }
    }

    void larger_may_be_better() {
        HalvingRules rules = synchronous({1, 2}, 2);
        rules.smaller_is_better = false;
        Tournament played(rules, {{0.1, 0.1}, {0.9, 0.9}, {0.8, 0.7}, {0.2, 0.3}}, 1);
        played.play();
        QCOMPARE(played.trained_to[1], (std::set<std::size_t>{1, 2}));
        QCOMPARE(best_trial(rules, played.trials), std::optional<std::size_t>(1));
    }

    void of_equal_values_the_earlier_trial_goes_on() {
        Tournament played(synchronous({1, 2}, 2), {{5, 1}, {5, 1}, {5, 1}, {5, 1}}, 7);
        played.play();
        QCOMPARE(played.trained_to[1], (std::set<std::size_t>{0, 1}));
    }

    void no_rung_begins_before_the_one_below_is_complete() {
        std::vector<TrialProgress> trials(3);
        trials[0].values = {1};
        trials[1].values = {2};
        const auto decisions = decide(synchronous({1, 3}, 3), trials);
        QCOMPARE(decisions[0].verdict, Verdict::wait);
        QCOMPARE(decisions[1].verdict, Verdict::wait);
        QCOMPARE(decisions[2], (Decision{Verdict::train, 0, 0, 0}));
    }

    void places_are_told_of_those_that_are_stopped() {
        std::vector<TrialProgress> trials(3);
        trials[0].values = {3};
        trials[1].values = {1};
        trials[2].values = {kNone};
        const auto decisions = decide(synchronous({1, 3}, 3), trials);
        QCOMPARE(decisions[0], (Decision{Verdict::stop, 0, 2, 3}));
        QCOMPARE(decisions[1], (Decision{Verdict::train, 1, 0, 0}));
        QCOMPARE(decisions[2], (Decision{Verdict::stop, 0, 3, 3}));
    }

    void where_all_fail_nobody_goes_on() {
        for (const bool at_once : {false, true}) {
            HalvingRules rules = synchronous({1, 2}, 2);
            rules.asynchronous = at_once;
            Tournament played(rules, Table(4, {kNone, 0}), 1);
            played.play();
            QVERIFY(played.trained_to[1].empty());
            QVERIFY(!best_trial(rules, played.trials));
        }
    }

    void infinite_values_are_as_bad_as_none() {
        const double inf = std::numeric_limits<double>::infinity();
        for (const bool smaller : {true, false}) {
            HalvingRules rules = synchronous({1, 2}, 2);
            rules.smaller_is_better = smaller;
            Tournament played(rules, {{-inf, 0}, {inf, 0}, {4, 0}, {5, 0}}, 3);
            played.play();
            QCOMPARE(played.trained_to[1], (std::set<std::size_t>{2, 3}));
        }
    }

    // A person stops it while it waits: the next best has its place.
    void who_was_stopped_at_a_rung_does_not_go_on() {
        std::vector<TrialProgress> trials(4);
        for (std::size_t i = 0; i < 4; ++i) {
            trials[i].values = {static_cast<double>(i)};
        }
        trials[0].ended = true;
        const auto decisions = decide(synchronous({1, 2}, 2), trials);
        QCOMPARE(decisions[1].verdict, Verdict::train);
        QCOMPARE(decisions[2].verdict, Verdict::train);
        QCOMPARE(decisions[3].verdict, Verdict::stop);
    }

    void a_decision_is_the_same_again() {
        Tournament played(synchronous({1, 3, 9}, 3), random_table(12, 3, 5, true), 9);
        played.play();
        const auto once = decide(played.rules, played.trials);
        QCOMPARE(decide(played.rules, played.trials), once);
        QVERIFY(std::none_of(once.begin(), once.end(), [](const Decision& one) {
            return one.verdict == Verdict::train || one.verdict == Verdict::wait;
        }));
    }

    // Li et al. 2020, algorithm 2, get_job: a trial is promoted from rung k only while it is among
    // the floor(|rung k| / eta) best of those that have completed rung k.
    void asha_promotes_whom_the_algorithm_promotes() {
        for (unsigned seed = 0; seed < 100; ++seed) {
            HalvingRules rules = synchronous({1, 3, 9}, 3);
            rules.asynchronous = true;
            const Table values = random_table(27, 3, seed, seed % 2 == 1);
            Tournament played(rules, values, seed);
            std::vector<std::set<std::size_t>> completed(3);
            std::vector<std::set<std::size_t>> promoted(3); // out of the rung
            for (auto next = played.to_train(); !next.empty(); next = played.to_train()) {
                for (const std::size_t i : next) {
                    const std::size_t to = played.trials[i].rung;
                    if (to == 0 || promoted[to - 1].contains(i)) {
                        continue;
                    }
                    std::vector<std::pair<double, std::size_t>> ranks;
                    for (const std::size_t other : completed[to - 1]) {
                        const double value = values[other][to - 1];
                        ranks.emplace_back(std::isnan(value) ? INFINITY : value, other);
                    }
                    std::sort(ranks.begin(), ranks.end());
                    ranks.resize(ranks.size() / 3);
                    QVERIFY(std::any_of(ranks.begin(), ranks.end(),
                                        [&](const auto& one) { return one.second == i; }));
                    promoted[to - 1].insert(i);
                }
                const std::size_t i = next[played.chance() % next.size()];
                const std::size_t rung = played.trials[i].rung;
                QVERIFY(completed[rung].insert(i).second);
                if (std::isnan(values[i][rung])) {
                    played.trials[i].ended = true;
                } else {
                    played.trials[i].values.push_back(values[i][rung]);
                }
            }
            // In the end nobody who may go on has been left behind.
            for (std::size_t rung = 0; rung + 1 < 3; ++rung) {
                std::vector<std::pair<double, std::size_t>> ranks;
                for (const std::size_t other : completed[rung]) {
                    const double value = values[other][rung];
                    ranks.emplace_back(std::isnan(value) ? INFINITY : value, other);
                }
                std::sort(ranks.begin(), ranks.end());
                ranks.resize(ranks.size() / 3);
                for (const auto& [value, i] : ranks) {
                    QVERIFY(std::isinf(value) || promoted[rung].contains(i));
                }
            }
        }
    }

    void the_best_is_of_those_that_got_furthest() {
        std::vector<TrialProgress> trials(3);
        trials[0].values = {0.1};
        trials[1].values = {0.5, 0.4};
        trials[2].values = {0.6, kNone};
        QCOMPARE(best_trial(synchronous({1, 3}, 3), trials), std::optional<std::size_t>(1));
    }
};

} // namespace

WEFT_TEST(HalvingTest)
#include "halving_test.moc"
