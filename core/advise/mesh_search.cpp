// SPDX-License-Identifier: Apache-2.0
// The estimates of mesh_advice.h: every candidate, what it holds and takes, why it is not one.
#include "core/advise/block_model.h"
#include "core/advise/mesh_advice.h"
#include "core/advise/pipeline_rhythm.h"
#include "core/base/error.h"
#include "core/base/on_threads.h"
#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/passes/bucket_exchanges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace weft::advise {
namespace {

constexpr std::int64_t kMostModel = 16; // layers are split over near devices only
constexpr std::int64_t kMostMicroBatch = 64;
constexpr std::int64_t kMostStages = 16;
// The program of a stage is as long as the pipeline has microbatches, and so is the time it takes
// to make it.
constexpr std::int64_t kMostMicrobatches = 256;

class MeshSearch {
public:
    MeshSearch(const compile::RunConfig& config, const Planner& planner,
               const cost::CostModel& cost, std::int64_t parameters, std::int64_t limit_bytes,
               MeshAdvice& notes, const std::stop_token& stop, int threads)
        : config_(config), planner_(planner), cost_(cost), parameters_(parameters),
          limit_bytes_(limit_bytes), notes_(notes), stop_(stop), threads_(threads),
          devices_(compile::placement_of(config.section("mesh")).mesh.devices()) {}

