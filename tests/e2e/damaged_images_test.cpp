// SPDX-License-Identifier: Apache-2.0
// Pictures that are decoded while a run trains: a few may be damaged, and are left out as those of
// a set that fits into memory are. More of them, or a file that cannot be opened, pause the run.
#include "core/base/file.h"
#include "core/data/dataset.h"
#include "core/train/record/run_summary.h"
#include "tests/data/image_support.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>

namespace {

using namespace weft::test;
using namespace weft::train;
using weft::config::Json;
using weft::config::json_of;
using weft::data::test::plain_image;
using weft::data::test::png_bytes;
namespace fs = std::filesystem;

constexpr int kPicturesPerClass = 12; // of two classes: two of 24 may be damaged

using Losses = std::vector<double>; // of each update, in order

template <class Wanted>
std::vector<Wanted> payloads_of(const std::vector<Event>& events) {
    std::vector<Wanted> out;
    for (const Event& event : events) {
        if (const auto* found = std::get_if<Wanted>(&event.payload)) {
            out.push_back(*found);
        }
    }
    return out;
}

std::vector<std::string> warnings_with(const fs::path& run, const std::string& with) {
    std::vector<std::string> out;
    for (const WarningEvent& one : payloads_of<WarningEvent>(events_of(run))) {
        if (one.message.find(with) != std::string::npos) {
            out.push_back(one.message);
        }
    }
    return out;
}

Losses update_losses(const fs::path& run) {
    Losses out;
    for (const StepEvent& step : payloads_of<StepEvent>(events_of(run))) {
        if (step.step != static_cast<std::int64_t>(out.size()) + 1) {
            return {}; // lost, or taken twice
        }
        out.push_back(step.loss);
    }
    return out;
}

class DamagedImagesTest : public QObject, private TestFolder {
    Q_OBJECT

    static std::string picture(int shade) {
        const auto level = static_cast<std::uint8_t>(shade * 9);
        return png_bytes(plain_image(6, 6, {level, 200, static_cast<std::uint8_t>(255 - level)}));
    }

    static void write(const fs::path& path, const std::string& bytes) {
        fs::create_directories(path.parent_path());
        weft::write_file_atomically(path, bytes);
    }

    fs::path write_pictures(const char* name) const {
        const fs::path folder = path(name);
        for (int i = 0; i < kPicturesPerClass; ++i) {
            const std::string file = std::string(1, static_cast<char>('a' + i)) + ".png";
            write(folder / "left" / file, picture(i));
            write(folder / "right" / file, picture(27 - i));
        }
        return folder;
    }

    static void damage(const fs::path& path) { write(path, picture(1).substr(0, 60)); }

    /// A run on a folder of pictures, none of which stays in memory.
    QStringList train_on(const fs::path& pictures, const char* run,
                         const QStringList& more = {}) const {
        Json changes = json_of(R"({"model": {"dropout": 0.1},
            "training": {"global_batch_size": 5, "precision": "f32"},
            "checkpoint": {"every": null, "on_improvement": false}})");
        changes["data"]["train"] = {
            {"type", "images"},   {"path", pictures.string()}, {"size", {6, 6}},
            {"memory_limit", 0},  {"kind", nullptr},           {"features", nullptr},
            {"classes", nullptr}, {"samples", nullptr},        {"seed", nullptr}};
        return QStringList{
                   "train",     write_config(path((std::string(run) + "-config").c_str()), changes),
                   "--run-dir", text(run),
                   "--set",     "data.validation=null"} +
               more;
    }

    /// The pause of a run whose data cannot be read, and what was said before it.
    static std::string wait_for_pause(LiveWeft& live) {
        std::string said;
        const auto paused = live.wait_for([&](const Event& event) {
            if (const auto* one = std::get_if<WarningEvent>(&event.payload)) {
                said += one->message + " " + one->hint + "\n";
            }
            const auto* state = std::get_if<StateEvent>(&event.payload);
            return state != nullptr && state->state == RunState::paused &&
                   state->reason == "the data cannot be read";
        });
        return paused ? said : "it did not pause: " + said;
    }

    /// Rows: what reads the batches.
    static void every_reader() {
        QTest::addColumn<QStringList>("more");
        QTest::newRow("one device") << QStringList{};
        QTest::newRow("in the caller") << QStringList{"--set", "data.prefetch=0"};
        QTest::newRow("two devices") << QStringList{"--devices", "cpu:2"};
    }

private slots:
    void a_damaged_picture_is_left_out_and_named_once_data() { every_reader(); }

