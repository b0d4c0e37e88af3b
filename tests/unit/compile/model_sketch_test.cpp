// SPDX-License-Identifier: Apache-2.0
// The model as it is written: all of it, and as far as it fits.
#include "core/base/error.h"
#include "core/compile/programs/model_sketch.h"
#include "tests/support/weft_test.h"

using namespace weft;

namespace {

compile::RunConfig config_of(const std::string& layers) {
    const compile::CheckedRun checked = compile::read_run_config(
        std::string_view(R"({"data": {"train": {"type": "synthetic", "kind": "classification",
                                 "features": 8, "classes": 3, "samples": 64}},
                             "model": {"type": "sequential", "layers": )" +
                         layers + "}}"),
        "/tmp");
    for (const auto& one : checked.diagnostics) {
        qWarning("%s", config::to_text(one).c_str());
    }
    return checked.config;
}

data::SampleInfo features() {
    data::SampleInfo sample;
    sample.input = {ir::DType::f32, {8}};
    sample.target = {ir::DType::i32, {}};
    sample.classes = 3;
    return sample;
}

} // namespace

class ModelSketchTest : public QObject {
    Q_OBJECT

private slots:
    void a_model_that_fits_has_its_parameters_flops_and_prediction() {
        compile::ModelSketch sketch;
        compile::sketch_model(
            config_of(R"([{"type": "linear", "units": 5}, {"type": "relu"}, {"type": "linear"}])"),
            features(), sketch);
        QCOMPARE(sketch.program.results.size(), std::size_t{1});
        QVERIFY(sketch.program.type(sketch.program.results[0].value).shape == (ir::Shape{1, 3}));
        QCOMPARE(sketch.parameters.size(), std::size_t{4});
        QCOMPARE(sketch.parameters[0].name, std::string("layers.0.weight"));
        QVERIFY(sketch.parameters[0].shape == (ir::Shape{8, 5}));
        QCOMPARE(sketch.flops.size(), sketch.program.body.ops.size());
        double flops = 0;
        for (const double one : sketch.flops) {
            flops += one;
        }
        // Two products, of which a multiply-add is two; the rest is less than one for each number.
        QVERIFY(flops >= 2 * (8 * 5 + 5 * 3) && flops <= 2 * (8 * 5 + 5 * 3) + 3 * (5 + 3));
    }

    void a_model_that_does_not_fit_is_there_up_to_that_layer() {
        compile::ModelSketch sketch;
        bool thrown = false;
        try {
            compile::sketch_model(
                config_of(R"([{"type": "linear", "units": 5}, {"type": "conv2d", "channels": 4},
                              {"type": "linear"}])"),
                features(), sketch);
        } catch (const Error& error) {
            thrown = true;
            QCOMPARE(error.where(), std::string("layers.1"));
        }
        QVERIFY(thrown);
        QVERIFY(sketch.program.results.empty());
        QCOMPARE(sketch.parameters.size(), std::size_t{2});
        QVERIFY(!sketch.program.body.ops.empty());
        for (const ir::Op& op : sketch.program.body.ops) {
            QCOMPARE(op.path, std::string("layers.0"));
        }
    }
};

WEFT_TEST(ModelSketchTest)
#include "model_sketch_test.moc"
