// SPDX-License-Identifier: Apache-2.0
// Short training runs on meshes, in process, as the engine does them.
#pragma once

#include "core/train/engine.h"
#include "core/train/planning.h"
#include "core/train/update.h"
#include "core/train/verify_mesh.h"

#include <map>
#include <string>
#include <vector>

namespace weft::test {

struct MeshRun {
    std::vector<double> losses;
    std::vector<std::int64_t> skipped;   // updates so far, in f16
    std::vector<std::string> violations; // of an instrumented run
    std::int64_t touched_bytes = 0;
    std::shared_ptr<const plan::ExecutionPlan> plan;
    std::map<std::string, std::vector<std::byte>> state; // whole arrays at the end
};

struct MeshRunOptions {
    int steps = 20;
    bool instrument = false;
    bool keep_slots = false;
};

/// Plans the configuration with `overrides` ("--set" texts). A wrong one is a failed check.
compile::RunConfig mesh_config(const std::string& document,
                               const std::vector<std::string>& overrides);
std::shared_ptr<const plan::ExecutionPlan> mesh_plan(const compile::RunConfig& config);
/// Largest difference of losses, step by step, relative to those of `a`.
double losses_apart(const std::vector<double>& a, const std::vector<double>& b);
MeshRun run_mesh(const compile::RunConfig& config, const MeshRunOptions& options = {});

using Overrides = std::vector<std::string>;

/// A run whose step, on one device and on the mesh, computes in f64.
struct WideRun {
    compile::RunConfig config;
    data::DataSet data;
    train::MeshStep step;
};
WideRun wide_run(const std::string& document, const Overrides& overrides);

/// A strategy on simulated devices.
struct Variant {
    const char* name;
    Overrides overrides;
};
const std::vector<Variant>& variants();

/// Small models with everything that could go wrong on a mesh: dropout, batch norm, clipping,
/// decay.
extern const char* const kMlp;
extern const char* const kCnn;
extern const char* const kGan;
extern const char* const kFlow;
extern const char* const kImageLayers;
extern const char* const kSequenceLayers;
extern const char* const kGpt;
/// A variational autoencoder with convolutions, whose latents are drawn.
extern const char* const kVae;
/// Four experts of which each token takes two, with room for fewer tokens than come.
extern const char* const kMoe;

} // namespace weft::test