    // Ordered alike, with another class: were anything of it counted, the class would show.
    void a_damaged_picture_is_left_out_and_named_once() {
        QFETCH(QStringList, more);
        const std::string tag = std::to_string(more.size()) + (more.contains("--set") ? "s" : "d");
        Losses losses[2];
        for (const bool right : {false, true}) {
            const std::string name = tag + (right ? "right" : "left");
            const fs::path pictures = write_pictures((name + "-pictures").c_str());
            const fs::path damaged = pictures / (right ? "right/0.png" : "left/z.png");
            damage(damaged);
            const Finished done = run_weft(train_on(pictures, name.c_str(), more));
            QVERIFY2(done.code == 0, done.err.c_str());
            losses[right ? 1 : 0] = update_losses(path(name.c_str()));
            const auto told = warnings_with(path(name.c_str()), damaged.string());
            QCOMPARE(told.size(), std::size_t(1)); // of 40 updates in 8 epochs
            QVERIFY2(told[0].find("1 damaged sample of train is left out") != std::string::npos,
                     told[0].c_str());
        }
        QCOMPARE(losses[0].size(), std::size_t(40));
        QCOMPARE(losses[0], losses[1]);
        // Half of it, and the rest in another process.
        const std::string halves = tag + "halves";
        const fs::path pictures = path((tag + "right-pictures").c_str());
        QCOMPARE(
            run_weft(train_on(pictures, halves.c_str(), more) + QStringList{"--max-steps", "17"})
                .code,
            0);
        QCOMPARE(run_weft({"resume", text(halves.c_str())}).code, 0);
        QCOMPARE(update_losses(path(halves.c_str())), losses[1]);
        QCOMPARE(warnings_with(path(halves.c_str()), "0.png").size(), std::size_t(1));
    }

    void devices_and_batches_made_ahead_change_nothing() {
        const fs::path pictures = write_pictures("mesh-pictures");
        damage(pictures / "left/c.png");
        damage(pictures / "right/d.png");
        QCOMPARE(run_weft(train_on(pictures, "mesh-1")).code, 0);
        QCOMPARE(run_weft(train_on(pictures, "mesh-0", {"--set", "data.prefetch=0"})).code, 0);
        QCOMPARE(run_weft(train_on(pictures, "mesh-2", {"--devices", "cpu:2"})).code, 0);
        const Losses one = update_losses(path("mesh-1"));
        QCOMPARE(one.size(), std::size_t(40));
        QCOMPARE(update_losses(path("mesh-0")), one);
        const Losses two = update_losses(path("mesh-2"));
        QCOMPARE(two.size(), one.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            QVERIFY(std::abs(one[i] - two[i]) <= 1e-5); // f32 sums in another order
        }
    }

    void more_than_most_bad_pause_the_run_until_they_are_mended_data() { every_reader(); }

    void more_than_most_bad_pause_the_run_until_they_are_mended() {
        QFETCH(QStringList, more);
        const std::string tag =
            "most" + std::to_string(more.size()) + (more.contains("--set") ? "s" : "d");
        const fs::path pictures = write_pictures((tag + "-pictures").c_str());
        const std::vector<fs::path> damaged = {pictures / "left/b.png", pictures / "left/k.png",
                                               pictures / "right/f.png"};
        for (const fs::path& one : damaged) {
            damage(one);
        }
        LiveWeft live(train_on(pictures, tag.c_str(), more + QStringList{"--control", "stdin"}));
        for (int i = 0; i < 2; ++i) { // not mended, a resume leads back to the pause
            const std::string said = wait_for_pause(live);
            QVERIFY2(said.find("3 of 24 images") != std::string::npos &&
                         said.find("data.train.most_bad") != std::string::npos &&
                         said.find("Training is paused") != std::string::npos,
                     said.c_str());
            for (const fs::path& one : damaged) {
                QVERIFY2(said.find(one.string()) != std::string::npos, said.c_str());
            }
            if (i == 0) {
                live.send(R"({"command": "resume"})");
            }
        }
        const RunSummary summary = summarise_run(path(tag.c_str()));
        QCOMPARE(summary.last_checkpoint_step, summary.step);
        write(damaged[0], picture(1));
        live.send(R"({"command": "resume"})");
        QCOMPARE(live.finish(), 0);
        QCOMPARE(update_losses(path(tag.c_str())).size(), std::size_t(40));
    }

    // So it is for a process that goes on with the run: it knows what was left out before.
    void more_than_most_bad_pause_what_resumes_the_run() {
        const fs::path pictures = write_pictures("again-pictures");
        for (const char* one : {"left/b.png", "left/k.png", "right/f.png"}) {
            damage(pictures / one);
        }
        {
            LiveWeft live(train_on(pictures, "again", {"--control", "stdin"}));
            QVERIFY(wait_for_pause(live).find("3 of 24 images") != std::string::npos);
            live.send(R"({"command": "stop"})");
            QCOMPARE(live.finish(), kExitStopped);
        }
        LiveWeft live({"resume", text("again"), "--control", "stdin"});
        const std::string said = wait_for_pause(live);
        QVERIFY2(said.find("3 of 24 images") != std::string::npos, said.c_str());
        write(pictures / "right/f.png", picture(3));
        live.send(R"({"command": "resume"})");
        QCOMPARE(live.finish(), 0);
        QCOMPARE(update_losses(path("again")).size(), std::size_t(40));
    }

    void a_picture_that_is_removed_pauses_and_put_back_it_goes_on_data() {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<bool>("by_another");
        QTest::newRow("in one process") << QStringList{} << false;
        QTest::newRow("in the caller") << QStringList{"--set", "data.prefetch=0"} << false;
        QTest::newRow("two devices") << QStringList{"--devices", "cpu:2"} << false;
        QTest::newRow("by another process") << QStringList{} << true;
    }

