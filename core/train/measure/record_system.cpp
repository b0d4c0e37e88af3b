// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/record_system.h"

#include "core/base/error.h"
#include "core/base/file.h"

#include <cmath>
#include <utility>

namespace weft::train {
namespace {

template <typename Number>
void add_rate(Metrics& out, const char* name, const std::optional<Number>& before,
              const std::optional<Number>& now, double seconds) {
    if (before && now && *now >= *before && seconds > 0) {
        out.emplace_back(name, static_cast<double>(*now - *before) / seconds);
    }
}

template <typename Number>
void add_known(Metrics& out, std::string name, const std::optional<Number>& value) {
    if (value) {
        out.emplace_back(std::move(name), static_cast<double>(*value));
    }
}

} // namespace

Metrics system_values(const SystemCounts& before, const SystemCounts& now, double seconds) {
    Metrics out;
    if (before.busy_s && now.busy_s && *now.all_s > *before.all_s) {
        out.emplace_back("system/cpu_percent",
                         100 * (*now.busy_s - *before.busy_s) / (*now.all_s - *before.all_s));
    }
    add_rate(out, "system/process_cores", before.process_s, now.process_s, seconds);
    add_known(out, "system/process_memory_bytes", now.process_bytes);
    add_known(out, "system/memory_available_bytes", now.available_bytes);
    add_rate(out, "system/disk_read_bytes_per_s", before.read_bytes, now.read_bytes, seconds);
    add_rate(out, "system/disk_write_bytes_per_s", before.written_bytes, now.written_bytes,
             seconds);
    add_rate(out, "system/network_received_bytes_per_s", before.received_bytes, now.received_bytes,
             seconds);
    add_rate(out, "system/network_sent_bytes_per_s", before.sent_bytes, now.sent_bytes, seconds);
    add_known(out, "system/cpu_temperature_c", now.temperature_c);
    return out;
}

Metrics gpu_values(const std::vector<GpuState>& gpus) {
    Metrics out;
    for (const GpuState& gpu : gpus) {
        const std::string name = "system/gpu" + std::to_string(gpu.number) + "_";
        const auto add = [&](const char* what, double value, double factor) {
            if (value >= 0) { // else it is not known
                out.emplace_back(name + what, factor * value);
            }
        };
        add("percent", gpu.health.utilisation, 100);
        add("memory_bytes", static_cast<double>(gpu.health.memory_used_bytes), 1);
        add("power_w", gpu.health.power_w, 1);
        add("temperature_c", gpu.health.temperature_c, 1);
    }
    return out;
}

RecordSystem::RecordSystem(std::filesystem::path run_folder, const HealthWatch* health,
                           double epoch, std::filesystem::path root)
    : folder_(std::move(run_folder)), health_(health), root_(std::move(root)),
      epoch_(std::floor(epoch)), sees_epoch_(epoch == epoch_) {}

Metrics RecordSystem::step(double epoch, double step_s, double wait_s, double now_s) {
    Metrics out;
    if (told_s_ < 0) { // rates need a beginning
        told_s_ = now_s;
        epoch_began_s_ = now_s - step_s;
        before_ = read_system(root_);
    }
    steps_s_ += step_s;
    waits_s_ += wait_s;
    if (std::floor(epoch) > epoch_) {
        if (sees_epoch_) {
            out.emplace_back("system/epoch_seconds", now_s - epoch_began_s_);
        }
        epoch_ = std::floor(epoch);
        epoch_began_s_ = now_s;
        sees_epoch_ = true;
    }
    if (now_s - told_s_ < kSystemSeconds) {
        return out;
    }
    const SystemCounts now = read_system(root_);
    const Metrics values = system_values(before_, now, now_s - told_s_);
    out.insert(out.end(), values.begin(), values.end());
    try {
        out.emplace_back("system/disk_free_bytes", static_cast<double>(disk_free_bytes(folder_)));
    } catch (const Error&) {
        // The volume does not say.
    }
    if (steps_s_ > 0) {
        out.emplace_back("system/data_wait_percent", 100 * waits_s_ / steps_s_);
    }
    if (health_ != nullptr) {
        const Metrics gpus = gpu_values(health_->last());
        out.insert(out.end(), gpus.begin(), gpus.end());
    }
    before_ = now;
    told_s_ = now_s;
    steps_s_ = waits_s_ = 0;
    return out;
}

} // namespace weft::train
