// SPDX-License-Identifier: Apache-2.0
// Settings that change while a run goes on: from which step they hold is recorded, and a run that
// is killed behind the change and goes on from a checkpoint before it is, bit for bit, the run that
// was not.
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>

namespace {

using namespace weft;
using namespace weft::test;
using namespace weft::train;
using config::Json;

constexpr int kChangedAt = 10; // behind the checkpoint of step 7, before that of step 14

template <class Payload>
std::vector<Payload> told_by(const std::filesystem::path& run) {
    std::vector<Payload> out;
    for (const Event& event : events_of(run)) {
        if (const auto* payload = std::get_if<Payload>(&event.payload)) {
            out.push_back(*payload);
        }
    }
    return out;
}

class LiveSettingsTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    static std::string set(const char* path, const Json& value, const char* id) {
        return Json{{"command", "set"}, {"path", path}, {"value", value}, {"id", id}}.dump();
    }

    /// Trains to a step, changes settings there, and goes on to the end or until it is killed.
    void trains(const char* run, const QStringList& settings,
                const std::vector<std::pair<const char*, Json>>& changes, int killed_at) {
        QStringList arguments = {"train",     config_, "--run-dir",     text(run),
                                 "--control", "stdin", "--start-paused"};
        for (const QString& setting : settings) {
            arguments << "--set" << setting;
        }
        LiveWeft live(arguments);
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        for (int step = 0; step < kChangedAt; ++step) {
            live.send(R"({"command": "step"})");
            QVERIFY(live.wait_for_step(step + 1).has_value());
            QVERIFY(live.wait_for_state(RunState::paused).has_value());
        }
        for (const auto& [path, value] : changes) {
            live.send(set(path, value, path));
            const auto answer = live.wait_for_answer(path);
            QVERIFY(answer.has_value());
            QVERIFY2(answer->accepted, answer->reason.c_str());
        }
        for (int step = kChangedAt; step < killed_at; ++step) {
            live.send(R"({"command": "step"})");
            QVERIFY(live.wait_for_step(step + 1).has_value());
            QVERIFY(live.wait_for_state(RunState::paused).has_value());
        }
        if (killed_at > 0) {
            live.signal(SIGKILL);
            live.finish();
            return;
        }
        live.send(R"({"command": "resume"})");
        QCOMPARE(live.finish(), 0);
    }

