// SPDX-License-Identifier: Apache-2.0
// The presets for several devices: they plan, and the figures that their notes give are right
// (FACTS E, F and I).
#include "core/train/planning.h"
#include "tests/support/weft_test.h"

using namespace weft;

namespace {

constexpr double kGB = 1e9;

compile::RunConfig preset(const std::string& name, const std::string& devices) {
    compile::CheckedRun checked = compile::read_run_config_file(
        std::string(WEFT_SOURCE_DIR) + "/resources/presets/" + name + ".json",
        {"mesh.devices=\"" + devices + "\""});
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    return std::move(checked.config);
}

plan::ExecutionPlan planned_for(const compile::RunConfig& config, const char* hardware) {
    const cost::Hardware& device = *cost::find_hardware(hardware);
    const cost::CostModel cost(device);
    const train::PlanTarget target = train::planned_hardware(device, &cost);
    return train::plan_run(config, train::outline_run_data(config, target), target, {},
                           compile::Scope::step);
}

double gigabytes(const plan::ExecutionPlan& plan, plan::Category category) {
    double bytes = 0;
    for (const plan::StateSlot& slot : plan.state_slots) {
        bytes += slot.category == category ? static_cast<double>(slot.type.bytes()) : 0;
    }
    return bytes / kGB;
}

} // namespace

class MeshPresets : public QObject {
    Q_OBJECT

private slots:
    void resnet_50_on_eight() {
        const plan::ExecutionPlan plan = planned_for(preset("resnet50-8", "h100:8"), "h100");
        QCOMPARE(plan.parameters, 25'557'032);
        QVERIFY(plan.fits());
        // 102 MB, whole on every device.
        QVERIFY(std::abs(gigabytes(plan, plan::Category::parameters) - 0.1022) < 0.0001);
        const plan::PlannedProgram& step = *plan.find("train_step");
        for (const plan::PlannedPort& port : step.arguments) {
            if (port.name == "inputs") { // 32 of 256 pictures
                QVERIFY(port.operand.type.shape == ir::Shape({1, 32, 224, 224, 3}));
            }
        }
    }

    void gpt2_with_one_and_a_half_billion_on_four() {
        const plan::ExecutionPlan plan = planned_for(preset("gpt2-1558m-4", "h100:4"), "h100");
        QCOMPARE(plan.parameters, 1'557'611'200);
        QVERIFY(plan.fits());
        const double count = 1.5576112;
        // FACTS I: 3.1 GB in 16 bits (2 bytes each), 6.2 GB in f32.
        QVERIFY(std::abs(2 * count - 3.1) < 0.05 && std::abs(4 * count - 6.2) < 0.05);
        QVERIFY(std::abs(gigabytes(plan, plan::Category::parameters) - 4 * count) < 0.01);
        // ZeRO 2: moments of 8 bytes over four; padding is a few rows.
        QVERIFY(std::abs(gigabytes(plan, plan::Category::optimizer) - 8 * count / 4) < 0.01);
    }

    void llama_3_with_eight_billion_on_eight() {
        const plan::ExecutionPlan plan = planned_for(preset("llama3-8b-8", "h200:8"), "h200");
        QCOMPARE(plan.parameters, 8'030'261'248);
        QVERIFY(plan.fits());
        const double count = 8.030261248;
        QVERIFY(std::abs(gigabytes(plan, plan::Category::parameters) - 4 * count / 8) < 0.01);
        QVERIFY(std::abs(gigabytes(plan, plan::Category::optimizer) - 8 * count / 8) < 0.01);
    }

    void mixtral_on_8_x_8() {
        const plan::ExecutionPlan plan = planned_for(preset("mixtral-8x7b-64", "h200:64"), "h200");
        QCOMPARE(plan.parameters, 46'702'792'704);
        QVERIFY(plan.fits());
        // 32 layers of 8 experts of three weights 4096 x 14336.
        const double experts = 32.0 * 8 * 3 * 4096 * 14336 / kGB;
        const double rest = 46.702792704 - experts;
        QVERIFY(std::abs(gigabytes(plan, plan::Category::parameters) - 4 * (experts / 8 + rest)) <
                0.01);
        QVERIFY(std::abs(gigabytes(plan, plan::Category::optimizer) - 8 * (experts + rest) / 64) <
                0.01);
        // To the experts and back, forward and backward, and again where blocks are recomputed: of
        // 8 x A rows of 4096 bf16 numbers for one sample, A = 1.25 x 4096 x 2 / 8, seven eighths.
        for (const plan::Collective& one : plan::collectives(*plan.find("train_step"))) {
            if (one.kind == "all_to_all") {
                QCOMPARE(static_cast<double>(one.sent_bytes) / one.count,
                         8.0 * 1280 * 4096 * 2 * 7 / 8);
                QCOMPARE(one.axes, std::vector<std::string>{"expert"});
            }
        }
    }

    void gpt_3_on_64_x_16_x_8() {
        const plan::ExecutionPlan plan = planned_for(preset("gpt3-175b-8192", "h200:8192"), "h200");
        const std::int64_t width = 12288;
        const std::int64_t layer = 12 * width * width + 13 * width; // weights; biases, norms
        QCOMPARE(plan.parameters, 96 * layer + (50257 + 2048) * width + 2 * width);
        QVERIFY(plan.fits());
        QVERIFY(plan.pipeline.has_value());
        QCOMPARE(plan.pipeline->microbatches, 1536 / 64);
        // FACTS E: (p - 1) / (m + p - 1), to three digits.
        QVERIFY(std::abs(plan.pipeline->even_bubble_fraction - 15.0 / 39.0) < 0.0005);
        QCOMPARE(plan.stages.size(), std::size_t(16));
        // Six layers of a stage over eight devices; biases and norms are not all split. ZeRO 1: of
        // two moments each of 64 data ranks keeps a part.
        double parameters = 0;
        double moments = 0;
        for (const plan::StateSlot& slot : plan.state_slots) {
            const bool inner = slot.stage == 7;
            const auto bytes = static_cast<double>(slot.type.bytes());
            parameters += inner && slot.category == plan::Category::parameters ? bytes : 0;
            moments += inner && slot.category == plan::Category::optimizer ? bytes : 0;
        }
        const double whole = 4.0 * 6 * static_cast<double>(layer);
        QVERIFY(std::abs(parameters / (whole / 8) - 1) < 0.001);
        QVERIFY(std::abs(moments / (2 * whole / 8 / 64) - 1) < 0.001);
    }
};

WEFT_TEST(MeshPresets)
#include "mesh_presets_test.moc"
