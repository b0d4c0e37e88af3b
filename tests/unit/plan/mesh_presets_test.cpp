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

plan::ExecutionPlan planned(const compile::RunConfig& config, const char* hardware) {
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
        const plan::ExecutionPlan plan = planned(preset("resnet50-8", "h100:8"), "h100");
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
        const plan::ExecutionPlan plan = planned(preset("gpt2-1558m-4", "h100:4"), "h100");
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
        const plan::ExecutionPlan plan = planned(preset("llama3-8b-8", "h200:8"), "h200");
        QCOMPARE(plan.parameters, 8'030'261'248);
        QVERIFY(plan.fits());
        const double count = 8.030261248;
        QVERIFY(std::abs(gigabytes(plan, plan::Category::parameters) - 4 * count / 8) < 0.01);
        QVERIFY(std::abs(gigabytes(plan, plan::Category::optimizer) - 8 * count / 8) < 0.01);
    }

    // 96 layers of 12,288 on a mesh of 64 x 8.
    void gpt_3_can_be_written_down() {
        const compile::CheckedRun checked = compile::read_run_config(std::string_view(R"({
                "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 50257,
                                   "samples": 4096}},
                "model": {"type": "gpt2", "layers": 96, "width": 12288, "heads": 96,
                          "context": 2048, "vocab": 50257},
                "training": {"length": {"steps": 10}, "global_batch_size": 1536,
                             "micro_batch_size": 1, "precision": "bf16"},
                "mesh": {"devices": "h100:512", "strategy": "2d",
                         "axes": [["data", 64], ["model", 8]]}})"),
                                                                     "/");
        QVERIFY2(checked.ok(), checked.ok() ? "" : config::to_text(checked.diagnostics[0]).c_str());
    }
};

WEFT_TEST(MeshPresets)
#include "mesh_presets_test.moc"
