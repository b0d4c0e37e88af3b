// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of the devices of a run, by numbers of which the answer is known.
#include "tests/support/weft_test.h"
#include "ui/bridge/run/device_load.h"

using namespace weft;

class DeviceLoadTest : public QObject {
    Q_OBJECT

    /// Three devices of two hosts, of which the last computes longest.
    static train::DevicesEvent three_devices(double planned) {
        train::DevicesEvent out;
        for (const double compute_ms : {60.0, 60.0, 90.0}) {
            train::DevicesEvent::Device& one = out.devices.emplace_back();
            one.compute_ms = compute_ms;
            one.exchange_ms = 10;
            one.waited_ms = 90 - compute_ms;
            one.sent_bytes = 20 << 20;
            one.memory_bytes = 1 << 20;
            one.planned_memory_bytes = 2 << 20;
            one.planned_compute_ms = planned * 95;
            one.planned_exchange_ms = planned * 5;
            one.host = out.devices.size() < 3 ? "node1" : "node2";
        }
        out.links = {{"data", true, 8, 20, 10 << 20, planned * 2},
                     {"fsdp,tensor", false, 2, 0, 10 << 20, planned * 3}};
        return out;
    }

private slots:
    void shares_speeds_and_the_slowest_are_told() {
        const ui::DeviceLoad load = ui::deviceLoad(three_devices(1));
        QCOMPARE(load.step_ms, 100.0);
        QCOMPARE(load.exposed_share, 90.0 / 300);
        QCOMPARE(load.waited_share, 60.0 / 300);
        QCOMPARE(load.planned_exposed_share, 0.05);
        QCOMPARE(load.links.size(), std::size_t{2});
        QCOMPARE(load.links[0].bytes_per_s, (10 << 20) / 0.008);
        QCOMPARE(load.links[0].planned_bytes_per_s, (10 << 20) / 0.002);
        QVERIFY(load.links[0].is_slow && !load.links[1].is_slow);
        QCOMPARE(load.slowest, 2);
        QCOMPARE(load.host, QString("node2"));
        QCOMPARE(ui::loadText(load),
                 QString("step 100 ms, planned 100 · exposed communication 30 %, planned 5 %, "
                         "waiting 20 % · along data, between hosts, a device sends 1.2 GiB/s, "
                         "planned 4.9 GiB/s: a slow link · along fsdp×tensor a device sends 4.9 "
                         "GiB/s, planned 3.3 GiB/s · device 2 on node2 computes 29 % longer than "
                         "the mean · memory 3.0 MiB of 6.0 MiB planned"));
    }

    // They are threads of a few cores: what holds them up is no link.
    void links_of_simulated_devices_are_not_judged() {
        train::DevicesEvent event = three_devices(1);
        for (train::DevicesEvent::Device& one : event.devices) {
            one.host.clear();
        }
        QVERIFY(!ui::loadText(ui::deviceLoad(event)).contains("slow"));
    }

    void nothing_is_said_of_what_was_not_planned_or_does_not_happen() {
        train::DevicesEvent event = three_devices(0);
        const QString unplanned = ui::loadText(ui::deviceLoad(event));
        QVERIFY2(unplanned.contains("exposed communication 30 %, waiting 20 % · along data, "
                                    "between hosts, a device sends 1.2 GiB/s · along") &&
                     !unplanned.contains("GiB/s, planned"),
                 qPrintable(unplanned));
        event.devices.resize(1);
        event.links.clear();
        event.devices.front().exchange_ms = event.devices.front().waited_ms = 0;
        const QString alone = ui::loadText(ui::deviceLoad(event));
        QVERIFY2(!alone.contains("communication") && !alone.contains("sends") &&
                     !alone.contains("node1"),
                 qPrintable(alone));
    }
};

WEFT_TEST(DeviceLoadTest)
#include "device_load_test.moc"
