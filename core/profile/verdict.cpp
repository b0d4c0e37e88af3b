// SPDX-License-Identifier: Apache-2.0
#include "core/profile/verdict.h"

#include "core/profile/time_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::profile {
namespace {

constexpr double kSmallProductUs = 20;   // best time; a call costs microseconds
constexpr double kNearMemory = 2;        // times its best time
constexpr double kBandwidthShare = 0.4;  // of a step: so much is ordinary in no network
constexpr double kSlowKernel = 3;        // times its best time
constexpr double kExplainsWaiting = 0.5; // of the waiting: as much explains it

std::string percent(double share) {
    return std::to_string(std::lround(share * 100)) + " %";
}

std::string times(double factor) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", factor);
    return text;
}

/// Sums over all steps and devices, and what they are shares of.
struct Losses {
    double all_us = 0; // steps times devices
    double small_us = 0;
    double chain_us = 0;
    double memory_us = 0;
    double memory_best_us = 0;
};

bool is_small_product(const Call& call) {
    return call.product_flops > 0 && call.best_us > 0 && call.best_us < kSmallProductUs;
}

/// Of a chain each op but the longest could be done while the values are at hand.
class Chain {
public:
    void add(double us) {
        sum_us_ += us;
        longest_us_ = std::max(longest_us_, us);
    }
    double end() {
        const double avoidable_us = sum_us_ - longest_us_;
        sum_us_ = longest_us_ = 0;
        return avoidable_us;
    }

private:
    double sum_us_ = 0;
    double longest_us_ = 0;
};

Losses losses_of(const Recording& recording) {
    Losses out;
    for (const StepTimes& step : recording.steps) {
        out.all_us += step.wall_us() * static_cast<double>(recording.devices.size());
    }
    for (const DeviceEvents& device : recording.devices) {
        Chain chain;
        for (const Event& event : device.events) {
            const Call& call = recording.calls[static_cast<std::size_t>(event.call)];
            if (call.elementwise) {
                chain.add(event.duration_us);
            } else {
                out.chain_us += chain.end();
            }
            if (is_small_product(call)) {
                out.small_us += std::max(0.0, event.duration_us - call.best_us);
            } else if (call.bound == "memory" && !call.exchange) {
                out.memory_us += event.duration_us;
                out.memory_best_us += call.best_us;
            }
        }
        out.chain_us += chain.end();
    }
    return out;
}

void add_cause(std::vector<Cause>& out, Cause cause) {
    if (cause.share >= kWorthNaming) {
        out.push_back(std::move(cause));
    }
}

void add_devices(const TimeTable& table, std::vector<Cause>& out) {
    const StepParts& mean = table.mean;
    double longest_us = 0;
    std::size_t slowest = 0;
    for (std::size_t device = 0; device < table.devices.size(); ++device) {
        if (table.devices[device].compute_us > longest_us) {
            longest_us = table.devices[device].compute_us;
            slowest = device;
        }
    }
    const double uneven_us = longest_us - mean.compute_us;
    const bool uneven = table.devices.size() > 1 && uneven_us / mean.wall_us >= kWorthNaming &&
                        uneven_us >= kExplainsWaiting * mean.waited_us;
    if (uneven) {
        add_cause(out, {CauseKind::imbalance, uneven_us / mean.wall_us,
                        "Imbalance: device " + std::to_string(slowest) + " computes " +
                            times(longest_us / mean.compute_us) +
                            " times as long as devices do on average; the others wait " +
                            percent(uneven_us / mean.wall_us) + " of the step.",
                        "Give the devices even shares: other stages of the pipeline, or dimensions "
                        "that the mesh divides.",
                        "mesh"});
    }
    const double waited_us = std::max(0.0, mean.waited_us - (uneven ? uneven_us : 0));
    add_cause(out, {CauseKind::waiting, waited_us / mean.wall_us,
                    "Waiting at barriers: devices wait " + percent(waited_us / mean.wall_us) +
                        " of the step for each other at exchanges.",
                    "Exchange less often: more microsteps between updates, or a mesh with fewer "
                    "exchanges inside a layer.",
                    "mesh"});
    add_cause(out, {CauseKind::exchange, mean.exchange_us / mean.wall_us,
                    "Exchanges: " + percent(mean.exchange_us / mean.wall_us) +
                        " of the step moves data between devices.",
                    "A larger batch per device, or another split of the mesh, computes more for "
                    "each byte exchanged.",
                    "mesh"});
}

