// SPDX-License-Identifier: Apache-2.0
// The catalogue: complete, in plausible proportions, found by name, with help for a wrong one.
#include "core/base/error.h"
#include "core/cost/hardware.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;

namespace {

std::optional<Error> hardware_error(const std::string& text) {
    try {
        cost::parse_hardware(text);
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

} // namespace

class HardwareTest : public QObject {
    Q_OBJECT

private slots:
    void names_are_unique_and_in_lower_case() {
        std::set<std::string> names;
        for (const cost::Hardware& one : cost::hardware_catalogue()) {
            const std::string name(one.name);
            QVERIFY2(names.insert(name).second, name.c_str());
            QVERIFY(QString::fromStdString(name).toLower().toStdString() == name);
            QVERIFY(name.find(':') == std::string::npos);
        }
        for (const char* wanted : {"a100", "a100-40", "h100", "h200", "b200", "l40s", "rtx4090",
                                   "tpu-v4", "tpu-v5e", "tpu-v5p"}) {
            QVERIFY2(names.count(wanted) == 1, wanted);
        }
    }

    void every_figure_is_positive_and_has_a_source() {
        for (const cost::Hardware& one : cost::hardware_catalogue()) {
            const std::string name(one.name);
            QVERIFY2(!one.title.empty() && !one.source.empty(), name.c_str());
            QVERIFY2(one.kind == "cuda" || one.kind == "tpu", name.c_str());
            QVERIFY2(one.memory_bytes > 0 && one.f32_flops > 0 && one.bf16_flops > 0 &&
                         one.memory_bandwidth > 0 && one.link_bandwidth > 0,
                     name.c_str());
        }
    }

    // Dense, not sparse: f32 <= tf32 <= bf16, and tf32 is half of bf16 on every GPU listed. Those
    // that have 8-bit products have twice as many of them.
    void rates_stand_in_the_proportions_of_the_units() {
        for (const cost::Hardware& one : cost::hardware_catalogue()) {
            const std::string name(one.name);
            QVERIFY2(one.f32_flops < one.bf16_flops, name.c_str());
            if (one.kind == "cuda") {
                QVERIFY2(std::abs(one.tf32_flops / one.bf16_flops - 0.5) < 0.02, name.c_str());
                QVERIFY2(one.fp8_flops == 0 || std::abs(one.fp8_flops / one.bf16_flops - 2) < 0.03,
                         name.c_str());
            }
            QVERIFY2(one.memory_bandwidth > one.link_bandwidth, name.c_str());
        }
    }

    // PERF.md 7: 989 TFLOP/s dense bf16 is the figure that targets on an H200 are set by.
    void h200_has_the_rate_that_targets_are_set_by() {
        QVERIFY(std::abs(cost::find_hardware("h200")->bf16_flops / 989e12 - 1) < 0.001);
        QCOMPARE(cost::find_hardware("h200")->memory_bytes, std::int64_t{141'000'000'000});
    }

    void a_name_with_and_without_a_count_is_read() {
        QCOMPARE(cost::parse_hardware("h200:64").count, std::int64_t{64});
        QCOMPARE(cost::parse_hardware("H200:64").hardware, cost::find_hardware("h200"));
        QCOMPARE(cost::parse_hardware("tpu-v5p").count, std::int64_t{1});
        QVERIFY(cost::find_hardware("h20") == nullptr);
    }

    void a_wrong_name_is_answered_with_the_nearest() {
        const auto error = hardware_error("h20:8");
        QVERIFY(error && error->kind() == ErrorKind::usage);
        QVERIFY(error->text().find("'h20'") != std::string::npos);
        QVERIFY2(error->hint().find("h200") != std::string::npos, error->hint().c_str());
        const auto far = hardware_error("abacus");
        QVERIFY2(far && far->hint().find("rtx4090") != std::string::npos, far->hint().c_str());
    }

    void a_wrong_count_is_refused_with_its_limits() {
        for (const char* text : {"h200:", "h200:0", "h200:-1", "h200:8x", "h200:1048577",
                                 "h200:99999999999999999999", "h200: 8"}) {
            const auto error = hardware_error(text);
            QVERIFY2(error && error->kind() == ErrorKind::usage, text);
            QVERIFY2(error->text().find("1,048,576") != std::string::npos, error->text().c_str());
        }
    }
};

WEFT_TEST(HardwareTest)
#include "hardware_test.moc"
