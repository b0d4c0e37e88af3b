// SPDX-License-Identifier: Apache-2.0
// Format: ggml's docs/gguf.md, version 3; block q8_0: ggml-quants.c, quantize_row_q8_0_ref. Names
// of tensors and metadata: llama.cpp's gguf-py/gguf/constants.py.
#include "core/foreign/gguf.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kGgufVersion = 3;
constexpr std::uint64_t kGgufAlign = 32;
constexpr std::int64_t kBlock = 32; // numbers of a q8_0 block
constexpr std::size_t kBlockBytes = 34;
constexpr std::uint32_t kQuantizationVersion = 2; // of ggml's blocks, since May 2023

enum class ValueType : std::uint32_t { u32 = 4, f32 = 6, text = 8 };
enum class GgmlType : std::uint32_t { f32 = 0, f16 = 1, q8_0 = 8, bf16 = 30 };

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint64_t>(text.size()));
    out += text;
}

/// The metadata as they are put together.
class Metadata {
public:
    void text(const std::string& key, std::string_view value) {
        begin(key, ValueType::text);
        put_text(bytes_, value);
    }
    void whole(const std::string& key, std::int64_t value) {
        begin(key, ValueType::u32);
        put(bytes_, static_cast<std::uint32_t>(value));
    }
    void real(const std::string& key, double value) {
        begin(key, ValueType::f32);
        put(bytes_, static_cast<float>(value));
    }
    std::uint64_t count() const { return count_; }
    const std::string& bytes() const { return bytes_; }

private:
    void begin(const std::string& key, ValueType type) {
        put_text(bytes_, key);
        put(bytes_, static_cast<std::uint32_t>(type));
        ++count_;
    }
    std::string bytes_;
    std::uint64_t count_ = 0;
};

TensorPairs gguf_gpt2() {
    TensorPairs out = {{"wte.weight", {"token_embd.weight"}},
                       {"wpe.weight", {"position_embd.weight"}},
                       {"head.weight", {"output.weight"}, Layout::transposed},
                       {"norm.weight", {"output_norm.weight"}},
                       {"norm.bias", {"output_norm.bias"}}};
    const std::pair<const char*, const char*> layers[] = {
        {"attention.qkv", "attn_qkv"}, {"attention.output", "attn_output"},
        {"mlp.up", "ffn_up"},          {"mlp.down", "ffn_down"},
        {"norm1", "attn_norm"},        {"norm2", "ffn_norm"}};
    for (const auto& [ours, theirs] : layers) {
        const std::string here = std::string("blocks.*.") + ours;
        const std::string there = std::string("blk.*.") + theirs;
        const bool norm = std::string_view(ours).starts_with("norm");
        out.push_back(
            {here + ".weight", {there + ".weight"}, norm ? Layout::same : Layout::transposed});
        out.push_back({here + ".bias", {there + ".bias"}});
    }
    return out;
}

TensorPairs gguf_llama() {
    TensorPairs out = {{"embedding.weight", {"token_embd.weight"}},
                       {"head.weight", {"output.weight"}, Layout::transposed},
                       {"norm.weight", {"output_norm.weight"}},
                       {"blocks.*.norm1.weight", {"blk.*.attn_norm.weight"}},
                       {"blocks.*.norm2.weight", {"blk.*.ffn_norm.weight"}}};
    const std::pair<const char*, const char*> products[] = {
        {"attention.query", "attn_q"}, {"attention.key", "attn_k"},
        {"attention.value", "attn_v"}, {"attention.output", "attn_output"},
        {"mlp.gate", "ffn_gate"},      {"mlp.up", "ffn_up"},
        {"mlp.down", "ffn_down"}};
    for (const auto& [ours, theirs] : products) {
        out.push_back({std::string("blocks.*.") + ours + ".weight",
                       {std::string("blk.*.") + theirs + ".weight"},
                       Layout::transposed});
    }
    for (const char* part : {"query", "key", "value"}) {
        out.push_back({std::string("blocks.*.attention.") + part + ".bias",
                       {std::string("blk.*.attn_") + part[0] + ".bias"}});
    }
    return out;
}

