// SPDX-License-Identifier: Apache-2.0
// What is made of NVML's answers (driver/nvml_of_three.cpp).
#include "kernels/cuda/wrappers/nvml_health.h"
#include "kernels/op.h"
#include "tests/support/weft_test.h"

using namespace weft::kernels;

class NvmlTest : public QObject {
    Q_OBJECT

private slots:
    void a_gpu_is_asked_in_the_units_of_the_edge() {
        weft_device_health health{};
        cuda::add_nvml_facts("0000:18:00.0", health);
        QCOMPARE(QString(health.unknown), QString());
        QCOMPARE(health.memory_used_bytes, std::int64_t{50000});
        QCOMPARE(health.utilisation, 0.35);
        QCOMPARE(health.power_w, 310.5);
        QCOMPARE(health.power_limit_w, 700.0);
        QCOMPARE(health.temperature_c, 54.0);
    }

    void what_a_gpu_does_not_tell_is_not_known_and_the_rest_is() {
        weft_device_health health{};
        cuda::add_nvml_facts("0000:86:00.0", health);
        QVERIFY(health.temperature_c < 0);
        QCOMPARE(health.power_w, 310.5);
        QCOMPARE(QString(health.unknown), QString("NVML says: Not Supported"));
    }

    void a_gpu_that_nvml_does_not_know_is_named() {
        weft_device_health health{};
        cuda::add_nvml_facts("0000:ff:00.0", health);
        QVERIFY(health.memory_used_bytes < 0 && health.utilisation < 0);
        QVERIFY2(QString(health.unknown).contains("0000:ff:00.0: Not Found"), health.unknown);
        try {
            cuda::nvml_link("0000:18:00.0", "0000:ff:00.0");
            QFAIL("there is no such link");
        } catch (const Failure& failure) {
            QCOMPARE(failure.status, WEFT_LIBRARY_ERROR);
        }
    }

    void links_count_those_of_the_pair_and_what_both_have_to_switches() {
        const weft_device_link near = cuda::nvml_link("0000:18:00.0", "0000:3B:00.0");
        QCOMPARE(near.nvlinks, 2 + 4);
        QCOMPARE(QString(near.path), QString("one PCIe switch"));
        const weft_device_link far = cuda::nvml_link("0000:18:00.0", "0000:86:00.0");
        QCOMPARE(far.nvlinks, 2); // one of the three is down
        QCOMPARE(QString(far.path), QString("several processors"));
    }
};

WEFT_TEST(NvmlTest)
#include "nvml_test.moc"
