// SPDX-License-Identifier: Apache-2.0
// A GPU is given the next update before the numbers of the last are looked at, and nobody can tell
// from what the run says, saves or becomes. A loader without a worker has no batch ready ahead, so
// that with it the loop waits for each update: the oracle here.
#include "core/memory/arena.h"
#include "core/train/engine.h"
#include "tests/e2e/emulated/emulated_plan.h"
#include "tests/e2e/emulated/loop_run.h"
#include "tests/kernels/emulation/collectives.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

using namespace weft;
using test::LoopRun;

namespace {

exec::Compute gpus_of_machine(int devices) {
    std::vector<int> numbers;
    for (int i = 0; i < devices; ++i) {
        numbers.push_back(i);
    }
    return {{weft_emulated_backend()},
            weft_emulated_platform(),
            weft_emulated_collectives(),
            std::move(numbers)};
}

/// A model of the list, with more overrides.
compile::RunConfig config_with(const std::string& name, const std::vector<std::string>& more) {
    const auto& models = test::emulated_models();
    test::EmulatedModel model = *std::find_if(models.begin(), models.end(),
                                              [&](const auto& one) { return one.name == name; });
    model.overrides.insert(model.overrides.end(), more.begin(), more.end());
    return test::config_of(model);
}

const std::vector<std::string> kWaits = {"data.prefetch=0", "checkpoint.async=false",
                                         "evaluation.max_batches=2", "evaluation.samples=0"};
const std::vector<std::string> kAhead = {"data.prefetch=4", "checkpoint.async=false",
                                         "evaluation.max_batches=2", "evaluation.samples=0"};
constexpr const char* kMlp = "MLP with dropout";

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
}

/// The samples of another source, one of which is no number.
class Spoilt final : public data::Source {
public:
    Spoilt(std::shared_ptr<const data::Source> source, std::int64_t bad)
        : source_(std::move(source)), bad_(bad) {}
    const data::SampleInfo& info() const override { return source_->info(); }
    std::int64_t samples() const override { return source_->samples(); }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        source_->read(index, input, target);
        if (index == bad_) {
            const float nan = std::numeric_limits<float>::quiet_NaN();
            std::memcpy(input.data(), &nan, sizeof nan);
        }
    }
    std::int32_t label(std::int64_t index) const override { return source_->label(index); }
    std::int64_t cache_bytes() const override { return source_->cache_bytes(); }
    std::string fingerprint() const override { return source_->fingerprint(); }

private:
    std::shared_ptr<const data::Source> source_;
    std::int64_t bad_;
};

/// The samples of another source, one of which is no number and can be read once.
class Vanishing final : public data::Source {
public:
    Vanishing(std::shared_ptr<const data::Source> source, std::int64_t bad)
        : spoilt_(std::move(source), bad), bad_(bad) {}
    const data::SampleInfo& info() const override { return spoilt_.info(); }
    std::int64_t samples() const override { return spoilt_.samples(); }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        if (index == bad_ && was_read_.exchange(true)) {
            throw Error(ErrorKind::data, "shard 7", "the disk is gone");
        }
        spoilt_.read(index, input, target);
    }
    std::int32_t label(std::int64_t index) const override { return spoilt_.label(index); }
    std::int64_t cache_bytes() const override { return spoilt_.cache_bytes(); }
    std::string fingerprint() const override { return spoilt_.fingerprint(); }

private:
    Spoilt spoilt_;
    std::int64_t bad_;
    mutable std::atomic<bool> was_read_{false};
};

void same_cursor(const train::Progress& a, const train::Progress& b) {
    QCOMPARE(a.step, b.step);
    QCOMPARE(a.samples, b.samples);
    QCOMPARE(a.cursor.epoch, b.cursor.epoch);
    QCOMPARE(a.cursor.position, b.cursor.position);
    QCOMPARE(a.skipped, b.skipped);
}

} // namespace

class StepsAheadTest : public QObject, private test::TestFolder {
    Q_OBJECT

    std::filesystem::path folder(const QString& name) const {
        return path(QString("%1 %2 %3")
                        .arg(QTest::currentTestFunction(),
                             QString(QTest::currentDataTag()).replace('/', '-'), name)
                        .toUtf8()
                        .constData());
    }

private slots:
    void init() { test::set_machine({.devices = 4, .seed = 11}); }
    void cleanup() { QVERIFY(test::order_faults().empty()); }