/// What llama.cpp calls the architecture. Throws for a model that it has none for.
std::string architecture_of(const Facts& facts) {
    const Json& s = facts.settings;
    const auto type = s.at("type").get<std::string>();
    if (type != "gpt2" && type != "llama") {
        throw Error(ErrorKind::usage, "--as gguf", "the model '" + type + "' is none of GGUF's",
                    "GGUF holds gpt2 and llama");
    }
    if (s.at("experts").get<std::int64_t>() > 0) {
        throw Error(ErrorKind::usage, "--as gguf",
                    "mixtures of experts drop tokens here and never there",
                    "safetensors and npz hold any model, by its own names");
    }
    return type == "llama" && s.at("qkv_bias").get<bool>() ? "qwen2" : type;
}

Metadata metadata_of(const Facts& facts, const std::string& architecture, const std::string& name,
                     StoredAs stored) {
    const Json& s = facts.settings;
    const auto whole = [&](const char* key) { return s.at(key).get<std::int64_t>(); };
    const auto own = [&](const char* key) { return architecture + "." + key; };
    Metadata out;
    out.text("general.architecture", architecture);
    out.text("general.name", name);
    // llama_ftype: all f32, mostly f16, mostly q8_0, mostly bf16
    out.whole("general.file_type", stored == StoredAs::f32    ? 0
                                   : stored == StoredAs::f16  ? 1
                                   : stored == StoredAs::q8_0 ? 7
                                                              : 32);
    out.whole("general.quantization_version", kQuantizationVersion);
    out.whole("general.alignment", kGgufAlign);
    const bool gpt2 = architecture == "gpt2";
    out.whole(own("context_length"), whole("context"));
    out.whole(own("embedding_length"), whole("width"));
    out.whole(own("block_count"), whole("layers"));
    out.whole(own("feed_forward_length"), gpt2 ? 4 * whole("width") : whole("ffn"));
    out.whole(own("attention.head_count"), whole("heads"));
    out.whole(own("vocab_size"), facts.vocab);
    if (gpt2) {
        out.real(own("attention.layer_norm_epsilon"), s.at("norm_eps").get<double>());
    } else {
        out.whole(own("attention.head_count_kv"), whole("kv_heads"));
        out.whole(own("rope.dimension_count"), whole("width") / whole("heads"));
        out.real(own("rope.freq_base"), s.at("rope_theta").get<double>());
        out.real(own("attention.layer_norm_rms_epsilon"), s.at("norm_eps").get<double>());
    }
    out.text("tokenizer.ggml.model", "none");
    return out;
}

GgmlType type_of(const Outgoing& tensor, StoredAs stored) {
    if (tensor.shape.rank() < 2 || tensor.name == "position_embd.weight" ||
        stored == StoredAs::f32) {
        return GgmlType::f32;
    }
    if (stored == StoredAs::bf16) {
        return GgmlType::bf16;
    }
    return stored == StoredAs::q8_0 && tensor.shape.back() % kBlock == 0 ? GgmlType::q8_0
                                                                         : GgmlType::f16;
}

std::uint64_t bytes_of(const ir::Shape& shape, GgmlType type) {
    const auto count = static_cast<std::uint64_t>(shape.elements());
    return type == GgmlType::q8_0  ? count / kBlock * kBlockBytes
           : type == GgmlType::f32 ? count * 4
                                   : count * 2;
}

/// Each block: the scale as f16, then 32 signed bytes.
void put_q8_0(std::string& out, std::span<const float> block) {
    float largest = 0;
    for (const float value : block) {
        largest = std::max(largest, std::abs(value));
    }
    constexpr float kMostByte = 127;
    const float scale = largest / kMostByte;
    const float inverse = scale != 0 ? 1 / scale : 0;
    put(out, kernels::to_f16(scale).bits);
    for (const float value : block) {
        put(out, static_cast<std::int8_t>(std::round(value * inverse)));
    }
}

