// SPDX-License-Identifier: Apache-2.0
// Three writers side by side on a disk whose n-th change goes wrong, for every n: whichever writer
// meets it, what shows afterwards is whole, and nothing half-written stays.
#include "tests/sim/checkpoint/disk_calls.h"
#include "tests/unit/checkpoint/piece_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

constexpr int kMostCalls = 10000; // a save makes some tens

/// Names in the folder that are no checkpoint.
std::vector<std::string> strays(const std::filesystem::path& folder) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("step-")) {
            out.push_back(name);
        }
    }
    return out;
}

/// Whether every checkpoint in the folder holds the state of its step.
bool all_whole(const std::filesystem::path& folder) {
    const std::vector<Entry> entries = list_checkpoints(folder);
    return std::all_of(entries.begin(), entries.end(), [](const Entry& entry) {
        return entry.problem.empty() && verify(read_manifest(entry.path)).empty() &&
               comes_back(read_manifest(entry.path),
                          state_of_three(static_cast<float>(entry.step)));
    });
}

} // namespace

class DiskFaultTest : public QObject {
    Q_OBJECT

private slots:
    void a_fault_at_any_call_leaves_whole_checkpoints_only_data() {
        QTest::addColumn<int>("fault");
        QTest::newRow("full for one call") << static_cast<int>(Fault::full);
        QTest::newRow("a disk that stays full") << static_cast<int>(Fault::stays_full);
        QTest::newRow("a broken disk") << static_cast<int>(Fault::broken);
        QTest::newRow("a write of a half") << static_cast<int>(Fault::short_write);
    }

    void a_fault_at_any_call_leaves_whole_checkpoints_only() {
        QFETCH(const int, fault);
        const Folder folder;
        write_checkpoint(folder.path(), state_of_three(1).views(), record_of_three(1));
        const PieceArrays state = state_of_three(2);
        int faults = 0;
        for (bool happened = true; happened && faults < kMostCalls; ++faults) {
            std::optional<Error> error;
            {
                const DiskFault disk(faults, static_cast<Fault>(fault));
                error = error_of(
                    [&] { write_checkpoint(folder.path(), state.views(), record_of_three(2)); });
                happened = disk.happened();
            }
            const bool is_error = happened && static_cast<Fault>(fault) != Fault::short_write;
            QCOMPARE(error.has_value(), is_error);
            QVERIFY(!error || error->kind() == ErrorKind::checkpoint);
            QCOMPARE(strays(folder.path()), std::vector<std::string>());
            QVERIFY2(all_whole(folder.path()), std::to_string(faults).c_str());
            const std::vector<std::int64_t> steps = steps_in(folder.path());
            QVERIFY(std::find(steps.begin(), steps.end(), 1) != steps.end());
            // The last call makes the new name durable: the checkpoint is there, though it may not
            // outlive a power cut.
            std::filesystem::remove_all(folder.path() / folder_name(2));
        }
        // Each of three shards and the manifest is written and made durable by calls of its own.
        QVERIFY2(faults > 2 * 4, std::to_string(faults).c_str());
    }
};

WEFT_TEST(DiskFaultTest)
#include "disk_fault_test.moc"
