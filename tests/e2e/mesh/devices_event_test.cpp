// SPDX-License-Identifier: Apache-2.0
// What a run says of its devices: bytes and actions as planned, times that can be true.
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/data/loader.h"
#include "core/train/record/devices_event.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::test;

namespace {

struct Told {
    std::shared_ptr<const plan::ExecutionPlan> plan;
    train::DevicesEvent event;
    double run_ms = 0; // of the update, as seen from outside
};

/// One update, and what is told of it.
Told tell(const Overrides& overrides) {
    const compile::RunConfig config = mesh_config(kGpt, overrides);
    Told out{mesh_plan(config), {}, 0};
    exec::Executor executor(out.plan, train::backends(), {.threads = 1});
    train::initialise(executor, config);
    const data::DataSet data = train::open_run_data(config);
    data::LoaderOptions loading;
    loading.batch_size = config.global_batch_size;
    data::Loader loader(data.train, data::Sampler(data.train->samples(), true, config.seed),
                        loading, {});
    train::Update update(executor, config, 100);
    const data::Batch* batch = loader.next();
    const SystemClock clock;
    const double start_s = clock.steady_s();
    update.start(*batch, 0, 1.0, {});
    out.run_ms = (clock.steady_s() - start_s) * 1e3;
    out.event = train::devices_event(executor, 1, nullptr);
    return out;
}

} // namespace

class MeshDevicesEvent : public QObject {
    Q_OBJECT

private slots:
    void every_device_tells_its_time_and_sends_what_was_planned() {
        const Told told = tell({"mesh.devices=cpu:4", "mesh.strategy=2d"});
        QCOMPARE(told.event.devices.size(), std::size_t{4});
        QVERIFY(told.event.stages.empty());
        std::int64_t planned = 0;
        for (const plan::Collective& one : plan::collectives(*told.plan->find("train_step"))) {
            planned += one.sent_bytes;
        }
        QVERIFY(planned > 0);
        std::int64_t sent = 0;
        for (const train::DevicesEvent::Device& device : told.event.devices) {
            QVERIFY(device.compute_ms > 0);
            QVERIFY(device.exchange_ms >= 0 && device.waited_ms >= 0);
            QVERIFY(device.compute_ms + device.exchange_ms + device.waited_ms <= told.run_ms);
            QCOMPARE(device.planned_memory_bytes, told.plan->arena_bytes);
            sent += device.sent_bytes;
        }
        // Chunks of a ring differ by an element where they do not divide; together they are exact.
        const auto exchanges =
            static_cast<std::int64_t>(plan::collectives(*told.plan->find("train_step")).size());
        QVERIFY2(std::abs(sent - 4 * planned) <= 4 * 4 * exchanges,
                 qPrintable(QString("%1 sent, %2 planned").arg(sent).arg(4 * planned)));
    }

    void each_axis_tells_what_goes_along_it() {
        const Told told = tell({"mesh.devices=cpu:4", "mesh.strategy=2d"});
        std::map<std::string, std::int64_t> planned;
        std::map<std::string, std::int64_t> exchanges;
        for (const plan::Collective& one : plan::collectives(*told.plan->find("train_step"))) {
            planned[join(one.axes, ",")] += one.sent_bytes;
            ++exchanges[join(one.axes, ",")];
        }
        QVERIFY(planned.size() >= 2);
        QCOMPARE(told.event.links.size(), planned.size());
        double in_links_ms = 0;
        for (const train::DevicesEvent::Link& link : told.event.links) {
            QVERIFY2(std::abs(link.sent_bytes - planned.at(link.axes)) <=
                         4 * exchanges.at(link.axes),
                     link.axes.c_str());
            QVERIFY(!link.between_hosts && link.exchange_ms >= 0);
            in_links_ms += link.exchange_ms + link.waited_ms;
        }
        double of_devices_ms = 0;
        for (const train::DevicesEvent::Device& device : told.event.devices) {
            of_devices_ms += (device.exchange_ms + device.waited_ms) / 4;
        }
        QVERIFY(std::abs(in_links_ms - of_devices_ms) < 1e-6 * of_devices_ms);
    }

    void a_pipeline_tells_when_each_action_ran() {
        const Told told =
            tell({"mesh.devices=cpu:2", "mesh.strategy=pipeline", "training.micro_batch_size=4"});
        const plan::Pipeline& pipeline = *told.plan->pipeline;
        QCOMPARE(told.event.stages.size(), std::size_t{2});
        std::vector<std::map<std::string, train::DevicesEvent::Action>> by_name(2);
        for (std::size_t stage = 0; stage < 2; ++stage) {
            const auto& actions = told.event.stages[stage];
            QCOMPARE(actions.size(), pipeline.actions[stage].size());
            double end_ms = 0;
            for (std::size_t i = 0; i < actions.size(); ++i) {
                QCOMPARE(actions[i].action, pipeline.actions[stage][i]);
                QVERIFY(actions[i].start_ms >= end_ms);
                QVERIFY(actions[i].end_ms > actions[i].start_ms);
                end_ms = actions[i].end_ms;
                by_name[stage][actions[i].action] = actions[i];
            }
            QVERIFY(end_ms <= told.run_ms);
        }
        // A stage works on what the stage before it, and backward the stage behind it, has made.
        for (int i = 0; i < pipeline.microbatches; ++i) {
            const std::string number = std::to_string(i);
            QVERIFY(by_name[1].at("F" + number).start_ms >= by_name[0].at("F" + number).start_ms);
            QVERIFY(by_name[0].at("B" + number).end_ms >= by_name[1].at("B" + number).start_ms);
        }
    }
};

WEFT_TEST(MeshDevicesEvent)
#include "devices_event_test.moc"
