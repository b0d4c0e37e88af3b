// SPDX-License-Identifier: Apache-2.0
// A rank that dies or stops at a random moment: the run ends, says which one it was, and goes on
// from its last checkpoint. WEFT_LOST_RANKS: so many of each kind, and a table of how long it took.
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/philox.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/e2e/ranks/rank_processes.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <random>

using namespace weft;
using namespace weft::test;

namespace {

QString path_text(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

/// What travels: a few bytes, or MiB in several exchanges beside the backward phase.
enum class Gradients : std::uint8_t { small, large };

QString write_long_run(const std::filesystem::path& folder, int ranks, Gradients gradients) {
    config::Json document = config::Json::parse(kMlp);
    document["schema_version"] = 1;
    if (gradients == Gradients::large) {
        document["model"]["hidden"] = {768, 768, 768};
    }
    document["mesh"] = {{"devices", "cpu:" + std::to_string(ranks)}};
    document["training"]["length"] = {{"steps", 1'000'000}};
    document["checkpoint"] = {{"every", {{"steps", 20}}}};
    const auto path = folder / "run.json";
    write_file_atomically(path, document.dump(2));
    return path_text(path);
}

std::optional<train::RankEvent> lost_in(const std::filesystem::path& run) {
    for (const train::Event& event : events_of(run)) {
        const auto* rank = std::get_if<train::RankEvent>(&event.payload);
        if (rank != nullptr && rank->state == "lost") {
            return *rank;
        }
    }
    return std::nullopt;
}

} // namespace

class LostRankTest : public QObject {
    Q_OBJECT

    /// Seconds from the signal to the end of rank 0.
    static double lose_one(int ranks, int victim, int number, std::int64_t after_step,
                           Gradients gradients) {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_long_run(root, ranks, gradients);
        const auto run = root / "run";
        RankProcesses many({"train", config, "--run-dir", path_text(run), "--events"},
                           {ranks, "00ff", {}});
        WEFT_CHECK(many.wait_for_step(after_step).has_value(), "the run begins");
        const SystemClock clock;
        const double since_s = clock.steady_s();
        many.signal(victim, number);
        const bool ended =
            many.wait_for([](const train::Event& event) {
                    const auto* state = std::get_if<train::StateEvent>(&event.payload);
                    return state != nullptr && state->state == train::RunState::failed;
                })
                .has_value();
        const double took_s = clock.steady_s() - since_s;
        WEFT_CHECK(ended, "the run ends");
        if (number == SIGSTOP) {
            many.signal(victim, SIGCONT);
        }
        const std::vector<int> codes = many.finish();
        [&] {
            QCOMPARE(codes.front(), 6); // INTERFACES.md: device or communication
            for (int rank = 1; rank < ranks; ++rank) {
                QVERIFY(codes[static_cast<std::size_t>(rank)] != 0);
            }
            const auto lost = lost_in(run);
            QVERIFY(lost.has_value());
            QCOMPARE(lost->rank, victim);
            const std::string said = many.error_output(0);
            QVERIFY2(said.find("rank " + std::to_string(victim) + " (host ") != std::string::npos,
                     said.c_str());
            // What was told of is there, and all that is there is whole.
            std::int64_t saved = -1;
            for (const train::Event& event : events_of(run)) {
                if (const auto* one = std::get_if<train::CheckpointEvent>(&event.payload)) {
                    saved = one->step;
                }
            }
            const auto entries = checkpoint::list_checkpoints(run / "checkpoints");
            QVERIFY(saved < 0 || (!entries.empty() && entries.back().step >= saved));
            for (const checkpoint::Entry& entry : entries) {
                if (entry.step >= 0 && entry.path.filename().string().starts_with("step-")) {
                    QVERIFY(entry.problem.empty());
                    QVERIFY(train::verify_checkpoint(entry.path).empty());
                }
            }
            if (saved >= 0) { // and simulated devices go on from there
                const Finished rest =
                    run_weft({"resume", path_text(run), "--max-steps", QString::number(saved + 2)});
                QVERIFY2(rest.code == 0, rest.err.c_str());
            }
        }();
        return took_s;
    }

private slots:
    void a_rank_that_dies_is_named() { lose_one(3, 2, SIGKILL, 25, Gradients::small); }

    void a_rank_that_stops_is_named() { lose_one(3, 1, SIGSTOP, 25, Gradients::small); }

    void a_rank_that_dies_while_gradients_travel_is_named() {
        lose_one(2, 1, SIGKILL, 25, Gradients::large);
    }

    void many_are_lost_at_random_moments() {
        bool asked = false;
        const int count = qEnvironmentVariableIntValue("WEFT_LOST_RANKS", &asked);
        if (!asked) {
            QSKIP("WEFT_LOST_RANKS is not set");
        }
        std::mt19937 draw(7);
        for (const int number : {SIGKILL, SIGSTOP}) {
            std::vector<double> times;
            for (int i = 0; i < count; ++i) {
                const int ranks = 2 + static_cast<int>(draw() % 3);
                const int victim = 1 + static_cast<int>(draw() % static_cast<unsigned>(ranks - 1));
                const Gradients gradients = draw() % 2 == 0 ? Gradients::small : Gradients::large;
                times.push_back(lose_one(ranks, victim, number, 1 + draw() % 60, gradients));
                if (QTest::currentTestFailed()) {
                    return;
                }
            }
            std::sort(times.begin(), times.end());
            std::printf("%s: %d ranks lost, noticed in median %.2f s, 95 %% %.2f s, most %.2f s\n",
                        number == SIGKILL ? "killed" : "stopped", count, times[times.size() / 2],
                        times[times.size() * 95 / 100], times.back());
        }
    }
};

WEFT_TEST(LostRankTest)
#include "lost_rank_test.moc"
