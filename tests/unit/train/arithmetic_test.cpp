// SPDX-License-Identifier: Apache-2.0
// Lengths, cadences, live settings and the choice of a token: pure functions.
#include "core/base/error.h"
#include "core/train/control/live_settings.h"
#include "core/train/generate.h"
#include "core/train/run_length.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace {

using namespace weft::train;
using weft::compile::Cadence;
using weft::config::Json;
using Unit = Cadence::Unit;

// 1,000 samples in batches of 300: 4 steps an epoch, the last one short.
constexpr Pace kPace{1000, 4, 300, 0};

class ArithmeticTest : public QObject {
    Q_OBJECT
private slots:
    void lengths_become_steps() {
        QCOMPARE(total_steps({Unit::steps, 17}, kPace), 17);
        QCOMPARE(total_steps({Unit::epochs, 5}, kPace), 20);
        QCOMPARE(total_steps({Unit::epochs, 0.3}, kPace), 2); // 1.2 steps, rounded up
        QCOMPARE(total_steps({Unit::minutes, 5}, kPace), 0);
        const Pace tokens{1000, 4, 300, 128};
        QCOMPARE(total_steps({Unit::tokens, 100000}, tokens), 3); // 38,400 a step
    }

    void a_length_in_tokens_needs_tokens() {
        QVERIFY_THROWS_EXCEPTION(weft::Error, total_steps({Unit::tokens, 100}, kPace));
    }

    void a_cadence_in_steps_is_due_at_multiples() {
        std::vector<std::int64_t> due;
        for (std::int64_t step = 1; step <= 10; ++step) {
            if (is_due({Unit::steps, 3}, kPace, step, 0)) {
                due.push_back(step);
            }
        }
        QCOMPARE(due, (std::vector<std::int64_t>{3, 6, 9}));
    }

    void a_cadence_in_half_epochs_is_due_once_each() {
        std::vector<std::int64_t> due;
        for (std::int64_t step = 1; step <= 8; ++step) {
            if (is_due({Unit::epochs, 0.375}, kPace, step, 0)) { // every 1.5 steps
                due.push_back(step);
            }
        }
        QCOMPARE(due, (std::vector<std::int64_t>{2, 3, 5, 6, 8}));
    }

    void a_cadence_in_minutes_counts_seconds() {
        QVERIFY(!is_due({Unit::minutes, 2}, kPace, 5, 119));
        QVERIFY(is_due({Unit::minutes, 2}, kPace, 5, 120));
    }

    void what_may_change_live_changes() {
        LiveSettings live;
        live.length = {Unit::steps, 100};
        const auto set = [&](const char* path, Json value) {
            return apply_set(live, Json{{"path", path}, {"value", std::move(value)}});
        };
        QCOMPARE(set("learning_rate_multiplier", 0.5), std::string());
        QCOMPARE(live.learning_rate_multiplier, 0.5);
        live.base_learning_rate = 0.25;
        QCOMPARE(set("optimizer.learning_rate", 0.125), std::string());
        QCOMPARE(live.learning_rate_multiplier, 0.5);
        QCOMPARE(set("training.log_every", 20), std::string());
        QCOMPARE(live.log_every, std::int64_t{20});
        QCOMPARE(set("log.inside_every", 50), std::string());
        QCOMPARE(live.inside_every, std::int64_t{50});
        QCOMPARE(set("log.inside_every", 0), std::string());
        QCOMPARE(set("evaluation.every", {{"epochs", 0.5}}), std::string());
        QVERIFY(live.evaluation_every.unit == Unit::epochs);
        QCOMPARE(set("checkpoint.every", nullptr), std::string());
        QVERIFY(!live.checkpoint_every.has_value());
        QCOMPARE(apply_extend(live, {{"steps", 50}}), std::string());
        QCOMPARE(live.extra_steps, 50);
        QCOMPARE(set("training.length", {{"steps", 400}}), std::string());
        QCOMPARE(live.extra_steps, 0);
    }

    void layers_are_frozen_by_names_that_the_model_has() {
        LiveSettings live;
        const auto set = [&](Json value) {
            return apply_set(live, Json{{"path", "frozen"}, {"value", std::move(value)}});
        };
        QVERIFY(set(Json::array({"blocks.0"})).find("training.freezable=true") !=
                std::string::npos);
        live.freezable = true;
        live.layers = std::make_shared<const std::vector<std::string>>(
            std::vector<std::string>{"embedding", "blocks.0.mlp.up", "blocks.0.norm", "head"});
        QCOMPARE(set(Json::array({"blocks.0", "*d"})), std::string());
        QVERIFY(freezes("blocks.0", "blocks.0.norm"));
        QVERIFY(!freezes("blocks.0", "blocks.01.norm"));
        QVERIFY(freezes("*.up", "blocks.0.mlp.up"));
        QVERIFY(!freezes("embed", "embedding"));
        const std::string unknown = set(Json::array({"embeding"}));
        QVERIFY2(unknown.find("embedding") != std::string::npos, unknown.c_str());
        QVERIFY(!set("embedding").empty());
        QVERIFY(!set(Json::array({1})).empty());
        QCOMPARE(live.frozen.size(), std::size_t{2});
        QCOMPARE(set(Json::array()), std::string());
        QVERIFY(live.frozen.empty());
    }

