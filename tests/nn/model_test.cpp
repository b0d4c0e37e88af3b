// SPDX-License-Identifier: Apache-2.0
// One row per model: exact parameter counts (published ones where there are any), tensor names,
// what is refused, and the start of training.
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/nn/models/model_list.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace weft;
using namespace weft::test;

namespace {

struct ModelCase {
    std::string model;
    data::SampleInfo sample;
    std::int64_t parameters;
};

data::SampleInfo digits_sample() {
    return sample_of({ir::DType::f32, {28, 28, 1}}, {ir::DType::i32, {}}, 10);
}

data::SampleInfo image_sample(std::int64_t extent, std::int64_t classes) {
    return sample_of({ir::DType::f32, {extent, extent, 3}}, {ir::DType::i32, {}}, classes);
}

std::vector<ModelCase> model_cases() {
    return {
        {R"({"type": "mlp"})", digits_sample(), 669706}, // 784-512-512-10
        {R"({"type": "mlp", "hidden": []})", digits_sample(), 7850},
        {R"({"type": "sequential", "layers": [{"type": "flatten"}, {"type": "linear"}]})",
         digits_sample(), 7850},
        // 12 d^2 + 13 d per block, d = 384; bytes, 256 positions, tied
        {R"({"type": "gpt2"})", text_sample(256, 256), 10844160},
        {R"({"type": "gpt2", "tied": false})", text_sample(256, 256), 10844160 + 256 * 384},
        {R"({"type": "gpt2", "variant": "124m"})", text_sample(1024, 256), 124439808},
        {R"({"type": "gpt2", "variant": "355m"})", text_sample(1024, 256), 354823168},
        {R"({"type": "gpt2", "variant": "774m"})", text_sample(1024, 256), 774030080},
        {R"({"type": "gpt2", "variant": "1558m"})", text_sample(1024, 256), 1557611200},
        {R"({"type": "gpt2", "variant": "124m", "vocab": 50304})", text_sample(1024, 256),
         124475904},
        // 8 d^2 + 5 d of each block's feed-forward layer become 4 times 8 d^2, and a router
        {R"({"type": "gpt2", "experts": 4})", text_sample(256, 256),
         10844160 + 6 * (3 * 8 * 384 * 384 - 5 * 384 + 4 * 384)},
        // per block 2 C (C + K D) + 3 C F + 2 C: C 384, K D 128, F 1024
        {R"({"type": "llama"})", text_sample(256, 256),
         6 * (2 * 384 * 512 + 3 * 384 * 1024 + 768) + 384 + 2 * 256 * 384},
        {R"({"type": "llama", "variant": "2-7b"})", text_sample(4096, 256), 6738415616},
        {R"({"type": "llama", "variant": "3-8b"})", text_sample(8192, 256), 8030261248},
        {R"({"type": "llama", "variant": "3.2-1b"})", text_sample(8192, 256), 1235814400},
        {R"({"type": "llama", "variant": "3.2-3b"})", text_sample(8192, 256), 3212749824},
        {R"({"type": "llama", "variant": "3-70b"})", text_sample(8192, 256), 70553706496},
        {R"({"type": "llama", "variant": "3-405b"})", text_sample(8192, 256), 405853388800},
        // Qwen2-0.5B's config.json; its model card says 0.49 billion.
        {R"({"type": "llama", "layers": 24, "width": 896, "heads": 14, "kv_heads": 2, "ffn": 4864,
             "vocab": 151936, "context": 32768, "tied": true, "qkv_bias": true})",
         text_sample(32768, 256), 494032768},
        {R"({"type": "llama", "variant": "mixtral-8x7b"})", text_sample(8192, 256), 46702792704},
        {R"({"type": "vit", "variant": "ti16"})", image_sample(224, 1000), 5717416},
        {R"({"type": "vit", "variant": "s16"})", image_sample(224, 1000), 22050664},
        {R"({"type": "vit", "variant": "b16"})", image_sample(224, 1000), 86567656},
        {R"({"type": "vit", "variant": "b32"})", image_sample(224, 1000), 88224232},
        {R"({"type": "vit", "variant": "l16"})", image_sample(224, 1000), 304326632},
        {R"({"type": "vit", "variant": "h14"})", image_sample(224, 1000), 632045800},
        {R"({"type": "resnet"})", image_sample(224, 1000), 11689512},
        {R"({"type": "resnet", "depth": 34})", image_sample(224, 1000), 21797672},
        {R"({"type": "resnet", "depth": 50})", image_sample(224, 1000), 25557032},
        {R"({"type": "resnet", "depth": 101})", image_sample(224, 1000), 44549160},
        {R"({"type": "resnet", "depth": 152})", image_sample(224, 1000), 60192808},
        // The stem of 3x3x3x64 in place of 7x7x3x64, ten classes in place of a thousand.
        {R"({"type": "resnet", "stem": "cifar"})", image_sample(32, 10),
         11689512 - 40 * 3 * 64 - 990 * 513},
        // FACTS: 784-400-(20, 20)-400-784
        {R"({"type": "vae"})", digits_sample(), 652824},
        // 28, 14, 7 pixels a side: convolutions of 9 C O + O, and the same back
        {R"({"type": "vae", "channels": [16, 32], "hidden": [128], "latent": 8})", digits_sample(),
         9 * 16 + 16 + 9 * 16 * 32 + 32 + 1568 * 128 + 128 + 2 * (128 * 8 + 8) + 8 * 128 + 128 +
             128 * 1568 + 1568 + 9 * 32 * 16 + 16 + 9 * 16 + 1},
        // Convolutions of 9 C O + O, shortcuts C O + O, norms 2 C, conditions E O + O with E = 32
        {R"({"type": "diffusion", "channels": [8, 16], "groups": 4})", digits_sample(),
         (8 * 32 + 32 + 11 * 32 + 32 * 32 + 32) + (9 * 8 + 8) +
             (16 + 584 + 264 + 16 + 584) +                           // down 0: 8 to 8
             584 + (16 + 1168 + 528 + 32 + 2320 + 144) +             // shrink, down 1: 8 to 16
             (32 + 2320 + 528 + 32 + 2320) +                         // up 1: 16 to 16
             (48 + (9 * 24 * 8 + 8) + 264 + 16 + 584 + 24 * 8 + 8) + // up 0: 24 to 8
             16 + 73},
        // 28, 14, 7 pixels a side: convolutions of 16 C O, offsets, two of each norm's channels,
        // two vectors per class and for none
        {R"({"type": "gan", "channels": [16, 32], "latent": 8})", digits_sample(),
         (8 * 1568 + 1568 + 2 * 32) + (16 * 32 * 16 + 2 * 16) + (16 * 16 + 1) + // generator
             (16 * 16 + 16) + (16 * 16 * 32 + 32) + (1568 + 1) + 2 * 11 * 1568},
        // Of each coupling 392-8 with a row per class and one for none, 8-392 twice
        {R"({"type": "flow", "couplings": 3, "hidden": [8]})", digits_sample(),
         3 * (392 * 8 + 8 + 11 * 8 + 2 * (8 * 392 + 392))},
        // FACTS A: Sudoku, ARC, mazes, and Sudoku without attention.
        {R"({"type": "trm"})", text_sample(81, 11), 6828034},
        {R"({"type": "trm"})", text_sample(900, 12), 6829058},
        {R"({"type": "trm"})", text_sample(900, 6), 6822914},
        {R"({"type": "trm", "mixer": "mlp"})", text_sample(81, 11), 5028866},
        {R"({"type": "trm", "prefix_row": true})", text_sample(81, 11), 6828034 + 512},
        {R"({"type": "graph", "text": "program p { in %0 batch 'inputs' in %1 state 'w' : f32[784,10] %2 = reshape(%0) {shape=[B,784]} %3 = linear(%2, %1) out %3 output 'prediction' }"})",
         digits_sample(), 7840},
    };
}

