// SPDX-License-Identifier: Apache-2.0
// The plan keeps its word: what a training process grows by over its start-up is what the plan
// says, plus what libraries keep for themselves. The run measures the latter inside of its first
// kernel calls, where our own code allocates nothing: the loader is full before them and saves are
// waited for. All else (compiling, data, batches, evaluations, checkpoints, events) must be in the
// plan. The same holds at the peak: nothing that is there only for a while is large.
#include "core/base/file.h"
#include "core/base/machine.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLeastTolerance = 16 * kMiB;
constexpr double kTolerance = 0.05;
constexpr int kEvery = 3; // steps from one evaluation and checkpoint to the next

/// Bytes of a line of /proc/<pid>/status.
std::int64_t status_bytes(std::int64_t pid, const char* key) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    std::ostringstream text;
    text << file.rdbuf();
    return meminfo_bytes(text.str(), key);
}

const char* model_of(const QString& name) {
    if (name == "mlp") {
        return R"({"data": {"train": {"type": "synthetic", "kind": "classification",
                                      "features": 784, "classes": 10, "samples": 20000}},
                   "model": {"type": "mlp", "hidden": [1024, 1024], "dropout": 0.1},
                   "training": {"global_batch_size": 1024, "precision": "f32"}})";
    }
    if (name == "cnn") {
        return R"({"data": {"train": {"type": "synthetic", "kind": "images", "shape": [16, 16, 3],
                                      "classes": 10, "samples": 2000}},
                   "model": {"type": "sequential", "layers": [
                       {"type": "conv2d", "channels": 32, "kernel": 3}, {"type": "relu"},
                       {"type": "conv2d", "channels": 32, "kernel": 3}, {"type": "relu"},
                       {"type": "max_pool"}, {"type": "flatten"}, {"type": "linear"}]},
                   "training": {"global_batch_size": 512, "precision": "f32"}})";
    }
    return R"({"data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 256,
                                  "samples": 2000}},
               "model": {"type": "gpt2", "layers": 4, "width": 256, "heads": 4, "context": 128,
                         "vocab": 256, "dropout": 0.1},
               "metrics": [],
               "training": {"global_batch_size": 32, "precision": "bf16"}})";
}

train::StepEvent last_step_of(const fs::path& run) {
    train::StepEvent last;
    for (const train::Event& event : events_of(run)) {
        if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
            last = *step;
        }
    }
    return last;
}

class MemoryTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;

private slots:
    void resident_growth_is_the_plan_and_the_library_line_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("recompute");
        QTest::addColumn<int>("accumulation");
        for (const char* model : {"mlp", "cnn", "gpt"}) {
            for (const char* recompute : {"none", "blocks"}) {
                for (const int accumulation : {1, 8}) {
                    QTest::addRow("%s, recompute %s, %d microsteps", model, recompute, accumulation)
                        << model << recompute << accumulation;
                }
            }
        }
    }

    void resident_growth_is_the_plan_and_the_library_line() {
        QFETCH(QString, model);
        QFETCH(QString, recompute);
        QFETCH(int, accumulation);
        Json document = config::json_of(model_of(model));
        const auto batch = document["training"]["global_batch_size"].get<std::int64_t>();
        document["training"]["micro_batch_size"] = batch / accumulation;
        document["training"]["recompute"] = recompute.toStdString();
        document["training"]["length"] = {{"steps", 1000000}};
        document["evaluation"] = {{"every", {{"steps", kEvery}}}, {"max_batches", 4}};
        document["checkpoint"] = {{"every", {{"steps", kEvery}}}, {"on_improvement", false}};
        const fs::path folder = fs::path(dir_.path().toStdString()) / QTest::currentDataTag();
        fs::create_directories(folder);
        std::ofstream(folder / "config.json") << document.dump(2);
        const fs::path run = folder / "run";

        LiveWeft live({"train", QString::fromStdString((folder / "config.json").string()),
                       "--run-dir", QString::fromStdString(run.string()), "--control", "stdin"});
        QVERIFY(live.wait_for_state(train::RunState::preparing).has_value());
        const std::int64_t seen_at_start = status_bytes(live.pid(), "VmRSS");
        Json memory; // of the second `system` event, when libraries have settled
        const auto told = live.wait_for([&](const train::Event& event) {
            const auto* system = std::get_if<train::SystemEvent>(&event.payload);
            const bool first = system != nullptr && memory.is_null();
            memory = system != nullptr ? system->memory : memory;
            return system != nullptr && !first;
        });
        QVERIFY(told.has_value());
        QVERIFY(live.wait_for_step(12).has_value()); // some evaluations and checkpoints
        live.send(R"({"command": "pause"})");
        QVERIFY(live.wait_for_state(train::RunState::paused).has_value());
        const std::int64_t resident = status_bytes(live.pid(), "VmRSS");
        const std::int64_t peak = status_bytes(live.pid(), "VmHWM");
        // On to a step that no evaluation or checkpoint follows, whose memory came and went again.
        std::int64_t step = last_step_of(run).step;
        do {
            live.send(R"({"command": "step"})");
            QVERIFY(live.wait_for_step(++step).has_value());
            QVERIFY(live.wait_for_state(train::RunState::paused).has_value());
        } while (step % kEvery != 1);
        const std::int64_t at_rest = status_bytes(live.pid(), "VmRSS");
        live.send(R"({"command": "stop_now"})");
        live.finish();

        const auto startup = memory["startup_bytes"].get<std::int64_t>();
        QVERIFY(startup > seen_at_start / 2 && startup <= seen_at_start);
        const Json plan = config::json_of(read_file(run / "plan.json", 1 << 28, ErrorKind::data));
        const Json& device = plan["devices"][0];
        const auto estimate = device["by_category"]["library"].get<std::int64_t>();
        const std::int64_t planned = device["peak_bytes"].get<std::int64_t>() - estimate;
        const auto library = memory["library_bytes"].get<std::int64_t>();
        const std::int64_t growth = resident - startup;
        const std::int64_t remainder = growth - planned - library;
        const std::int64_t peak_remainder = peak - startup - planned - library;
        const std::int64_t reported = last_step_of(run).memory_bytes;
        const auto tolerance = std::max(
            kLeastTolerance, static_cast<std::int64_t>(kTolerance * static_cast<double>(growth)));
        const std::string figures =
            "growth " + std::to_string(growth) + ", plan " + std::to_string(planned) +
            ", libraries " + std::to_string(library) + ", remainder " + std::to_string(remainder) +
            ", at the peak " + std::to_string(peak_remainder) + ", reported " +
            std::to_string(reported) + ", at rest " + std::to_string(at_rest - startup);
        qInfo("%s", figures.c_str());
        QVERIFY2(std::abs(remainder) <= tolerance, figures.c_str());
        QVERIFY2(std::abs(peak_remainder) <= tolerance, figures.c_str());
        // What the last step reported is what one sees from outside: a paused run does nothing.
        // Malloc and the kernel keep books of pages.
        QVERIFY2(std::abs(reported - (at_rest - startup)) <= kMiB, figures.c_str());
    }
};

} // namespace

WEFT_TEST(MemoryTest)
#include "memory_test.moc"
