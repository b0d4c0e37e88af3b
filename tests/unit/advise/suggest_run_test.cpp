// SPDX-License-Identifier: Apache-2.0
// Runs that are suggested for data: each is a configuration without mistakes whose programs build.
#include "core/advise/suggest_run.h"
#include "core/base/text.h"
#include "core/checkpoint/goal.h"
#include "core/compile/programs/programs.h"
#include "tests/support/weft_test.h"

using namespace weft;
using config::Json;

namespace {

Json synthetic(const char* rest) {
    Json train = config::json_of(rest);
    train["type"] = "synthetic";
    return {{"train", train}};
}

} // namespace

class SuggestRunTest : public QObject {
    Q_OBJECT

private slots:
    void every_kind_of_sample_gets_a_run_that_builds_data() {
        QTest::addColumn<QString>("data");
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("loss");
        const auto row = [](const char* name, const char* data, const char* model,
                            const char* loss) { QTest::newRow(name) << data << model << loss; };
        row("classes", R"({"kind": "classification"})", "mlp", "cross_entropy");
        row("few samples", R"({"kind": "classification", "samples": 12})", "mlp", "cross_entropy");
        row("numbers", R"({"kind": "regression", "targets": 3})", "mlp", "mse");
        row("tiny images", R"({"kind": "images", "shape": [8, 8, 1]})", "mlp", "cross_entropy");
        row("uneven images", R"({"kind": "images", "shape": [13, 90, 1]})", "sequential",
            "cross_entropy");
        row("images", R"({"kind": "images", "shape": [64, 48, 3]})", "sequential", "cross_entropy");
        row("large images", R"({"kind": "images", "shape": [224, 224, 3]})", "sequential",
            "cross_entropy");
        row("text", R"({"kind": "tokens", "vocab": 256})", "gpt2", "cross_entropy");
    }

    void every_kind_of_sample_gets_a_run_that_builds() {
        QFETCH(QString, data);
        QFETCH(QString, model);
        QFETCH(QString, loss);
        const auto suggestion =
            advise::suggest_run(synthetic(data.toUtf8().constData()), {}, "mine");
        const compile::CheckedRun run = compile::read_run_config(suggestion.document, {});
        for (const config::Diagnostic& diagnostic : run.diagnostics) {
            QFAIL(config::to_text(diagnostic).c_str());
        }
        QCOMPARE(run.config.name, std::string("mine"));
        QCOMPARE(run.config.model_type(), model.toStdString());
        QCOMPARE(run.config.section("loss").at("type"), Json(loss.toStdString()));
        QVERIFY(!suggestion.reasons.empty());
        const data::DataOutline outline =
            data::outline_data(run.config.section("data"), {{}, run.config.context(), 0});
        // One batch fits into an epoch, and a run takes at most some thousands of updates.
        QVERIFY(run.config.global_batch_size <= outline.samples);
        QVERIFY(compile::build_programs(run.config, outline.sample).programs.size() >= 4);
    }

    void puzzles_get_a_model_that_fills_boards_data() {
        QTest::addColumn<QString>("source");
        QTest::newRow("sudoku") << R"({"type": "sudoku", "side": 4})";
        QTest::newRow("mazes") << R"({"type": "maze", "side": 12})";
        QTest::newRow("few tasks") << R"({"type": "arc", "tasks": 3, "augmentations": 2})";
    }

    void puzzles_get_a_model_that_fills_boards() {
        QFETCH(QString, source);
        const Json section = {{"train", config::json_of(source.toStdString())},
                              {"validation", nullptr}};
        const auto suggestion = advise::suggest_run(section, {}, "mine");
        const compile::CheckedRun run = compile::read_run_config(suggestion.document, {});
        for (const config::Diagnostic& diagnostic : run.diagnostics) {
            QFAIL(config::to_text(diagnostic).c_str());
        }
        QCOMPARE(run.config.model_type(), std::string("trm"));
        const data::DataOutline outline =
            data::outline_data(run.config.section("data"), {{}, run.config.context(), 0});
        QVERIFY(run.config.global_batch_size <= outline.samples);
        QVERIFY(compile::build_programs(run.config, outline.sample).programs.size() >= 4);
    }

    void the_norms_of_a_suggested_run_do_not_decay() {
        const auto suggestion = advise::suggest_run(
            synthetic(R"({"kind": "images", "shape": [64, 48, 3]})"), {}, "mine");
        const Json& layers = suggestion.document.at("model").at("layers");
        const Json& groups = suggestion.document.at("optimizer").at("groups");
        const auto decays = [&](const std::string& name) {
            for (const Json& group : groups) {
                if (glob_match(group.at("match").get<std::string>(), name)) {
                    return group.at("weight_decay") != 0.0;
                }
            }
            return true;
        };
        int norms = 0;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const std::string weight = "layers." + std::to_string(i) + ".weight";
            const bool norm = layers[i].at("type") == "batch_norm";
            norms += norm ? 1 : 0;
            QCOMPARE(decays(weight), !norm);
            QVERIFY(!decays("layers." + std::to_string(i) + ".bias"));
        }
        QVERIFY(norms > 0);
    }

    // Ten samples to validate on: the accuracy is 1.0 after a few epochs, and says nothing of the
    // rest.
    void the_best_of_a_suggested_run_is_what_has_the_lowest_loss() {
        for (const char* kind : {"classification", "images", "regression"}) {
            const auto suggestion = advise::suggest_run(
                synthetic(
                    QString(R"({"kind": "%1", "samples": 100})").arg(kind).toUtf8().constData()),
                {}, "mine");
            const compile::CheckedRun run = compile::read_run_config(suggestion.document, {});
            QVERIFY(run.ok());
            const checkpoint::Goal goal = checkpoint::goal_of(run.config.document);
            QCOMPARE(goal.metric, std::string("validation/loss"));
            QVERIFY(goal.smaller_is_better);
        }
    }

    void a_run_without_validation_keeps_what_trains_best() {
        Json section = synthetic(R"({"kind": "classification"})");
        section["validation"] = nullptr;
        const auto suggestion = advise::suggest_run(section, {}, "mine");
        QCOMPARE(suggestion.document["checkpoint"]["metric"], Json("train/loss"));
        QVERIFY(compile::read_run_config(suggestion.document, {}).ok());
    }

    void tokens_that_are_no_bytes_are_not_called_so() {
        Json text = {{"train", {{"type", "text"}, {"path", "/usr/share/common-licenses/GPL-2"}}}};
        const auto bytes = advise::suggest_run(text, {}, "mine");
        QCOMPARE(bytes.document.at("metrics").at(0), Json("bits_per_byte"));
        text["tokenizer"] = WEFT_SOURCE_DIR "/tests/unit/tokenizer/peers/gpt2.json";
        const auto tokens = advise::suggest_run(text, {}, "mine");
        QCOMPARE(tokens.document.at("metrics").at(0), Json("perplexity"));
        QVERIFY(compile::read_run_config(tokens.document, {}).ok());
        for (const std::string& reason : tokens.reasons) {
            QVERIFY2(reason.find("byte") == std::string::npos, reason.c_str());
        }
    }
};

WEFT_TEST(SuggestRunTest)
#include "suggest_run_test.moc"
