// SPDX-License-Identifier: Apache-2.0
// What packaging/gpu-check runs on a GPU, on an emulated one: a case of every op in the device's
// memory.
#include "tests/kernels/cases/cases.h"
#include "tests/kernels/cases/device_call.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft::test;

class DeviceCallTest : public QObject {
    Q_OBJECT

private slots:
    void a_case_of_every_op_matches_the_reference() {
        set_machine({});
        DeviceForCalls device(*weft_emulated_platform(), 0);
        std::set<std::string> seen;
        for (const Case& one : kernel_cases()) {
            if (seen.insert(one.call.kind).second) {
                const std::string wrong =
                    difference(device.run(*weft_emulated_backend(), one.call),
                               run(weft_reference_backend(), one.call), one.tolerance);
                QVERIFY2(wrong.empty(), (one.name + ": " + wrong).c_str());
            }
        }
        QVERIFY(seen.size() > 50);
    }

    void a_write_outside_an_operand_is_told() {
        set_machine({});
        DeviceForCalls device(*weft_emulated_platform(), 0);
        static weft_backend careless = *weft_emulated_backend();
        careless.run = [](weft_kernel*, const weft_run_args* args) {
            auto* const after = static_cast<unsigned char*>(args->outputs[0]) + 400;
            queue_work(args->stream, [=] { *after = 1; });
            return WEFT_OK;
        };
        const Call call{"copy", {noise(WEFT_F32, {100}, 1)}, {type_of(WEFT_F32, {100})}, {}, {},
                        {}};
        const Result result = device.run(careless, call);
        QCOMPARE(result.status, WEFT_OK);
        QVERIFY(!result.guards_intact && device.usable());
    }

    void a_device_that_fails_says_why() {
        set_machine({.works_before_fault = 1});
        DeviceForCalls device(*weft_emulated_platform(), 0);
        const Call call{"copy", {noise(WEFT_F32, {100}, 1)}, {type_of(WEFT_F32, {100})}, {}, {},
                        {}};
        const Result result = device.run(*weft_emulated_backend(), call);
        QCOMPARE(result.status, WEFT_LIBRARY_ERROR);
        QVERIFY2(result.error.find("fallen off the bus") != std::string::npos,
                 result.error.c_str());
        QVERIFY(!device.usable());
        set_machine({});
    }
};

WEFT_TEST(DeviceCallTest)
#include "device_call_test.moc"
