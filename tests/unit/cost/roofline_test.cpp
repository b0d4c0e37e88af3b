// SPDX-License-Identifier: Apache-2.0
// Roofline arithmetic and what corrections make of it, against closed forms.
#include "core/cost/cost_model.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft;
using cost::Work;

namespace {

// Round numbers: bf16 1000, f32 100 FLOP/s, 10 bytes/s, half a second per call.
constexpr cost::Limits kLimits{1000, 100, 10, 0.5};

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
}

Work product(double flops, double bytes, ir::DType dtype = ir::DType::f32) {
    return {"matmul", "fast matmul", dtype, flops, flops, bytes};
}

cost::Calibration calibrated(std::map<std::string, cost::Correction> classes) {
    return {{"cpu", 2, "lib"}, cost::Ceilings{kLimits, "f32 units", 1e9, 0}, std::move(classes)};
}

} // namespace

class RooflineTest : public QObject {
    Q_OBJECT

private slots:
    void a_kernel_takes_the_longer_of_arithmetic_and_traffic() {
        QVERIFY(near(cost::roofline_s(product(1000, 20), kLimits), 0.5 + 10));  // 10 s > 2 s
        QVERIFY(near(cost::roofline_s(product(1000, 200), kLimits), 0.5 + 20)); // 10 s < 20 s
        QVERIFY(near(cost::roofline_s(product(0, 0), kLimits), 0.5));
    }

    void products_run_at_the_rate_of_their_element_type() {
        QVERIFY(near(cost::roofline_s(product(1000, 0, ir::DType::bf16), kLimits), 0.5 + 1));
        // Attention in bf16: 1000 FLOPs of products at 1000, 200 of softmax at the f32 rate.
        Work attention = product(1000, 0, ir::DType::bf16);
        attention.flops = 1200;
        QVERIFY(near(cost::roofline_s(attention, kLimits), 0.5 + 1 + 2));
    }

    void work_is_bound_by_what_takes_longest() {
        QCOMPARE(cost::bound_of(product(1000, 20), kLimits), cost::Bound::products);
        QCOMPARE(cost::bound_of(product(1000, 200), kLimits), cost::Bound::memory);
        const Work gelu{"gelu", "cpu fused", ir::DType::f32, 4000, 0, 80};
        QCOMPARE(cost::bound_of(gelu, kLimits), cost::Bound::arithmetic);
    }

    void classes_go_from_kernel_type_and_size_to_what_bounds_the_work() {
        const std::vector<std::string> names =
            cost::class_names(product(1e12, 5 << 20, ir::DType::bf16), kLimits);
        const std::vector<std::string> expected = {"fast matmul/bf16/4.0 MiB", "fast matmul/bf16",
                                                   "products/bf16"};
        QCOMPARE(names, expected);
        QCOMPARE(cost::class_of(product(1, 4 << 20), kLimits),
                 cost::class_of(product(1, (16 << 20) - 1), kLimits));
        QVERIFY(cost::class_of(product(1, 4 << 20), kLimits) !=
                cost::class_of(product(1, 16 << 20), kLimits));
    }

    void without_ceilings_nothing_is_predicted_and_the_basis_says_what_to_do() {
        const cost::CostModel model(cost::Calibration{});
        QVERIFY(!model.available());
        QCOMPARE(model.op_ms(product(1, 1)), 0.0);
        QCOMPARE(model.predict({product(1, 1)}).ms, 0.0);
        QCOMPARE(model.peak_flops(ir::DType::f32), 0.0);
        QVERIFY(model.basis().find("weft bench machine") != std::string::npos);
        QCOMPARE(cost::CostModel(cost::Calibration{}, "the file is damaged").basis(),
                 std::string("the file is damaged"));
    }

    void uncalibrated_work_takes_its_roofline_with_an_error_of_its_own_size() {
        const cost::CostModel model(calibrated({}));
        QVERIFY(near(model.op_ms(product(1000, 20)), 10.5e3));
        Work twice = product(1000, 20);
        twice.times = 2;
        const cost::Prediction prediction = model.predict({twice, product(0, 95)});
        QVERIFY(near(prediction.ms, 31e3));
        QVERIFY(near(prediction.error, 1.0));
        QCOMPARE(model.peak_flops(ir::DType::bf16), 1000.0);
    }

    void the_narrowest_class_that_was_measured_corrects() {
        const Work work = product(1000, 20);
        const std::vector<std::string> names = cost::class_names(work, kLimits);
        std::map<std::string, cost::Correction> classes = {{names[2], {4, 0.3, 9}}};
        QVERIFY(near(cost::CostModel(calibrated(classes)).op_ms(work), 42e3));
        classes[names[1]] = {3, 0.2, 5};
        QVERIFY(near(cost::CostModel(calibrated(classes)).op_ms(work), 31.5e3));
        classes[names[0]] = {2, 0.1, 1};
        QVERIFY(near(cost::CostModel(calibrated(classes)).op_ms(work), 21e3));
    }

