// SPDX-License-Identifier: Apache-2.0
// Runs that go on with somebody's model: each is a configuration without mistakes whose programs
// build.
#include "core/advise/suggest_tuning.h"
#include "core/base/error.h"
#include "core/compile/programs/programs.h"
#include "tests/support/weft_test.h"

using namespace weft;
using advise::Tuning;
using config::Json;

namespace {

constexpr const char* kGpt =
    R"({"type": "gpt2", "layers": 1, "width": 16, "heads": 2, "context": 32, "vocab": 256})";
constexpr const char* kVit =
    R"({"type": "vit", "patch": 8, "layers": 1, "width": 16, "heads": 2, "mlp": 32})";
constexpr const char* kResnet = R"({"type": "resnet", "depth": 18, "width": 4})";
constexpr const char* kTokens = R"({"type": "synthetic", "kind": "tokens", "vocab": 256})";
constexpr const char* kLicence = "/usr/share/common-licenses/GPL-2";
constexpr const char* kTokenizer = WEFT_SOURCE_DIR "/tests/unit/tokenizer/peers/gpt2.json";
constexpr const char* kImages =
    R"({"type": "synthetic", "kind": "images", "shape": [32, 32, 3], "classes": 7})";

advise::Suggestion suggested(const char* model, const char* data, Tuning tuning) {
    return advise::suggest_tuning({{"train", config::json_of(data)}}, {}, "tuned",
                                  {config::json_of(model), "/weights"}, tuning);
}

} // namespace

class SuggestTuningTest : public QObject {
    Q_OBJECT

private slots:
    void every_model_gets_a_run_that_builds_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("data");
        QTest::addColumn<bool>("factors");
        QTest::addColumn<bool>("lora");
        QTest::newRow("text, factors") << kGpt << kTokens << true << true;
        QTest::newRow("text, all") << kGpt << kTokens << false << false;
        QTest::newRow("images, factors") << kVit << kImages << true << true;
        QTest::newRow("images, no blocks") << kResnet << kImages << true << false;
    }

    void every_model_gets_a_run_that_builds() {
        QFETCH(QString, model);
        QFETCH(QString, data);
        QFETCH(bool, factors);
        QFETCH(bool, lora);
        const auto suggestion = suggested(model.toUtf8().constData(), data.toUtf8().constData(),
                                          factors ? Tuning::factors : Tuning::all);
        const compile::CheckedRun run = compile::read_run_config(suggestion.document, {});
        for (const config::Diagnostic& diagnostic : run.diagnostics) {
            QFAIL(config::to_text(diagnostic).c_str());
        }
        QCOMPARE(run.config.section("init").at("from"), Json("/weights"));
        QCOMPARE(!run.config.section("init").at("lora").is_null(), lora);
        const data::DataOutline outline =
            data::outline_data(run.config.section("data"), {{}, run.config.context(), 0});
        QVERIFY(compile::build_programs(run.config, outline.sample).programs.size() >= 4);
    }

    // Of a classifier too: a head for other classes would else stay random.
    void the_head_of_a_classifier_is_trained_beside_the_factors() {
        const Json init = suggested(kVit, kImages, Tuning::factors).document.at("init");
        QCOMPARE(init.at("strict"), Json(false));
        QCOMPARE(init.at("trainable"), Json({"head.*"}));
        QVERIFY(!suggested(kGpt, kTokens, Tuning::factors).document.at("init").contains("strict"));
    }

    void tokens_that_are_not_the_models_own_are_told() {
        const auto told = [](const char* tokens) {
            const auto reasons = suggested(kGpt, tokens, Tuning::factors).reasons;
            return std::any_of(reasons.begin(), reasons.end(), [](const std::string& reason) {
                return reason.find("not by its own tokenizer") != std::string::npos;
            });
        };
        QVERIFY(!told(kTokens));
        QVERIFY(told(R"({"type": "synthetic", "kind": "tokens", "vocab": 90})"));
    }

    void a_text_is_read_in_the_models_own_tokens() {
        const auto tuned = [](const std::string& tokenizer, const Json& of_data) {
            const Json text = {{"train", {{"type", "text"}, {"path", kLicence}}},
                               {"tokenizer", of_data}};
            Json model = config::json_of(kGpt);
            model["vocab"] = 640; // padded, as many are
            return advise::suggest_tuning(text, {}, "tuned", {model, "/weights", tokenizer},
                                          Tuning::all);
        };
        const auto anew = [](const advise::Suggestion& one) {
            return std::any_of(one.reasons.begin(), one.reasons.end(), [](const auto& reason) {
                return reason.find("not by its own tokenizer") != std::string::npos;
            });
        };
        const advise::Suggestion own = tuned(kTokenizer, nullptr);
        QCOMPARE(own.document.at("data").at("tokenizer"), Json(kTokenizer));
        QCOMPARE(own.document.at("metrics").at(0), Json("perplexity"));
        QVERIFY(!anew(own));
        QVERIFY(compile::read_run_config(own.document, {}).ok());
        // What the data say counts, and a model without a tokenizer is as it was.
        for (const advise::Suggestion& bytes : {tuned(kTokenizer, "bytes"), tuned("", nullptr)}) {
            QCOMPARE(bytes.document.at("metrics").at(0), Json("bits_per_byte"));
            QVERIFY(anew(bytes));
        }
        QVERIFY_THROWS_EXCEPTION(Error, tuned("/no/such/tokenizer.json", nullptr));
    }

    void data_that_the_model_cannot_read_is_refused() {
        QVERIFY_THROWS_EXCEPTION(Error, suggested(kGpt, kImages, Tuning::factors));
        QVERIFY_THROWS_EXCEPTION(Error, suggested(kVit, kTokens, Tuning::factors));
        // More tokens than the model has.
        QVERIFY_THROWS_EXCEPTION(
            Error, suggested(kGpt, R"({"type": "synthetic", "kind": "tokens", "vocab": 500})",
                             Tuning::all));
    }
};

WEFT_TEST(SuggestTuningTest)
#include "suggest_tuning_test.moc"
