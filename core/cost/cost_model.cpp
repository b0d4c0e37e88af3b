// SPDX-License-Identifier: Apache-2.0
#include "core/cost/cost_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace weft::cost {
namespace {

// Shares of published limits that well-made training programs reach, and what launching a kernel of
// a recorded graph costs. The products' share lies between the 0.40 to 0.60 of whole steps of llm.c
// on A100 and H100 and the 0.75 of single large products; how far off it may be is the error.
constexpr double kProductShare = 0.6;
constexpr double kBandwidthShare = 0.8;
constexpr double kLaunchSeconds = 3e-6;
constexpr double kHardwareError = 0.4;

// Of links and networks rings are taken to reach the same share as kernels do of memory. Beginning
// a ring takes 8.4 us, a message between hosts 14 us (NCCL's own model, src/graph/tuning.cc).
constexpr double kLinkShare = 0.8;
constexpr double kCallSeconds = 8.4e-6;
constexpr double kNetworkLatency = 14e-6;

// Simulated devices hand over through memory: what one writes, the other reads. Waking a waiting
// thread takes some ten microseconds.
constexpr double kCopiesPerByte = 2;
constexpr double kHandOverSeconds = 1e-5;

constexpr double kUncalibratedError = 1.0; // kernels may well take twice their roofline

std::string date_of(double epoch_s) {
    const auto time =
        std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(epoch_s)));
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
    char text[32];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(day.year()),
                  static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
    return text;
}

/// What corrects one piece of work, and how far it may be off.
struct Chosen {
    std::string name; // of the class; "" when none covers the work
    double factor = 1;
    double spread = 0;
};

Chosen choose(const Work& work, const Limits& limits,
              const std::map<std::string, Correction>& classes, double default_spread) {
    if (classes.empty()) {
        return {"", 1, default_spread};
    }
    for (std::string& name : class_names(work, limits)) {
        if (const auto found = classes.find(name); found != classes.end()) {
            return {std::move(name), found->second.factor, found->second.spread};
        }
    }
    return {"", 1, default_spread};
}

bool is_run(const std::string& name) {
    return name.starts_with("step/");
}

} // namespace

CostModel::CostModel(Calibration calibration, std::string problem)
    : classes_(std::move(calibration.classes)), default_spread_(kUncalibratedError) {
    if (!calibration.ceilings) {
        basis_ = problem.empty() ? "no ceilings of this machine are known: run `weft bench machine`"
                                 : std::move(problem);
        return;
    }
    limits_ = peaks_ = calibration.ceilings->limits;
    threads_ = std::max(1, calibration.machine.threads);
    const auto runs = std::count_if(classes_.begin(), classes_.end(),
                                    [](const auto& entry) { return is_run(entry.first); });
    basis_ = "ceilings measured on " + date_of(calibration.ceilings->measured_time) +
             (calibration.ceilings->busy() ? " on a busy machine, " : ", ") +
             std::to_string(static_cast<long>(classes_.size()) - runs) + " classes of kernels";
    if (runs > 0) {
        basis_ += ", " + std::to_string(runs) + (runs == 1 ? " finished run" : " finished runs");
    }
}

CostModel::CostModel(const Hardware& hardware)
    : limits_{kProductShare * hardware.bf16_flops,         kProductShare * hardware.f32_flops,
              kBandwidthShare * hardware.memory_bandwidth, kLaunchSeconds,
              kProductShare * hardware.f16_flops(),        kProductShare * hardware.tf32_flops,
              kProductShare * hardware.fp8_flops},
      peaks_{hardware.bf16_flops,  hardware.f32_flops,  hardware.memory_bandwidth, 0,
             hardware.f16_flops(), hardware.tf32_flops, hardware.fp8_flops},
      links_{
          kLinkShare * hardware.link_bandwidth,    hardware.link_latency_s, hardware.host_devices,
          kLinkShare * hardware.network_bandwidth, kNetworkLatency,         kCallSeconds},
      default_spread_(kHardwareError) {
    char shares[96];
    std::snprintf(shares, sizeof shares,
                  ", of which products reach %.0f %% and memory %.0f %%; %.0f µs per kernel",
                  kProductShare * 100, kBandwidthShare * 100, kLaunchSeconds * 1e6);
    basis_ = "published limits of " + std::string(hardware.title) + shares;
}

double CostModel::op_ms(const Work& work) const {
    if (!available()) {
        return 0;
    }
    return choose(work, limits_, classes_, default_spread_).factor * roofline_s(work, limits_) *
           1e3;
}

double CostModel::share(std::int64_t devices) const {
    // Devices on a team of one thread each: fewer than cores leave cores idle.
    return threads_ == 0 || devices == 1
               ? 1
               : static_cast<double>(std::max<std::int64_t>(devices, threads_));
}

Links CostModel::links_of(std::int64_t devices) const {
    if (threads_ == 0) {
        return links_;
    }
    Links out;
    out.bandwidth = limits_.bandwidth / (kCopiesPerByte * static_cast<double>(devices));
    out.latency_s = kHandOverSeconds;
    return out;
}

double CostModel::exchange_ms(const Exchange& exchange, std::int64_t devices) const {
    return available() ? exchange_s(exchange, links_of(devices)) * 1e3 : 0;
}

std::string CostModel::exchange_basis(std::int64_t devices) const {
    char text[160];
    if (threads_ != 0) {
        std::snprintf(text, sizeof text,
                      "%lld simulated devices share this machine's cores and memory: exact, not "
                      "faster",
                      static_cast<long long>(devices));
        return text;
    }
    std::snprintf(text, sizeof text,
                  "ring exchanges at %.0f %% of the links: %.0f GB/s within a host of %lld, %.3g "
                  "GB/s between hosts; sums of gradients overlap with backward",
                  kLinkShare * 100, links_.bandwidth / 1e9,
                  static_cast<long long>(links_.host_devices), links_.network_bandwidth / 1e9);
    return text;
}

Prediction CostModel::predict(const std::vector<Work>& work, std::string_view key) const {
    return predict(MeshWork{work, {}, 1}, key);
}

Prediction CostModel::predict(const MeshWork& mesh, std::string_view key) const {
    if (!available()) {
        return {};
    }
    double total = 0;
    std::map<std::string, double> deviations; // seconds of one standard deviation, by class
    for (const Work& one : mesh.work) {
        const Chosen chosen = choose(one, limits_, classes_, default_spread_);
        const double seconds =
            chosen.factor * roofline_s(one, limits_) * one.times * share(mesh.devices);
        total += seconds;
        deviations[chosen.name] += seconds * chosen.spread;
    }
    for (const Exchange& exchange : mesh.exchanges) {
        const double seconds = exchange_ms(exchange, mesh.devices) / 1e3 * exchange.times;
        total += seconds;
        deviations["exchange"] += seconds * default_spread_;
    }
    double square = 0;
    for (const auto& [name, seconds] : deviations) {
        square += seconds * seconds;
    }
    Prediction out{total * 1e3, total > 0 ? std::sqrt(square) / total : 0};
    if (const auto run = classes_.find(std::string(key)); !key.empty() && run != classes_.end()) {
        out = {out.ms * run->second.factor, run->second.spread};
    }
    return out;
}

double CostModel::peak_flops(ir::DType dtype, ir::Operands operands) const {
    return available() ? product_rate(dtype, operands, peaks_) : 0;
}

} // namespace weft::cost