    std::vector<MeshCandidate> run() {
        std::vector<Layers> all;
        for (std::int64_t model = 1; model <= std::min(kMostModel, devices_); model *= 2) {
            for (const bool recomputes : {false, true}) {
                if (devices_ % model == 0) {
                    all.push_back({model, recomputes, {}});
                }
            }
        }
        for_each_on(threads_, all.size(), [&](std::size_t i) {
            if (stop_.stop_requested()) {
                throw Error(ErrorKind::runtime, "advice", "the search was stopped");
            }
            all[i].fit =
                fit_block_model(config_, planner_, all[i].model, all[i].recomputes, parameters_);
        });
        for (const Layers& layers : all) {
            notes_.reference_plans += layers.fit.plans;
            if (layers.fit.problem.empty()) {
                pipelines(layers);
            } else {
                count("model=" + std::to_string(layers.model) + ": " + layers.fit.problem);
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
    /// What is known of layers that so many devices share.
    struct Layers {
        std::int64_t model = 1;
        bool recomputes = false;
        BlockFit fit;
    };

    void count(const std::string& reason) {
        notes_.candidates += 1;
        reasons_[reason] += 1;
    }

    void pipelines(const Layers& layers) {
        const std::int64_t chain = devices_ / layers.model;
        const auto most = std::min<std::int64_t>(
            {kMostStages, chain, static_cast<std::int64_t>(std::lround(layers.fit.layers))});
        for (std::int64_t stages = 1; stages <= std::max<std::int64_t>(most, 1); stages *= 2) {
            if (chain % stages == 0) {
                batches(layers, stages, chain / stages);
            }
        }
    }

    void batches(const Layers& layers, std::int64_t stages, std::int64_t data) {
        const std::int64_t global = config_.global_batch_size;
        // Gradients of a pipeline are exchanged once, when all microbatches are through.
        const int most_zero = data == 1 ? 0 : stages > 1 ? 1 : 3;
        for (int zero = 0; zero <= most_zero; ++zero) {
            for (std::int64_t micro = 1; micro <= kMostMicroBatch; micro *= 2) {
                const MeshCandidate own{
                    .data = data,
                    .pipeline = stages,
                    .model = layers.model,
                    .zero_stage = zero,
                    .recomputes = layers.recomputes,
                    .micro_batch = micro,
                };
                if (global % (micro * data) != 0) {
                    if (micro == 1) {
                        count("the batch of " + std::to_string(global) + " does not divide into " +
                              std::to_string(data) + " data ranks");
                    }
                } else if (stages > 1 && global / (micro * data) > kMostMicrobatches) {
                    count("are pipelines of more than " + std::to_string(kMostMicrobatches) +
                          " microbatches, which take long to plan");
                } else {
                    judge(best_schedule(layers.fit, own));
                }
            }
        }
    }

    MeshCandidate best_schedule(const BlockFit& fit, MeshCandidate own) {
        if (own.pipeline == 1) {
            return estimate(fit, std::move(own));
        }
        std::optional<MeshCandidate> best;
        for (const std::string& schedule : Rhythms::schedules(own.recomputes)) {
            own.schedule = schedule;
            MeshCandidate one = estimate(fit, own);
            if (!best || one.step_ms < best->step_ms) {
                best = std::move(one);
            }
        }
        return *std::move(best);
    }

    /// Milliseconds of exchanges of one kind over the data ranks.
    double data_ms(const char* kind, const Traffic& traffic, const MeshCandidate& own) const {
        if (own.data == 1 || traffic.calls < 1) {
            return 0;
        }
        const std::int64_t host = cost_.host_devices();
        const std::int64_t near =
            host == 0 || devices_ <= host
                ? 0
                : std::max<std::int64_t>(1, host / (own.model * own.pipeline));
        const auto bytes = static_cast<std::int64_t>(traffic.bytes / traffic.calls);
        return traffic.calls * cost_.exchange_ms({kind, bytes, own.data, near}, devices_);
    }

    /// Milliseconds of handing a microbatch's activations on; what a block hands on is as wide as
    /// the model.
    double send_ms(const MeshCandidate& own) const {
        const config::Json& model = config_.section("model");
        if (own.pipeline == 1 || !model.contains("width") || !model.at("width").is_number()) {
            return 0;
        }
        const std::int64_t bytes = own.micro_batch * std::max<std::int64_t>(1, config_.context()) *
                                   model.at("width").get<std::int64_t>() *
                                   ir::dtype_bytes(config_.compute_dtype());
        const std::int64_t host = cost_.host_devices();
        const bool near = host == 0 || own.model * own.pipeline <= host;
        return cost_.exchange_ms({"send_recv", bytes, 2, near ? 0 : 1}, devices_);
    }

    MeshCandidate estimate(const BlockFit& fit, MeshCandidate own) {
        const auto stages = static_cast<double>(own.pipeline);
        const double layers = std::ceil(fit.layers / stages - 1e-6); // of the largest stage
        const BlockModel whole = fit.whole();
        const BlockModel block = fit.of(layers);
        const auto samples = static_cast<double>(own.micro_batch);
        const auto ranks = static_cast<double>(own.data);
        const std::int64_t steps = config_.global_batch_size / (own.micro_batch * own.data);
        const int stage = own.zero_stage;
        // Simulated devices share one machine, whatever their number.
        const double share = cost_.share(devices_) / cost_.share(own.model);
        // Stages are balanced, but a layer is not cut, and no stage is without one.
        const auto of_stage = [&](Line BlockModel::*line) {
            const double one = (fit.one.*line).at(samples);
            const double layer = one - (fit.none.*line).at(samples);
            return share * std::max({(whole.*line).at(samples) / stages, layers * layer,
                                     stages > 1 ? one : 0.0});
        };
        const double send = send_ms(own);
        const double exchange_ms = of_stage(&BlockModel::exchange_ms) + (stages > 1 ? 2 * send : 0);
        const double work_ms = of_stage(&BlockModel::microstep_ms) + exchange_ms;
        const Rhythm rhythm = rhythms_.of(own.schedule, own.pipeline, steps, own.recomputes,
                                          work_ms > 0 ? send / work_ms : 0);
        const Traffic all{block.parameter_tensors, block.parameter_bytes};
        // Sums of gradients travel in buckets.
        const double buckets = std::ceil(block.parameter_bytes /
                                         static_cast<double>(passes::bucket_bytes(
                                             static_cast<std::int64_t>(block.parameter_bytes))));
        const Traffic few{std::min(block.parameter_tensors, buckets), block.parameter_bytes};
        const double scattered = stage == 3 ? data_ms("reduce_scatter", block.split.scattered, own)
                                 : stage == 2 ? data_ms("reduce_scatter", few, own)
                                              : 0;
        const double per_step =
            scattered + (stage == 3 ? data_ms("all_gather", block.split.gathered, own) : 0);
        const double summed = stage == 1   ? data_ms("reduce_scatter", few, own)
                              : stage == 0 ? data_ms("all_reduce", few, own)
                                           : 0;
        const double per_update =
            summed + (stage == 1 || stage == 2 ? data_ms("all_gather", all, own) : 0);
        // They hide behind backward, but for the last bucket; those of an update only where it has
        // one microbatch, and no pipeline.
        const double backward_ms = work_ms * (own.recomputes ? 3.0 / 4 : 2.0 / 3);
        const auto hidden = [&](double ms, double calls) {
            return cost_.overlaps() && calls > 1 && own.pipeline == 1
                       ? std::min(ms * (1 - 1 / calls), backward_ms)
                       : 0.0;
        };
        const double hidden_ms =
            static_cast<double>(steps) *
                hidden(scattered, stage == 3 ? block.split.scattered.calls : few.calls) +
            (steps == 1 ? hidden(summed, few.calls) : 0.0);
        const auto microsteps = static_cast<double>(steps);
        own.communication_ms = microsteps * (exchange_ms + per_step) + per_update;
        own.step_ms = rhythm.length * work_ms + microsteps * per_step + per_update +
                      share * block.update_ms / (stage >= 1 ? ranks : 1) - hidden_ms;
        const double parameters = block.parameter_bytes / (stage == 3 ? ranks : 1);
        const double gradients = block.parameter_bytes / (stage >= 2 ? ranks : 1);
        const double optimizer = block.optimizer_bytes / (stage >= 1 ? ranks : 1);
        // One microbatch as planned; of the others in flight what layers hold per sample.
        const double held =
            std::max(0.0, fit.one.scratch_bytes.slope - fit.none.scratch_bytes.slope);
        const double microstep = block.scratch_bytes.at(samples) +
                                 (rhythm.in_flight - 1) * samples * layers * held +
                                 (stage == 3 ? block.split.scratch_bytes : 0);
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
        const std::string reason = "do not fit with model=" + std::to_string(candidate.model) +
                                   (candidate.pipeline > 1 ? " in a pipeline" : "");
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

    const compile::RunConfig& config_;
    const Planner& planner_;
    const cost::CostModel& cost_;
    std::int64_t parameters_, limit_bytes_;
    MeshAdvice& notes_;
    const std::stop_token& stop_;
    int threads_;
    std::int64_t devices_;
    Rhythms rhythms_;
    std::vector<MeshCandidate> fitting_;
    std::map<std::string, int> reasons_;
    std::map<std::string, MeshCandidate> least_;
};

} // namespace

std::vector<std::string> MeshCandidate::overrides() const {
    const std::string stages =
        pipeline > 1 ? ",[\"pipeline\"," + std::to_string(pipeline) + "]" : "";
    std::vector<std::string> out = {pipeline > 1 ? "mesh.strategy=3d" : "mesh.strategy=2d",
                                    "mesh.axes=[[\"data\"," + std::to_string(data) + "]" + stages +
                                        ",[\"model\"," + std::to_string(model) + "]]",
                                    "mesh.zero_stage=" + std::to_string(zero_stage),
                                    std::string("training.recompute=") +
                                        (recomputes ? "blocks" : "none"),
                                    "training.micro_batch_size=" + std::to_string(micro_batch)};
    if (pipeline > 1) {
        out.push_back("mesh.pipeline.schedule=" + schedule);
    }
    return out;
}

std::string MeshCandidate::text() const {
    return "data=" + std::to_string(data) +
           (pipeline > 1 ? " x pipeline=" + std::to_string(pipeline) : "") +
           " x model=" + std::to_string(model) + (pipeline > 1 ? ", " + schedule : "") + ", ZeRO " +
           std::to_string(zero_stage) + (recomputes ? ", recompute" : "") + ", micro batch " +
           std::to_string(micro_batch);
}

std::vector<MeshCandidate> estimate_meshes(const compile::RunConfig& config, const Planner& planner,
                                           const cost::CostModel& cost, std::int64_t parameters,
                                           std::int64_t limit_bytes, MeshAdvice& notes,
                                           const std::stop_token& stop, int threads) {
    return MeshSearch(config, planner, cost, parameters, limit_bytes, notes, stop, threads).run();
}

} // namespace weft::advise
