// SPDX-License-Identifier: Apache-2.0
// Which training samples teach a run wrongly: hard ones by their loss over its checkpoints, wrongly
// labelled ones by what the network says instead, the same ones twice, within training or on both
// sides of what judges it.
#pragma once

#include "core/config/json.h"
#include "core/data/corrections.h"
#include "core/train/engine.h"

#include <array>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::train {

/// Why a sample is looked at.
enum class Suspicion : std::uint8_t {
    mislabelled, // confident learning says another class
    leak,        // nearly the same as a sample of validation or test
    duplicate,   // nearly the same as another training sample
    hard,        // among those of the highest mean loss
};
inline constexpr std::array kSuspicions = {Suspicion::mislabelled, Suspicion::leak,
                                           Suspicion::duplicate, Suspicion::hard};
/// "mislabelled"
std::string_view suspicion_name(Suspicion suspicion);

struct Twin {
    std::string part;       // "train", "validation", "test"
    std::int64_t index = 0; // as Suspect::index
    double likeness = 0;    // near_pairs.h; 1: the same
    bool exact = false;     // in every number
};

struct Suspect {
    std::int64_t row = 0;   // in DataSet::train
    std::int64_t index = 0; // among the samples of its files, Source::origin
    std::uint32_t crc32c = 0;
    std::int32_t label = -1;  // of its files; -1: it has none
    std::int32_t says = -1;   // the network's class; -1: no class is said
    double confidence = 0;    // in that
    std::vector<double> loss; // by checkpoint
    double mean_loss = 0;
    std::optional<double> margin;   // mean over checkpoints: the area under the margin
    std::vector<Suspicion> reasons; // the worst first
    std::vector<Twin> twins;        // the nearest first
};

struct AuditOptions {
    int threads = 0;                     // 0: as many as there are cores
    std::int64_t most_samples = 200'000; // of training; of more, as many from all over
    double likeness = 0.995; // from which two samples are nearly the same (near_pairs.h)
    bool finds_twins = true;
    std::size_t most_suspects = 1000; // kept of each suspicion
    std::function<void(const std::string& phase, double share)> told;
    std::stop_token stop;
};

struct Audit {
    std::vector<std::int64_t> checkpoints; // steps, ascending
    std::int64_t samples = 0;              // that were looked at
    std::int64_t all_samples = 0;          // of training
    std::vector<std::string> class_names;
    bool has_classes = false;
    std::int64_t mislabelled = 0, duplicates = 0, leaks = 0; // of all, also of those not kept
    std::vector<std::string> notes;                          // what it does not say, and why
    std::vector<Suspect> suspects;                           // by suspicion, then the worst first
};

/// The run's checkpoints, up to `most` of them from its whole length, the last among them; of a
/// checkpoint's folder that one. Throws weft::Error{checkpoint}.
std::vector<std::filesystem::path> audited_checkpoints(const std::filesystem::path& path,
                                                       std::size_t most);

/// Nothing when stopped. Throws weft::Error{usage} for data whose samples have neither a class nor
/// numbers to predict; {data}, {checkpoint}.
std::optional<Audit> audit_data(const std::vector<std::filesystem::path>& checkpoints,
                                const AuditOptions& options);

/// "mislabelled, duplicate ~ train 12": why, and the nearest twin ("=": the same in every number).
std::string reasons_text(const Suspect& suspect);

/// The list that a run's configuration names, `decided` in place of what it says of the same
/// samples: what a fork takes. Throws weft::Error{data}.
std::vector<data::Correction> with_earlier(const compile::RunConfig& config,
                                           std::vector<data::Correction> decided);

config::Json to_json(const Audit& audit);
/// What to_json() made. Throws weft::Error{data}.
Audit audit_of_json(const config::Json& json);

/// <run>/audit/audit.json
std::filesystem::path audit_file(const std::filesystem::path& run);

} // namespace weft::train