    void the_host_waits_for_the_update_before_the_last_alone() {
        const compile::RunConfig config = config_with(kMlp, {});
        exec::Executor executor(test::plan_for(config, {weft_emulated_backend()}),
                                gpus_of_machine(1), {.threads = 1});
        train::initialise(executor, config);
        const data::DataSet data = train::open_run_data(config);
        data::LoaderOptions loading;
        loading.batch_size = config.global_batch_size;
        data::Loader loader(data.train, data::Sampler(data.train->samples(), true, config.seed),
                            loading, {});
        train::Update update(executor, config, 100);
        QCOMPARE(update.depth(), std::size_t{1});
        for (int step = 0; step < 2; ++step) { // what init has queued is done then
            update.start(*loader.next(), step, 1.0, {});
            update.numbers();
        }
        update.start(*loader.next(), 2, 1.0, {});
        for (int step = 3; step < 12; ++step) {
            const std::int64_t before = test::machine_counts().host_waits;
            update.start(*loader.next(), step, 1.0, {});
            QCOMPARE(test::machine_counts().host_waits, before);
            QVERIFY(std::isfinite(update.numbers().loss));
            QCOMPARE(test::machine_counts().host_waits, before + 1);
        }
    }

    /// What a device gives is what was planned, to the byte; what it gives beside is measured.
    void a_device_gives_what_was_planned_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("one device") << kMlp;
        QTest::newRow("two devices in one group") << "GPT, tensor parallel on 2";
        QTest::newRow("stages of different size") << "GPT, pipeline on 2";
    }
    void a_device_gives_what_was_planned() {
        QFETCH(QString, model);
        const std::int64_t context = 24 << 20;
        const std::int64_t group = 3 << 20;
        test::set_machine({.devices = 2, .context_bytes = context, .group_bytes = group});
        const compile::RunConfig config = config_with(model.toStdString(), {});
        const int devices = model.endsWith("on 2") ? 2 : 1;
        const auto plan = test::plan_for(config, {weft_emulated_backend()});
        exec::Executor executor(plan, gpus_of_machine(devices), {.threads = 1});
        train::initialise(executor, config);
        for (int device = 0; device < devices; ++device) {
            const plan::Stage& stage =
                plan->stages[static_cast<std::size_t>(plan->stage_of(device))];
            const std::int64_t planned = memory::align(stage.arena_bytes) + stage.landing_bytes;
            const std::int64_t joined = executor.beside(device).exchange_bytes;
            QCOMPARE(joined % group, std::int64_t{0});
            QCOMPARE(joined > 0, devices > 1);
            QCOMPARE(test::machine_load(device).reserved_bytes, context + joined + planned);
            QCOMPARE(executor.reserved_bytes(device), planned);
            QCOMPARE(executor.beside(device).library_bytes, std::int64_t{0});
        }
    }

    void the_loop_waits_once_a_step_when_batches_are_ready() {
        const compile::RunConfig config =
            config_with(kMlp, with(kAhead, {"evaluation.every={\"steps\":1000}"}));
        LoopRun ahead(config, gpus_of_machine(1), folder("ahead"), train::open_run_data(config));
        std::int64_t from = 0; // waits when steps 10 and 30 were told
        std::int64_t to = 0;
        ahead.act = [&](train::RunControl&, std::int64_t step) {
            from = step == 10 && from == 0 ? test::machine_counts().host_waits : from;
            to = step == 30 && to == 0 ? test::machine_counts().host_waits : to;
        };
        QCOMPARE(ahead.run(40), std::optional(train::LoopEnd::max_steps));
        QCOMPARE(to - from, std::int64_t{20});
    }

    void it_says_what_a_loop_says_that_waits_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("evaluations and checkpoints")
            << kMlp
            << QStringList{"evaluation.every={\"steps\":4}", "checkpoint.every={\"steps\":5}"};
        QTest::newRow("the end falls on an evaluation")
            << kMlp
            << QStringList{"evaluation.every={\"steps\":6}", "checkpoint.every={\"steps\":24}"};
        QTest::newRow("epochs that end in a short batch")
            << "MLP in four microsteps with an average"
            << QStringList{"evaluation.every={\"epochs\":1}", "checkpoint.every={\"epochs\":1}"};
        QTest::newRow("updates that are skipped")
            << "MLP in f16 with overflow"
            << QStringList{"evaluation.every={\"steps\":7}", "checkpoint.every={\"steps\":7}"};
        QTest::newRow("two devices")
            << "GPT, tensor parallel on 2"
            << QStringList{"evaluation.every={\"steps\":5}", "checkpoint.every={\"steps\":5}"};
        QTest::newRow("a pipeline")
            << "GPT, pipeline on 2"
            << QStringList{"evaluation.every={\"steps\":5}", "checkpoint.every={\"steps\":5}"};
    }
    void it_says_what_a_loop_says_that_waits() {
        QFETCH(QString, model);
        QFETCH(QStringList, settings);
        std::vector<std::string> more;
        for (const QString& one : settings) {
            more.push_back(one.toStdString());
        }
        const auto waiting = config_with(model.toStdString(), with(kWaits, more));
        const auto going_on = config_with(model.toStdString(), with(kAhead, more));
        const int devices = model.endsWith("on 2") ? 2 : 1;
        const int steps = devices == 1 ? 24 : 12; // all threads of several poll
        LoopRun waits(waiting, gpus_of_machine(devices), folder("waits"),
                      train::open_run_data(waiting));
        LoopRun ahead(going_on, gpus_of_machine(devices), folder("ahead"),
                      train::open_run_data(going_on));
        QCOMPARE(waits.run(steps), std::optional(train::LoopEnd::max_steps));
        QCOMPARE(ahead.run(steps), std::optional(train::LoopEnd::max_steps));
        for (std::size_t i = 0; i < std::min(waits.events().size(), ahead.events().size()); ++i) {
            QCOMPARE(QString::fromStdString(ahead.events()[i]),
                     QString::fromStdString(waits.events()[i]));
        }
        QCOMPARE(ahead.events().size(), waits.events().size());
        same_cursor(ahead.progress(), waits.progress());
        const test::State expected = waits.state();
        for (const auto& [name, bytes] : ahead.state()) {
            QVERIFY2(bytes == expected.at(name), name.c_str());
        }
    }

    void an_update_after_one_that_is_not_finite_changes_nothing_data() {
        QTest::addColumn<int>("step");
        QTest::newRow("the first") << 1;
        QTest::newRow("the second") << 2;
        QTest::newRow("the seventh, after a checkpoint") << 7;
    }
    void an_update_after_one_that_is_not_finite_changes_nothing() {
        QFETCH(int, step);
        const std::vector<std::string> more{"data.shuffle=false", "checkpoint.every={\"steps\":6}"};
        const auto spoilt = [&](const compile::RunConfig& config) {
            data::DataSet data = train::open_run_data(config);
            const std::int64_t bad = (step - 1) * config.global_batch_size + 3;
            data.train = std::make_shared<Spoilt>(data.train, bad);
            return data;
        };
        const auto ahead_config = config_with(kMlp, with(kAhead, more));
        LoopRun ahead(ahead_config, gpus_of_machine(1), folder("ahead"), spoilt(ahead_config));
        LoopRun cpu(ahead_config, train::backends(), folder("cpu"), spoilt(ahead_config));
        LoopRun whole(ahead_config, gpus_of_machine(1), folder("whole"),
                      train::open_run_data(ahead_config));
        QVERIFY(!ahead.run(20) && ahead.error());
        QVERIFY(!cpu.run(20) && cpu.error());
        QCOMPARE(ahead.error()->kind, std::string("diverged"));
        QCOMPARE(ahead.error()->where, cpu.error()->where);
        QCOMPARE(ahead.error()->message, cpu.error()->message);
        same_cursor(ahead.progress(), cpu.progress());
        QCOMPARE(ahead.progress().step, std::int64_t{step - 1});
        whole.run(step - 1);
        QCOMPARE(ahead.state() == whole.state(), true);
    }

    // The update after it was under way already.
    void a_run_that_rewinds_is_one_that_was_told_data() {
        QTest::addColumn<int>("step");
        QTest::newRow("the first") << 1;
        QTest::newRow("the second") << 2;
        QTest::newRow("the seventh, after a checkpoint") << 7;
    }
    void a_run_that_rewinds_is_one_that_was_told() {
        QFETCH(int, step);
        const std::vector<std::string> more{"data.shuffle=false", "checkpoint.every={\"steps\":6}",
                                            "training.on_nonfinite=rewind"};
        const auto spoilt = [&](const compile::RunConfig& config) {
            data::DataSet data = train::open_run_data(config);
            const std::int64_t bad = (step - 1) * config.global_batch_size + 3;
            data.train = std::make_shared<Spoilt>(data.train, bad);
            return data;
        };
        const auto config = config_with(kMlp, with(kAhead, more));
        LoopRun rewound(config, gpus_of_machine(1), folder("rewound"), spoilt(config));
        QCOMPARE(rewound.run(10), std::optional(train::LoopEnd::max_steps));
        const auto& left_out = rewound.progress().passed_over;
        QVERIFY(left_out.contains(step));
        const auto told_config = config_with(
            kMlp, with(kAhead, {"data.shuffle=false", "checkpoint.every={\"steps\":6}",
                                "training.pass_over=" + config::Json(left_out).dump()}));
        LoopRun told(told_config, gpus_of_machine(1), folder("told"), spoilt(told_config));
        QCOMPARE(told.run(10), std::optional(train::LoopEnd::max_steps));
        QCOMPARE(rewound.state() == told.state(), true);
        same_cursor(rewound.progress(), told.progress());
    }

    void a_divergence_is_told_though_its_batch_cannot_be_read_again_data() {
        QTest::addColumn<bool>("on_host");
        QTest::newRow("on the host") << true;
        QTest::newRow("on a GPU") << false;
    }
    void a_divergence_is_told_though_its_batch_cannot_be_read_again() {
        QFETCH(bool, on_host);
        const auto config = config_with(kMlp, with(kAhead, {"data.shuffle=false"}));
        data::DataSet data = train::open_run_data(config);
        data.train = std::make_shared<Vanishing>(data.train, 2 * config.global_batch_size + 3);
        LoopRun run(config, on_host ? exec::Compute(train::backends()) : gpus_of_machine(1),
                    folder("vanishing"), data);
        QVERIFY(!run.run(20));
        QVERIFY(run.error().has_value());
        QCOMPARE(run.error()->kind, std::string("diverged"));
        QCOMPARE(run.error()->message,
                 std::string("Step 3: the loss became NaN. Where it began is not known: its batch "
                             "cannot be read again (shard 7: the disk is gone)."));
        QVERIFY(!run.error()->ways_on.empty());
        QCOMPARE(run.progress().step, std::int64_t{2});
    }

    void orders_at_a_boundary_lose_and_repeat_nothing_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("step");
        const std::vector<std::pair<const char*, train::CommandKind>> kinds = {
            {"pause", train::CommandKind::pause},
            {"checkpoint", train::CommandKind::checkpoint},
            {"evaluate", train::CommandKind::evaluate},
            {"stop", train::CommandKind::stop},
            {"stop now", train::CommandKind::stop_now}};
        for (const auto& [name, kind] : kinds) {
            for (int step = 2; step <= 4; ++step) { // before an evaluation, there, at a save
                QTest::addRow("%s at step %d", name, step) << static_cast<int>(kind) << step;
            }
        }
    }
    void orders_at_a_boundary_lose_and_repeat_nothing() {
        QFETCH(int, kind);
        QFETCH(int, step);
        const auto order = static_cast<train::CommandKind>(kind);
        const auto config = config_with(kMlp, with(kAhead, {"evaluation.every={\"steps\":3}",
                                                            "checkpoint.every={\"steps\":4}"}));
        LoopRun whole(config, gpus_of_machine(1), folder("whole"), train::open_run_data(config));
        QCOMPARE(whole.run(8), std::optional(train::LoopEnd::max_steps));
        LoopRun ordered(config, gpus_of_machine(1), folder("ordered"),
                        train::open_run_data(config));
        bool given = false;
        ordered.act = [&](train::RunControl& control, std::int64_t told) {
            if (told == step && !std::exchange(given, true)) {
                control.post({.kind = order, .id = {}, .by = "test"});
            }
        };
        const auto end = ordered.run(8);
        QVERIFY(given);
        std::vector<std::string> told = ordered.events();
        if (order == train::CommandKind::stop) {
            QCOMPARE(end, std::optional(train::LoopEnd::stop));
            // In another process.
            LoopRun resumed(config, gpus_of_machine(1), folder("ordered"),
                            train::open_run_data(config));
            resumed.restore();
            same_cursor(resumed.progress(), ordered.progress());
            QCOMPARE(resumed.state() == ordered.state(), true);
            resumed.run(8);
            told.insert(told.end(), resumed.events().begin(), resumed.events().end());
            QCOMPARE(resumed.state() == whole.state(), true);
            same_cursor(resumed.progress(), whole.progress());
        } else {
            if (order == train::CommandKind::stop_now) {
                QCOMPARE(end, std::optional(train::LoopEnd::stop_now));
                ordered.run(8);
                told = ordered.events();
            }
            QCOMPARE(ordered.state() == whole.state(), true);
            same_cursor(ordered.progress(), whole.progress());
        }
        const auto steps = [](const std::vector<std::string>& events) {
            std::vector<std::string> out;
            std::copy_if(events.begin(), events.end(), std::back_inserter(out),
                         [](const std::string& line) {
                             return line.find("\"event\":\"step\"") != std::string::npos;
                         });
            return out;
        };
        QCOMPARE(steps(told).size(), std::size_t{8});
        QCOMPARE(steps(told) == steps(whole.events()), true);
    }
};

WEFT_TEST(StepsAheadTest)
#include "steps_ahead_test.moc"
