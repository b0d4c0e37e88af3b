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

// A bias before batch norm has a gradient of rounding alone, which Adam would make steps of.
const char* const kSmallCnn = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 2], "classes": 4,
                     "samples": 200}},
  "model": {"type": "sequential", "layers": [
    {"type": "conv2d", "channels": 8, "kernel": 3}, {"type": "batch_norm"}, {"type": "relu"},
    {"type": "max_pool"}, {"type": "dropout", "rate": 0.2}, {"type": "flatten"},
    {"type": "linear"}]},
  "optimizer": {"type": "sgd", "learning_rate": 0.05, "momentum": 0.9},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 8, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kSmallLlama = R"({
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 24, "samples": 200}},
  "model": {"type": "llama", "layers": 1, "width": 16, "heads": 2, "kv_heads": 1, "ffn": 24,
            "context": 8, "vocab": 24},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.003},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 4, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kSmallVit = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [8, 8, 3], "classes": 4,
                     "samples": 200}},
  "model": {"type": "vit", "patch": 4, "layers": 1, "width": 16, "heads": 2},
  "optimizer": {"type": "adamw", "learning_rate": 0.003},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 4, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kSmallResnet = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [8, 8, 3], "classes": 4,
                     "samples": 200}},
  "model": {"type": "resnet", "depth": 18, "stem": "cifar", "width": 4},
  "optimizer": {"type": "sgd", "learning_rate": 0.01, "momentum": 0.9},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 4, "precision": "f32", "length": {"steps": 100}}
})";

} // namespace

const std::vector<EmulatedModel>& emulated_models() {
    static const std::vector<EmulatedModel> list = {
        {"MLP with dropout", kSmallMlp, {}},
        {"MLP in four microsteps with an average",
         kSmallMlp,
         {"training.micro_batch_size=4", "training.ema_decay=0.9"}},
        {"MLP in bf16", kSmallMlp, {"training.precision=bf16"}, 0.03},
        // The scale begins so high that the first gradients overflow and their updates are skipped.
        {"MLP in f16 with overflow",
         kSmallMlp,
         {"training.precision=f16", "training.loss_scale={\"initial\":16777216,\"hysteresis\":1}"},
         0.01},
        {"GPT with dropout", kSmallGpt, {}},
        {"GPT with four experts", kSmallGpt, {"model.experts=4"}},
        {"GPT in fp8", kSmallGpt, {"training.precision=fp8"}, 0.03},
        // Adam would divide gradients of nothing but rounding by their size. The CPU rounds
        // probabilities, which the GPU's kernel keeps in f32.
        {"GPT in bf16 with low-rank factors",
         kSmallGpt,
         {"training.precision=bf16", R"(init.lora={"rank":2,"dropout":0.1})",
          R"(optimizer={"type":"sgd","learning_rate":0.3,"momentum":0})"},
         0.06},
        {"CNN with batch norm", kSmallCnn, {}, 1e-3},
        {"CNN in tf32", kSmallCnn, {"training.precision=tf32"}, 1e-3},
        {"Llama", kSmallLlama, {}},
        {"ViT", kSmallVit, {}},
        {"ResNet", kSmallResnet, {}, 1e-3},
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
        {"GPT with low-rank factors, fsdp on 4",
         kSmallGpt,
         {R"(init.lora={"rank":2})", R"(optimizer={"type":"sgd","learning_rate":0.3,"momentum":0})",
          "mesh.devices=cpu:4", "mesh.strategy=fsdp"}},
        {"GPT, tensor parallel on 2",
         kSmallGpt,
         {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"}},
        {"GPT, 2d on 2 x 2", kSmallGpt, {"mesh.devices=cpu:4", "mesh.strategy=2d"}},
        {"GPT, context parallel on 2",
         kSmallGpt,
         {"mesh.devices=cpu:2", "mesh.strategy=context_parallel"}},
        {"GPT, pipeline on 2", kSmallGpt, {"mesh.devices=cpu:2", "mesh.strategy=pipeline"}},
        {"GPT, 3d on 2 x 2 x 2", kSmallGpt, {"mesh.devices=cpu:8", "mesh.strategy=3d"}},
        {"MLP in f16 with overflow, fsdp on 4",
         kSmallMlp,
         {"training.precision=f16", "training.loss_scale={\"initial\":16777216,\"hysteresis\":1}",
          "mesh.devices=cpu:4", "mesh.strategy=fsdp"},
         0.01},
        {"CNN, data parallel on 4", kSmallCnn, {"mesh.devices=cpu:4"}, 1e-3},
        {"GPT, experts on 2",
         kSmallGpt,
         {"mesh.devices=cpu:2", "mesh.strategy=expert_parallel", "model.experts=4"}},
    };
    return list;
}

} // namespace weft::test
