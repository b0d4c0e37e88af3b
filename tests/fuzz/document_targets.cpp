// SPDX-License-Identifier: Apache-2.0
// Documents that describe something: a run, a checkpoint, a tokenizer, weights.
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/safetensors.h"
#include "core/compile/config/run_config.h"
#include "core/foreign/adapters.h"
#include "core/foreign/onnx.h"
#include "core/nn/layers/peft_config.h"
#include "core/nn/models/graph_text.h"
#include "core/onnx_import/read_onnx.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/fuzz/target.h"

#include <fstream>
#include <iterator>

namespace weft::test {
namespace {

namespace fs = std::filesystem;

void read_config(const std::string& bytes, const fs::path& folder) {
    compile::read_run_config(std::string_view(bytes), folder);
}

std::vector<std::string> config_seeds() {
    std::vector<std::string> out;
    for (const char* name :
         {"fashion-cnn", "fashion-mlp", "gpt-6x384", "llama3-8b-8", "mixtral-8x7b-64", "resnet50-8",
          "gpt3-175b-8192", "tiny-moe", "waves-mlp"}) {
        out.push_back(file_of_tree(std::string("resources/presets/") + name + ".json"));
    }
    return out;
}

/// The text without its seal, so that a change reaches what lies behind it.
void read_manifest(const std::string& bytes, const fs::path& folder) {
    checkpoint::parse_manifest(bytes + checkpoint::seal_of(crc32c(bytes)), folder);
}

std::vector<std::string> manifest_seeds() {
    checkpoint::Manifest manifest;
    manifest.record.step = 7;
    manifest.shards = {{.file = "arrays-00000.h5", .bytes = 4096},
                       {.file = "arrays-00001.h5", .bytes = 4096}};
    checkpoint::TensorInfo whole;
    whole.name = "bias";
    whole.kind = "parameters";
    whole.type = {ir::DType::f32, {7}};
    whole.pieces = {{.box = {{0}, {7}}, .shard = "arrays-00000.h5", .offset = 2048}};
    checkpoint::TensorInfo parts = whole;
    parts.name = "weight";
    parts.type = {ir::DType::bf16, {40, 30}};
    parts.pieces = {{.box = {{0, 0}, {40, 10}}, .shard = "arrays-00000.h5", .offset = 2100},
                    {.box = {{0, 10}, {40, 20}}, .shard = "arrays-00001.h5", .offset = 2048}};
    manifest.tensors = {whole, parts};
    const std::string text = checkpoint::manifest_text(manifest);
    return {text.substr(0, text.size() - checkpoint::seal_of(0).size())};
}

void read_a_tokenizer(const std::string& bytes, const fs::path&) {
    const auto made = tokenizer::read_tokenizer(bytes, "tokenizer.json");
    // Texts with what patterns look for, and the document as one.
    for (const std::string& text :
         {std::string(
              "It's 1,234 o'clock;\n\n  \xc3\xa4\xcc\x88 \xe4\xb8\xad \xff\xfe<|endoftext|>"),
          bytes.substr(0, 4096)}) {
        made->decoded(made->encoded(text));
    }
    std::string out;
    for (const tokenizer::Token token : {-1, 0, 1, 255, 256, 1 << 24}) {
        made->decode(token, out);
    }
}

std::vector<std::string> tokenizer_seeds() {
    std::vector<std::string> out;
    for (const char* name : {"gpt2", "llama3", "qwen2"}) {
        out.push_back(file_of_tree(std::string("tests/unit/tokenizer/peers/") + name + ".json"));
    }
    return out;
}

std::vector<std::string> sentencepiece_seeds() {
    std::vector<std::string> out;
    for (const char* name : {"bpe", "unigram"}) {
        out.push_back(file_of_tree(std::string("tests/unit/tokenizer/peers/") + name + ".model"));
    }
    return out;
}

void read_safetensors_file(const std::string& bytes, const fs::path& folder) {
    const checkpoint::SafetensorsFile file =
        checkpoint::read_safetensors(put(folder, "model.safetensors", bytes));
    for (const checkpoint::SafetensorsEntry& entry : file.tensors) {
        if (entry.type) {
            std::vector<std::byte> into(static_cast<std::size_t>(entry.type->bytes()));
            checkpoint::read_safetensors_array(file, entry, into);
        }
    }
}

/// As `weft check` does: the graph as model text, which is checked, and the numbers of its tensors.
void read_onnx_file(const std::string& bytes, const fs::path& folder) {
    const fs::path file = put(folder, "model.onnx", bytes);
    const foreign::ForeignModel model = foreign::read_onnx_model(file, 8);
    if (!config::has_errors(model.problems)) {
        nn::check_model_text(
            ir::read_model_text(model.here.model.at("text").get<std::string>(), 2));
    }
    const auto stored = onnx_import::read_onnx(file);
    for (const onnx_import::StoredTensor& tensor : stored->initializers) {
        onnx_import::tensor_numbers(*stored, tensor);
    }
}

/// Made by PyTorch's exporters (tests/e2e/foreign/onnx_models.py).
std::vector<std::string> onnx_seeds() {
    std::vector<std::string> out;
    for (const char* name : {"mlp-script", "cnn-script", "gpt2-script", "mlp-dynamo"}) {
        out.push_back(file_of_tree("tests/unit/onnx_import/models/" + std::string(name) + ".onnx"));
    }
    return out;
}

void read_peft_file(const std::string& bytes, const fs::path& folder) {
    put(folder, nn::kPeftConfigName, bytes);
    put(folder, nn::kPeftArraysName,
        file_of_tree("tests/unit/foreign/peers/gpt2/model.safetensors")); // of no factor
    nn::Lora lora;
    lora.rank = 8;
    lora.alpha = 16;
    const foreign::Arrays arrays = foreign::open_peft(folder, "gpt2", lora);
    for (const foreign::Array& array : arrays.list) {
        foreign::read_floats(arrays, array);
    }
}

std::vector<std::string> peft_seeds() {
    return {R"({"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 8, "lora_alpha": 16, )"
            R"("lora_dropout": 0.1, "target_modules": ["c_attn"], "fan_in_fan_out": true, )"
            R"("bias": "none", "use_rslora": false, "use_dora": false, "modules_to_save": null, )"
            R"("rank_pattern": {}, "alpha_pattern": {}})"};
}

std::vector<std::string> safetensors_seeds() {
    return {file_of_tree("tests/unit/foreign/peers/gpt2/model.safetensors")};
}

} // namespace

