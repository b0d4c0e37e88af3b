// SPDX-License-Identifier: Apache-2.0
// Pipeline parallelism: each device holds some of the layers (Huang et al. 2019). What it runs in
// which order is mesh.pipeline's business.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kPipeline{
    .name = "pipeline",
    .help = "Each device holds a part of the layers, and microbatches pass from one to the next.",
    .when = "The model is deep, and devices are joined by slow links.",
    .axes = {{"pipeline", -1}},
    .rules = {{"layers", {"pipeline"}}}};

} // namespace weft::sharding
