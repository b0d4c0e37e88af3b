// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/emulated/models.h"

namespace weft::test {
namespace {

const char* const kSmallMlp = R"({
  "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12, "classes": 5,
                     "samples": 400}},
  "model": {"type": "mlp", "hidden": [16, 8], "dropout": 0.2},
  "optimizer": {"type": "adamw", "learning_rate": 0.01, "weight_decay": 0.05},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kSmallGpt = R"({
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 24, "samples": 400}},
  "model": {"type": "gpt2", "layers": 2, "width": 16, "heads": 2, "context": 8, "vocab": 24,
            "dropout": 0.1},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.003},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 8, "precision": "f32", "length": {"steps": 100}}
})";

} // namespace

const std::vector<EmulatedModel>& emulated_models() {
    static const std::vector<EmulatedModel> list = {
        {"MLP with dropout", kSmallMlp, {}},
        {"MLP in four microsteps with an average",
         kSmallMlp,
         {"training.micro_batch_size=4", "training.ema_decay=0.9"}},
        {"MLP in bf16", kSmallMlp, {"training.precision=bf16"}, 0.03},
        {"GPT with dropout", kSmallGpt, {}},
        {"MLP, data parallel on 4", kSmallMlp, {"mesh.devices=cpu:4"}},
        {"MLP, ZeRO 1 on 4", kSmallMlp, {"mesh.devices=cpu:4", "mesh.zero_stage=1"}},
        {"MLP, ZeRO 2 on 4 in two microsteps",
         kSmallMlp,
         {"mesh.devices=cpu:4", "mesh.zero_stage=2", "training.micro_batch_size=2"}},
        {"MLP, fsdp on 3, padded",
         kSmallMlp,
         {"mesh.devices=cpu:3", "mesh.strategy=fsdp", "training.global_batch_size=18"}},
        {"MLP, hybrid on 2 x 2", kSmallMlp, {"mesh.devices=cpu:4", "mesh.strategy=hybrid_fsdp"}},
        {"GPT, fsdp on 4", kSmallGpt, {"mesh.devices=cpu:4", "mesh.strategy=fsdp"}},
        {"GPT, tensor parallel on 2",
         kSmallGpt,
         {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"}},
        {"GPT, 2d on 2 x 2", kSmallGpt, {"mesh.devices=cpu:4", "mesh.strategy=2d"}},
        {"GPT, context parallel on 2",
         kSmallGpt,
         {"mesh.devices=cpu:2", "mesh.strategy=context_parallel"}},
        {"GPT, pipeline on 2", kSmallGpt, {"mesh.devices=cpu:2", "mesh.strategy=pipeline"}},
        {"GPT, experts on 2",
         kSmallGpt,
         {"mesh.devices=cpu:2", "mesh.strategy=expert_parallel", "model.experts=4"}},
    };
    return list;
}

} // namespace weft::test
