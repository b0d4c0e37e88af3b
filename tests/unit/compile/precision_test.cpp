// SPDX-License-Identifier: Apache-2.0
// What bf16 compute leaves in f32: sums of gradients, in every model.
#include "core/compile/pipeline.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <functional>

using namespace weft;
using namespace weft::test;

namespace {

/// The program after the pass that lowers it.
ir::Program lowered_step(const std::string& model, const data::SampleInfo& sample) {
    const compile::RunConfig config = checked_config(
        R"({"data": {"train": {"type": ")" +
        std::string(sample.input.dtype == ir::DType::i32 ? "text" : "idx") +
        R"(", "path": "unused"}}, "model": )" + model +
        R"(, "training": {"global_batch_size": 8, "micro_batch_size": 4, "precision": "bf16"}})");
    ir::Program out;
    compile::PipelineOptions options;
    options.compute_dtype = ir::DType::bf16;
    options.dump = [&](const std::string& program, const std::string& pass, const ir::Program& p) {
        if (program == "train_step" && pass == "precision") {
            out = p;
        }
    };
    compile::build_plan(compile::build_programs(config, sample), options);
    return out;
}

/// Layer paths of gradients that are bf16 before they are added to an accumulator.
std::vector<std::string> rounded_gradients(const ir::Program& program) {
    std::vector<std::string> out;
    for (const ir::Op& loop : program.body.ops) {
        if (loop.kind != "repeat") {
            continue;
        }
        const ir::Block& body = loop.body.front();
        std::map<ir::ValueId, const ir::Op*> makers;
        for (const ir::Op& op : body.ops) {
            for (const ir::ValueId id : op.outputs) {
                makers[id] = &op;
            }
        }
        // Sums of f32 and views of them, down to what was rounded.
        const std::function<void(ir::ValueId)> look = [&](ir::ValueId id) {
            const auto maker = makers.find(id);
            if (maker == makers.end()) {
                return;
            }
            const ir::Op& op = *maker->second;
            if (op.kind == "cast" && program.type(op.inputs[0]).dtype == ir::DType::bf16) {
                out.push_back(op.path);
            } else if (op.kind == "add" || op.kind == "reshape" || op.kind == "transpose" ||
                       op.kind == "pad") {
                std::for_each(op.inputs.begin(), op.inputs.end(), look);
            }
        };
        const auto carried = static_cast<std::size_t>(loop.attributes.integer("carried"));
        std::for_each_n(body.results.begin(), carried, look);
    }
    return out;
}

} // namespace

class PrecisionTest : public QObject {
    Q_OBJECT

private slots:
    void no_gradient_is_rounded_before_it_is_accumulated_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<bool>("pictures");
        QTest::newRow("gpt2") << R"({"type": "gpt2", "layers": 1, "width": 16, "heads": 2,
                                     "context": 8})"
                              << false;
        QTest::newRow("tied llama") << R"({"type": "llama", "layers": 1, "width": 16, "heads": 2,
                                           "kv_heads": 1, "context": 8, "tied": true})"
                                    << false;
        QTest::newRow("experts") << R"({"type": "gpt2", "layers": 1, "width": 16, "heads": 2,
                                        "context": 8, "experts": 2})"
                                 << false;
        QTest::newRow("vit") << R"({"type": "vit", "layers": 1, "width": 16, "heads": 2,
                                    "patch": 4})"
                             << true;
        QTest::newRow("resnet") << R"({"type": "resnet", "depth": 50})" << true;
        QTest::newRow("sequential") << R"({"type": "sequential", "layers": [
            {"type": "conv2d", "channels": 4}, {"type": "relu"}, {"type": "flatten"},
            {"type": "linear", "units": 8}, {"type": "relu"}, {"type": "linear"}]})"
                                    << true;
    }

    void no_gradient_is_rounded_before_it_is_accumulated() {
        QFETCH(QString, model);
        QFETCH(bool, pictures);
        const data::SampleInfo sample =
            pictures ? sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 5)
                     : text_sample(8, 11);
        const ir::Program program = lowered_step(model.toStdString(), sample);
        const auto loops = std::count_if(program.body.ops.begin(), program.body.ops.end(),
                                         [](const ir::Op& op) { return op.kind == "repeat"; });
        QVERIFY(loops > 0);
        QStringList rounded;
        for (const std::string& path : rounded_gradients(program)) {
            rounded << QString::fromStdString(path);
        }
        QCOMPARE(rounded, QStringList());
    }
};

WEFT_TEST(PrecisionTest)
#include "precision_test.moc"