std::string file_of_tree(const std::string& path) {
    std::ifstream file(fs::path(WEFT_SOURCE_DIR) / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

fs::path put(const fs::path& folder, const std::string& name, const std::string& bytes) {
    fs::path path = folder / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

const Target kConfigTarget{"config",
                           read_config,
                           config_seeds,
                           {"null", "true", "[]", "{}", "[[[[[[[[[[[[[[[[", "\"type\"", "\"path\"",
                            "\"split\"", "{\"steps\": 1}", "1e400", "\\ud800", "/* */", "\"auto\"",
                            "\"cpu:4096\"", "\"mesh\"", "\"axes\"", "\"-1\""}};
const Target kManifestTarget{"manifest",
                             read_manifest,
                             manifest_seeds,
                             {"null", "[]", "{}", "\"../../x\"", "\"shape\"", "\"offset\"",
                              "\"bf16\"", "\"pieces\"", "\"start\"", "-1", "\"crc32c\""}};
const Target kTokenizerTarget{"tokenizer",
                              read_a_tokenizer,
                              tokenizer_seeds,
                              {"null", "[]", "\"type\": \"BPE\"", "\"type\": \"Split\"",
                               "\"pattern\": {\"Regex\": \"(a+)+$\"}", "\"Regex\": \"(?=\"",
                               "(.*)*", "\"merges\": [[", "\"added_tokens\"",
                               "\"normalizer\": {\"type\": \"NFC\"}"}};
const Target kSentencePieceTarget{
    "sentencepiece", read_a_tokenizer, sentencepiece_seeds, {"<unk>", "<0x0A>", "\xe2\x96\x81"}};
const Target kOnnxTarget{"onnx",
                         read_onnx_file,
                         onnx_seeds,
                         {"MatMul", "Gemm", "Reshape", "Gather", "Slice", "Concat", "Expand",
                          "Conv", "MaxPool", "Range", "ConstantOfShape", "CumSum", "GatherND",
                          "Where", "Softmax", "axis", "perm", "value", "location"}};
const Target kPeftTarget{"peft",
                         read_peft_file,
                         peft_seeds,
                         {"LORA", "use_dora", "use_rslora", "rank_pattern", "modules_to_save"}};
const Target kSafetensorsTarget{"safetensors",
                                read_safetensors_file,
                                safetensors_seeds,
                                {"\"data_offsets\":[0,0]", "\"dtype\":\"F64\"", "\"shape\":[]",
                                 "\"shape\":[4294967296,4294967296]", "\"__metadata__\"",
                                 "\"BF16\"", "-1", "null"}};

} // namespace weft::test
