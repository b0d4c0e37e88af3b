// SPDX-License-Identifier: Apache-2.0
// The models of peers/, which peers/make_peers.py made, on this machine.
#pragma once

#include "core/foreign/describe.h"
#include "core/train/compute.h"
#include "core/train/engine.h"
#include "core/train/planning.h"
#include "core/train/program_io.h"
#include "core/train/warm_start.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test {

// f32 sums in another order, of logits of order 1.
inline constexpr double kLogitTolerance = 1e-4;
inline constexpr std::int32_t kTokens[] = {3, 1, 4, 1, 5, 9, 2, 6};

inline const std::filesystem::path kPeers = WEFT_TEST_DATA "/peers";

inline config::Json json_in(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return config::json_of(std::string(std::istreambuf_iterator<char>(stream), {}));
}

inline compile::RunConfig run_of_peer(const std::string& name,
                                      const std::vector<std::string>& overrides = {}) {
    const foreign::ForeignModel model =
        foreign::read_foreign_config(*foreign::foreign_config(kPeers / name));
    std::vector<std::string> all = {"training.precision=f32", "training.global_batch_size=1",
                                    "data.validation=null"};
    if (name == "resnet") {
        all.emplace_back("data.train.shape=[32,32,1]");
    }
    all.insert(all.end(), overrides.begin(), overrides.end());
    const compile::CheckedRun checked =
        compile::read_run_config(foreign::run_of(model, name, kPeers / name), kPeers, all);
    if (!checked.ok()) {
        throw std::runtime_error(config::to_text(checked.diagnostics.front()));
    }
    return checked.config;
}

/// The peer's weights in a machine that can run its programs.
inline std::unique_ptr<exec::Executor> loaded(const compile::RunConfig& config) {
    auto executor =
        std::make_unique<exec::Executor>(train::shared_plan(config, {}), train::compute_of(config));
    train::initialise(*executor, config);
    train::load_start_weights(*executor, config);
    return executor;
}

inline std::vector<float> floats(std::span<const std::byte> bytes) {
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

/// Logits of every position; of an image, up to what all have in common.
inline std::vector<float> logits_of(exec::Executor& executor) {
    if (executor.plan().find("prefill") != nullptr) {
        const std::int64_t position = 0;
        executor.write("prefill", "tokens", std::as_bytes(std::span(kTokens)));
        executor.write("prefill", "position", std::as_bytes(std::span(&position, 1)));
        executor.run("prefill");
        return floats(executor.read("prefill", "logits"));
    }
    const plan::PlannedPort* inputs = train::find_argument(executor, "predict", "inputs");
    std::vector<float> image(static_cast<std::size_t>(inputs->whole.shape.elements()));
    for (std::size_t i = 0; i < image.size(); ++i) {
        image[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)));
    }
    executor.write("predict", "inputs", std::as_bytes(std::span(image)));
    executor.run("predict");
    std::vector<float> out = floats(executor.read("predict", "prediction"));
    for (float& value : out) {
        value = std::log(value);
    }
    return out;
}

} // namespace weft::test