void add_kernels(const Recording& recording, const TimeTable& table, std::vector<Cause>& out) {
    const Losses losses = losses_of(recording);
    const double small = losses.small_us / losses.all_us;
    add_cause(out, {CauseKind::small_products, small,
                    "Small products: " + percent(small) +
                        " of the step goes into calling matrix products that take microseconds.",
                    "A larger batch makes each product larger.", "training.global_batch_size"});
    const double chain = losses.chain_us / losses.all_us;
    add_cause(out, {CauseKind::unfused_chain, chain,
                    "Unfused chain: elementwise ops in a row take values through memory again and "
                    "again, " +
                        percent(chain) + " of the step.",
                    "Write the layer so that they stand side by side in one block: then the plan "
                    "fuses them.",
                    ""});
    const double memory = losses.memory_us / losses.all_us;
    if (memory >= kBandwidthShare && losses.memory_best_us > 0 &&
        losses.memory_us <= kNearMemory * losses.memory_best_us) {
        add_cause(out, {CauseKind::memory_bandwidth, memory,
                        "Memory bandwidth: " + percent(memory) + " of the step moves bytes, at " +
                            times(losses.memory_us / losses.memory_best_us) +
                            " times the time that memory allows.",
                        "Fewer bytes: bf16 in place of f32, or a larger batch for each weight that "
                        "is read.",
                        "training.precision"});
    }
    for (const Row& row : table.rows) {
        const double lost_us = row.us - row.best_us;
        if (row.times_best() >= kSlowKernel && lost_us / table.mean.wall_us >= kWorthNaming) {
            add_cause(out, {CauseKind::slow_kernel, lost_us / table.mean.wall_us,
                            "Slow kernel: " + row.name + " takes " +
                                percent(row.us / table.mean.wall_us) + " of the step, " +
                                times(row.times_best()) + " times its best time.",
                            "", "", row.name});
        }
    }
}

} // namespace

std::string_view cause_name(CauseKind kind) {
    switch (kind) {
    case CauseKind::data_starvation: return "data starvation";
    case CauseKind::imbalance: return "imbalance";
    case CauseKind::waiting: return "waiting at barriers";
    case CauseKind::exchange: return "exchange";
    case CauseKind::small_products: return "small products";
    case CauseKind::unfused_chain: return "unfused chain";
    case CauseKind::memory_bandwidth: return "memory bandwidth";
    case CauseKind::slow_kernel: return "slow kernel";
    case CauseKind::host: break;
    }
    return "host";
}

std::vector<Cause> causes_of(const Recording& recording) {
    const TimeTable table = time_table(recording, Grouping::op);
    const StepParts& mean = table.mean;
    std::vector<Cause> out;
    if (mean.wall_us <= 0) {
        return out;
    }
    const double starved = mean.loader_us / mean.wall_us;
    add_cause(out, {CauseKind::data_starvation, starved,
                    "Data starvation: " + percent(starved) + " of the step waits for batches.",
                    "More workers that prepare batches, or decoded samples kept in memory "
                    "(data.cache).",
                    "data.num_workers"});
    add_devices(table, out);
    add_kernels(recording, table, out);
    const double host = (mean.between_us + mean.host_us) / mean.wall_us;
    add_cause(out, {CauseKind::host, host,
                    "Host: " + percent(host) +
                        " of the step passes between calls and after them, in no kernel.",
                    "A larger batch makes the calls longer.", "training.global_batch_size"});
    std::stable_sort(out.begin(), out.end(),
                     [](const Cause& a, const Cause& b) { return a.share > b.share; });
    return out;
}

std::string verdict_of(const std::vector<Cause>& causes) {
    return causes.empty() ? "Nothing stands out: no cause takes 5 % of the step."
                          : causes.front().sentence;
}

} // namespace weft::profile