std::string document(const std::string& model, const data::SampleInfo& sample) {
    const bool text = sample.input.dtype == ir::DType::i32;
    const bool puzzles = model.find("\"trm\"") != std::string::npos;
    return R"({"data": {"train": {"type": ")" +
           std::string(puzzles ? "sudoku"
                       : text  ? "text"
                               : "idx") +
           R"(", "path": "unused"}}, "model": )" + model +
           R"(, "training": {"global_batch_size": 2, "precision": "f32"}})";
}

std::int64_t parameters_of(const compile::ProgramSet& set) {
    std::int64_t count = 0;
    for (const plan::StateSlot& slot : set.state_slots) {
        count += slot.category == plan::Category::parameters ? slot.type.shape.elements() : 0;
    }
    return count;
}

std::int64_t statistics_of(const compile::ProgramSet& set) {
    std::int64_t count = 0;
    for (const plan::StateSlot& slot : set.state_slots) {
        count += slot.name.find(".running_") == std::string::npos ? 0 : slot.type.shape.elements();
    }
    return count;
}

std::set<std::string> parameter_names(const compile::ProgramSet& set) {
    std::set<std::string> out;
    for (const plan::StateSlot& slot : set.state_slots) {
        if (slot.category == plan::Category::parameters) {
            out.insert(slot.name);
        }
    }
    return out;
}

} // namespace