    void differences_lead_from_one_to_the_other() {
        LiveSettings before;
        before.freezable = true;
        before.length = {Unit::steps, 100};
        before.evaluation_every = {Unit::epochs, 1};
        LiveSettings after = before;
        QVERIFY(differences(before, after).empty());
        after.learning_rate_multiplier = 0.5;
        after.length = {Unit::steps, 200};
        after.extra_steps = 7;
        after.evaluation_every = {Unit::steps, 3};
        after.checkpoint_every = Cadence{Unit::minutes, 2};
        after.log_every = 9;
        after.inside_every = 25;
        after.frozen = {"head"};
        for (const auto& [path, value] : differences(before, after)) {
            QCOMPARE(apply_set(before, {{"path", path}, {"value", value}}), std::string());
        }
        QVERIFY(differences(before, after).empty());
        QVERIFY(to_json(before) == to_json(after));
    }

    void what_may_not_change_live_is_refused_and_leaves_everything() {
        LiveSettings live;
        const Json before = to_json(live);
        const auto refused = [&](const char* path, Json value) {
            return !apply_set(live, Json{{"path", path}, {"value", std::move(value)}}).empty();
        };
        QVERIFY(refused("learning_rate_multiplier", 0));
        QVERIFY(refused("learning_rate_multiplier", "fast"));
        QVERIFY(refused("evaluation.every", {{"steps", 0}}));
        QVERIFY(refused("evaluation.every", {{"steps", 1}, {"epochs", 1}}));
        QVERIFY(refused("evaluation.every", {{"parsecs", 1}}));
        QVERIFY(refused("optimizer.weight_decay", 0.1));
        QVERIFY(refused("optimizer.learning_rate", 0.1)); // of which it is a multiple is not known
        QVERIFY(refused("training.log_every", 0));
        QVERIFY(refused("training.log_every", 1.5));
        QVERIFY(refused("log.inside_every", -1));
        QVERIFY(refused("frozen", Json::array({"head"})));
        QVERIFY(!apply_set(live, Json::object()).empty());
        QVERIFY(!apply_extend(live, {{"steps", -1}}).empty());
        QVERIFY(!apply_extend(live, {{"steps", 1.5}}).empty());
        QVERIFY(to_json(live) == before);
    }

    void live_settings_survive_a_round_trip() {
        LiveSettings live;
        live.learning_rate_multiplier = 0.25;
        live.length = {Unit::epochs, 2.5};
        live.extra_steps = 7;
        live.evaluation_every = {Unit::minutes, 3};
        live.checkpoint_every = Cadence{Unit::steps, 9};
        live.log_every = 4;
        live.inside_every = 50;
        live.freezable = true;
        live.frozen = {"head", "blocks.*"};
        LiveSettings back;
        back.freezable = true;
        QCOMPARE(read_live_settings(to_json(live), back), std::string());
        QVERIFY(to_json(back) == to_json(live));
    }

    void greedy_choice_takes_the_most_probable() {
        const float logits[] = {0.1F, 3.0F, -1.0F, 2.9F};
        QCOMPARE(pick_token(logits, 0, 0, 0.99), 1);
        QCOMPARE(pick_token(logits, 1.0, 1, 0.99), 1);
    }

    void sampling_follows_the_softmax() {
        // Probabilities 0.7, 0.2, 0.1.
        const float logits[] = {std::log(0.2F), std::log(0.7F), std::log(0.1F)};
        QCOMPARE(pick_token(logits, 1.0, 0, 0.69), 1);
        QCOMPARE(pick_token(logits, 1.0, 0, 0.71), 0);
        QCOMPARE(pick_token(logits, 1.0, 0, 0.89), 0);
        QCOMPARE(pick_token(logits, 1.0, 0, 0.91), 2);
        // Of the two most probable alone: 7/9 and 2/9.
        QCOMPARE(pick_token(logits, 1.0, 2, 0.77), 1);
        QCOMPARE(pick_token(logits, 1.0, 2, 0.78), 0);
    }

    void what_is_no_number_is_not_chosen() {
        std::vector<float> logits(500, std::numeric_limits<float>::quiet_NaN());
        logits[123] = 1.0F;
        logits[321] = 0.5F;
        QCOMPARE(pick_token(logits, 0, 0, 0.5), 123);
        QCOMPARE(pick_token(logits, 1.0, 0, 0.1), 123);
        QCOMPARE(pick_token(logits, 1.0, 0, 0.99), 321);
    }

    // Nearly flat, so that most of the tokens are needed in their order.
    void sampling_from_a_large_vocabulary_takes_tokens_by_falling_probability() {
        std::vector<float> logits(3000);
        for (std::size_t i = 0; i < logits.size(); ++i) {
            logits[i] = static_cast<float>(i * 1237 % logits.size()) / 6000.0F;
        }
        std::vector<std::int32_t> order(logits.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
        });
        for (const std::size_t kept : {logits.size(), std::size_t{700}}) {
            double all = 0;
            for (std::size_t i = 0; i < kept; ++i) {
                all += std::exp(static_cast<double>(logits[static_cast<std::size_t>(order[i])]));
            }
            double below = 0;
            for (std::size_t i = 0; i < kept; ++i) {
                const double own =
                    std::exp(static_cast<double>(logits[static_cast<std::size_t>(order[i])]));
                if (i % 97 == 5 || i + 1 == kept) {
                    const auto top = static_cast<std::int64_t>(kept == logits.size() ? 0 : kept);
                    QCOMPARE(pick_token(logits, 1.0, top, (below + own / 2) / all), order[i]);
                }
                below += own;
            }
        }
    }
};

WEFT_TEST(ArithmeticTest)

} // namespace
#include "arithmetic_test.moc"
