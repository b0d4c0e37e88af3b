// SPDX-License-Identifier: Apache-2.0
// Every schedule at points that can be worked out by hand; warmup_cosine against Optax's values.
#include "core/optim/plateau.h"
#include "core/optim/schedule.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <set>

using namespace weft;
using config::Json;

namespace {

struct Point {
    std::int64_t count;
    double factor;
};

struct ScheduleCase {
    std::string schedule;
    std::int64_t total;
    std::vector<Point> points;
};

std::vector<ScheduleCase> schedule_cases() {
    return {
        {R"({"type": "constant"})", 10, {{0, 1}, {9, 1}, {100, 1}}},
        {R"({"type": "plateau"})", 10, {{0, 1}, {9, 1}}}, // evaluations decide: below
        {R"({"type": "linear"})", 10, {{0, 1}, {5, 0.5}, {10, 0}, {11, 0}}},
        {R"({"type": "linear", "start_factor": 0.5, "end_factor": 0.1})",
         4,
         {{0, 0.5}, {2, 0.3}, {4, 0.1}}},
        {R"({"type": "cosine", "end_factor": 0.2})",
         100,
         {{0, 1}, {25, 0.2 + 0.8 * 0.5 * (1 + std::sqrt(0.5))}, {50, 0.6}, {100, 0.2}, {300, 0.2}}},
        {R"({"type": "warmup_constant", "warmup_steps": 4})",
         10,
         {{0, 0}, {1, 0.25}, {3, 0.75}, {4, 1}, {9, 1}}},
        {R"({"type": "warmup_linear", "warmup_steps": 2, "end_factor": 0.5})",
         6,
         {{0, 0}, {1, 0.5}, {2, 1}, {4, 0.75}, {6, 0.5}}},
        // Optax warmup_cosine_decay_schedule(0, 1e-3, 100, 1000, 1e-5), over the peak (FACTS C)
        {R"({"type": "warmup_cosine", "warmup_steps": 100, "end_factor": 0.01})",
         1000,
         {{0, 0}, {1, 0.01}, {50, 0.5}, {100, 1}, {550, 0.505}, {1000, 0.01}, {5000, 0.01}}},
        {R"({"type": "warmup_cosine", "warmup_steps": 0})", 10, {{0, 1}, {5, 0.5}}},
        {R"({"type": "warmup_stable_decay", "warmup_steps": 2, "decay_steps": 4})",
         20,
         {{1, 0.5}, {2, 1}, {15, 1}, {16, 1}, {18, 0.5}, {20, 0}}},
        {R"({"type": "warmup_stable_decay", "warmup_steps": 0})", 10, {{0, 1}, {8, 1}, {9, 0.5}}},
        {R"({"type": "warmup_inverse_root", "warmup_steps": 4})",
         100,
         {{0, 0}, {2, 0.5}, {4, 1}, {16, 0.5}, {64, 0.25}}},
        {R"({"type": "polynomial", "end_factor": 0.2})", 10, {{0, 1}, {5, 0.4}, {10, 0.2}}},
        {R"({"type": "polynomial", "power": 3})", 10, {{0, 1}, {8, 0.008}, {12, 0}}},
        {R"({"type": "exponential"})", 10, {{0, 1}, {5, 0.1}, {10, 0.01}, {11, 0.01}}},
        {R"({"type": "step", "every": 3, "gamma": 0.5})",
         10,
         {{0, 1}, {2, 1}, {3, 0.5}, {5, 0.5}, {6, 0.25}, {9, 0.125}}},
        {R"({"type": "step"})", 30, {{9, 1}, {10, 0.1}, {20, 0.01}}},
        {R"({"type": "cosine_restarts", "period": 4, "growth": 2})",
         40,
         {{0, 1}, {2, 0.5}, {4, 1}, {8, 0.5}, {12, 1}, {20, 0.5}, {28, 1}}},
        {R"({"type": "cosine_restarts", "end_factor": 0.2})",
         20,
         {{0, 1}, {5, 1}, {15, 1}, {20, 0.2}, {30, 0.2}}},
        {R"({"type": "cyclic", "period": 8, "start_factor": 0.2})",
         100,
         {{0, 0.2}, {2, 0.6}, {4, 1}, {6, 0.6}, {8, 0.2}, {12, 1}}},
        {R"({"type": "one_cycle", "rise": 0.4, "start_factor": 0.2, "end_factor": 0.1})",
         10,
         {{0, 0.2}, {2, 0.6}, {4, 1}, {7, 0.55}, {10, 0.1}}},
        {R"({"type": "points", "at": [0.1, 0.5, 1], "factors": [0.5, 1, 0]})",
         20,
         {{0, 0.5}, {2, 0.5}, {6, 0.75}, {10, 1}, {15, 0.5}, {20, 0}, {30, 0}}},
    };
}

Json checked_schedule(const std::string& text) {
    const config::Checked checked =
        config::check_fields({{"lr_schedule", config::json_of(text)}}, {optim::schedule_field()});
    return checked.ok() ? checked.value.at("lr_schedule") : Json();
}

} // namespace

