// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of this machine, by the real `weft doctor` and by programs that are none.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/run/machine_look.h"
#include "ui/models/gpu_model.h"
#include "ui/plurals.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QThread>

namespace {

using namespace weft;
using test::kPatienceMs;

ui::MachineFacts four_gpus() {
    ui::MachineFacts facts;
    for (int i = 0; i < 4; ++i) {
        ui::GpuFacts& gpu = facts.gpus.emplace_back();
        gpu.number = i;
        gpu.name = "H100";
        gpu.memory_bytes = 80LL << 30;
        for (int other = 0; other < i; ++other) {
            facts.links.push_back({other, i, "4 NVLinks"});
        }
    }
    return facts;
}

/// Waits for the end of a look.
void look(ui::MachineLook& machine) {
    machine.look();
    QTRY_VERIFY_WITH_TIMEOUT(!machine.isLooking() &&
                                 (machine.facts().has_value() || !machine.problem().isEmpty()),
                             kPatienceMs);
}

} // namespace

class MachineTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }

    void the_worker_says_what_this_machine_is() {
        ui::MachineLook machine(WEFT_PROGRAM);
        QSignalSpy found(&machine, &ui::MachineLook::found);
        look(machine);
        QVERIFY2(machine.problem().isEmpty(), qPrintable(machine.problem()));
        QCOMPARE(found.count(), 1);
        QCOMPARE(machine.facts()->usable_cores, QThread::idealThreadCount());
        QVERIFY(machine.facts()->memory_free_bytes < machine.facts()->memory_bytes);
        // Either there are GPUs, or it is said why there are none.
        QCOMPARE(machine.facts()->gpus.empty(), !machine.gpusProblem().isEmpty());
    }

    void a_worker_that_does_not_answer_is_said_data() {
        QTest::addColumn<QString>("program");
        QTest::addColumn<QString>("said");
        QTest::newRow("is not there") << "/nowhere/weft"
                                      << "cannot be started";
        QTest::newRow("says nothing") << "/bin/true"
                                      << "cannot be read";
        QTest::newRow("fails") << "/bin/false"
                               << "without an answer";
    }
    void a_worker_that_does_not_answer_is_said() {
        QFETCH(QString, program);
        QFETCH(QString, said);
        ui::MachineLook machine(program.toStdString());
        look(machine);
        QVERIFY(!machine.facts());
        QVERIFY2(machine.problem().contains(said), qPrintable(machine.problem()));
        QCOMPARE(machine.gpusProblem(), machine.problem());
    }

    void pairs_that_are_joined_alike_are_one_line() {
        ui::MachineFacts facts = four_gpus();
        QCOMPARE(ui::linksAlike(facts),
                 (std::vector<std::pair<QString, QString>>{{"every pair", "4 NVLinks"}}));
        facts.links[0].text = "PCIe by the CPU"; // of 0 and 1
        const auto lines = ui::linksAlike(facts);
        QCOMPARE(lines.size(), std::size_t{2});
        QCOMPARE(lines[0], (std::pair<QString, QString>{"0-1", "PCIe by the CPU"}));
        QCOMPARE(lines[1].first, QString("0-2, 1-2, 0-3, 1-3, 2-3"));
    }

    void news_of_a_run_are_of_its_own_gpus() {
        ui::MachineFacts facts = four_gpus();
        facts.gpus[3].utilisation = 0.5;
        train::DevicesEvent event;
        event.devices.resize(2);
        train::DevicesEvent::Gpu& told = event.devices[1].gpu.emplace();
        told.number = 2;
        told.memory_used_bytes = 7;
        told.utilisation = 0.9;
        ui::takeNews(facts, event);
        QCOMPARE(facts.gpus[2].used_bytes, std::optional<std::int64_t>(7));
        QCOMPARE(facts.gpus[2].utilisation, std::optional(0.9));
        QCOMPARE(facts.gpus[3].utilisation, std::optional(0.5));
        event.devices[0].gpu.emplace().number = 9; // of a machine with more
        ui::takeNews(facts, event);
        QCOMPARE(facts.gpus.size(), std::size_t{4});
    }

    void the_table_of_gpus_keeps_its_contract_and_says_what_is_not_known() {
        ui::GpuModel model;
        const QAbstractItemModelTester tester(&model);
        model.setGpus(four_gpus().gpus);
        QCOMPARE(model.index(0, ui::GpuModel::BusyColumn).data().toString(), QString("-"));
        std::vector<ui::GpuFacts> gpus = four_gpus().gpus;
        gpus[0].utilisation = 0.354;
        gpus[0].power_w = 310.2;
        gpus[0].power_limit_w = 700;
        model.setGpus(gpus);
        QCOMPARE(model.index(0, ui::GpuModel::BusyColumn).data().toString(), QString("35 %"));
        QCOMPARE(model.index(0, ui::GpuModel::PowerColumn).data().toString(),
                 QString("310 of 700 W"));
        gpus.pop_back();
        model.setGpus(gpus);
        QCOMPARE(model.rowCount(), 3);
    }
};

WEFT_TEST(MachineTest)
#include "machine_test.moc"
