// SPDX-License-Identifier: Apache-2.0
// The weights of a checkpoint in the formats of other programs. Any thread.
#pragma once

#include "core/checkpoint/checkpoint.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

struct ExportFormat {
    std::string_view name;   // "onnx"
    std::string_view ending; // of the file: ".onnx"; empty: it is a folder
    std::string_view help;   // who reads it
};

/// Those of the first ending are what that ending stands for.
inline constexpr std::array<ExportFormat, 9> kExportFormats = {{
    {"safetensors", ".safetensors", "arrays by our names, for PyTorch, JAX and others"},
    {"npz", ".npz", "arrays by our names, for NumPy"},
    {"huggingface", "", "a folder for transformers, with the tokenizer"},
    {"peft", "", "a folder with the factors of init.lora alone, for PEFT"},
    {"torchvision", ".safetensors", "arrays by the names of torchvision"},
    {"timm", ".safetensors", "arrays by the names of timm"},
    {"gguf", ".gguf", "the model with its weights, for llama.cpp and others"},
    {"onnx", ".onnx", "the model with its weights, for onnxruntime and others"},
    {"keras", ".weights.h5", "weights of the same layers in Keras"},
}};

struct ExportRequest {
    std::filesystem::path to; // a file, or the folder of huggingface and peft
    std::string as{};         // of kExportFormats; empty: by the ending of `to`
    std::string type{};       // f32, f16, bf16, of gguf q8_0; empty: as it is, of gguf f16
    bool everything = false;  // optimizer state too, by our names
    bool replaces = false;    // what is there
};

/// Throws weft::Error{usage} where the ending says none.
std::string export_format_of(const ExportRequest& request);

/// Throws weft::Error{usage} where format and settings do not go together, or something is there.
void check_export(const ExportRequest& request);

/// Writes the weights that the run was measured with, and gives what there is to say of them, in
/// sentences. Throws weft::Error: as check_export; usage, where the format has no such model;
/// checkpoint, data and of the disk.
std::vector<std::string> export_model(const checkpoint::Manifest& manifest,
                                      const ExportRequest& request,
                                      const checkpoint::Progress& progress = {});

} // namespace weft::train
