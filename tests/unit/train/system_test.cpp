// SPDX-License-Identifier: Apache-2.0
// What the machine tells of itself: against a reading of /proc of the test's own, and of folders
// that stand for it.
#include "core/train/measure/record_system.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <ctime>
#include <fstream>
#include <unistd.h>

using namespace weft;
using namespace weft::train;

namespace {

void put(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

const double* value_of(const Metrics& metrics, const std::string& name) {
    for (const auto& [known, value] : metrics) {
        if (known == "system/" + name) {
            return &value;
        }
    }
    return nullptr;
}

/// A machine whose counters stand at `seconds`: two of four cores busy, one of them by the process.
void tell(const std::filesystem::path& root, double seconds) {
    const auto ticks = static_cast<std::int64_t>(seconds * double(sysconf(_SC_CLK_TCK)));
    const std::string work = std::to_string(ticks);
    // user nice system idle iowait irq softirq steal guest guest_nice
    put(root / "proc/stat", "cpu  " + work + " 0 " + work + " " + work + " " + work +
                                " 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
    put(root / "proc/self/stat", "7 (a) b (c)) S 1 7 7 0 -1 0 0 0 0 0 " +
                                     std::to_string(ticks / 2) + " " + std::to_string(ticks / 2) +
                                     " 0 0 20 0 1 0 9 9 9\n");
    put(root / "proc/self/statm", "1000 25 5 1 0 100 0\n");
    put(root / "proc/self/io",
        "rchar: 9\nwchar: 9\nread_bytes: " + std::to_string(std::int64_t(1000 * seconds)) +
            "\nwrite_bytes: " + std::to_string(std::int64_t(500 * seconds)) + "\n");
    put(root / "proc/meminfo", "MemTotal: 100 kB\nMemAvailable:   64 kB\n");
    const std::string received = std::to_string(std::int64_t(200 * seconds));
    put(root / "proc/net/dev",
        "Inter-|   Receive   |  Transmit\n face |bytes packets errs drop fifo frame compressed "
        "multicast|bytes packets\n    lo: 99999 1 0 0 0 0 0 0 99999 1 0 0 0 0 0 0\n  eth0:" +
            received + " 1 0 0 0 0 0 0 " + received + "0 1 0 0 0 0 0 0\n");
    put(root / "sys/class/hwmon/hwmon0/name", "nvme\n");
    put(root / "sys/class/hwmon/hwmon0/temp1_input", "99000\n");
    put(root / "sys/class/hwmon/hwmon1/name", "k10temp\n");
    put(root / "sys/class/hwmon/hwmon1/temp1_input", "61500\n");
    put(root / "sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    put(root / "sys/class/thermal/thermal_zone0/temp", "58000\n");
}

} // namespace

class SystemTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void what_a_machine_does_not_tell_is_named() {
        const std::filesystem::path root = path("sensors");
        tell(root, 100);
        QCOMPARE(missing_sensors(read_system(root)), std::vector<std::string>());
        std::filesystem::remove_all(root / "sys");
        std::filesystem::remove(root / "proc/net/dev");
        QCOMPARE(missing_sensors(read_system(root)),
                 (std::vector<std::string>{"network traffic", "temperature of the processor"}));
        QCOMPARE(missing_sensors({}).size(), std::size_t{7});
    }

    void rates_are_those_between_two_readings() {
        const auto root = path("machine");
        tell(root, 100);
        const SystemCounts before = read_system(root);
        tell(root, 104);
        const Metrics seen = system_values(before, read_system(root), 4);
        const auto is = [&](const char* name, double wanted) {
            const double* value = value_of(seen, name);
            QVERIFY2(value != nullptr, name);
            QVERIFY2(std::abs(*value - wanted) < 1e-6 * std::max(1.0, std::abs(wanted)), name);
        };
        is("cpu_percent", 50);
        is("process_cores", 1);
        is("process_memory_bytes", 25.0 * double(sysconf(_SC_PAGESIZE)));
        is("memory_available_bytes", 65536);
        is("disk_read_bytes_per_s", 1000);
        is("disk_write_bytes_per_s", 500);
        is("network_received_bytes_per_s", 200);
        is("network_sent_bytes_per_s", 2000);
        is("cpu_temperature_c", 61.5); // the hottest of the processor's, not of the disk's
    }

    void what_a_machine_does_not_tell_is_left_out() {
        std::filesystem::create_directories(path("mute"));
        const SystemCounts none = read_system(path("mute"));
        QVERIFY(system_values(none, none, 2).empty());
        tell(path("some"), 10);
        std::filesystem::remove_all(path("some") / "sys");
        std::filesystem::remove(path("some") / "proc/self/io");
        const SystemCounts some = read_system(path("some"));
        const Metrics seen = system_values(some, some, 2);
        QVERIFY(value_of(seen, "cpu_temperature_c") == nullptr);
        QVERIFY(value_of(seen, "disk_read_bytes_per_s") == nullptr);
        QVERIFY(value_of(seen, "memory_available_bytes") != nullptr);
        // Damaged text is no number.
        put(path("bad") / "proc/stat", "cpu of what\n");
        put(path("bad") / "proc/self/stat", "7 (a) S x\n");
        QVERIFY(!read_system(path("bad")).busy_s);
        QVERIFY(!read_system(path("bad")).process_s);
    }

    void this_machine_is_read_as_the_test_reads_it() {
        const SystemCounts seen = read_system();
        std::ifstream file("/proc/self/statm");
        std::int64_t whole = 0, resident = 0;
        QVERIFY(file >> whole >> resident);
        const double bytes = double(resident) * double(sysconf(_SC_PAGESIZE));
        QVERIFY(seen.process_bytes);
        QVERIFY(std::abs(double(*seen.process_bytes) / bytes - 1) < 0.1);
        // What this thread works counts as the process's.
        volatile double sum = 0;
        const std::clock_t from = std::clock();
        while (double(std::clock() - from) / CLOCKS_PER_SEC < 0.2) {
            sum = sum + 1;
        }
        const SystemCounts later = read_system();
        QVERIFY(*later.process_s - *seen.process_s >= 0.15);
        QVERIFY(*later.all_s > *seen.all_s);
    }

    void steps_say_it_every_other_second_and_epochs_when_they_end() {
        const auto root = path("machine2");
        tell(root, 100);
        RecordSystem record(root, nullptr, 0, root);
        QVERIFY(record.step(0.25, 1, 0.5, 1000).empty());
        tell(root, 101);
        QVERIFY(record.step(0.5, 1, 0.5, 1001).empty());
        const Metrics told = record.step(0.75, 1, 0, 1002);
        QCOMPARE(*value_of(told, "data_wait_percent"), 100.0 / 3);
        QVERIFY(value_of(told, "disk_free_bytes") != nullptr);
        const Metrics epoch = record.step(1.0, 1, 0, 1003);
        QCOMPARE(epoch.size(), std::size_t{1});
        QCOMPARE(*value_of(epoch, "epoch_seconds"), 4.0);
        // Of an epoch that goes on in the middle nothing is known when it ends.
        RecordSystem resumed(root, nullptr, 2.5, root);
        resumed.step(2.75, 1, 0, 0);
        QVERIFY(resumed.step(3.0, 1, 0, 1).empty());
        QCOMPARE(*value_of(resumed.step(4.0, 1, 0, 7), "epoch_seconds"), 6.0);
    }

    void gpus_say_what_they_know() {
        GpuState gpu;
        gpu.number = 1;
        gpu.health.utilisation = 0.75;
        gpu.health.memory_used_bytes = 4096;
        gpu.health.power_w = -1;
        gpu.health.temperature_c = 66;
        const Metrics told = gpu_values({gpu});
        QCOMPARE(*value_of(told, "gpu1_percent"), 75.0);
        QCOMPARE(*value_of(told, "gpu1_memory_bytes"), 4096.0);
        QCOMPARE(*value_of(told, "gpu1_temperature_c"), 66.0);
        QVERIFY(value_of(told, "gpu1_power_w") == nullptr);
    }
};

WEFT_TEST(SystemTest)
#include "system_test.moc"
