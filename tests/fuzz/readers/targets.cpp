// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/readers/targets.h"

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/safetensors.h"
#include "core/compile/config/run_config.h"
#include "core/data/files/image_codec.h"
#include "core/foreign/describe.h"
#include "core/tokenizer/tokenizer.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/record/event.h"

#include <algorithm>

namespace weft::fuzz {
namespace {

namespace fs = std::filesystem;

void read_config(std::string_view input, const fs::path& path) {
    compile::read_run_config(input, path.parent_path());
}

/// The seal is made anew: a change would hide behind it otherwise.
void read_manifest(std::string_view input, const fs::path& path) {
    const std::size_t seal = checkpoint::seal_of(0).size();
    std::string text(input.substr(0, input.size() - std::min(seal, input.size())));
    text += checkpoint::seal_of(crc32c(text));
    checkpoint::parse_manifest(text, path.parent_path());
}

void read_weights(std::string_view, const fs::path& path) {
    const checkpoint::SafetensorsFile file = checkpoint::read_safetensors(path);
    for (const checkpoint::SafetensorsEntry& entry : file.tensors) {
        if (entry.type) {
            std::vector<std::byte> out(static_cast<std::size_t>(entry.bytes));
            checkpoint::read_safetensors_array(file, entry, out);
        }
    }
}

void read_tokenizer_file(std::string_view input, const fs::path&) {
    const auto tokenizer = tokenizer::read_tokenizer(std::string(input), "input");
    const std::string text = "Hello, World 123\n\t\xc3\xa9\xf0\x9f\x99\x82 it's";
    tokenizer->decoded(tokenizer->encoded(text));
}

void read_event(std::string_view input, const fs::path&) {
    while (!input.empty()) {
        const std::size_t end = std::min(input.find('\n'), input.size());
        train::parse_event(input.substr(0, end));
        input.remove_prefix(std::min(end + 1, input.size()));
    }
}

void read_image(std::string_view input, const fs::path&) {
    const auto bytes = std::as_bytes(std::span(input));
    if (!data::looks_like_image(bytes)) {
        return;
    }
    const data::ImageHeader header = data::read_image_header(bytes, "input");
    constexpr std::int64_t kMostPixels = 1 << 22;
    if (header.width * header.height <= kMostPixels) {
        data::decode_image(bytes, "input", {});
    }
}

std::function<std::vector<std::string>()> files(std::vector<std::string> paths) {
    return [paths = std::move(paths)] {
        std::vector<std::string> out;
        for (const std::string& path : paths) {
            out.push_back(source_file(path));
        }
        return out;
    };
}

} // namespace

std::string source_file(const std::string& path) {
    return read_file(fs::path(WEFT_SOURCE_DIR) / path);
}

std::vector<std::string> source_files(const std::string& folder) {
    std::vector<fs::path> paths;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / folder, code)) {
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> out;
    for (const fs::path& path : paths) {
        out.push_back(read_file(path));
    }
    return out;
}

const std::vector<Target>& all_targets() {
    static const std::vector<Target> targets = [] {
        const std::string peers = "tests/unit/foreign/peers/";
        const std::string data = "tests/data/peers/";
        std::vector<Target> out = {
            {"config", "run.json",
             files({"resources/presets/fashion-cnn.json", "resources/presets/gpt2-124m.json",
                    "resources/presets/mixtral-8x7b-64.json"}),
             read_config},
            {"manifest", "manifest.json", files({"tests/fuzz/seeds/manifest.json"}), read_manifest},
            {"safetensors", "model.safetensors",
             files({peers + "gpt2/model.safetensors", peers + "llama/model.safetensors"}),
             read_weights},
            {"foreign_config", "config.json",
             files({peers + "gpt2/config.json", peers + "llama/config.json",
                    peers + "vit/config.json", peers + "resnet/config.json"}),
             [](std::string_view, const fs::path& path) { foreign::read_foreign_config(path); }},
            {"tokenizer", "tokenizer.json",
             files(
                 {"tests/unit/tokenizer/peers/gpt2.json", "tests/unit/tokenizer/peers/qwen2.json"}),
             read_tokenizer_file},
            {"image", "picture.png",
             files({data + "rgb.png", data + "palette.png", data + "grey16.png", data + "rgb.jpg",
                    data + "cmyk.jpg", data + "turned5.jpg"}),
             read_image},
            {"event", "events.jsonl", files({"tests/fuzz/seeds/events.jsonl"}), read_event},
            {"tensorboard", "events.out.tfevents.1.here",
             files({"tests/fuzz/seeds/events.tfevents"}),
             [](std::string_view, const fs::path& path) {
                 train::TensorboardReader(path.parent_path()).read();
             }}};
        for (Target& target : data_targets()) {
            out.push_back(std::move(target));
        }
        return out;
    }();
    return targets;
}

} // namespace weft::fuzz