std::string stored_as(const std::vector<float>& values, GgmlType type) {
    std::string out;
    if (type == GgmlType::q8_0) {
        for (std::size_t i = 0; i < values.size(); i += kBlock) {
            put_q8_0(out, std::span(values).subspan(i, kBlock));
        }
        return out;
    }
    for (const float value : values) {
        if (type == GgmlType::f32) {
            put(out, value);
        } else {
            put(out,
                type == GgmlType::f16 ? kernels::to_f16(value).bits : kernels::to_bf16(value).bits);
        }
    }
    return out;
}

/// Rows of a head in the order in which llama.cpp's Llama turns them: neighbours together, where
/// ours turns the halves of a head (channels i and i + D / 2).
std::vector<float> interleaved(const std::vector<float>& rows, std::int64_t heads,
                               std::int64_t width) {
    const auto row_count = static_cast<std::int64_t>(rows.size()) / width;
    const std::int64_t head = row_count / heads;
    std::vector<float> out(rows.size());
    for (std::int64_t row = 0; row < row_count; ++row) {
        const std::int64_t in_head = row % head;
        const std::int64_t half = in_head / (head / 2);
        const std::int64_t to = row - in_head + 2 * (in_head % (head / 2)) + half;
        std::copy_n(rows.begin() + row * width, width, out.begin() + to * width);
    }
    return out;
}

void turn_heads(std::vector<Outgoing>& tensors, const Json& settings) {
    for (Outgoing& tensor : tensors) {
        const bool query = tensor.name.ends_with(".attn_q.weight");
        if (query || tensor.name.ends_with(".attn_k.weight")) {
            const auto heads = settings.at(query ? "heads" : "kv_heads").get<std::int64_t>();
            tensor.values = [values = std::move(tensor.values), heads, width = tensor.shape[1]] {
                return interleaved(values(), heads, width);
            };
        }
    }
}

std::string padding(std::uint64_t at) {
    return std::string((kGgufAlign - at % kGgufAlign) % kGgufAlign, '\0');
}

/// All before the first tensor: extents come innermost first.
std::string head_of(const std::vector<Outgoing>& tensors, const Metadata& metadata,
                    StoredAs stored) {
    std::string out = "GGUF";
    put(out, kGgufVersion);
    put(out, static_cast<std::uint64_t>(tensors.size()));
    put(out, metadata.count());
    out += metadata.bytes();
    std::uint64_t at = 0;
    for (const Outgoing& tensor : tensors) {
        put_text(out, tensor.name);
        put(out, static_cast<std::uint32_t>(tensor.shape.rank()));
        for (int dim = tensor.shape.rank() - 1; dim >= 0; --dim) {
            put(out, static_cast<std::uint64_t>(tensor.shape[dim]));
        }
        const GgmlType type = type_of(tensor, stored);
        put(out, static_cast<std::uint32_t>(type));
        put(out, at);
        at += bytes_of(tensor.shape, type);
        at += padding(at).size();
    }
    return out + padding(out.size());
}

} // namespace

void write_gguf(const fs::path& file, const Arrays& source, const Json& model,
                const std::string& name, StoredAs stored, const checkpoint::Progress& progress) {
    const Facts facts = facts_of(source, model);
    const std::string architecture = architecture_of(facts);
    std::vector<Outgoing> tensors =
        outgoing(source, architecture == "gpt2" ? gguf_gpt2() : gguf_llama());
    if (architecture == "llama") {
        turn_heads(tensors, facts.settings);
    }
    FileReplacement out(file, ErrorKind::checkpoint);
    out.part().write(head_of(tensors, metadata_of(facts, architecture, name, stored), stored));
    std::size_t done = 0;
    for (const Outgoing& tensor : tensors) {
        const std::string bytes = stored_as(tensor.values(), type_of(tensor, stored));
        out.part().write(bytes);
        out.part().write(padding(bytes.size()));
        if (progress) {
            progress(static_cast<double>(++done) / static_cast<double>(tensors.size()));
        }
    }
    out.commit();
}

} // namespace weft::foreign
