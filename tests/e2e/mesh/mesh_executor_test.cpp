// SPDX-License-Identifier: Apache-2.0
// The executor of a mesh keeps nothing of what it hands out.
#include "core/base/machine.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::test;

class MeshExecutorTest : public QObject {
    Q_OBJECT
private slots:
    void slots_that_were_read_are_not_kept() {
        const compile::RunConfig config =
            mesh_config(kMlp, {"mesh.devices=cpu:2", "mesh.strategy=fsdp",
                               "model.hidden=[1024,1024,1024,1024]"});
        exec::Executor executor(mesh_plan(config), train::backends(), {.threads = 1});
        train::initialise(executor, config);
        std::int64_t total = 0;
        const std::int64_t before = read_process_memory().resident_bytes;
        for (const plan::StateSlot& slot : executor.plan().state_slots) {
            total += static_cast<std::int64_t>(executor.read_slot(slot.name).size());
        }
        const std::int64_t kept = read_process_memory().resident_bytes - before;
        QVERIFY(total > (std::int64_t{32} << 20));
        QVERIFY2(kept < total / 2, std::to_string(kept).c_str()); // an allocator may keep one
    }
};

WEFT_TEST(MeshExecutorTest)
#include "mesh_executor_test.moc"
