// SPDX-License-Identifier: Apache-2.0
// A process that saves without pause is killed at random moments. Whatever the moment: every
// checkpoint that shows is whole and holds the state of its step, the newest one never goes back,
// and the next save leaves nothing stray.
#include "tests/unit/checkpoint/piece_support.h"

#include <algorithm>
#include <random>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

constexpr int kTrials = 200; // in all
constexpr unsigned kSeed = 20240917;

/// Saves a state that is a function of the step.
void save(Manager& manager, int writers, std::int64_t step,
          std::optional<double> metric = std::nullopt) {
    if (writers == 3) {
        manager.save(state_of_three(static_cast<float>(step)).views(),
                     record_of_three(step, metric));
        return;
    }
    PieceArrays state;
    state.add("weight", {3000}, {{{0}, {3000}}}, {0}, static_cast<float>(step));
    manager.save(state.views(), record_of(step, metric));
}

bool is_whole(const Manifest& manifest, int writers) {
    const std::int64_t step = manifest.record.step;
    if (!verify(manifest).empty()) {
        return false;
    }
    if (writers == 3) {
        return comes_back(manifest, state_of_three(static_cast<float>(step)));
    }
    std::vector<float> values(3000);
    read_tensor(manifest, "weight", std::as_writable_bytes(std::span(values)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != static_cast<float>(step) * static_cast<float>(i)) {
            return false;
        }
    }
    return true;
}

ManagerOptions options_of(const std::filesystem::path& folder) {
    ManagerOptions options;
    options.folder = folder;
    options.keep_best = 2;
    return options;
}

/// What the killed process does: every other step is saved again with its metric.
[[noreturn]] void save_for_ever(const std::filesystem::path& folder, int writers,
                                std::int64_t step) {
    Manager manager(options_of(folder));
    for (;; ++step) {
        save(manager, writers, step);
        if (step % 2 == 0) {
            save(manager, writers, step, static_cast<double>(step % 7));
        }
    }
}

/// Runs save_for_ever in a process of its own and kills it after some time.
void save_until_killed(const std::filesystem::path& folder, int writers, std::int64_t step,
                       int microseconds) {
    const pid_t child = fork();
    if (child == 0) {
        save_for_ever(folder, writers, step);
    }
    const timespec moment{0, microseconds * 1000L};
    ppoll(nullptr, 0, &moment, nullptr);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    QVERIFY2(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the process ended by itself");
}

/// The newest step; -1 when there is none. Every checkpoint must be whole.
std::int64_t newest_whole_step(const std::filesystem::path& folder, int writers) {
    std::int64_t newest = -1;
    for (const Entry& entry : list_checkpoints(folder)) {
        if (entry.path.filename().string().front() == '.') {
            continue;
        }
        if (!entry.problem.empty() || !is_whole(read_manifest(entry.path), writers)) {
            qWarning("%s: %s", entry.path.c_str(), entry.problem.c_str());
            return -2;
        }
        newest = std::max(newest, entry.step);
    }
    return newest;
}

/// Everything below the folder that is no part of a checkpoint.
std::vector<std::string> stray_names(const std::filesystem::path& folder) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const bool known = name.starts_with("step-") || name == "manifest.json" ||
                           name == "checkpoint.weftckpt" || name.starts_with("arrays-");
        if (!known) {
            out.push_back(entry.path().string());
        }
    }
    return out;
}

} // namespace

class KillTest : public QObject {
    Q_OBJECT

private slots:
    void a_killed_save_is_always_resumable_and_leaves_nothing_behind_data() {
        QTest::addColumn<int>("writers");
        QTest::newRow("one writer") << 1;
        QTest::newRow("three writers") << 3;
    }

    void a_killed_save_is_always_resumable_and_leaves_nothing_behind() {
        QFETCH(const int, writers);
        const Folder folder;
        std::mt19937 random(kSeed);
        std::int64_t newest = 0;
        int interrupted = 0;
        {
            Manager manager(options_of(folder.path()));
            save(manager, writers, 0);
        }
        for (int trial = 0; trial < kTrials / 2; ++trial) {
            save_until_killed(folder.path(), writers, newest + 1,
                              static_cast<int>(random() % 25000));
            interrupted += stray_names(folder.path()).empty() ? 0 : 1;
            const std::int64_t found = newest_whole_step(folder.path(), writers);
            QVERIFY2(found >= newest,
                     ("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial) +
                      ": step " + std::to_string(found) + " after " + std::to_string(newest))
                         .c_str());
            newest = found + 1;
            Manager manager(options_of(folder.path()));
            save(manager, writers, newest);
            manager.wait();
            QVERIFY(manager.take_finished().at(0).error.empty());
            QCOMPARE(stray_names(folder.path()), std::vector<std::string>());
            QCOMPARE(newest_whole_step(folder.path(), writers), newest);
        }
        QVERIFY2(interrupted > kTrials / 20, "the kills must hit saves, or the test shows nothing");
    }
};

WEFT_TEST(KillTest)
#include "kill_test.moc"
