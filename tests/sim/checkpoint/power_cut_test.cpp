// SPDX-License-Identifier: Apache-2.0
// What the power leaves when it goes in the middle of saves, at random moments and with a random
// part of what was not synced: the newest checkpoint whose save was told is there, all that shows
// is whole, and the next save works and leaves nothing stray.
#include "tests/sim/checkpoint/power_cut.h"
#include "tests/unit/checkpoint/piece_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

constexpr int kSeeds = 1000;
constexpr int kSavesAfter = 20; // one of so many cuts is gone on from: saves sync the real disk
constexpr std::int64_t kSteps = 6;

ManagerOptions cut_options(const std::filesystem::path& folder) {
    ManagerOptions options;
    options.folder = folder;
    options.keep_best = 1;
    return options;
}

/// Waits for the save and returns what went wrong.
std::string save_one(Manager& manager, std::int64_t step, std::optional<double> metric = {}) {
    manager.save(state_of_three(static_cast<float>(step)).views(), record_of_three(step, metric));
    manager.wait();
    const Saved saved = manager.take_finished().at(0);
    return saved.error + saved.warning;
}

/// What is wrong with a folder in which everything up to `newest` was saved; empty: nothing.
std::string wrong_in(const std::filesystem::path& folder, std::int64_t newest) {
    std::int64_t found = 0;
    for (const Entry& entry : list_checkpoints(folder)) {
        if (entry.path.filename().string().front() == '.') {
            continue; // what a save had begun
        }
        if (!entry.problem.empty()) {
            return entry.path.filename().string() + ": " + entry.problem;
        }
        const Manifest manifest = read_manifest(entry.path);
        const std::vector<std::string> problems = verify(manifest);
        if (!problems.empty()) {
            return problems.front();
        }
        if (!comes_back(manifest, state_of_three(static_cast<float>(entry.step)))) {
            return "step " + std::to_string(entry.step) + " has arrays of another";
        }
        found = std::max(found, entry.step);
    }
    return found >= newest ? std::string()
                           : "the newest is " + std::to_string(found) + ", and " +
                                 std::to_string(newest) + " was saved";
}

bool has_strays(const std::filesystem::path& folder) {
    const std::filesystem::directory_iterator entries(folder);
    return std::any_of(begin(entries), end(entries), [](const auto& entry) {
        return !entry.path().filename().string().starts_with("step-");
    });
}

} // namespace

class PowerCutTest : public QObject {
    Q_OBJECT

private slots:
    /// Six saves by three writers; those of even steps are marked with their metric afterwards, and
    /// old ones are removed.
    void initTestCase() {
        const Folder folder;
        DiskRecord record(folder.path());
        record.mark(0);
        {
            Manager manager(cut_options(folder.path()));
            for (std::int64_t step = 1; step <= kSteps; ++step) {
                QCOMPARE(save_one(manager, step), std::string());
                record.mark(step);
                if (step % 2 == 0) {
                    QCOMPARE(save_one(manager, step, static_cast<double>(step % 4)), std::string());
                }
            }
        }
        changes_ = record.changes();
        QVERIFY(changes_.size() > 200);
    }

    void the_newest_checkpoint_is_there_after_a_power_cut() {
        int lost = 0; // cuts that cost the save under way
        for (unsigned seed = 0; seed < kSeeds; ++seed) {
            std::mt19937 random(seed);
            const std::size_t cut = random() % (changes_.size() + 1);
            const auto until = std::span(changes_).first(cut);
            std::int64_t newest = 0;
            for (const DiskChange& change : until) {
                newest = change.kind == DiskChange::Kind::mark ? change.offset : newest;
            }
            const Folder folder;
            leave_after_power_cut(until, random, folder.path());
            const auto place = [&] {
                return "seed " + std::to_string(seed) + ", after " + std::to_string(cut) +
                       " changes: ";
            };
            std::string wrong = wrong_in(folder.path(), newest);
            QVERIFY2(wrong.empty(), (place() + wrong).c_str());
            lost += has_strays(folder.path()) ? 1 : 0;
            if (seed % kSavesAfter == 0) {
                Manager manager(cut_options(folder.path()));
                wrong = save_one(manager, kSteps + 1);
                wrong += wrong_in(folder.path(), kSteps + 1);
                QVERIFY2(wrong.empty(), (place() + wrong).c_str());
                QVERIFY2(!has_strays(folder.path()), place().c_str());
            }
        }
        QVERIFY2(lost > kSeeds / 10, "the cuts must hit saves, or the test shows nothing");
    }

private:
    std::vector<DiskChange> changes_;
};

WEFT_TEST(PowerCutTest)
#include "power_cut_test.moc"
