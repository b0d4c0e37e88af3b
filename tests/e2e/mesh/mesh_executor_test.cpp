// SPDX-License-Identifier: Apache-2.0
// The executor of a mesh: all devices stop, or none; what it hands out it does not keep.
#include "core/base/machine.h"
#include "core/data/loader.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <map>

using namespace weft;
using namespace weft::test;

namespace {

using SlotBytes = std::map<std::string, std::vector<std::byte>>;

/// A run on a mesh that is stopped at one of the kernel calls of device 0.
class StoppedStep : public exec::StepObserver {
public:
    explicit StoppedStep(const Overrides& overrides)
        : config_(mesh_config(kMlp, overrides)),
          executor_(mesh_plan(config_), train::backends(), {.threads = 1}),
          update_(executor_, config_, 100), data_(train::open_run_data(config_)),
          loader_(data_.train, data::Sampler(data_.train->samples(), true, config_.seed),
                  {.batch_size = config_.global_batch_size}, {}),
          batch_(loader_.next()) {
        train::initialise(executor_, config_);
        executor_.set_observer(this);
    }

    /// The first update, stopped behind so many calls; -1: never.
    exec::RunOutcome run(int calls) {
        left_ = calls;
        calls_ = 0;
        stop_ = {};
        update_.drop();
        return update_.start(*batch_, 0, 1.0, stop_.get_token());
    }

    SlotBytes state() {
        SlotBytes out;
        for (const plan::StateSlot& slot : executor_.plan().state_slots) {
            const auto bytes = executor_.read_slot(slot.name);
            out[slot.name].assign(bytes.begin(), bytes.end());
        }
        return out;
    }

    /// Of the last run.
    int calls() const { return calls_; }

private:
    void step_done(const plan::Step&, int, double, double) override {
        ++calls_;
        if (--left_ == 0) {
            stop_.request_stop();
        }
    }

    compile::RunConfig config_;
    exec::Executor executor_;
    train::Update update_;
    data::DataSet data_;
    data::Loader loader_;
    const data::Batch* batch_;
    std::stop_source stop_;
    int left_ = -1;
    int calls_ = 0;
};

} // namespace

class MeshExecutorTest : public QObject {
    Q_OBJECT
private slots:
    void a_stop_ends_a_step_on_all_devices_or_on_none_data() {
        QTest::addColumn<int>("variant");
        for (std::size_t i = 0; i < variants().size(); ++i) {
            const std::string name = variants()[i].name;
            if (name == "data parallel on 2" || name == "fsdp on 3, padded" ||
                name == "2d on 2 x 2" || name == "pipeline on 2") {
                QTest::newRow(variants()[i].name) << static_cast<int>(i);
            }
        }
    }

    void a_stop_ends_a_step_on_all_devices_or_on_none() {
        QFETCH(const int, variant);
        const Overrides& overrides = variants()[static_cast<std::size_t>(variant)].overrides;
        StoppedStep whole(overrides);
        const SlotBytes before = whole.state();
        QVERIFY(whole.run(-1) == exec::RunOutcome::finished);
        const SlotBytes after = whole.state();
        const int calls = whole.calls();
        QVERIFY(calls > 4 && before != after);
        StoppedStep stopped(overrides);
        QVERIFY(stopped.run(1) == exec::RunOutcome::stopped); // long before any weight changes
        QVERIFY(stopped.calls() < calls);
        QVERIFY(stopped.state() == before);
        for (int at = 2; at <= calls; at += 5) {
            const bool ends = stopped.run(at) == exec::RunOutcome::stopped;
            QVERIFY(stopped.state() == (ends ? before : after));
            if (!ends) {
                return;
            }
        }
        // As if it had never been stopped.
        QVERIFY(stopped.run(-1) == exec::RunOutcome::finished);
        QVERIFY(stopped.state() == after);
    }

    void slots_that_were_read_are_not_kept() {
        const compile::RunConfig config =
            mesh_config(kMlp, {"mesh.devices=cpu:2", "mesh.strategy=fsdp",
                               "model.hidden=[1024,1024,1024,1024]"});
        exec::Executor executor(mesh_plan(config), train::backends(), {.threads = 1});
        train::initialise(executor, config);
        std::int64_t total = 0;
        const std::int64_t before = read_process_memory().resident_bytes;
        for (const plan::StateSlot& slot : executor.plan().state_slots) {
            total += static_cast<std::int64_t>(executor.read_slot(slot.name).size());
        }
        const std::int64_t kept = read_process_memory().resident_bytes - before;
        QVERIFY(total > (std::int64_t{32} << 20));
        QVERIFY2(kept < total / 2, std::to_string(kept).c_str()); // an allocator may keep one
    }
};

WEFT_TEST(MeshExecutorTest)
#include "mesh_executor_test.moc"
