// SPDX-License-Identifier: Apache-2.0
// Training on GPUs that are none: the whole CUDA back end but for its calls of the vendor, on
// streams that do nothing before somebody waits. Against the CPU.
#include "core/compile/mesh/mesh_config.h"
#include "core/train/engine.h"
#include "tests/e2e/emulated/emulated_run.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace weft;

namespace {

constexpr int kSteps = 6;

struct Trained {
    std::vector<double> losses;
    std::map<std::string, std::vector<std::byte>> state;
};

Trained train_steps(const compile::RunConfig& config, const exec::Compute& compute,
                    int steps = kSteps) {
    const auto plan = test::plan_for(config, compute.backends);
    test::SteppedRun run(config, compute, plan);
    Trained out;
    for (int step = 0; step < steps; ++step) {
        out.losses.push_back(run.step());
    }
    for (const plan::StateSlot& slot : plan->state_slots) {
        out.state[slot.name] = run.executor().read_slot(slot.name);
    }
    return out;
}

double largest_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    double most = 0;
    for (std::size_t i = 0; i + sizeof(float) <= a.size(); i += sizeof(float)) {
        float x = 0;
        float y = 0;
        std::memcpy(&x, a.data() + i, sizeof x);
        std::memcpy(&y, b.data() + i, sizeof y);
        most = std::max(most, static_cast<double>(std::abs(x - y)));
    }
    return most;
}

} // namespace

class EmulatedGpuTest : public QObject {
    Q_OBJECT

private slots:
    void trains_as_the_cpu_does_data() {
        QTest::addColumn<int>("index");
        const auto& models = test::emulated_models();
        for (std::size_t i = 0; i < models.size(); ++i) {
            QTest::addRow("%s", models[i].name.c_str()) << static_cast<int>(i);
        }
    }
    void trains_as_the_cpu_does() {
        QFETCH(int, index);
        const test::EmulatedModel& model = test::emulated_models()[static_cast<std::size_t>(index)];
        const compile::RunConfig config = test::config_of(model);
        const int devices =
            static_cast<int>(compile::placement_of(config.section("mesh")).mesh.devices());
        test::set_machine({.devices = devices, .seed = 7});
        Trained gpu;
        try {
            gpu = train_steps(config, test::emulated(devices));
        } catch (const Error& fault) {
            QFAIL(fault.message().c_str());
        }
        QVERIFY2(test::order_faults().empty(),
                 test::order_faults().empty() ? "" : test::order_faults().front().c_str());
        // Every step but the first, of every device, is one graph.
        QCOMPARE(test::machine_counts().replays, static_cast<std::int64_t>(devices) * (kSteps - 1));
        const Trained cpu = train_steps(config, train::backends());
        for (int step = 0; step < kSteps; ++step) {
            const auto at = static_cast<std::size_t>(step);
            QVERIFY2(std::abs(gpu.losses[at] - cpu.losses[at]) <=
                         model.tolerance * std::abs(cpu.losses[at]),
                     qPrintable(QString("step %1: loss %2, on the CPU %3")
                                    .arg(step)
                                    .arg(gpu.losses[at], 0, 'g', 9)
                                    .arg(cpu.losses[at], 0, 'g', 9)));
        }
        if (const auto skipped = gpu.state.find("training.skipped"); skipped != gpu.state.end()) {
            QVERIFY(std::any_of(skipped->second.begin(), skipped->second.end(),
                                [](std::byte one) { return one != std::byte{0}; }));
        }
        for (const auto& [name, bytes] : cpu.state) {
            const double off = largest_difference(bytes, gpu.state.at(name));
            QVERIFY2(off <= model.tolerance,
                     qPrintable(QString("%1 is off by %2").arg(name.c_str()).arg(off)));
        }
    }
    /// A wait that is left out is found, whichever it is.
    void ten_missing_waits_are_found_data() {
        QTest::addColumn<int>("tenth");
        for (int tenth = 0; tenth < 10; ++tenth) {
            QTest::addRow("wait %d of ten", tenth) << tenth;
        }
    }
    void ten_missing_waits_are_found() {
        QFETCH(int, tenth);
        const auto& models = test::emulated_models();
        const auto model = std::find_if(models.begin(), models.end(), [](const auto& one) {
            return one.name == "GPT, tensor parallel on 2";
        });
        const compile::RunConfig config = test::config_of(*model);
        test::set_machine({.devices = 2});
        train_steps(config, test::emulated(2), 3);
        const std::int64_t waits = test::machine_counts().waits;
        QVERIFY(waits > 100 && test::order_faults().empty());
        test::set_machine({.devices = 2, .dropped_wait = waits / 2 + tenth * waits / 25});
        QVERIFY_THROWS_EXCEPTION(Error, train_steps(config, test::emulated(2), 3));
        QVERIFY(!test::order_faults().empty());
        QVERIFY2(test::order_faults().front().find("nothing orders the two") != std::string::npos,
                 test::order_faults().front().c_str());
    }
};

WEFT_TEST(EmulatedGpuTest)
#include "emulated_test.moc"
