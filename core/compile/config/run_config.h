// SPDX-License-Identifier: Apache-2.0
// The run configuration (INTERFACES.md) as a checked document and as plain values. The table is
// assembled from the records of nn, optim, data, ...; nobody else defines a setting.
#pragma once

#include "core/compile/config/data_defaults.h"
#include "core/config/field.h"
#include "core/ir/operands.h"
#include "core/ir/type.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::compile {

/// A length or cadence: exactly one unit is set.
struct Cadence {
    enum class Unit : std::uint8_t { steps, epochs, minutes, tokens };
    Unit unit = Unit::steps;
    double amount = 0;
};

/// A run that has not become better for `patience` evaluations is finished.
struct EarlyStopping {
    std::string metric; // "validation/loss"
    bool smaller_is_better = true;
    std::int64_t patience = 0; // evaluations
    double min_delta = 0;      // smaller improvements do not count
};

/// How gradients in f16 are kept from overflow and underflow (core/compile/programs/loss_scale.h),
/// and which updates are skipped: with a scale that stays 1 in other precisions, too.
struct LossScale {
    double initial = 0;
    double growth = 0;                // above 1
    std::int64_t growth_interval = 0; // updates
    double backoff = 0;               // below 1
    std::int64_t hysteresis = 0;      // overflows in a row
    double minimum = 0;
    double maximum = 0;
};

/// The frozen configuration of a run. `document` is normalised (every default filled in); the typed
/// members repeat what code reads often.
struct RunConfig {
    config::Json document;
    std::filesystem::path base_dir; // relative paths count from here

    std::string name;
    std::uint64_t seed = 0;
    Cadence length;
    std::optional<EarlyStopping> early_stopping;
    std::int64_t global_batch_size = 0;
    std::optional<std::int64_t> micro_batch_size;
    std::optional<double> max_grad_norm;
    std::optional<double> ema_decay;
    std::string precision;                     // "f32" | "tf32" | "bf16" | "f16" | "fp8"
    /// In f16, and where updates that are not finite are skipped: what decides of them.
    std::optional<LossScale> loss_scale;
    std::string recompute;                     // "none" | "blocks" | "auto"
    std::optional<std::int64_t> memory_budget; // bytes that the run may take
    std::string on_nonfinite;                  // "stop" | "skip" | "rewind"
    std::int64_t most_rewinds = 3;             // near one another, before the run stops
    std::vector<std::int64_t> pass_over;       // updates that are left out, by number
    bool freezable = false;                    // layers may be frozen while it trains
    bool shuffle = true;
    bool drop_last = false;
    int prefetch = 2;
    int num_workers = 1;
    std::int64_t shuffle_window_bytes = 0;
    Cadence evaluation_every;
    bool evaluation_at_start = true;
    bool evaluation_use_ema = true;
    std::optional<std::int64_t> evaluation_max_batches;
    std::int64_t evaluation_samples = 16;
    std::optional<Cadence> checkpoint_every;
    bool checkpoint_on_improvement = true;
    std::int64_t keep_latest = 2;
    std::int64_t keep_best = 3;
    std::string checkpoint_metric; // "validation/loss"
    bool checkpoint_async = true;

    const config::Json& section(std::string_view key) const {
        return document.at(std::string(key));
    }
    std::string model_type() const;
    /// Context length of a language model; 0 when the model has none.
    std::int64_t context() const;
    /// Whether gradients are those of a loss that is multiplied by a scale: in f16.
    bool scales_loss() const { return compute_dtype() == ir::DType::f16; }
    /// What `precision` computes in.
    ir::DType compute_dtype() const;
    /// What its products round to.
    ir::Operands operands() const;
};

struct CheckedRun {
    RunConfig config; // meaningful only when ok()
    config::Diagnostics diagnostics;
    bool ok() const { return !config::has_errors(diagnostics); }
};

/// The whole table: JSON schema, forms, reference page and validator come from it.
const config::FieldTable& run_config_table();

/// Text -> configuration: syntax, fields, ranges, then the cross-field rules. Every problem at
/// once. `overrides` are "--set" assignments, applied before checking. `look`: where defaults
/// follow the data; a thread that must not wait gives one that reads no files.
CheckedRun read_run_config(std::string_view text, const std::filesystem::path& base_dir,
                           const std::vector<std::string>& overrides = {},
                           const DataLook& look = look_at_data);
CheckedRun read_run_config(config::Json document, const std::filesystem::path& base_dir,
                           const std::vector<std::string>& overrides = {},
                           const DataLook& look = look_at_data);
/// Reads a file. A missing or unreadable file is a diagnostic too.
CheckedRun read_run_config_file(const std::filesystem::path& path,
                                const std::vector<std::string>& overrides = {});

/// The configuration with "--set" assignments applied; none when the result has a mistake.
std::optional<RunConfig> with_overrides(const RunConfig& config,
                                        const std::vector<std::string>& overrides);

/// What may change on resume: "allowed" in the same run, "fork", or "blocked" (weights would not
/// fit).
enum class ChangeEffect : std::uint8_t { allowed, fork, blocked };
struct FieldChange {
    std::string path; // "optimizer.learning_rate"
    config::Json before, after;
    ChangeEffect effect;
};
std::vector<FieldChange> compare(const RunConfig& before, const RunConfig& after);

} // namespace weft::compile
