// SPDX-License-Identifier: Apache-2.0
// Steps of a run as they were: every kernel call and exchange of every device with its times, and
// what the host did around them. Values only: any thread.
//
// A recording lies in the run's folder as JSON, `profile/step-00000100.json` (named by its first
// step). Times in the file are microseconds from the start of the first step. Events of a device
// are flat quadruples (call, start, duration, waited), in order of their start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::profile {

/// A kernel call or exchange of the training step's program: what all its executions share.
struct Call {
    std::string op{};     // kind, "matmul"
    std::string path{};   // of the layer
    std::string kernel{}; // "onednn matmul"
    std::string phase{};  // "forward", "backward", "update"
    std::string dtype{};  // of its floating-point operands
    std::string bound{};  // "products", "arithmetic", "memory"; "" where no ceilings are known
    bool exchange = false;
    bool elementwise = false; // could be one kernel with its elementwise neighbours
    double product_flops = 0; // of flops, in matrix products and convolutions
    double flops = 0;         // of one execution
    double bytes = 0;         // operands, each once
    double predicted_us = 0;  // 0: nothing was predicted
    double best_us = 0;       // at the ceilings of the machine (roofline); 0: none are known

    bool operator==(const Call&) const = default;
};

/// One execution of a call.
struct Event {
    int call = 0; // in Recording::calls
    double start_us = 0;
    double duration_us = 0;
    double waited_us = 0; // of an exchange: for other devices

    double end_us() const { return start_us + duration_us; }
    bool operator==(const Event&) const = default;
};

/// What the host does in a step, in this order: wait for a batch, hand it over, watch the devices
/// compute, look at the results and tell of them.
struct StepTimes {
    std::int64_t step = 0;
    double start_us = 0;
    double batch_us = 0;    // when the batch was there
    double computed_us = 0; // when the devices were done
    double end_us = 0;

    double wall_us() const { return end_us - start_us; }
    bool operator==(const StepTimes&) const = default;
};

struct DeviceEvents {
    std::string name; // "cpu:0"
    std::vector<Event> events;

    bool operator==(const DeviceEvents&) const = default;
};

/// Ceilings that best times are reckoned with, of one device; 0 where they are not known.
struct Ceilings {
    double bf16_flops = 0; // per second
    double f32_flops = 0;
    double bandwidth = 0; // bytes per second

    bool operator==(const Ceilings&) const = default;
};

struct Recording {
    std::string run;        // name
    double recorded_at = 0; // seconds since 1970-01-01 UTC
    std::string basis;      // what predictions and best times rest on
    Ceilings ceilings;
    std::int64_t asked_steps = 0; // at least those that are here
    std::string cut_short;        // why there are no more of them; empty: these were all
    std::int64_t dropped = 0; // events that found no room; 0 unless a program ran more than planned
    std::vector<Call> calls;
    std::vector<StepTimes> steps;
    std::vector<DeviceEvents> devices;

    bool operator==(const Recording&) const = default;
};

/// Of a recording that is made: 64 MiB while it is recorded, three times that for a moment while it
/// is written.
inline constexpr std::int64_t kMostEvents = std::int64_t{1} << 21;

/// Throws weft::Error{runtime} where it cannot be written. Returns the file.
std::filesystem::path write_recording(const std::filesystem::path& run_folder,
                                      const Recording& recording);
/// Throws weft::Error{data} with the place of what is wrong: no recording, damaged, of a later
/// version, larger than kMostRecordingBytes.
Recording read_recording(const std::filesystem::path& file);
constexpr std::int64_t kMostRecordingBytes = std::int64_t{1} << 30;

/// Files of the recordings of a run, oldest step first; empty where there is none.
std::vector<std::filesystem::path> list_recordings(const std::filesystem::path& run_folder);

} // namespace weft::profile