    void equal(const char* a, const char* b) {
        const Finished diff = run_weft({"checkpoint", "diff", text(a), text(b)});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    void a_changed_run_that_is_killed_goes_on_bit_for_bit_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("changes");
        QTest::newRow("rate and cadences")
            << QStringList{}
            << R"([["learning_rate_multiplier", 0.25], ["evaluation.every", {"steps": 4}],
                   ["checkpoint.every", {"steps": 9}], ["training.log_every", 3]])";
        QTest::newRow("a rate") << QStringList{} << R"([["optimizer.learning_rate", 0.01]])";
        QTest::newRow("frozen layers")
            << QStringList{"training.freezable=true"} << R"([["frozen", ["layers.0"]]])";
        QTest::newRow("frozen layers on a mesh")
            << QStringList{"training.freezable=true", "mesh.devices=cpu:2", "mesh.strategy=fsdp"}
            << R"([["frozen", ["layers.1"]], ["learning_rate_multiplier", 2]])";
    }
    void a_changed_run_that_is_killed_goes_on_bit_for_bit() {
        QFETCH(QStringList, settings);
        QFETCH(QString, changes);
        const Json list = Json::parse(changes.toStdString());
        std::vector<std::pair<const char*, Json>> wanted;
        for (const Json& one : list) {
            wanted.emplace_back(one[0].get_ref<const std::string&>().c_str(), one[1]);
        }
        const std::string name = QString(QTest::currentDataTag()).replace(' ', '-').toStdString();
        const std::string whole = name + "-whole";
        const std::string killed = name + "-killed";
        trains(whole.c_str(), settings, wanted, 0);
        trains(killed.c_str(), settings, wanted, kChangedAt + 3);
        // Before the change: it has to be repeated.
        QCOMPARE(summarise_run(path(killed.c_str())).last_checkpoint_step, std::int64_t{7});
        const Finished resumed = run_weft({"resume", text(killed.c_str())});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        equal(whole.c_str(), killed.c_str());

        const auto told = told_by<SettingsEvent>(path(killed.c_str()));
        QCOMPARE(told.size(), 2 * wanted.size());
        for (std::size_t i = 0; i < told.size(); ++i) {
            QCOMPARE(told[i].step, std::int64_t{kChangedAt});
            QCOMPARE(told[i].replayed, i >= wanted.size());
        }
        // And it is another run than one that nobody changed.
        const std::string plain = name + "-plain";
        const Finished other = train_weft(config_, text(plain.c_str()), settings, {});
        QVERIFY2(other.code == 0, other.err.c_str());
        QCOMPARE(run_weft({"checkpoint", "diff", text(whole.c_str()), text(plain.c_str())}).code,
                 1);
    }

    void a_frozen_layer_stays_and_the_others_do_not() {
        trains("frozen",
               {"training.freezable=true", "checkpoint.every={\"steps\":10}",
                "checkpoint.keep_latest=10"},
               {{"frozen", Json::array({"layers.0"})}}, 0);
        const auto arrays = [&](int step) {
            const auto manifest = checkpoint::read_manifest(path("frozen") / "checkpoints" /
                                                            checkpoint::folder_name(step));
            std::map<std::string, std::vector<std::byte>> out;
            for (const checkpoint::TensorInfo& tensor : manifest.tensors) {
                auto& bytes = out[tensor.name];
                bytes.resize(static_cast<std::size_t>(tensor.type.bytes()));
                checkpoint::read_tensor(manifest, tensor.name, bytes);
            }
            return out;
        };
        const auto before = arrays(kChangedAt);
        const auto after = arrays(40);
        for (const char* stays : {"layers.0.weight", "layers.0.bias"}) {
            QVERIFY2(before.at(stays) == after.at(stays), stays);
        }
        for (const char* moves :
             {"layers.1.weight", "layers.1.bias", "optimizer.m/layers.0.weight"}) {
            QVERIFY2(before.at(moves) != after.at(moves), moves);
        }
    }

    // One that may freeze and does not has the bits of one that cannot.
    void what_could_be_frozen_and_is_not_trains_as_ever() {
        const Finished plain = train_weft(config_, text("cannot"), {}, {});
        const Finished able = train_weft(config_, text("can"), {"training.freezable=true"}, {});
        QVERIFY2(plain.code == 0 && able.code == 0, (plain.err + able.err).c_str());
        equal("cannot", "can");
    }

    void a_rate_that_is_told_is_the_rate_of_the_steps() {
        trains("rate", {R"(lr_schedule={"type":"constant"})"}, {{"optimizer.learning_rate", 0.02}},
               0);
        for (const StepEvent& step : told_by<StepEvent>(path("rate"))) {
            QCOMPARE(step.learning_rate, step.step <= kChangedAt ? 0.001 : 0.02);
        }
    }

    void a_later_order_takes_the_place_of_what_was_to_be_repeated() {
        trains("twice", {R"(lr_schedule={"type":"constant"})"}, {{"learning_rate_multiplier", 4}},
               kChangedAt + 3);
        LiveWeft live({"resume", text("twice"), "--control", "stdin"});
        live.send(set("learning_rate_multiplier", 0.5, "s"));
        QVERIFY(live.wait_for_answer("s")->accepted);
        QCOMPARE(live.finish(), 0);
        double last = 0;
        for (const StepEvent& step : told_by<StepEvent>(path("twice"))) {
            last = step.learning_rate;
        }
        QCOMPARE(last, 0.0005);
    }

    void orders_come_by_weft_tell() {
        LiveWeft live(
            {"train", config_, "--run-dir", text("told"), "--control", "stdin", "--start-paused"});
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        live.send(R"({"command": "step"})");
        QVERIFY(live.wait_for_step(1).has_value());
        // The socket of the run, which its lock names.
        const Finished set = run_weft({"tell", text("told"), "set", "optimizer.learning_rate=0.5",
                                       "evaluation.every={\"steps\": 3}"});
        QVERIFY2(set.code == 0, (set.out + set.err).c_str());
        const Finished wrong =
            run_weft({"tell", text("told"), "set", "optimizer.learning_rate=-1"});
        QCOMPARE(wrong.code, 2);
        QVERIFY2(wrong.err.find("must be a number above 0") != std::string::npos,
                 wrong.err.c_str());
        const Finished frozen = run_weft({"tell", text("told"), "set", "frozen=[\"layers.0\"]"});
        QCOMPARE(frozen.code, 2);
        QVERIFY2(frozen.err.find("training.freezable=true") != std::string::npos,
                 frozen.err.c_str());
        QCOMPARE(run_weft({"tell", text("told"), "pause", "now"}).code, 2);
        QCOMPARE(run_weft({"tell", text("told"), "sett", "a=1"}).code, 2);
        QCOMPARE(run_weft({"tell", text("told"), "resume"}).code, 0);
        QCOMPARE(live.finish(), 0);
        QVERIFY(run_weft({"tell", text("told"), "pause"}).code != 0); // it has ended
        QCOMPARE(told_by<SettingsEvent>(path("told")).size(), std::size_t{2});
    }
};

WEFT_TEST(LiveSettingsTest)

} // namespace
#include "live_settings_test.moc"
