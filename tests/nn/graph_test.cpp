// SPDX-License-Identifier: Apache-2.0
// The model `graph`: any model written as text trains to the same bits; mistakes are named with their
// line.
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/compile/programs/model_sketch.h"
#include "core/ir/model_text.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cstring>
#include <fstream>

using namespace weft;
using namespace weft::test;
using config::Json;

namespace {

constexpr const char* kSmall = R"(program "small" {
  in %0 batch "inputs" : f32[B,2,3]
  in %1 state "layers.0.weight" {init="uniform", scale=0.5} : f32[6,4]
  in %2 state "layers.0.bias" : f32[4]
  # from here on types and paths follow
  %3 = reshape(%0) {shape=[B,6]}
  %4 = linear(%3, %1, %2)
  out %4 output "prediction"
}
)";

data::SampleInfo small_sample() {
    return sample_of({ir::DType::f32, {2, 3}}, {ir::DType::i32, {}}, 4);
}

compile::RunConfig config_of(const Json& model, const std::string& more = "") {
    return checked_config(R"({"model": )" + model.dump() + R"(, "training": {"global_batch_size": 4,
        "micro_batch_size": 2, "precision": "f32"})" + more + "}");
}

Json graph(const std::string& text) {
    return {{"type", "graph"}, {"text", text}};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? throw std::runtime_error(what) : text.replace(at, what.size(), with);
}

/// Every array of the state after three updates.
Arrays trained(const compile::RunConfig& config, const data::SampleInfo& sample) {
    Run run(config, sample);
    for (std::int64_t step = 0; step < 3; ++step) {
        Arrays batch;
        ir::Shape shape{2, 2};
        for (const std::int64_t extent : sample.input.shape) {
            shape.push_back(extent);
        }
        batch["inputs"] = f32(shape, wave(shape.elements(), static_cast<double>(step)));
        batch["targets"] = i32({2, 2}, {0, 1, 2, 1});
        batch["weights"] = f32({2, 2}, {1, 1, 1, 1});
        batch["learning_rate"] = f32({}, {0.01F});
        batch["step"] = i64({}, {step});
        batch["random"] = i64({3}, {7, step, step * 4});
        batch["inverse_count"] = f32({}, {0.25F});
        run.run("train_step", std::move(batch));
    }
    return run.state;
}

std::string problem_of(const std::string& text, const data::SampleInfo& sample = small_sample()) {
    try {
        compile::build_programs(config_of(graph(text)), sample);
    } catch (const Error& error) {
        return error.where() + ": " + error.text();
    } catch (const std::exception& error) { // the configuration is refused
        return error.what();
    }
    return "";
}

} // namespace

