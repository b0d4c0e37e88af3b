// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh_advice.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/block_model.h"
#include "core/compile/mesh_config.h"
#include "core/passes/bucket_exchanges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace weft::compile {
namespace {

constexpr std::size_t kFinalists = 3;
constexpr int kMostPlanned = 5;         // completely
constexpr std::int64_t kMostModel = 16; // layers are split over near devices only
constexpr std::int64_t kMostMicroBatch = 64;

class Search {
public:
    Search(const RunConfig& config, const Planner& planner, const cost::CostModel& cost,
           std::int64_t parameters, std::int64_t limit_bytes, MeshAdvice& notes,
           const std::stop_token& stop)
        : config_(config), planner_(planner), cost_(cost), parameters_(parameters),
          limit_bytes_(limit_bytes), notes_(notes), stop_(stop),
          devices_(placement_of(config.section("mesh")).mesh.devices()) {}

    std::vector<MeshCandidate> run() {
        for (std::int64_t model = 1; model <= std::min(kMostModel, devices_); model *= 2) {
            if (devices_ % model != 0) {
                continue;
            }
            for (const bool recomputes : {false, true}) {
                if (stop_.stop_requested()) {
                    throw Error(ErrorKind::runtime, "advice", "the search was stopped");
                }
                const auto block =
                    fit_block_model(config_, planner_, model, recomputes, parameters_);
                notes_.reference_plans += block.plans;
                if (!block.problem.empty()) {
                    count("model=" + std::to_string(model) + ": " + block.problem);
                    continue;
                }
                stages(block, model, recomputes);
            }
        }
        std::stable_sort(fitting_.begin(), fitting_.end(),
                         [](const MeshCandidate& a, const MeshCandidate& b) {
                             return std::tuple(a.step_ms, a.bytes) < std::tuple(b.step_ms, b.bytes);
                         });
        finish();
        return std::move(fitting_);
    }

private:
    void count(const std::string& reason) {
        notes_.candidates += 1;
        reasons_[reason] += 1;
    }

    void stages(const BlockModel& block, std::int64_t model, bool recomputes) {
        const std::int64_t data = devices_ / model;
        const std::int64_t global = config_.global_batch_size;
        for (int stage = 0; stage <= (data > 1 ? 3 : 0); ++stage) {
            for (std::int64_t micro = 1; micro <= kMostMicroBatch; micro *= 2) {
                if (global % (micro * data) != 0) {
                    if (micro == 1) {
                        count("the batch of " + std::to_string(global) + " does not divide into " +
                              std::to_string(data) + " data ranks");
                    }
                    continue;
                }
                judge(estimate(block, {data, model, stage, recomputes, micro}));
            }
        }
    }

    /// Milliseconds of exchanges of one kind over the data ranks.
    double data_ms(const char* kind, const Traffic& traffic, const MeshCandidate& own) const {
        if (own.data == 1 || traffic.calls < 1) {
            return 0;
        }
        const std::int64_t host = cost_.host_devices();
        const std::int64_t near =
            host == 0 || devices_ <= host ? 0 : std::max<std::int64_t>(1, host / own.model);
        const auto bytes = static_cast<std::int64_t>(traffic.bytes / traffic.calls);
        return traffic.calls * cost_.exchange_ms({kind, bytes, own.data, near}, devices_);
    }

    MeshCandidate estimate(const BlockModel& block, MeshCandidate own) const {
        const auto ranks = static_cast<double>(own.data);
        const double steps = static_cast<double>(config_.global_batch_size) /
                             static_cast<double>(own.micro_batch * own.data);
        const int stage = own.zero_stage;
        const auto samples = static_cast<double>(own.micro_batch);
        // Simulated devices share one machine, whatever their number.
        const double share = cost_.share(devices_) / cost_.share(own.model);
        const Traffic all{block.parameter_tensors, block.parameter_bytes};
        // Whole gradients travel in buckets; parts of them are cut out one by one.
        const double buckets =
            std::ceil(block.parameter_bytes / static_cast<double>(passes::kBucketBytes));
        const Traffic few{std::min(block.parameter_tensors, buckets), block.parameter_bytes};
        const double per_step = stage == 3
                                    ? data_ms("all_gather", block.split.gathered, own) +
                                          data_ms("reduce_scatter", block.split.scattered, own)
                                : stage == 2 ? data_ms("reduce_scatter", all, own)
                                             : 0;
        const double per_update =
            stage == 3   ? 0
            : stage == 2 ? data_ms("all_gather", all, own)
            : stage == 1 ? data_ms("reduce_scatter", all, own) + data_ms("all_gather", all, own)
                         : data_ms("all_reduce", few, own);
        own.communication_ms =
            steps * (share * block.exchange_ms.at(samples) + per_step) + per_update;
        own.step_ms = own.communication_ms + share * (steps * block.microstep_ms.at(samples) +
                                                      block.update_ms / (stage >= 1 ? ranks : 1));
        const double parameters = block.parameter_bytes / (stage == 3 ? ranks : 1);
        const double gradients = block.parameter_bytes / (stage >= 2 ? ranks : 1);
        const double optimizer = block.optimizer_bytes / (stage >= 1 ? ranks : 1);
        const double microstep =
            block.scratch_bytes.at(samples) + (stage == 3 ? block.split.scratch_bytes : 0);
        const double update = block.update_scratch_bytes / (stage >= 1 ? ranks : 1);
        own.bytes =
            static_cast<std::int64_t>(parameters + gradients + optimizer + block.other_state_bytes +
                                      std::max({microstep, update, 0.0}));
        return own;
    }