    // Shares 0.8 and 0.2 with spreads 0.1 and 0.3: sqrt(0.08^2 + 0.06^2) = 0.1. Within a class
    // deviations add up: 10 pieces of one class deviate like one piece.
    void errors_of_classes_add_up_as_independent_ones_weighted_by_share() {
        const Work large = product(0, 75);                              // 8 s
        const Work small{"add", "cpu fused", ir::DType::f32, 0, 0, 15}; // 2 s
        const cost::CostModel model(calibrated({{cost::class_of(large, kLimits), {1, 0.1, 1}},
                                                {cost::class_of(small, kLimits), {1, 0.3, 1}}}));
        const cost::Prediction prediction = model.predict({large, small});
        QVERIFY(near(prediction.ms, 10e3));
        QVERIFY(near(prediction.error, 0.1));
        QVERIFY(near(model.predict(std::vector<Work>(10, large)).error, 0.1));
    }

    void a_finished_run_corrects_its_own_program_only() {
        cost::Calibration calibration = calibrated({});
        const std::string key = cost::program_key("program a");
        QVERIFY(key != cost::program_key("program b"));
        cost::note_run(calibration, key, 1200, 1000, 0.05, 100);
        const cost::CostModel model(calibration);
        QVERIFY(near(model.predict({product(0, 95)}, key).ms, 12e3));
        QVERIFY(near(model.predict({product(0, 95)}, key).error, 0.05));
        QVERIFY(near(model.predict({product(0, 95)}, cost::program_key("program b")).ms, 10e3));
        QVERIFY(near(model.predict({product(0, 95)}).ms, 10e3));
        QVERIFY(model.basis().find("1 finished run") != std::string::npos);
    }

    void catalogue_hardware_is_priced_by_a_share_of_its_limits() {
        const cost::Hardware& hardware = *cost::find_hardware("h200");
        const cost::CostModel model(hardware);
        QVERIFY(model.available());
        QCOMPARE(model.peak_flops(ir::DType::bf16), hardware.bf16_flops); // whole, for utilisation
        // The data sheets give GPUs one dense rate for FP16 and BF16; TPUs have no FP16.
        QCOMPARE(model.peak_flops(ir::DType::f16), hardware.bf16_flops);
        const cost::Hardware& tpu = *cost::find_hardware("tpu-v5p");
        QCOMPARE(cost::CostModel(tpu).peak_flops(ir::DType::f16), tpu.f32_flops);
        // Operands that are rounded first have rates of their own, or the stored type's.
        QCOMPARE(model.peak_flops(ir::DType::f32, ir::Operands::tf32), hardware.tf32_flops);
        QCOMPARE(model.peak_flops(ir::DType::bf16, ir::Operands::fp8), hardware.fp8_flops);
        QCOMPARE(cost::CostModel(tpu).peak_flops(ir::DType::bf16, ir::Operands::fp8),
                 tpu.bf16_flops);
        cost::Work rounded = product(1e30, 0, ir::DType::f32);
        const double whole_ms = model.op_ms(rounded);
        rounded.operands = ir::Operands::tf32;
        QVERIFY(near(whole_ms / model.op_ms(rounded), hardware.tf32_flops / hardware.f32_flops));
        // Ten seconds of products at the published rate take longer, but less than three times.
        const double ms = model.op_ms(product(10 * hardware.bf16_flops, 0, ir::DType::bf16));
        QVERIFY(ms > 10e3 && ms < 30e3);
        QVERIFY(model.predict({product(1e15, 1e9)}).error >= 0.3);
        QVERIFY(model.basis().find("NVIDIA H200 SXM") != std::string::npos);
    }

    // llm.c trains GPT-2 124M on one A100 at 218 K tokens/s or 60 % utilisation (PERF.md 2.1): 64 x
    // 1,024 tokens of 6 N + 12 L H Q T FLOPs each, in bf16, whose products alone are reckoned here.
    void products_of_gpt2_on_an_a100_come_out_near_the_published_rate() {
        const double tokens = 64 * 1024;
        const double flops = tokens * (6 * 124.4e6 + 12.0 * 12 * 768 * 1024);
        const cost::CostModel model(*cost::find_hardware("a100"));
        const double tokens_per_s =
            tokens / (model.op_ms(product(flops, 0, ir::DType::bf16)) / 1e3);
        QVERIFY2(tokens_per_s > 218e3 * 0.75 && tokens_per_s < 218e3 * 1.4,
                 std::to_string(tokens_per_s).c_str());
    }
};

WEFT_TEST(RooflineTest)
#include "roofline_test.moc"
