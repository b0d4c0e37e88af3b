// SPDX-License-Identifier: Apache-2.0
// cuDNN plans convolutions and attention of the case table, for GPUs that are described to it. None
// takes part, so nothing is run.
#include "kernels/cuda/wrappers/dnn_plan.h"
#include "tests/kernels/cases/cases.h"
#include "tests/support/weft_test.h"

using namespace weft::kernels;
using namespace weft::kernels::cuda;
using weft::test::Case;

extern "C" int cuInit(unsigned flags);

namespace {

/// As cuDNN describes them; numbers of NVIDIA's data sheets and of the CUDA programming guide's
/// table of compute capabilities.
struct Gpu {
    const char* name;
    int capability; // times 10
    int processors;
    int shared_bytes; // that a block may ask for
    const char* memory_bytes;
};
constexpr Gpu kGpus[] = {
    {"A100", 800, 108, 166912, "85899345920"},
    {"H100", 900, 132, 232448, "85899345920"},
    {"B200", 1000, 148, 232448, "192000000000"},
};

DnnDevice described(const Gpu& gpu) {
    const QString text =
        QString(R"({"deviceVer":%1,"multiProcessorCount":%2,"maxSharedMemoryPerBlockOptin":%3,)"
                R"("totalGlobalMem":%4,"deviceName":"%5","driverVer":13000,"cudaDeviceId":0,)"
                R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
                R"("regsPerBlock":65536,"smClockRateKHz":1500000,"memClockRateKHz":2000000,)"
                R"("l2CacheSize":41943040,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
                R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)"
                R"("pciDeviceId":0,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
                R"("maxThreadsPerSM":2048,"isTccDriver":0,"supportCoopLaunch":1})")
            .arg(gpu.capability)
            .arg(gpu.processors)
            .arg(gpu.shared_bytes)
            .arg(gpu.memory_bytes, gpu.name);
    return DnnDevice(text.toStdString());
}

bool is_convolution(const Case& c) {
    return c.call.kind.rfind("conv2d", 0) == 0;
}

/// Bytes of workspace; -1 and why where there is no plan.
template <class Plan>
std::pair<std::int64_t, QString> planned(Plan plan) {
    try {
        return {plan().workspace_bytes, {}};
    } catch (const Failure& failure) {
        if (failure.status != WEFT_UNSUPPORTED) {
            throw;
        }
        return {-1, QString::fromStdString(failure.text)};
    }
}

void gpu_rows() {
    QTest::addColumn<int>("gpu");
    for (std::size_t i = 0; i < std::size(kGpus); ++i) {
        QTest::newRow(kGpus[i].name) << static_cast<int>(i);
    }
}

} // namespace

class CudaDnnPlans : public QObject {
    Q_OBJECT

private slots:
    // Kernels that cuDNN has compiled go to vendor/driver.
    void no_gpu_takes_part() { QVERIFY(cuInit(0) != 0); }

    void every_convolution_of_the_case_table_has_a_plan_data() { gpu_rows(); }
    void every_convolution_of_the_case_table_has_a_plan() {
        QFETCH(int, gpu);
        const DnnDevice device = described(kGpus[gpu]);
        int plans = 0;
        for (const Case& c : weft::test::kernel_cases()) {
            if (!is_convolution(c)) {
                continue;
            }
            weft::test::Description description(c.call);
            const Op op(*description.get());
            const ConvolutionOp conv = convolution_op(op);
            const ConvolutionShape shape{conv.window, conv.pass, op.input(0).dtype,
                                         op.output(0).dtype};
            // Of other channels the library widens some gradients, and the back end all the others.
            if (shape.result != shape.dtype && (conv.window.c % 8 != 0 || conv.window.o % 8 != 0)) {
                continue;
            }
            const auto [bytes, why] = planned([&] { return plan_convolution(shape, device); });
            QVERIFY2(bytes >= 0, qPrintable(QString::fromStdString(c.name) + ": " + why));
            ++plans;
        }
        QVERIFY(plans > 50);
    }