class GraphTest : public QObject {
    Q_OBJECT

private slots:
    void any_model_written_as_text_trains_to_the_same_bits_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("mlp") << R"({"type": "mlp", "hidden": [5], "dropout": 0.5})";
        QTest::newRow("layers that hold layers") << R"({"type": "sequential", "layers": [
            {"type": "conv2d", "channels": 4, "kernel": 3}, {"type": "relu"},
            {"type": "residual", "layers": [{"type": "conv2d", "channels": 4, "kernel": 3}]},
            {"type": "branches", "branches": [[{"type": "tanh"}], []]},
            {"type": "repeat", "count": 2, "layers": [{"type": "dropout", "rate": 0.3}]},
            {"type": "flatten"}, {"type": "layer_norm"}, {"type": "linear"}]})";
        QTest::newRow("vit") << R"({"type": "vit", "layers": 1, "width": 8, "heads": 2,
                                    "patch": 4, "dropout": 0.2})";
    }
    void any_model_written_as_text_trains_to_the_same_bits() {
        QFETCH(QString, model);
        const auto sample = sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 3);
        const auto config = config_of(config::json_of(model.toStdString()));
        const std::string text = compile::text_of_model(config, sample);
        const Arrays expected = trained(config, sample);
        const Arrays got = trained(config_of(graph(text)), sample);
        QCOMPARE(got.size(), expected.size());
        for (const auto& [name, array] : expected) {
            const auto a = array.span<float>();
            const auto b = got.at(name).span<float>();
            QCOMPARE(b.size(), a.size());
            QVERIFY2(std::memcmp(a.data(), b.data(), a.size_bytes()) == 0, name.c_str());
        }
    }

    // Nothing is dropped when a model is evaluated, by layers or within attention.
    void text_evaluates_as_the_model_that_it_is_of() {
        const auto sample = sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 3);
        const auto config = config_of(config::json_of(R"({"type": "vit", "layers": 1, "width": 8,
            "heads": 2, "patch": 4, "dropout": 0.4})"));
        const std::string text = compile::text_of_model(config, sample);
        std::vector<std::vector<float>> predictions;
        for (const auto& one : {config, config_of(graph(text))}) {
            Run run(one, sample);
            Arrays batch;
            batch["inputs"] = f32({2, 8, 8, 1}, wave(128, 0.5));
            const Arrays out = run.run("predict", std::move(batch));
            const auto values = out.at("prediction").span<float>();
            predictions.emplace_back(values.begin(), values.end());
        }
        QCOMPARE(predictions[1], predictions[0]);
    }

    void what_may_be_left_out_is_filled_in() {
        const auto set = compile::build_programs(config_of(graph(kSmall)), small_sample());
        std::int64_t parameters = 0;
        for (const plan::StateSlot& slot : set.state_slots) {
            parameters += slot.category == plan::Category::parameters ? slot.type.shape.elements()
                                                                      : 0;
        }
        QCOMPARE(parameters, std::int64_t{6 * 4 + 4});
        compile::ModelSketch sketch;
        compile::sketch_model(config_of(graph(kSmall)), small_sample(), sketch);
        QCOMPARE(sketch.program.body.ops.back().path, std::string("layers.0"));
    }

    void mistakes_are_named_with_their_line_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("with");
        QTest::addColumn<QString>("place");
        QTest::addColumn<QString>("words");
        QTest::newRow("no op") << "linear(" << "linaer(" << "line 7, column 8"
                               << "there is no op 'linaer'";
        QTest::newRow("not defined") << "linear(%3" << "linear(%9" << "line 7, column 15"
                                     << "%9 is not defined";
        QTest::newRow("twice") << "%4 = linear" << "%3 = linear" << "line 7, column 3"
                               << "%3 is defined twice";
        QTest::newRow("shape") << "[B,6]" << "[B,5]" << "line 6, column 8" << "reshape";
        QTest::newRow("stated type") << "%1, %2)" << "%1, %2) : f32[B,7]" << "line 7, column 8"
                                     << "linear gives f32[B,4], but the line says f32[B,7]";
        QTest::newRow("data") << "f32[B,2,3]" << "f32[B,3,3]" << "line 2, column 6"
                              << "the data gives f32[B,2,3], but the line says f32[B,3,3]";
        QTest::newRow("outputs") << "f32[6,4]" << "f32[6,3]" << "line 7, column 8" << "linear";
        QTest::newRow("unused") << "linear(%3, %1, %2)" << "linear(%3, %1)" << "line 4, column 6"
                                << "nothing reads the weight \"layers.0.bias\"";
        QTest::newRow("two of a name") << "layers.0.bias" << "layers.0.weight"
                                       << "line 4, column 6" << "there are two weights";
        QTest::newRow("init") << "uniform" << "unifrom" << "line 3, column 6" << "init is none";
        QTest::newRow("result") << "\"prediction\"" << "\"logits\"" << "line 8, column 7"
                                << "a model gives one result";
        QTest::newRow("collective") << "linear(%3, %1, %2)" << "all_reduce(%3)"
                                    << "line 7, column 8" << "cannot use 'all_reduce'";
        QTest::newRow("huge") << "[B,6]" << "[B*9000000000000000000,6]" << "line 6" << "reshape";
    }
    void mistakes_are_named_with_their_line() {
        QFETCH(QString, what);
        QFETCH(QString, with);
        QFETCH(QString, place);
        QFETCH(QString, words);
        const QString problem = QString::fromStdString(
            problem_of(replaced(kSmall, what.toStdString(), with.toStdString())));
        QVERIFY2(problem.contains(place) && problem.contains(words), qPrintable(problem));
    }

    void nothing_that_is_typed_crashes_it() {
        const std::string text = kSmall;
        for (std::size_t cut = 0; cut < text.size(); cut += 3) {
            problem_of(text.substr(0, cut));
            problem_of(text.substr(0, cut) + text.substr(cut + 1));
            problem_of(text.substr(0, cut) + "%" + text.substr(cut));
        }
        QCOMPARE(problem_of(text), std::string());
    }

    void what_text_cannot_express_is_said() {
        const auto sample = sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 3);
        try {
            compile::text_of_model(config_of({{"type", "resnet"}}), sample);
            QFAIL("a resnet has running statistics");
        } catch (const Error& error) {
            QVERIFY(error.text().find("running statistics") != std::string::npos);
        }
    }

    void a_file_is_read_with_the_configuration_and_kept_with_it() {
        QTemporaryDir dir;
        const std::filesystem::path base = dir.path().toStdString();
        std::ofstream(base / "model.weft") << kSmall;
        const Json document = {{"data", {{"train", {{"type", "idx"}, {"path", "unused"}}}}},
                               {"model", {{"type", "graph"}, {"path", "model.weft"}}}};
        const auto checked = compile::read_run_config(document, base);
        QVERIFY(checked.ok());
        QCOMPARE(checked.config.section("model").at("text"), Json(kSmall));
        std::ofstream(base / "model.weft") << "changed";
        const auto again = compile::read_run_config(checked.config.document, base);
        QVERIFY(again.ok());
        QCOMPARE(again.config.section("model").at("text"), Json(kSmall));
        std::filesystem::remove(base / "model.weft");
        const auto missing = compile::read_run_config(document, base);
        QVERIFY(!missing.ok());
        QCOMPARE(missing.diagnostics.front().pointer, std::string("/model/path"));
    }

    void places_are_read_back() {
        const ir::TextPlace place{12, 7};
        QCOMPARE(ir::read_place(ir::to_text(place) + " of the model's text"), place);
        for (const char* none : {"", "line", "line x", "line 3", "layers.0", "line 0, column 1"}) {
            QVERIFY2(!ir::read_place(none), none);
        }
    }
};

WEFT_TEST(GraphTest)
#include "graph_test.moc"