class ScheduleTest : public QObject {
    Q_OBJECT
private slots:
    void every_schedule_has_a_case() {
        std::set<std::string> with_case;
        for (const ScheduleCase& row : schedule_cases()) {
            with_case.insert(config::json_of(row.schedule).at("type").get<std::string>());
        }
        for (const optim::ScheduleDef* def : optim::kSchedules) {
            QVERIFY2(with_case.contains(std::string(def->name)), std::string(def->name).c_str());
        }
    }

    void factors_are_as_worked_out() {
        for (const ScheduleCase& row : schedule_cases()) {
            for (const Point& point : row.points) {
                const double found =
                    optim::schedule_factor(checked_schedule(row.schedule), point.count, row.total);
                QVERIFY2(std::abs(found - point.factor) < 1e-12, // double arithmetic
                         (row.schedule + " at " + std::to_string(point.count) + ": " +
                          std::to_string(found))
                             .c_str());
            }
        }
    }

    void one_based_recipes_read_one_step_ahead() {
        const Json recipe = checked_schedule(
            R"({"type": "warmup_constant", "warmup_steps": 2000, "step_convention": "one_based"})");
        QCOMPARE(optim::schedule_factor(recipe, 0, 10000), 1.0 / 2000);
    }

    void a_warm_up_as_long_as_the_run_is_reported() {
        config::Diagnostics out;
        optim::check_schedule(checked_schedule(R"({"type": "warmup_cosine", "warmup_steps": 10})"),
                              10, "/lr_schedule", out);
        QCOMPARE(out.size(), std::size_t{1});
        QCOMPARE(out[0].pointer, std::string("/lr_schedule/warmup_steps"));
        out.clear();
        optim::check_schedule(checked_schedule(R"({"type": "warmup_cosine", "warmup_steps": 9})"),
                              10, "/lr_schedule", out);
        QVERIFY(out.empty());
    }

    // torch.optim.lr_scheduler.ReduceLROnPlateau (2.15) with threshold_mode="abs", eps=0.
    void plateaus_fall_as_pytorchs_data() {
        QTest::addColumn<QString>("schedule");
        QTest::addColumn<double>("sign"); // of the metric
        QTest::addColumn<QList<double>>("factors");
        QTest::newRow("a half after one")
            << R"({"type": "plateau", "factor": 0.5, "patience": 1})" << 1.0
            << QList<double>{1,      1,      1,       1,       1,       0.5,      0.5,
                             0.5,    0.25,   0.25,    0.25,    0.25,    0.125,    0.125,
                             0.0625, 0.0625, 0.03125, 0.03125, 0.03125, 0.015625, 0.015625};
        QTest::newRow("with a threshold, a cooldown and a floor")
            << R"({"type": "plateau", "patience": 2, "min_delta": 0.05, "cooldown": 2,
                   "end_factor": 0.05})"
            << 1.0 << QList<double>{1,   1,   1,    1,    1,    1,    0.1,  0.1,  0.1,  0.1, 0.1,
                                    0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05};
        QTest::newRow("of what shall grow")
            << R"({"type": "plateau", "mode": "max", "factor": 0.5, "patience": 0,
                   "min_delta": 0.02, "cooldown": 1})"
            << -1.0
            << QList<double>{1,          1,          1,          0.5,       0.5,       0.25,
                             0.25,       0.125,      0.125,      0.0625,    0.0625,    0.03125,
                             0.03125,    0.015625,   0.015625,   0.0078125, 0.0078125, 0.0078125,
                             0.00390625, 0.00390625, 0.001953125};
    }
    void plateaus_fall_as_pytorchs() {
        QFETCH(QString, schedule);
        QFETCH(double, sign);
        QFETCH(QList<double>, factors);
        const std::vector<double> values = {1.0, 0.9,          0.85, 0.84, 0.95, 0.9, 0.83,
                                            0.9, 0.9,          0.9,  0.5,  0.6,  0.6, 0.6,
                                            0.6, std::nan(""), 0.6,  0.4,  0.4,  0.4, 0.4};
        const Json settings = checked_schedule(schedule.toStdString());
        optim::Plateau plateau;
        for (std::size_t i = 0; i < values.size(); ++i) {
            plateau = optim::after_evaluation(settings, plateau, sign * values[i]);
            QVERIFY2(std::abs(plateau.factor - factors[static_cast<qsizetype>(i)]) < 1e-15,
                     std::to_string(i).c_str());
        }
    }

    void points_that_make_no_line_are_reported() {
        const auto where = [](const char* text) {
            config::Diagnostics out;
            optim::check_schedule(checked_schedule(text), 10, "/lr_schedule", out);
            return out.size() == 1 ? out[0].pointer : std::string();
        };
        QCOMPARE(where(R"({"type": "points", "at": [0, 1], "factors": [1]})"),
                 std::string("/lr_schedule/factors"));
        QCOMPARE(where(R"({"type": "points", "at": [], "factors": []})"),
                 std::string("/lr_schedule/factors"));
        QCOMPARE(where(R"({"type": "points", "at": [0, 0.5, 0.5], "factors": [1, 1, 0]})"),
                 std::string("/lr_schedule/at"));
        QCOMPARE(where(R"({"type": "points", "at": [0, 0.5, 1], "factors": [1, 1, 0]})"),
                 std::string());
    }
};

WEFT_TEST(ScheduleTest)
#include "schedule_test.moc"