    void attention_of_the_case_table_has_plans_data() { gpu_rows(); }
    void attention_of_the_case_table_has_plans() {
        QFETCH(int, gpu);
        const DnnDevice device = described(kGpus[gpu]);
        int plans[2] = {}; // of bf16 and f16
        for (const Case& c : weft::test::kernel_cases()) {
            weft::test::Description description(c.call);
            const Op op(*description.get());
            const std::int32_t dtype = op.kind() == "attention" ? op.input(0).dtype : WEFT_F32;
            if (dtype == WEFT_F32) {
                continue;
            }
            const AttentionShape a = attention_op(op);
            if (a.dropout || (a.causal && a.t != a.s)) {
                continue;
            }
            const PlannedAttentionShape shape{a, dtype};
            const auto [bytes, why] = planned([&] { return plan_attention(shape, device); });
            const auto [grad_bytes, grad_why] =
                planned([&] { return plan_attention_grad(shape, device); });
            QVERIFY2((bytes >= 0) == (a.d % 8 == 0), qPrintable(why));
            QVERIFY2((grad_bytes >= 0) == (a.d % 8 == 0), qPrintable(grad_why));
            plans[dtype == WEFT_F16 ? 1 : 0] += bytes >= 0 ? 1 : 0;
        }
        QVERIFY(plans[0] >= 3 && plans[1] == plans[0]);
    }

    // GPT-2 and, with fewer key heads, Llama.
    void attention_of_large_models_has_plans_data() { gpu_rows(); }
    void attention_of_large_models_has_plans() {
        QFETCH(int, gpu);
        const DnnDevice device = described(kGpus[gpu]);
        for (const auto& [heads, key_heads, width, dtype] :
             {std::tuple{12, 12, 64, WEFT_BF16}, std::tuple{32, 8, 128, WEFT_BF16},
              std::tuple{12, 12, 64, WEFT_F16}, std::tuple{32, 8, 128, WEFT_F16}}) {
            AttentionShape a{};
            a.n = 4;
            a.t = a.s = 1024;
            a.h = heads;
            a.k = key_heads;
            a.d = width;
            a.causal = true;
            const PlannedAttentionShape shape{a, dtype};
            const auto [bytes, why] = planned([&] { return plan_attention(shape, device); });
            const auto [grad_bytes, grad_why] =
                planned([&] { return plan_attention_grad(shape, device); });
            QVERIFY2(bytes >= 0, qPrintable(why));
            QVERIFY2(grad_bytes >= 0, qPrintable(grad_why));
            const std::int64_t scores = a.n * a.h * a.t * a.s * 2;
            QVERIFY(bytes < scores / 16); // none is stored
            // Stored once: so the sums of the queries' gradient have one order.
            QVERIFY(grad_bytes >= scores);
        }
    }

    // ResNet-50's first convolution, whose three channels the library pads.
    void a_plan_may_copy_its_image_padded() {
        const WindowShape window{64, 224, 224, 3, 112, 112, 64, 7, 7, 2, 2, 3, 3, 3, 3};
        const auto [bytes, why] = planned([&] {
            return plan_convolution({window, ConvolutionPass::forward, WEFT_BF16, WEFT_BF16},
                                    described(kGpus[1]));
        });
        QVERIFY2(bytes >= 64LL * 224 * 224 * 8 * 2, qPrintable(why));
    }

    void a_gpu_that_is_described_in_part_is_told() {
        try {
            DnnDevice(R"({"deviceVer":900})");
            QFAIL("described");
        } catch (const Failure& failure) {
            QVERIFY2(QString::fromStdString(failure.text).contains("maxGridSize"),
                     failure.text.c_str());
        }
    }
};

WEFT_TEST(CudaDnnPlans)
#include "dnn_test.moc"