class ModelTest : public QObject {
    Q_OBJECT
private slots:
    void every_model_has_a_case() {
        std::set<std::string> with_case;
        for (const ModelCase& row : model_cases()) {
            with_case.insert(config::json_of(row.model).at("type").get<std::string>());
        }
        for (const nn::ModelDef* def : nn::kModels) {
            QVERIFY2(with_case.contains(std::string(def->name)), std::string(def->name).c_str());
        }
    }

    void parameter_counts_are_exact() {
        for (const ModelCase& row : model_cases()) {
            const auto config = checked_config(document(row.model, row.sample));
            const auto set = compile::build_programs(config, row.sample);
            QVERIFY2(parameters_of(set) == row.parameters,
                     (row.model + ": " + std::to_string(parameters_of(set))).c_str());
        }
    }

    void every_tensor_stands_on_the_reference_page() {
        for (const ModelCase& row : model_cases()) {
            const config::Json model = config::json_of(row.model);
            if (model.at("type") == "sequential" || model.at("type") == "graph") {
                continue; // their names follow the user's layers
            }
            const nn::ModelDef* def = nn::find_model(model.at("type").get<std::string>());
            const auto patterns = split(def->tensors, '\n');
            const auto set = compile::build_programs(
                checked_config(document(row.model, row.sample)), row.sample);
            for (const plan::StateSlot& slot : set.state_slots) {
                const bool listed =
                    slot.category == plan::Category::optimizer || !slot.saved ||
                    std::any_of(patterns.begin(), patterns.end(), [&](const std::string& line) {
                        return glob_match(line.substr(0, line.find(' ')), slot.name);
                    });
                QVERIFY2(listed, (row.model + ": " + slot.name).c_str());
            }
        }
    }

    void mlp_names_its_tensors_by_layer() {
        const auto config =
            checked_config(document(R"({"type": "mlp", "hidden": [4]})", digits_sample()));
        const std::set<std::string> expected = {"layers.0.weight", "layers.0.bias",
                                                "layers.1.weight", "layers.1.bias"};
        QCOMPARE(parameter_names(compile::build_programs(config, digits_sample())), expected);
    }

    void gpt2_names_its_tensors_like_the_reference_page() {
        const std::string model =
            R"({"type": "gpt2", "layers": 1, "width": 8, "heads": 2, "context": 4, "tied": false})";
        const auto config = checked_config(document(model, text_sample(4, 16)));
        std::set<std::string> expected = {"wte.weight", "wpe.weight", "head.weight"};
        for (const std::string layer :
             {"blocks.0.norm1", "blocks.0.attention.qkv", "blocks.0.attention.output",
              "blocks.0.norm2", "blocks.0.mlp.up", "blocks.0.mlp.down", "norm"}) {
            expected.insert(layer + ".weight");
            expected.insert(layer + ".bias");
        }
        QCOMPARE(parameter_names(compile::build_programs(config, text_sample(4, 16))), expected);
    }

