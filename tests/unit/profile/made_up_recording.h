// SPDX-License-Identifier: Apache-2.0
// Recordings with known times, made by hand.
#pragma once

#include "core/profile/recording.h"

#include <algorithm>

namespace weft::test {

/// A recording of one step that grows call by call: each device's calls follow one another.
class MadeUpRecording {
public:
    explicit MadeUpRecording(int devices = 1) {
        recording_.run = "made-up";
        recording_.asked_steps = 1;
        recording_.basis = "ceilings measured on 2026-11-26";
        recording_.ceilings = {4e12, 5e11, 4e10};
        for (int device = 0; device < devices; ++device) {
            recording_.devices.push_back({"cpu:" + std::to_string(device), {}});
            end_us_.push_back(0);
        }
    }

    /// The batch comes so late.
    MadeUpRecording& batch_after(double us) {
        batch_us_ = us;
        std::fill(end_us_.begin(), end_us_.end(), us);
        return *this;
    }
    /// The host takes so long after the devices.
    MadeUpRecording& host_after(double us) {
        host_us_ = us;
        return *this;
    }
    MadeUpRecording& call(const profile::Call& call, double us, double waited_us = 0,
                          int device = 0) {
        auto known = std::find(recording_.calls.begin(), recording_.calls.end(), call);
        if (known == recording_.calls.end()) {
            recording_.calls.push_back(call);
            known = recording_.calls.end() - 1;
        }
        double& end_us = end_us_[static_cast<std::size_t>(device)];
        recording_.devices[static_cast<std::size_t>(device)].events.push_back(
            {static_cast<int>(known - recording_.calls.begin()), end_us, us, waited_us});
        end_us += us;
        return *this;
    }
    profile::Recording done() const {
        profile::Recording out = recording_;
        const double computed_us = *std::max_element(end_us_.begin(), end_us_.end());
        out.steps = {{100, 0, batch_us_, computed_us, computed_us + host_us_}};
        return out;
    }

private:
    profile::Recording recording_;
    std::vector<double> end_us_; // by device
    double batch_us_ = 0;
    double host_us_ = 0;
};

inline profile::Call product(const std::string& path, double best_us) {
    return {.op = "matmul",
            .path = path,
            .kernel = "onednn matmul",
            .phase = "forward",
            .dtype = "f32",
            .bound = "products",
            .product_flops = best_us * 1e6,
            .flops = best_us * 1e6,
            .bytes = 1e4,
            .predicted_us = best_us * 1.5,
            .best_us = best_us};
}
inline profile::Call elementwise(const std::string& path, double best_us) {
    return {.op = "gelu",
            .path = path,
            .kernel = "cpu elementwise",
            .phase = "forward",
            .dtype = "f32",
            .bound = "memory",
            .elementwise = true,
            .flops = 1e4,
            .bytes = 1e5,
            .predicted_us = best_us,
            .best_us = best_us};
}
inline profile::Call reduction(const std::string& path, double best_us) {
    return {.op = "layer_norm",
            .path = path,
            .kernel = "cpu layer_norm",
            .phase = "backward",
            .dtype = "f32",
            .bound = "memory",
            .flops = 1e4,
            .bytes = 1e5,
            .predicted_us = best_us,
            .best_us = best_us};
}
inline profile::Call all_reduce() {
    return {.op = "all_reduce",
            .path = "layers.0",
            .phase = "backward",
            .dtype = "f32",
            .exchange = true,
            .bytes = 1e5,
            .predicted_us = 50};
}

} // namespace weft::test
