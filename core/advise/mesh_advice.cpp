// SPDX-License-Identifier: Apache-2.0
#include "core/advise/mesh_advice.h"

#include "core/base/on_threads.h"

#include <algorithm>
#include <array>
#include <set>

namespace weft::advise {
namespace {

constexpr std::size_t kFinalists = 3;
constexpr int kMostPlanned = 5; // completely

/// Milliseconds of a microbatch on the stage that has most to do.
double busiest_ms(const plan::Pipeline& pipeline) {
    double most = 0;
    for (const auto& stage : pipeline.times) {
        double all = 0;
        for (const plan::ActionTime& action : stage) {
            all += action.end_ms - action.start_ms;
        }
        most = std::max(most, all / pipeline.microbatches);
    }
    return most;
}

/// Milliseconds of exchanges for a microbatch on the stage that has most of them.
double exchange_ms(const plan::ExecutionPlan& plan) {
    double most = 0;
    for (const plan::PlannedProgram* stage : plan.all_stages("train_step")) {
        double all = 0;
        for (const plan::Collective& one : plan::collectives(*stage)) {
            all += one.phase == ir::Phase::update ? 0 : one.predicted_ms;
        }
        most = std::max(most, all / plan.pipeline->microbatches);
    }
    return most;
}

/// A pipeline is planned with one microbatch more than it has stages: then it holds as much as it
/// ever does, and every further one takes the time of the busiest stage.
std::optional<plan::Alternative> plan_candidate(const compile::RunConfig& config,
                                                const Planner& planner,
                                                const MeshCandidate& candidate) {
    const std::int64_t all = config.global_batch_size / (candidate.micro_batch * candidate.data);
    const std::int64_t planned =
        candidate.pipeline == 1 ? all : std::min(all, candidate.pipeline + 1);
    std::vector<std::string> overrides = candidate.overrides();
    if (planned < all) {
        overrides.push_back("training.global_batch_size=" +
                            std::to_string(planned * candidate.micro_batch * candidate.data));
    }
    const auto changed = compile::with_overrides(config, overrides);
    if (!changed) {
        return std::nullopt;
    }
    const plan::ExecutionPlan plan = planner(*changed);
    plan::Alternative out = alternative_of(candidate.text(), candidate.overrides(), plan);
    if (planned < all && plan.pipeline) {
        const auto more = static_cast<double>(all - planned);
        out.predicted_step_ms = *out.predicted_step_ms + more * busiest_ms(*plan.pipeline);
        out.communication_ms += more * exchange_ms(plan);
        for (const plan::PlannedPort& port : plan.find("train_step")->arguments) {
            if (port.role == ir::Role::batch) {
                out.peak_bytes += (all - planned) * port.operand.type.bytes() / planned;
            }
        }
        out.fits = !plan.limit_bytes || out.peak_bytes <= *plan.limit_bytes;
    }
    return out;
}

/// The fastest of every mesh before the others of it: what differs in ZeRO's stage alone takes
/// nearly the same time.
std::vector<const MeshCandidate*> by_mesh(const std::vector<MeshCandidate>& fitting) {
    std::vector<const MeshCandidate*> out;
    std::vector<const MeshCandidate*> others;
    std::set<std::array<std::int64_t, 3>> seen;
    for (const MeshCandidate& one : fitting) {
        (seen.insert({one.data, one.pipeline, one.model}).second ? out : others).push_back(&one);
    }
    out.insert(out.end(), others.begin(), others.end());
    return out;
}

} // namespace

MeshAdvice search_meshes(const compile::RunConfig& config, const Planner& planner,
                         const cost::CostModel& cost, std::int64_t parameters,
                         std::int64_t limit_bytes, std::stop_token stop, int threads) {
    MeshAdvice out;
    const auto fitting =
        estimate_meshes(config, planner, cost, parameters, limit_bytes, out, stop, threads);
    const std::vector<const MeshCandidate*> order = by_mesh(fitting);
    int tried = 0;
    while (out.ways.size() < kFinalists && tried < kMostPlanned &&
           tried < static_cast<int>(fitting.size())) {
        // As many as are still wanted, together.
        const std::size_t wanted =
            std::min({kFinalists - out.ways.size(), static_cast<std::size_t>(kMostPlanned - tried),
                      fitting.size() - static_cast<std::size_t>(tried)});
        std::vector<std::optional<plan::Alternative>> made(wanted);
        // More at a time than there are cores, so that none comes last alone.
        const int together = threads > 1 ? static_cast<int>(wanted) : 1;
        for_each_on(together, wanted, [&](std::size_t i) {
            made[i] = plan_candidate(config, planner, *order[static_cast<std::size_t>(tried) + i]);
        });
        tried += static_cast<int>(wanted);
        for (auto& way : made) {
            if (way && way->fits) {
                out.ways.push_back(*std::move(way));
            }
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

} // namespace weft::advise