    void llama_names_its_tensors_like_the_reference_page() {
        const std::string model = R"({"type": "llama", "layers": 1, "width": 8, "heads": 2,
            "kv_heads": 1, "ffn": 4, "context": 4})";
        const auto config = checked_config(document(model, text_sample(4, 16)));
        const std::set<std::string> expected = {"embedding.weight",
                                                "blocks.0.norm1.weight",
                                                "blocks.0.attention.query.weight",
                                                "blocks.0.attention.key.weight",
                                                "blocks.0.attention.value.weight",
                                                "blocks.0.attention.output.weight",
                                                "blocks.0.norm2.weight",
                                                "blocks.0.mlp.gate.weight",
                                                "blocks.0.mlp.up.weight",
                                                "blocks.0.mlp.down.weight",
                                                "norm.weight",
                                                "head.weight"};
        QCOMPARE(parameter_names(compile::build_programs(config, text_sample(4, 16))), expected);
    }

    void the_norms_of_llama_take_the_epsilon_that_is_set() {
        const std::string model = R"({"type": "llama", "layers": 1, "width": 8, "heads": 2,
            "kv_heads": 1, "ffn": 4, "context": 4)";
        const auto found = [&](const std::string& rest) {
            std::set<double> out;
            const auto config = checked_config(document(model + rest + "}", text_sample(4, 16)));
            for (const ir::Program& program :
                 compile::build_programs(config, text_sample(4, 16)).programs) {
                for (const ir::Op& op : program.body.ops) {
                    if (op.kind == "rms_norm") {
                        out.insert(op.attributes.real("eps"));
                    }
                }
            }
            return out;
        };
        QCOMPARE(found(""), std::set<double>{1e-5});
        QCOMPARE(found(R"(, "norm_eps": 1e-6)"), std::set<double>{1e-6});
    }

    void vit_names_its_tensors_like_the_reference_page() {
        const auto sample = image_sample(8, 3);
        const auto config = checked_config(
            document(R"({"type": "vit", "layers": 1, "width": 8, "heads": 2})", sample));
        std::set<std::string> expected = {"cls.weight", "positions.weight"};
        for (const std::string layer :
             {"patches", "blocks.0.norm1", "blocks.0.attention.qkv", "blocks.0.attention.output",
              "blocks.0.norm2", "blocks.0.mlp.up", "blocks.0.mlp.down", "norm", "head"}) {
            expected.insert(layer + ".weight");
            expected.insert(layer + ".bias");
        }
        QCOMPARE(parameter_names(compile::build_programs(config, sample)), expected);
    }

    // FACTS: ResNet-50 has 26,560 batch norm channels, each with a running mean and variance.
    void resnet_50_has_the_published_running_statistics() {
        const auto sample = image_sample(224, 1000);
        const auto config = checked_config(document(R"({"type": "resnet", "depth": 50})", sample));
        const auto set = compile::build_programs(config, sample);
        QCOMPARE(statistics_of(set), 53120);
        const auto names = parameter_names(set);
        for (const char* name : {"stem.conv.weight", "stem.norm.bias", "stages.0.0.conv3.weight",
                                 "stages.3.2.norm3.weight", "stages.1.0.shortcut.conv.weight",
                                 "stages.0.0.shortcut.norm.weight", "head.bias"}) {
            QVERIFY2(names.contains(name), name);
        }
        QVERIFY(!names.contains("stages.1.1.shortcut.conv.weight"));
    }

    void a_model_refuses_settings_that_do_not_fit() {
        for (const char* model :
             {R"({"type": "resnet", "depth": 20})", R"({"type": "vit", "heads": 5})",
              R"({"type": "llama", "kv_heads": 4})", R"({"type": "llama", "heads": 128})",
              R"({"type": "llama", "experts": 4, "experts_per_token": 5})"}) {
            const bool text = std::string(model).find("llama") != std::string::npos;
            const auto sample = text ? text_sample(256, 256) : digits_sample();
            QVERIFY_EXCEPTION_THROWN(checked_config(document(model, sample)), std::runtime_error);
        }
    }

    void a_model_refuses_data_that_does_not_fit() {
        const std::string last_layer =
            R"({"type": "sequential", "layers": [{"type": "flatten"}, {"type": "linear", "units": 7}]})";
        const auto config = checked_config(document(last_layer, digits_sample()));
        QVERIFY_EXCEPTION_THROWN(compile::build_programs(config, digits_sample()), Error);
        const auto gpt = checked_config(
            document(R"({"type": "gpt2", "layers": 1, "vocab": 100})", text_sample(256, 256)));
        QVERIFY_EXCEPTION_THROWN(compile::build_programs(gpt, text_sample(256, 256)), Error);
        QVERIFY_EXCEPTION_THROWN(compile::build_programs(gpt, digits_sample()), Error);
        const auto vit =
            checked_config(document(R"({"type": "vit", "patch": 5})", digits_sample()));
        QVERIFY_EXCEPTION_THROWN(compile::build_programs(vit, digits_sample()), Error);
        const auto resnet = checked_config(document(R"({"type": "resnet"})", digits_sample()));
        QVERIFY_EXCEPTION_THROWN(compile::build_programs(resnet, features_sample(6, 3)), Error);
    }

    void a_pipeline_refuses_a_loop_and_says_which() {
        const auto sample = text_sample(4, 16);
        const auto config = checked_config(
            document(R"({"type": "sequential", "layers": [{"type": "embedding", "width": 4},
                {"type": "gru", "units": 3}, {"type": "linear"}]})",
                     sample),
            {"mesh.strategy=pipeline", "mesh.devices=cpu:2"});
        try {
            compile::build_programs(config, sample);
            QFAIL("accepted");
        } catch (const Error& error) {
            QCOMPARE(error.where(), std::string("/mesh/strategy"));
            QVERIFY(error.text().find("layers.1 is a loop") != std::string::npos);
        }
    }

    // A fresh classifier guesses: its loss is near ln(classes).
    void the_first_loss_is_that_of_guessing() {
        const auto sample = features_sample(64, 10);
        const auto config =
            checked_config(document(R"({"type": "mlp", "hidden": [64, 64]})", sample),
                           {"training.global_batch_size=32"});
        Run run(config, sample);
        Arrays batch;
        batch["inputs"] = f32({32, 64}, wave(32 * 64, 0.2));
        std::vector<std::int32_t> labels;
        for (int i = 0; i < 32; ++i) {
            labels.push_back(i % 10);
        }
        batch["targets"] = i32({32}, labels);
        batch["weights"] = f32({32}, std::vector<float>(32, 1.0F));
        const Arrays out = run.run("evaluate", batch);
        QCOMPARE(scalar_of(out.at("count")), 32.0F);
        const double loss = static_cast<double>(scalar_of(out.at("loss_sum"))) / 32;
        QVERIFY2(std::abs(loss / std::log(10.0) - 1.0) < 0.05, std::to_string(loss).c_str());
    }

    // The start value of a parameter depends on its name and the seed alone.
    void a_parameter_starts_alike_beside_other_parameters() {
        const auto sample = features_sample(6, 3);
        Run small(checked_config(document(R"({"type": "mlp", "hidden": [5]})", sample)), sample);
        Run large(checked_config(document(R"({"type": "mlp", "hidden": [5, 8]})", sample)), sample);
        QCOMPARE(distance(small.state.at("layers.0.weight"), large.state.at("layers.0.weight")),
                 0.0);
        Run other(checked_config(document(R"({"type": "mlp", "hidden": [5]})", sample), {"seed=1"}),
                  sample);
        QVERIFY(distance(small.state.at("layers.0.weight"), other.state.at("layers.0.weight")) > 0);
    }
};

WEFT_TEST(ModelTest)
#include "model_test.moc"
