// SPDX-License-Identifier: Apache-2.0
// What this machine is and what of it this process may use: read once from /proc, cgroups and
// cpuid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct InstructionSets {
    bool sse42 = false;
    bool avx2 = false;
    bool fma = false;
    bool avx512f = false;
    bool avx512_bf16 = false;
    bool amx_bf16 = false; // the processor has it and the kernel lets this process use it

    /// Short names of what is there, weakest first: "avx2", "avx512f", ...
    std::vector<std::string> names() const;
};

struct Machine {
    std::string hostname;
    std::string cpu_name;  // "Intel(R) Xeon(R) ..."; "unknown" when the system does not say
    std::string system;    // kernel name and release
    int logical_cores = 1; // of the machine
    int usable_cores = 1;  // by affinity and cgroup quota, at least 1
    InstructionSets sets;
    int64_t memory_bytes = 0;      // of the machine or the cgroup, whichever is less
    int64_t memory_free_bytes = 0; // that this process may still take without swapping: the least
                                   // of what the machine, its control groups and its limit of
                                   // address space (RLIMIT_AS) leave
    std::string memory_free_basis; // which of them that is, for people
};

Machine read_machine();

/// Memory that a process holds, bytes.
struct ProcessMemory {
    int64_t resident_bytes = 0; // now: its own pages and pages of mapped files
    int64_t file_bytes = 0;     // of these, pages of mapped files: code of programs and libraries
    int64_t peak_bytes = 0;     // the most that was resident since it began
};
/// Of this process. All 0 where the system does not say.
ProcessMemory read_process_memory();
/// resident_bytes alone, in a few microseconds: cheap enough for every step of a run.
int64_t read_resident_bytes();

/// Pure parts of read_machine, for tests: texts of /proc/meminfo and of a cgroup's cpu.max.
/// Bytes of a "MemAvailable:   123 kB" line; 0 when absent.
int64_t meminfo_bytes(std::string_view meminfo, std::string_view key);
/// The texts of memory.max, memory.current and memory.stat of one control group: what it leaves,
/// file pages that nobody used lately counted as free; -1 for no limit.
int64_t cgroup_free_bytes(std::string_view memory_max, std::string_view memory_current,
                          std::string_view memory_stat);
/// Cores of "max 100000" or "150000 100000", rounded up; 0 for no limit.
int cpu_quota_cores(std::string_view cpu_max);

} // namespace weft
