// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/system_reader.h"

#include "core/base/machine.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

/// Empty where it cannot be read.
std::string text_at(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream out;
    out << file.rdbuf();
    return file ? out.str() : std::string();
}

double ticks_a_second() {
    return static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal.
void read_cores(const fs::path& root, SystemCounts& out) {
    std::istringstream line(text_at(root / "proc/stat"));
    std::string name;
    std::vector<double> ticks(8, 0.0);
    line >> name;
    for (double& one : ticks) {
        line >> one;
    }
    if (name != "cpu" || !line) {
        return;
    }
    double all = 0;
    for (const double one : ticks) {
        all += one;
    }
    out.all_s = all / ticks_a_second();
    out.busy_s = (all - ticks[3] - ticks[4]) / ticks_a_second();
}

/// Behind the name, which may hold anything but ends with the last bracket: fields 14 and 15 are
/// user and system time.
void read_process(const fs::path& root, SystemCounts& out) {
    const std::string text = text_at(root / "proc/self/stat");
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) {
        return;
    }
    std::istringstream fields(text.substr(end + 1));
    std::string skipped;
    for (int i = 3; i < 14; ++i) {
        fields >> skipped;
    }
    double user = 0, system = 0;
    if (fields >> user >> system) {
        out.process_s = (user + system) / ticks_a_second();
    }
    std::istringstream pages(text_at(root / "proc/self/statm"));
    std::int64_t whole = 0, resident = 0;
    if (pages >> whole >> resident) {
        out.process_bytes = resident * sysconf(_SC_PAGESIZE);
    }
}

void read_disk(const fs::path& root, SystemCounts& out) {
    std::istringstream lines(text_at(root / "proc/self/io"));
    std::string name;
    std::int64_t bytes = 0;
    while (lines >> name >> bytes) {
        if (name == "read_bytes:") {
            out.read_bytes = bytes;
        } else if (name == "write_bytes:") {
            out.written_bytes = bytes;
        }
    }
}

/// Sensors of a processor by the name of their driver: Intel, AMD, and those of ARM boards.
bool is_of_processor(const std::string& name) {
    return name == "coretemp" || name == "k10temp" || name == "zenpower" ||
           name.starts_with("cpu") || name.starts_with("x86_pkg_temp") || name.starts_with("soc");
}

void add_temperature(const fs::path& file, SystemCounts& out) {
    std::istringstream text(text_at(file));
    double thousandths = 0;
    if (text >> thousandths && thousandths > 0) {
        out.temperature_c = std::max(out.temperature_c.value_or(0), thousandths / 1000);
    }
}

void read_temperatures(const fs::path& root, SystemCounts& out) {
    std::error_code problem;
    const auto name_in = [](const fs::path& file) {
        std::string name;
        std::istringstream(text_at(file)) >> name;
        return name;
    };
    for (const auto& chip : fs::directory_iterator(root / "sys/class/hwmon", problem)) {
        if (!is_of_processor(name_in(chip.path() / "name"))) {
            continue;
        }
        for (const auto& file : fs::directory_iterator(chip.path(), problem)) {
            const std::string name = file.path().filename().string();
            if (name.starts_with("temp") && name.ends_with("_input")) {
                add_temperature(file.path(), out);
            }
        }
    }
    for (const auto& zone : fs::directory_iterator(root / "sys/class/thermal", problem)) {
        if (is_of_processor(name_in(zone.path() / "type"))) {
            add_temperature(zone.path() / "temp", out);
        }
    }
}

} // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> network_bytes(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line;
    std::int64_t received = 0, sent = 0;
    bool any = false;
    while (std::getline(lines, line)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) {
            continue; // a heading
        }
        const std::size_t first = line.find_first_not_of(' ');
        std::istringstream numbers(line.substr(colon + 1));
        std::int64_t in = 0, skipped = 0, out = 0;
        numbers >> in;
        for (int i = 0; i < 7; ++i) {
            numbers >> skipped;
        }
        if (numbers >> out && line.substr(first, colon - first) != "lo") {
            received += in;
            sent += out;
            any = true;
        }
    }
    return any ? std::optional(std::pair(received, sent)) : std::nullopt;
}

SystemCounts read_system(const fs::path& root) {
    SystemCounts out;
    read_cores(root, out);
    read_process(root, out);
    read_disk(root, out);
    if (const std::int64_t free = meminfo_bytes(text_at(root / "proc/meminfo"), "MemAvailable");
        free > 0) {
        out.available_bytes = free;
    }
    if (const auto network = network_bytes(text_at(root / "proc/net/dev"))) {
        out.received_bytes = network->first;
        out.sent_bytes = network->second;
    }
    read_temperatures(root, out);
    return out;
}

std::vector<std::string> missing_sensors(const SystemCounts& counts) {
    std::vector<std::string> out;
    const auto add = [&out](bool known, const char* name) {
        if (!known) {
            out.emplace_back(name);
        }
    };
    add(counts.busy_s.has_value(), "time of the processor");
    add(counts.process_s.has_value(), "time of this process");
    add(counts.process_bytes.has_value(), "memory of this process");
    add(counts.available_bytes.has_value(), "memory that is free");
    add(counts.read_bytes && counts.written_bytes, "disk traffic");
    add(counts.received_bytes && counts.sent_bytes, "network traffic");
    add(counts.temperature_c.has_value(), "temperature of the processor");
    return out;
}

} // namespace weft::train
