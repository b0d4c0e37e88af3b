// SPDX-License-Identifier: Apache-2.0
// Memory that runs out while a run trains, although the plan fits: what is offered, and that it works.
#include "core/advise/alternatives.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_folder.h"
#include "core/train/session.h"
#include "core/train/ways_on.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <new>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

/// The machine has no more memory from the moment on that `empty` is set.
class Starved final : public exec::StepObserver {
public:
    bool empty = false;
    void step_done(const plan::Step&, int, double, double) override {
        if (empty) {
            throw std::bad_alloc();
        }
    }
};

class MemoryFailureTest : public QObject, private TestFolder {
    Q_OBJECT

    compile::RunConfig config(const char* name, const char* changes = "{}") const {
        const QString file = write_config(path(name), config::json_of(changes));
        const auto checked = compile::read_run_config_file(file.toStdString());
        return checked.ok() ? checked.config : compile::RunConfig();
    }

    train::SessionResult run(train::SessionOptions options,
                             std::vector<train::ErrorEvent>& errors) const {
        Starved starved;
        const bool starves = options.start.checkpoint.empty();
        options.observer = &starved;
        options.sink = [&](const train::Event& event) {
            const auto* saved = std::get_if<train::CheckpointEvent>(&event.payload);
            starved.empty = starved.empty || (starves && saved != nullptr && saved->step == 7);
            if (const auto* error = std::get_if<train::ErrorEvent>(&event.payload)) {
                errors.push_back(*error);
            }
        };
        train::Session session(std::move(options));
        return session.run();
    }

private slots:
    void a_run_that_ran_out_of_memory_goes_on_with_less() {
        train::SessionOptions options;
        options.config = config("run");
        options.run_folder = train::create_run_folder(path("runs"), "starved");
        const fs::path folder = options.run_folder;
        const compile::RunConfig before = options.config;
        std::vector<train::ErrorEvent> errors;
        const train::SessionResult result = run(std::move(options), errors);
        QCOMPARE(result.outcome, train::Outcome::failed);
        QVERIFY(result.error == ErrorKind::memory);
        QCOMPARE(errors.size(), std::size_t{1});
        const std::vector<train::WayOn>& ways = errors.front().ways_on;
        QCOMPARE(ways.size(), std::size_t{3});
        for (const train::WayOn& way : ways) {
            QCOMPARE(way.from_step, std::int64_t{7});
            QVERIFY2(way.label.starts_with("Resume from step 7"), way.label.c_str());
            const auto changed = compile::with_overrides(before, way.overrides);
            QVERIFY(changed.has_value());
            QVERIFY(!compile::compare(before, *changed).empty());
        }
        QCOMPARE(ways.front().overrides,
                 std::vector<std::string>{"training.micro_batch_size=16"}); // of 32

        train::SessionOptions fork;
        fork.config = *compile::with_overrides(before, ways.front().overrides);
        fork.run_folder = train::create_run_folder(path("runs"), "fork");
        fork.start = {folder / "checkpoints" / checkpoint::folder_name(7), true, folder};
        const train::SessionResult end = run(std::move(fork), errors);
        QVERIFY2(end.outcome == train::Outcome::finished, end.message.c_str());
        QCOMPARE(end.step, std::int64_t{40});
    }

    void only_what_changes_something_is_offered() {
        const auto all = [](const std::vector<train::WayOn>& ways) {
            std::string out;
            for (const train::WayOn& way : ways) {
                out += way.overrides.front() + " ";
            }
            return out;
        };
        QCOMPARE(all(train::ways_with_less_memory(config("f32", R"({"training": {"precision":
                     "f32"}})"), -1)),
                 std::string("training.micro_batch_size=16 training.recompute=blocks "
                             "training.precision=bf16 "));
        QCOMPARE(all(train::ways_with_less_memory(config("least", R"({"training":
                     {"micro_batch_size": 1, "recompute": "blocks"}})"), -1)),
                 std::string("checkpoint.async=false "));
        const auto ways = train::ways_with_less_memory(config("odd", R"({"training":
                     {"global_batch_size": 30, "micro_batch_size": 15}})"), -1);
        QCOMPARE(ways.front().overrides.front(), std::string("training.micro_batch_size=6"));
        QVERIFY2(ways.front().label.starts_with("Start again with micro batches of 6"),
                 ways.front().label.c_str());
        QCOMPARE(ways.front().from_step, std::int64_t{0});
    }
};

} // namespace

WEFT_TEST(MemoryFailureTest)
#include "memory_failure_test.moc"
