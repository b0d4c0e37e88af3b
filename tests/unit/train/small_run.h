// SPDX-License-Identifier: Apache-2.0
// A run whose steps take less than a millisecond.
#pragma once

#include "core/base/check.h"
#include "core/compile/config/run_config.h"

#include <string>

namespace weft::test {

inline compile::RunConfig small_run(const std::string& name, int hidden, int batch) {
    const config::Json document = {
        {"name", name},
        {"data",
         {{"train", {{"type", "synthetic"}, {"kind", "classification"}, {"samples", 256}}},
          {"validation", nullptr}}},
        {"model", {{"type", "mlp"}, {"hidden", {hidden}}}},
        {"training",
         {{"precision", "f32"}, {"global_batch_size", batch}, {"micro_batch_size", batch / 2}}}};
    const compile::CheckedRun checked = compile::read_run_config(document, ".");
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    return checked.config;
}

} // namespace weft::test
