// SPDX-License-Identifier: Apache-2.0
// The self-test on emulated GPUs: right ones pass, planted mistakes are named.
#include "core/base/error.h"
#include "core/ops/op_list.h"
#include "core/ops/verify.h"
#include "core/train/self_test/case_values.h"
#include "core/train/self_test/cases.h"
#include "core/train/self_test/self_test.h"
#include "core/train/self_test/verdicts.h"
#include "tests/kernels/emulation/collectives.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cstring>
#include <limits>
#include <set>

using namespace weft;
using train::SelfTestResult;

namespace {

exec::Compute emulated_gpus(int devices, test::MachineOptions options = {}) {
    options.devices = devices;
    test::set_machine(options);
    std::vector<int> numbers;
    for (int i = 0; i < devices; ++i) {
        numbers.push_back(i);
    }
    return {
        {weft_emulated_backend()}, weft_emulated_platform(), weft_emulated_collectives(), numbers};
}

std::set<std::string> kinds_in_cases() {
    std::set<std::string> out;
    for (const train::SelfTestCase& one : train::self_test_cases()) {
        for (const ir::Op& op : one.program.body.ops) {
            out.insert(op.kind.text());
            if (op.structured()) {
                for (const ir::Op& inner : op.body[0].ops) {
                    out.insert(inner.kind.text());
                }
            }
        }
    }
    return out;
}

} // namespace

class SelfTestTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void cleanup() { test::set_machine({}); }

    void every_op_of_a_kernel_is_in_a_case() {
        // The executor runs the body of a loop; exchanges have a test of their own.
        const std::set<std::string> elsewhere = {"repeat"};
        const std::set<std::string> covered = kinds_in_cases();
        for (const ops::OpDef* op : ops::all_ops()) {
            const std::string name(op->name);
            const bool excused = op->collective || elsewhere.count(name) == 1;
            QVERIFY2(excused != (covered.count(name) == 1), name.c_str());
        }
    }

    void cases_are_legal_programs() {
        for (const train::SelfTestCase& one : train::self_test_cases()) {
            const auto faults = ops::verify(one.program);
            QVERIFY2(faults.empty(), (one.name + ": " + (faults.empty() ? "" : faults[0])).c_str());
        }
    }

    void right_gpus_pass() {
        const SelfTestResult ops = train::test_ops(emulated_gpus(2), 1);
        QVERIFY2(ops.passed, ops.failure.c_str());
        QCOMPARE(ops.cases, static_cast<int>(train::self_test_cases().size()));
        const SelfTestResult exchanges = train::test_exchanges(emulated_gpus(3));
        QVERIFY2(exchanges.passed, exchanges.failure.c_str());
        QVERIFY(test::order_faults().empty());
    }

    // As before sm_89: runs that want them are refused by the plan.
    void a_gpu_without_products_of_8_bits_passes_without_them() {
        static weft_backend older = *weft_emulated_backend();
        older.query = [](const weft_op_desc* op, weft_query* result) {
            for (int i = 0; i < op->attributes; ++i) {
                const weft_attribute& one = op->attribute_list[i];
                if (one.kind == WEFT_ATTRIBUTE_TEXT && one.text[0] == 'e' &&
                    std::strcmp(one.name, "operands") == 0) {
                    return WEFT_UNSUPPORTED;
                }
            }
            return weft_emulated_backend()->query(op, result);
        };
        exec::Compute compute = emulated_gpus(1);
        compute.backends = {&older};
        const SelfTestResult result = train::test_ops(compute, 0);
        QVERIFY2(result.passed, result.failure.c_str());
        QCOMPARE(result.cases, static_cast<int>(train::self_test_cases().size()) - 1);
    }

    void a_wrong_kernel_is_named_data() {
        QTest::addColumn<QString>("op");
        // Their first two operands are alike, and the result is another when they are exchanged.
        QTest::newRow("softmax_grad") << "softmax_grad";
        QTest::newRow("attention_grad") << "attention_grad";
    }
    void a_wrong_kernel_is_named() {
        QFETCH(QString, op);
        const SelfTestResult result =
            train::test_ops(emulated_gpus(1, {.wrong_op = op.toStdString()}), 0);
        QVERIFY(!result.passed);
        const QString failure = QString::fromStdString(result.failure);
        QVERIFY2(failure.contains(op + " by '") && failure.contains("the largest difference is"),
                 result.failure.c_str());
    }

    void a_wrong_collective_is_named_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("name");
        QTest::newRow("all-reduce") << int(WEFT_ALL_REDUCE) << "all-reduce in f32";
        QTest::newRow("all-gather") << int(WEFT_ALL_GATHER) << "all-gather";
        QTest::newRow("reduce-scatter") << int(WEFT_REDUCE_SCATTER) << "reduce-scatter in f32";
        QTest::newRow("all-to-all") << int(WEFT_ALL_TO_ALL) << "all-to-all";
        QTest::newRow("permute") << int(WEFT_PERMUTE) << "permute";
        QTest::newRow("send") << int(WEFT_SEND) << "send and receive";
    }
    void a_wrong_collective_is_named() {
        QFETCH(int, kind);
        QFETCH(QString, name);
        const SelfTestResult result =
            train::test_exchanges(emulated_gpus(3, {.wrong_collective = kind}));
        QVERIFY(!result.passed);
        QVERIFY2(QString::fromStdString(result.failure).startsWith(name + ": element "),
                 result.failure.c_str());
    }

    void a_device_that_fails_says_in_which_case() {
        try {
            train::test_ops(emulated_gpus(1, {.works_before_fault = 200}), 0);
            QFAIL("the device has failed");
        } catch (const Error& fault) {
            QVERIFY2(fault.where().starts_with("self-test, ") &&
                         fault.text().find("fallen off the bus") != std::string::npos,
                     fault.message().c_str());
        }
    }

    void a_device_that_does_not_end_an_op_is_told() {
        constexpr double kPatience_s = 2; // a case takes milliseconds
        try {
            train::test_ops(emulated_gpus(1, {.works_before_hang = 200}), 0, kPatience_s);
            QFAIL("an op does not end");
        } catch (const Error& fault) {
            QVERIFY2(fault.where().starts_with("self-test, "), fault.message().c_str());
            QCOMPARE(fault.text(), std::string("it does not end, for more than 2.0 s"));
        }
    }

    void a_device_that_fails_in_an_exchange_ends_it_for_all() {
        try {
            train::test_exchanges(emulated_gpus(3, {.works_before_fault = 20}));
            QFAIL("a device has failed");
        } catch (const Error& fault) {
            QCOMPARE(fault.kind(), ErrorKind::device);
        }
    }

    void a_difference_is_measured_by_the_largest_right_number() {
        const ir::Type type{ir::DType::f32, {3}};
        exec::Tensor right(type);
        exec::Tensor result(type);
        right.span<float>()[0] = result.span<float>()[0] = 1024;
        result.span<float>()[1] = 0x1p-4F; // 2^-14 of 1,024
        QVERIFY(train::difference(result, right).ok());
        result.span<float>()[1] = 0x1.1p-4F;
        QVERIFY(!train::difference(result, right).ok());
        result.span<float>()[1] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(!train::difference(result, right).ok());
        right.span<float>()[1] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(train::difference(result, right).ok());
    }

    void verdicts_are_kept_by_their_key() {
        const train::Verdicts verdicts(path("verdicts"));
        QVERIFY(!verdicts.find("gpu, build 1").has_value());
        verdicts.keep("gpu, build 1", {true, 50, 1.5, ""});
        verdicts.keep("gpu, build 2", {false, 3, 0.5, "softmax"});
        const auto kept = train::Verdicts(path("verdicts")).find("gpu, build 2");
        QVERIFY(kept.has_value() && !kept->passed);
        QCOMPARE(kept->failure, std::string("softmax"));
        QVERIFY(verdicts.find("gpu, build 1")->passed);
        QVERIFY(!verdicts.find("gpu, build 3").has_value());
    }

    void a_damaged_verdict_is_none() {
        const train::Verdicts verdicts(path("damaged"));
        verdicts.keep("gpu", {true, 50, 1.5, ""});
        for (const auto& entry : std::filesystem::directory_iterator(path("damaged"))) {
            std::filesystem::resize_file(entry.path(), 20);
        }
        QVERIFY(!verdicts.find("gpu").has_value());
    }
};

WEFT_TEST(SelfTestTest)
#include "self_test_test.moc"
