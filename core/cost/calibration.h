// SPDX-License-Identifier: Apache-2.0
// What measurements on a machine taught: its ceilings, and how far each class of kernels stays from
// them. Learnt from executions of the kernels of this build, kept in a file of the user's cache.
#pragma once

#include "core/cost/roofline.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::cost {

/// What a calibration belongs to: on another machine, team size or kernel library it means nothing.
struct MachineKey {
    std::string cpu;     // model name
    int threads = 0;     // OpenMP team
    std::string kernels; // library and instruction set: "oneDNN 2.6.3, avx2"

    bool operator==(const MachineKey&) const = default;
};

/// What one machine can do at best, measured by `weft bench machine` (PERF.md 3.1) with all
/// threads.
struct Ceilings {
    Limits limits;
    std::string
        bf16_unit; // what reached limits.bf16_flops: "AMX tiles", "AVX-512 dot products", "f32"
    double measured_time = 0; // s, UTC epoch
    double spread = 0;        // (largest - least) / largest of repeated measurements

    /// Other programs took part of the machine meanwhile.
    bool busy() const { return spread > kBusySpread; }
    static constexpr double kBusySpread = 0.10;
};

/// Measured over modelled time of one class of work, e.g. "onednn matmul/bf16".
struct Correction {
    double factor = 1; // multiplies the roofline's time
    double spread = 0; // relative standard deviation of the factor
    std::int64_t samples = 0;
};

/// `classes` holds three levels of classes of work (see class_names) and, under the program_key of
/// programs that were run to the end, measured over predicted step time.
struct Calibration {
    MachineKey machine;
    std::optional<Ceilings> ceilings;
    std::map<std::string, Correction> classes;
};

/// The classes of a piece of work, narrowest first: kernel, element type and size of its operands
/// ("onednn matmul/bf16/1 MiB"); kernel and element type; what bounds it ("products/bf16",
/// "memory", "arithmetic"). Beside kernels there are two: "beside kernels/1 MiB" and without size.
std::vector<std::string> class_names(const Work& work, const Limits& limits);
/// The narrowest one.
std::string class_of(const Work& work, const Limits& limits);
/// "step/1a2b3c4d": names the class of a whole program by its text.
std::string program_key(std::string_view program_text);

/// One piece of work and what one execution of it took.
struct Measurement {
    Work work;
    double seconds = 0;
};
/// Corrections of every class that the measurements cover. A factor is total measured over total
/// modelled time (`times` weigh), so that the sum of a class comes out right; its spread is the
/// time-weighted deviation of the single ratios, at least kNoise.
std::map<std::string, Correction> learn(std::span<const Measurement> measurements,
                                        const Limits& limits);
/// What repeated timings of the same kernel on a quiet machine differ by.
constexpr double kNoise = 0.03;

/// Adds a finished run: its median step time against what was predicted for the program without
/// such a correction. `spread` is relative, of single steps.
void note_run(Calibration& calibration, const std::string& program_key, double measured_ms,
              double predicted_ms, double spread, std::int64_t steps);

/// The entry of `machine`; an empty calibration of it when the file is absent or has none. Throws
/// weft::Error{data} when the file is damaged.
Calibration read_calibration(const std::filesystem::path& file, const MachineKey& machine);
/// Replaces the entry of calibration.machine and keeps those of other machines (a damaged file is
/// replaced whole). Written beside and renamed into place. Throws weft::Error{runtime}.
void write_calibration(const std::filesystem::path& file, const Calibration& calibration);

} // namespace weft::cost
