// SPDX-License-Identifier: Apache-2.0
// What is learnt from measurements, and the file that keeps it.
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/cost/cost_model.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft;
using cost::Measurement;
using cost::Work;

namespace {

constexpr cost::Limits kHereLimits{1e12, 1e11, 1e10, 1e-6};
const cost::MachineKey kHere{"AMD EPYC", 2, "oneDNN 2.6.3, AVX2"};

bool near_learnt(double a, double b, double tolerance = 1e-9) {
    return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

/// A memory-bound kernel, measured at `ratio` times its roofline.
Measurement measured(const char* kernel, double bytes, double ratio, double times = 1) {
    Work work{"any", kernel, ir::DType::f32, 0, 0, bytes, times};
    return {work, ratio * cost::roofline_s(work, kHereLimits)};
}

cost::Calibration made_up() {
    cost::Calibration out{kHere, cost::Ceilings{kHereLimits, "f32 units", 1.7e9, 0.125}, {}};
    out.classes["cpu fused/f32"] = {1.25, 0.125, 12};
    cost::note_run(out, cost::program_key("text"), 11, 10, 0.25, 500);
    return out;
}

std::optional<Error> calibration_error(const std::filesystem::path& file) {
    try {
        cost::read_calibration(file, kHere);
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

} // namespace

class CalibrationTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        folder_ = std::make_unique<QTemporaryDir>();
        file_ = std::filesystem::path(folder_->path().toStdString()) / "cache" / "calibration.json";
    }

    void a_class_is_predicted_as_it_was_measured() {
        const std::vector<Measurement> measurements = {
            measured("cpu fused", 5e6, 1.5), measured("cpu fused", 5e6, 1.5, 7),
            measured("cpu reduce", 2e3, 3.0), measured("cpu reduce", 9e7, 0.7)};
        const cost::CostModel model(cost::Calibration{kHere, cost::Ceilings{kHereLimits, "", 0, 0},
                                                      cost::learn(measurements, kHereLimits)});
        double total_ms = 0;
        std::vector<Work> work;
        for (const Measurement& one : measurements) {
            QVERIFY(near_learnt(model.op_ms(one.work), one.seconds * 1e3));
            total_ms += one.seconds * one.work.times * 1e3;
            work.push_back(one.work);
        }
        QVERIFY(near_learnt(model.predict(work).ms, total_ms));
    }

    // Two shapes of one size: each is off, but their sum is right, and the spread says how far off.
    void the_total_of_a_class_comes_out_right() {
        const std::vector<Measurement> measurements = {measured("cpu fused", 5.0e6, 1.0),
                                                       measured("cpu fused", 5.0e6, 3.0)};
        const auto classes = cost::learn(measurements, kHereLimits);
        const cost::Correction& one = classes.at(cost::class_of(measurements[0].work, kHereLimits));
        QVERIFY(near_learnt(one.factor, 2));
        QVERIFY(near_learnt(one.spread, 0.5)); // ratios 0.5 and 1.5 of the factor
        QCOMPARE(one.samples, std::int64_t{2});
    }

    // A size that was seen once may deviate like its kernel does: (1 * 0.03^2 + others^2) / 2.
    void what_was_seen_once_is_not_certain() {
        const std::vector<Measurement> measurements = {measured("cpu fused", 5e6, 1.0),
                                                       measured("cpu fused", 5e6 * 64, 1.0),
                                                       measured("cpu fused", 5e3, 40.0)};
        const auto classes = cost::learn(measurements, kHereLimits);
        const auto names = cost::class_names(measurements[1].work, kHereLimits);
        QVERIFY(classes.at(names[0]).spread > cost::kNoise);
        QVERIFY(classes.at(names[0]).spread < classes.at(names[1]).spread);
        const auto exact = cost::learn(std::vector<Measurement>(50, measurements[0]), kHereLimits);
        QVERIFY(near_learnt(exact.at(cost::class_of(measurements[0].work, kHereLimits)).spread,
                            cost::kNoise));
    }

    void kernels_that_were_not_measured_follow_what_bounds_them() {
        const auto classes =
            cost::learn(std::vector<Measurement>{measured("cpu fused", 5e6, 1.5)}, kHereLimits);
        const cost::CostModel model(
            cost::Calibration{kHere, cost::Ceilings{kHereLimits, "", 0, 0}, classes});
        const Work other{"transpose", "cpu transpose", ir::DType::bf16, 0, 0, 1e7};
        QVERIFY(near_learnt(model.op_ms(other), 1.5e3 * cost::roofline_s(other, kHereLimits)));
        const Work product{"matmul", "onednn matmul", ir::DType::bf16, 1e9, 1e9, 10};
        QVERIFY(near_learnt(model.op_ms(product), 1e3 * cost::roofline_s(product, kHereLimits)));
        QVERIFY(near_learnt(model.predict({product}).error, 1.0)); // nothing is known of products
    }

    void a_calibration_survives_its_file() {
        const cost::Calibration before = made_up();
        cost::write_calibration(file_, before);
        const cost::Calibration after = cost::read_calibration(file_, kHere);
        QVERIFY(after.machine == before.machine);
        QVERIFY(after.ceilings && after.ceilings->bf16_unit == "f32 units");
        QCOMPARE(after.ceilings->limits.bf16_flops, kHereLimits.bf16_flops);
        QCOMPARE(after.ceilings->limits.f32_flops, kHereLimits.f32_flops);
        QCOMPARE(after.ceilings->limits.bandwidth, kHereLimits.bandwidth);
        QCOMPARE(after.ceilings->limits.overhead_s, kHereLimits.overhead_s);
        QCOMPARE(after.ceilings->measured_time, 1.7e9);
        QVERIFY(after.ceilings->spread == 0.125 && after.ceilings->busy());
        QCOMPARE(after.classes.size(), before.classes.size());
        for (const auto& [name, correction] : before.classes) {
            QCOMPARE(after.classes.at(name).factor, correction.factor);
            QCOMPARE(after.classes.at(name).spread, correction.spread);
            QCOMPARE(after.classes.at(name).samples, correction.samples);
        }
    }

    void an_absent_file_and_another_machine_are_an_empty_calibration() {
        QVERIFY(!cost::read_calibration(file_, kHere).ceilings);
        cost::write_calibration(file_, made_up());
        for (const cost::MachineKey& other :
             {cost::MachineKey{"Intel Xeon", 2, kHere.kernels},
              cost::MachineKey{kHere.cpu, 1, kHere.kernels},
              cost::MachineKey{kHere.cpu, 2, "oneDNN 2.7.0, AVX2"}}) {
            const cost::Calibration read = cost::read_calibration(file_, other);
            QVERIFY(!read.ceilings && read.classes.empty() && read.machine == other);
        }
    }

    void machines_that_share_a_home_keep_their_own() {
        cost::write_calibration(file_, made_up());
        cost::Calibration one_thread = made_up();
        one_thread.machine.threads = 1;
        one_thread.ceilings->limits.bandwidth = 5e9;
        cost::write_calibration(file_, one_thread);
        QCOMPARE(cost::read_calibration(file_, kHere).ceilings->limits.bandwidth, 1e10);
        QCOMPARE(cost::read_calibration(file_, one_thread.machine).ceilings->limits.bandwidth, 5e9);
    }

    void damage_is_named_with_file_and_remedy() {
        cost::write_calibration(file_, made_up());
        const std::string good = read_file(file_);
        const auto replaced = [&](const std::string& what, const std::string& with) {
            std::string text = good;
            text.replace(text.find(what), what.size(), with);
            return text;
        };
        const std::vector<std::string> damaged = {
            "",
            "[]",
            "{}",
            good.substr(0, good.size() / 2),
            replaced("\"schema_version\": 1", "\"schema_version\": 2"),
            replaced("\"bandwidth\": 10000000000.0", "\"bandwidth\": -1"),
            replaced("\"bandwidth\": 10000000000.0", "\"bandwidth\": \"fast\""),
            replaced("1.25", "0"),
            replaced("\"threads\": 2", "\"threads\": 0"),
            replaced("\"ceilings\"", "\"floors\"")};
        for (const std::string& text : damaged) {
            QVERIFY(text != good);
            write_file_atomically(file_, text);
            const auto error = calibration_error(file_);
            QVERIFY2(error && error->kind() == ErrorKind::data, text.c_str());
            QCOMPARE(error->where(), file_.string());
            QVERIFY(error->hint().find("weft bench machine") != std::string::npos);
        }
        cost::write_calibration(file_, made_up()); // replaces what cannot be read
        QVERIFY(!calibration_error(file_));
    }

private:
    std::unique_ptr<QTemporaryDir> folder_;
    std::filesystem::path file_;
};

WEFT_TEST(CalibrationTest)
#include "calibration_test.moc"
