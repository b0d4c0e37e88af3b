// SPDX-License-Identifier: Apache-2.0
// Which of two states is the better one.
#include "core/checkpoint/goal.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft::checkpoint;

class GoalTest : public QObject {
    Q_OBJECT

private slots:
    void the_metric_decides_in_its_direction() {
        const Goal accuracy{"validation/accuracy", false};
        QVERIFY(is_better(accuracy, {0.9, 2.0, 1}, {0.8, 0.1, 9}));
        QVERIFY(!is_better(accuracy, {0.8, 0.1, 9}, {0.9, 2.0, 1}));
        const Goal loss{"validation/loss", true};
        QVERIFY(is_better(loss, {0.1, 0.1, 1}, {0.2, 0.2, 9}));
        QVERIFY(!is_better(loss, {0.2, 0.2, 9}, {0.1, 0.1, 1}));
    }

    // Iris: 15 samples to validate on, whose accuracy is the same from the fifth epoch on.
    void of_equal_accuracies_the_lower_loss_wins() {
        const Goal goal{"validation/accuracy", false};
        const Score early{0.9333, 0.71, 25};
        const Score late{0.9333, 0.18, 600};
        QVERIFY(is_better(goal, late, early));
        QVERIFY(!is_better(goal, early, late));
        const Score worse_again{0.9333, 0.25, 900};
        QVERIFY(!is_better(goal, worse_again, late));
    }

    void where_the_losses_are_equal_too_the_later_step_wins() {
        const Goal goal{"validation/accuracy", false};
        QVERIFY(is_better(goal, {1.0, 0.5, 30}, {1.0, 0.5, 20}));
        QVERIFY(!is_better(goal, {1.0, 0.5, 20}, {1.0, 0.5, 30}));
        QVERIFY(!is_better(goal, {1.0, 0.5, 20}, {1.0, 0.5, 20}));
    }

    void where_a_loss_is_not_known_the_later_step_wins() {
        const Goal goal{"validation/accuracy", false};
        const double none = std::nan("");
        QVERIFY(is_better(goal, {1.0, none, 30}, {1.0, none, 20}));
        QVERIFY(!is_better(goal, {1.0, none, 20}, {1.0, none, 30}));
    }

    void the_loss_beside_a_metric_is_that_of_its_split() {
        const Goal goal{"train/accuracy", false};
        using Metrics = std::vector<std::pair<std::string, double>>;
        const auto score = score_in(
            Metrics{{"validation/loss", 3.0}, {"train/loss", 2.0}, {"train/accuracy", 0.5}}, goal,
            7);
        QVERIFY(score.has_value());
        QCOMPARE(score->value, 0.5);
        QCOMPARE(score->loss, 2.0);
        QVERIFY(!score_in(Metrics{{"train/accuracy", std::nan("")}}, goal, 7).has_value());
        QVERIFY(!score_in(Metrics{{"validation/accuracy", 0.5}}, goal, 7).has_value());
    }
};

WEFT_TEST(GoalTest)
#include "goal_test.moc"
