// SPDX-License-Identifier: Apache-2.0
#include "core/base/machine.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft {
namespace {

// Files of /proc and /sys report size 0, so they are read as streams; absent ones read as empty.
std::string read_system_file(const std::string& path) {
    std::ifstream stream(path);
    std::ostringstream out;
    out << stream.rdbuf();
    return out.str();
}

std::optional<int64_t> leading_number(std::string_view text) {
    text = trim(text);
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() ? std::optional(value) : std::nullopt;
}

std::string cpu_name() {
    const std::string info = read_system_file("/proc/cpuinfo");
    const size_t key = info.find("model name");
    const size_t colon = key == std::string::npos ? key : info.find(':', key);
    if (colon == std::string::npos) {
        return "unknown";
    }
    const std::string_view rest = std::string_view(info).substr(colon + 1);
    return std::string(trim(rest.substr(0, rest.find('\n'))));
}

// cgroup v2 path of this process below /sys/fs/cgroup; empty on other set-ups.
std::string cgroup_folder() {
    for (const std::string& line : split(read_system_file("/proc/self/cgroup"), '\n')) {
        if (line.starts_with("0::")) {
            return "/sys/fs/cgroup" + line.substr(3);
        }
    }
    return {};
}

int affinity_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

#if defined(__x86_64__)

bool may_use_amx() {
    constexpr int kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
    constexpr int kTileData = 18;              // XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

InstructionSets read_sets() {
    __builtin_cpu_init();
    InstructionSets sets;
    sets.sse42 = __builtin_cpu_supports("sse4.2") != 0;
    sets.avx2 = __builtin_cpu_supports("avx2") != 0;
    sets.fma = __builtin_cpu_supports("fma") != 0;
    sets.avx512f = __builtin_cpu_supports("avx512f") != 0;
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
        sets.avx512_bf16 = sets.avx512f && (a & (1u << 5)) != 0;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        const bool tile = (d & (1u << 24)) != 0;
        const bool bf16 = (d & (1u << 22)) != 0;
        sets.amx_bf16 = tile && bf16 && may_use_amx();
    }
    return sets;
}

#else

InstructionSets read_sets() {
    return {};
}

#endif

void limit_free_memory(Machine& machine, int64_t bytes, const char* basis) {
    if (bytes < machine.memory_free_bytes) {
        machine.memory_free_bytes = bytes;
        machine.memory_free_basis = basis;
    }
}

// A limit binds every group below it, so all the way up to the root counts.
void read_cgroup_memory(Machine& machine, std::string folder) {
    constexpr std::string_view kRoot = "/sys/fs/cgroup";
    while (folder.size() > kRoot.size()) {
        const std::string most = read_system_file(folder + "/memory.max");
        const int64_t left = cgroup_free_bytes(most, read_system_file(folder + "/memory.current"),
                                               read_system_file(folder + "/memory.stat"));
        if (left >= 0) {
            machine.memory_bytes = std::min(machine.memory_bytes, *leading_number(most));
            limit_free_memory(machine, left, "the memory limit of the control group");
        }
        folder.resize(folder.rfind('/'));
    }
}

void read_address_space(Machine& machine) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return;
    }
    const int64_t used = meminfo_bytes(read_system_file("/proc/self/status"), "VmSize");
    const int64_t left = static_cast<int64_t>(limit.rlim_cur) - used;
    limit_free_memory(machine, std::max<int64_t>(0, left),
                      "the limit of address space (ulimit -v)");
}

void read_memory(Machine& machine, const std::string& cgroup) {
    const std::string info = read_system_file("/proc/meminfo");
    machine.memory_bytes = meminfo_bytes(info, "MemTotal");
    machine.memory_free_bytes = meminfo_bytes(info, "MemAvailable");
    machine.memory_free_basis = "the memory that is free now";
    read_cgroup_memory(machine, cgroup);
    read_address_space(machine);
}

} // namespace

std::vector<std::string> InstructionSets::names() const {
    std::vector<std::string> out;
    const std::pair<bool, const char*> all[] = {{sse42, "sse4.2"},
                                                {avx2, "avx2"},
                                                {fma, "fma"},
                                                {avx512f, "avx512f"},
                                                {avx512_bf16, "avx512_bf16"},
                                                {amx_bf16, "amx_bf16"}};
    for (const auto& [present, name] : all) {
        if (present) {
            out.emplace_back(name);
        }
    }
    return out;
}

int64_t meminfo_bytes(std::string_view meminfo, std::string_view key) {
    for (const std::string& line : split(meminfo, '\n')) {
        if (line.starts_with(std::string(key) + ":")) {
            return 1024 * leading_number(std::string_view(line).substr(key.size() + 1)).value_or(0);
        }
    }
    return 0;
}

int64_t cgroup_free_bytes(std::string_view memory_max, std::string_view memory_current,
                          std::string_view memory_stat) {
    const auto most = leading_number(memory_max);
    if (!most) {
        return -1;
    }
    constexpr std::string_view kCache = "inactive_file ";
    int64_t used = leading_number(memory_current).value_or(0);
    for (const std::string& line : split(memory_stat, '\n')) {
        if (line.starts_with(kCache)) {
            used -= leading_number(std::string_view(line).substr(kCache.size())).value_or(0);
        }
    }
    return std::clamp<int64_t>(*most - used, 0, *most);
}

ProcessMemory read_process_memory() {
    const std::string status = read_system_file("/proc/self/status");
    return {meminfo_bytes(status, "VmRSS"),
            meminfo_bytes(status, "RssFile") + meminfo_bytes(status, "RssShmem"),
            meminfo_bytes(status, "VmHWM")};
}

int64_t read_resident_bytes() {
    char text[128]; // "size resident shared ...", in pages
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text);
    if (file >= 0) {
        close(file);
    }
    const std::string_view line(text, static_cast<size_t>(std::max<ssize_t>(0, length)));
    const size_t space = line.find(' ');
    return space == std::string_view::npos
               ? 0
               : leading_number(line.substr(space)).value_or(0) * sysconf(_SC_PAGESIZE);
}

int cpu_quota_cores(std::string_view cpu_max) {
    const auto quota = leading_number(cpu_max);
    const size_t space = cpu_max.find(' ');
    if (!quota || space == std::string_view::npos) {
        return 0;
    }
    const auto period = leading_number(cpu_max.substr(space + 1));
    if (!period || *period <= 0 || *quota <= 0) {
        return 0;
    }
    return static_cast<int>((*quota + *period - 1) / *period);
}

Machine read_machine() {
    Machine machine;
    utsname names = {};
    if (uname(&names) == 0) {
        machine.hostname = names.nodename;
        machine.system = std::string(names.sysname) + " " + names.release;
    }
    machine.cpu_name = cpu_name();
    machine.logical_cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    machine.usable_cores = machine.logical_cores;
    const std::string cgroup = cgroup_folder();
    const int quota = cgroup.empty() ? 0 : cpu_quota_cores(read_system_file(cgroup + "/cpu.max"));
    for (const int limit : {affinity_cores(), quota}) {
        machine.usable_cores =
            limit > 0 ? std::min(machine.usable_cores, limit) : machine.usable_cores;
    }
    machine.sets = read_sets();
    read_memory(machine, cgroup);
    return machine;
}

} // namespace weft
