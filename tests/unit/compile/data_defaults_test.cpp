// SPDX-License-Identifier: Apache-2.0
// What a configuration that names only its data and a model gets from the size of the data.
#include "core/compile/config/data_defaults.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::test;
using config::Json;

namespace {

constexpr std::int64_t kSizes[] = {1, 10, 135, 150, 512, 1'617, 9'000, 54'000, 1'000'000};

compile::RunConfig of_samples(std::int64_t samples, const std::string& kind,
                              std::vector<std::string> overrides = {}) {
    const Json document = {
        {"data", {{"train", {{"type", "synthetic"}, {"kind", kind}, {"samples", samples}}}}},
        {"model", {{"type", "mlp"}}}};
    return checked_config(document.dump(), overrides);
}

} // namespace

class DataDefaultsTest : public QObject {
    Q_OBJECT

private slots:
    void an_epoch_has_some_tens_of_updates_where_the_data_allow_it() {
        for (const std::int64_t samples : kSizes) {
            const std::int64_t batch = compile::fitted_batch(samples);
            QVERIFY(batch >= 1 && batch <= 256 && batch <= samples);
            QVERIFY(batch <= 8 || samples / batch >= 20);
            QVERIFY(batch == 256 || samples / batch < 50); // no smaller than that needs
        }
    }

    // No fewer epochs than five, and none of a small set so often that it is learnt by heart.
    void a_run_has_about_two_thousand_updates() {
        for (const std::int64_t samples : kSizes) {
            const std::int64_t batch = compile::fitted_batch(samples);
            const std::int64_t epochs = compile::fitted_epochs(samples, batch);
            const std::int64_t in_one = (samples + batch - 1) / batch;
            QVERIFY(epochs >= 5 && epochs <= 200);
            QVERIFY(epochs * in_one >= 2000 || epochs == 200);
            QVERIFY((epochs - 1) * in_one < 2000 || epochs == 5);
        }
    }

    void a_small_table_stops_when_its_validation_gets_no_better() {
        const auto small = of_samples(512, "classification");
        QVERIFY(small.early_stopping.has_value());
        QCOMPARE(small.section("training").at("early_stopping").at("metric"),
                 Json("validation/loss"));
        QCOMPARE(small.section("training").at("early_stopping").at("mode"), Json("min"));
        QVERIFY(!of_samples(20'000, "classification").early_stopping.has_value());
        QVERIFY(!of_samples(512, "images").early_stopping.has_value());
    }

    void what_is_said_is_never_replaced() {
        const std::vector<std::string> off = {"training.early_stopping=null"};
        QVERIFY(!of_samples(512, "classification", off).early_stopping.has_value());
        const auto given =
            of_samples(512, "classification",
                       {"training.length={\"steps\": 7}", "training.global_batch_size=100"});
        QCOMPARE(given.section("training").at("length"), (Json{{"steps", 7}}));
        QCOMPARE(given.section("training").at("global_batch_size"), Json(100));
        QVERIFY(!given.early_stopping.has_value()); // whoever says how long means it
        QVERIFY(!of_samples(512, "classification", {"data.validation=null"})
                     .early_stopping.has_value());
    }

    void numbers_to_predict_are_a_regression() {
        QCOMPARE(of_samples(512, "regression").section("loss").at("type"), Json("mse"));
        QCOMPARE(of_samples(512, "classification").section("loss").at("type"),
                 Json("cross_entropy"));
    }
};

WEFT_TEST(DataDefaultsTest)
#include "data_defaults_test.moc"