    void a_picture_that_is_removed_pauses_and_put_back_it_goes_on() {
        QFETCH(QStringList, more);
        QFETCH(bool, by_another);
        const std::string tag = "gone" + std::to_string(more.size()) +
                                (more.contains("--set") ? "s" : "d") + (by_another ? "o" : "");
        const fs::path pictures = write_pictures((tag + "-pictures").c_str());
        const QStringList slow = {"--set", "evaluation.every={\"steps\": 7}"};
        QCOMPARE(run_weft(train_on(pictures, (tag + "whole").c_str(), more + slow)).code, 0);
        const Losses whole = update_losses(path((tag + "whole").c_str()));
        QCOMPARE(whole.size(), std::size_t(40));
        // Paused at its start, the loader has read no more than its buffers hold.
        LiveWeft live(train_on(pictures, tag.c_str(),
                               more + slow + QStringList{"--control", "stdin", "--start-paused"}));
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        fs::rename(pictures / "left", pictures.string() + "-away");
        live.send(R"({"command": "resume"})");
        const std::string said = wait_for_pause(live);
        QVERIFY2(said.find("cannot open") != std::string::npos &&
                     said.find((pictures / "left").string()) != std::string::npos &&
                     said.find("Training is paused") != std::string::npos,
                 said.c_str());
        const RunSummary summary = summarise_run(path(tag.c_str()));
        QVERIFY(summary.step == 0 || summary.last_checkpoint_step == summary.step);
        fs::rename(pictures.string() + "-away", pictures / "left");
        if (by_another) {
            live.send(R"({"command": "stop"})");
            QCOMPARE(live.finish(), kExitStopped);
            QCOMPARE(run_weft({"resume", text(tag.c_str())}).code, 0);
        } else {
            live.send(R"({"command": "resume"})");
            QCOMPARE(live.finish(), 0);
        }
        QCOMPARE(update_losses(path(tag.c_str())), whole);
    }

    void a_validation_that_cannot_be_read_pauses_before_the_end_is_said() {
        const fs::path pictures = write_pictures("check-pictures");
        const fs::path others = write_pictures("check-others");
        const QString own =
            QStringLiteral("data.validation={\"type\": \"images\", \"path\": \"%1\", "
                           "\"memory_limit\": 0}")
                .arg(QString::fromStdString(others.string()));
        // Measured once: at the end.
        LiveWeft live(
            train_on(pictures, "check",
                     {"--set", own, "--set", "evaluation.every={\"steps\": 1000}", "--set",
                      "evaluation.at_start=false", "--control", "stdin", "--start-paused"}));
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        fs::rename(others, path("check-away"));
        live.send(R"({"command": "resume"})");
        const std::string said = wait_for_pause(live);
        QVERIFY2(said.find((others / "left/a.png").string()) != std::string::npos, said.c_str());
        QCOMPARE(summarise_run(path("check")).last_checkpoint_step, std::int64_t(40));
        fs::rename(path("check-away"), others);
        live.send(R"({"command": "resume"})");
        QCOMPARE(live.finish(), 0);
        const auto measured = payloads_of<EvaluationEvent>(events_of(path("check")));
        QCOMPARE(measured.size(), std::size_t(1));
        QCOMPARE(measured[0].step, std::int64_t(40));
    }

    void eval_and_predict_say_what_they_leave_out() {
        const fs::path pictures = write_pictures("said-pictures");
        const std::string damaged = (pictures / "left/c.png").string();
        damage(damaged);
        QCOMPARE(run_weft(train_on(pictures, "said", {"--max-steps", "2"})).code, 0);
        const Finished measured = run_weft({"eval", text("said"), "--split", "train", "--json"});
        QVERIFY2(measured.code == 0, measured.err.c_str());
        QVERIFY2(measured.err.find("1 damaged sample of train is left out: " + damaged) !=
                     std::string::npos,
                 measured.err.c_str());
        QCOMPARE(json_of(measured.out)["samples"].get<int>(), 23);
        QCOMPARE(json_of(measured.out)["left_out"].get<int>(), 1);
        const Finished guessed = run_weft({"predict", text("said"), "0-4", "--split", "train"});
        QVERIFY2(guessed.code == 0, guessed.err.c_str());
        QVERIFY2(guessed.err.find("train #2 is left out: " + damaged) != std::string::npos,
                 guessed.err.c_str());
        QVERIFY(guessed.out.find("train #2:") == std::string::npos);
        QCOMPARE(std::count(guessed.out.begin(), guessed.out.end(), '\n'), std::ptrdiff_t(4));
        for (const char* more : {"left/d.png", "left/e.png"}) {
            damage(pictures / more);
        }
        QCOMPARE(run_weft({"eval", text("said"), "--split", "train"}).code, 3);
    }
};

} // namespace

WEFT_TEST(DamagedImagesTest)
#include "damaged_images_test.moc"