    void judge(MeshCandidate candidate) {
        if (candidate.bytes <= limit_bytes_) {
            notes_.candidates += 1;
            fitting_.push_back(candidate);
            return;
        }
        const std::string reason = "do not fit with model=" + std::to_string(candidate.model);
        const auto [least, is_new] = least_.try_emplace(reason, candidate);
        if (!is_new && candidate.bytes < least->second.bytes) {
            least->second = candidate;
        }
        count(reason);
    }

    void finish() {
        for (auto& [reason, number] : reasons_) {
            const auto need = least_.find(reason);
            notes_.others.emplace_back(
                need == least_.end() ? reason
                                     : reason + ": the least, " + need->second.text() +
                                           ", needs about " + format_bytes(need->second.bytes),
                number);
        }
    }

    const RunConfig& config_;
    const Planner& planner_;
    const cost::CostModel& cost_;
    std::int64_t parameters_, limit_bytes_;
    MeshAdvice& notes_;
    const std::stop_token& stop_;
    std::int64_t devices_;
    std::vector<MeshCandidate> fitting_;
    std::map<std::string, int> reasons_;
    std::map<std::string, MeshCandidate> least_;
};

} // namespace

std::vector<std::string> MeshCandidate::overrides() const {
    return {"mesh.strategy=2d",
            "mesh.axes=[[\"data\"," + std::to_string(data) + "],[\"model\"," +
                std::to_string(model) + "]]",
            "mesh.zero_stage=" + std::to_string(zero_stage),
            std::string("training.recompute=") + (recomputes ? "blocks" : "none"),
            "training.micro_batch_size=" + std::to_string(micro_batch)};
}

std::string MeshCandidate::short_text() const {
    return "model=" + std::to_string(model) + ", ZeRO " + std::to_string(zero_stage) +
           (recomputes ? ", recompute" : "");
}

std::string MeshCandidate::text() const {
    return "data=" + std::to_string(data) + " x " + short_text() + ", micro batch " +
           std::to_string(micro_batch);
}

std::vector<MeshCandidate> estimate_meshes(const RunConfig& config, const Planner& planner,
                                           const cost::CostModel& cost, std::int64_t parameters,
                                           std::int64_t limit_bytes, MeshAdvice& notes,
                                           const std::stop_token& stop) {
    return Search(config, planner, cost, parameters, limit_bytes, notes, stop).run();
}

MeshAdvice advise_mesh(const RunConfig& config, const Planner& planner, const cost::CostModel& cost,
                       std::int64_t parameters, std::int64_t limit_bytes, std::stop_token stop) {
    MeshAdvice out;
    const auto fitting = estimate_meshes(config, planner, cost, parameters, limit_bytes, out, stop);
    int tried = 0;
    for (const MeshCandidate& candidate : fitting) {
        if (out.ways.size() == kFinalists || tried == kMostPlanned) {
            break;
        }
        ++tried;
        const auto changed = with_overrides(config, candidate.overrides());
        if (!changed) {
            continue;
        }
        plan::Alternative way =
            alternative_of(candidate.text(), candidate.overrides(), planner(*changed));
        if (way.fits) {
            out.ways.push_back(std::move(way));
        }
    }
    const int slower = static_cast<int>(fitting.size()) - tried;
    const int larger = tried - static_cast<int>(out.ways.size());
    std::stable_sort(out.ways.begin(), out.ways.end(),
                     [](const plan::Alternative& a, const plan::Alternative& b) {
                         return a.predicted_step_ms < b.predicted_step_ms;
                     });
    mark_front(out.ways);
    if (larger > 0) {
        out.others.emplace_back("are larger than estimated and do not fit", larger);
    }
    if (slower > 0) {
        out.others.emplace_back("fit, and are estimated to be slower", slower);
    }
    return out;
}

} // namespace weft::compile
