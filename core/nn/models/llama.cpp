// SPDX-License-Identifier: Apache-2.0
// Llama (Touvron et al. 2023; Grattafiori et al. 2024): pre-norm blocks of RMSNorm, grouped-query
// attention with rotary embeddings and SwiGLU, no biases but, where asked, those on query, key and
// value that make it Qwen2 (Yang et al. 2024). The rotary layout is that of Hugging Face's
// checkpoints (channels i and i + D / 2 turn together), so that weights map one to one, transposed
// to [in, out]. The frequency scaling of Llama 3.1 and later, which stretches the context, is not
// applied. Shape letters: B samples, T positions, C width, H query heads, K key and value heads,
// D = C / H, F inner width of the MLP, V vocabulary, E experts. With experts it is Mixtral (Jiang
// et al. 2024), which gives each token to two of eight.
#include "core/nn/models/model_list.h"
#include "core/nn/models/model_settings.h"
#include "core/nn/models/transformer.h"

#include <array>

namespace weft::nn {
namespace {

using config::Json;

constexpr std::int64_t kFfnMultiple = 256;

struct LlamaVariant {
    std::string_view name;
    std::int64_t layers, width, heads, kv_heads, ffn, vocab, context; // vocab 0: from the data
    double rope_theta;
    bool tied;
    std::int64_t experts = 0;
    double norm_eps = 0;   // the settings'
    bool qkv_bias = false; // likewise
};

constexpr std::array kLlamaVariants = {
    LlamaVariant{"2-7b", 32, 4096, 32, 32, 11008, 32000, 4096, 1e4, false},
    LlamaVariant{"3-8b", 32, 4096, 32, 8, 14336, 128256, 8192, 5e5, false},
    LlamaVariant{"3.2-1b", 16, 2048, 32, 8, 8192, 128256, 8192, 5e5, true},
    LlamaVariant{"3.2-3b", 28, 3072, 24, 8, 8192, 128256, 8192, 5e5, true},
    LlamaVariant{"3-70b", 80, 8192, 64, 8, 28672, 128256, 8192, 5e5, false},
    LlamaVariant{"3-405b", 126, 16384, 128, 8, 53248, 128256, 8192, 5e5, false},
    LlamaVariant{"mixtral-8x7b", 32, 4096, 32, 8, 14336, 32000, 32768, 1e6, false, 8}};
// Without a variant: a model that trains on a laptop. ffn 0: from the width.
constexpr LlamaVariant kLlamaSmall = {"", 6, 384, 6, 2, 0, 0, 256, 1e4, false};

// 8/3 of the width, so that three matrices cost what two of 4 C would, rounded up (Touvron et al.).
std::int64_t default_ffn(std::int64_t width) {
    return (8 * width / 3 + kFfnMultiple - 1) / kFfnMultiple * kFfnMultiple;
}

/// Every setting given: the variant's where the document has null.
LlamaVariant llama_dimensions(const Json& settings) {
    LlamaVariant d = variant_of(settings, kLlamaVariants, kLlamaSmall);
    d.layers = given(settings, "layers", d.layers);
    d.width = given(settings, "width", d.width);
    d.heads = given(settings, "heads", d.heads);
    d.kv_heads = given(settings, "kv_heads", d.kv_heads);
    d.ffn = given(settings, "ffn", d.ffn == 0 ? default_ffn(d.width) : d.ffn);
    d.vocab = given(settings, "vocab", d.vocab);
    d.context = given(settings, "context", d.context);
    d.rope_theta = given(settings, "rope_theta", d.rope_theta);
    d.tied = given(settings, "tied", d.tied);
    d.experts = given(settings, "experts", d.experts);
    d.norm_eps = settings.at("norm_eps").get<double>();
    d.qkv_bias = settings.at("qkv_bias").get<bool>();
    return d;
}

config::Field tied_field() {
    config::Field field = config::boolean_field(
        "tied", false, "The output uses the token table's weights; null: the variant's, or false.");
    field.default_value = nullptr;
    return field.or_null();
}

config::FieldTable llama_fields() {
    config::FieldTable table = {
        variant_field(kLlamaVariants),
        size_field("layers", "Transformer blocks; null: the variant's, or 6.", 1000),
        size_field("width", "Channels; null: the variant's, or 384.", 1 << 16),
        size_field("heads", "Query heads; null: the variant's, or 6.", 1024),
        size_field("kv_heads",
                   "Key and value heads, each shared by heads / kv_heads query heads; null: the "
                   "variant's, or 2.",
                   1024),
        size_field("ffn",
                   "Inner width of the MLP; null: the variant's, or 8/3 of the width rounded up "
                   "to a multiple of 256.",
                   1 << 20),
        size_field("vocab", "Number of tokens; null: the variant's, or the data's.", 1 << 24),
        size_field("context", "Positions the model sees; null: the variant's, or 256.", 1 << 20)
            .in("tokens"),
        config::real_field("rope_theta", nullptr,
                           "Base of the rotary wave lengths; null: the variant's, or 10000.")
            .or_null()
            .above(0.0),
        config::real_field(
            "norm_eps", 1e-5,
            "Added to the mean square by every norm; checkpoints of Hugging Face name "
            "it rms_norm_eps.")
            .above(0.0)
            .for_experts(),
        config::boolean_field("qkv_bias", false,
                              "Adds a learned offset to query, key and value, as Qwen2 does.")
            .for_experts(),
        tied_field()};
    for (config::Field& field :
         expert_fields("Feed-forward networks per block; null: the variant's, or one.")) {
        table.push_back(std::move(field));
    }
    return table;
}

void check_llama(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const LlamaVariant d = llama_dimensions(settings);
    const auto report = [&](const char* field, std::string message, std::string hint) {
        out.push_back(
            {pointer + "/" + field, config::Severity::error, std::move(message), std::move(hint)});
    };
    if (d.width % (2 * d.heads) != 0) {
        report("heads",
               "width " + std::to_string(d.width) + " does not divide into " +
                   std::to_string(d.heads) + " heads of an even width",
               "Choose a number of heads whose double divides the width.");
    }
    if (d.heads % d.kv_heads != 0) {
        report("kv_heads",
               std::to_string(d.heads) + " query heads cannot share " + std::to_string(d.kv_heads) +
                   " key and value heads",
               "Choose a number that divides heads.");
    }
    check_experts(expert_settings(settings, d.experts), pointer, out);
}

Json resolved_llama(const Json& settings) {
    const LlamaVariant d = llama_dimensions(settings);
    Json out = settings;
    out["layers"] = d.layers;
    out["width"] = d.width;
    out["heads"] = d.heads;
    out["kv_heads"] = d.kv_heads;
    out["ffn"] = d.ffn;
    out["context"] = d.context;
    out["rope_theta"] = d.rope_theta;
    out["tied"] = d.tied;
    out["experts"] = d.experts;
    if (d.vocab > 0) {
        out["vocab"] = d.vocab;
    }
    return out;
}

std::int64_t llama_context_length(const Json& settings) {
    return llama_dimensions(settings).context;
}

std::int64_t llama_experts(const Json& settings) {
    return expert_settings(settings, llama_dimensions(settings).experts).experts;
}

ir::ValueId projected(ModelContext& context, const char* name, ir::ValueId x, std::int64_t units,
                      Init init, const std::string& from, const std::string& to,
                      bool bias = false) {
    const Scope scope(context, name);
    return dense(context, x, units, init, {from, to}, bias);
}

// Decoding starts at the given position, training at 0: packed sequences too, since scores take
// nothing from positions but their differences.
ir::ValueId rotated(ModelContext& context, const LlamaVariant& d, ir::ValueId x) {
    ir::ValueIds operands = {x};
    if (context.mode() == Mode::decode) {
        operands.push_back(context.position());
    }
    return context.builder().emit("rotary", operands,
                                  {{"theta", d.rope_theta}, {"inverse", false}});
}

ir::ValueId attention(ModelContext& context, const LlamaVariant& d, ir::ValueId positions,
                      ir::ValueId x) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "attention");
    const std::int64_t samples = context.shape(x)[0];
    const std::int64_t length = context.shape(x)[1];
    const std::int64_t head_width = d.width / d.heads;
    // Devices share heads in groups that read the same key and value.
    const std::string head_axis = heads_axis("heads", d.heads / d.kv_heads * head_width);
    const std::string kv_axis = heads_axis("kv_heads", head_width);
    const auto part = [&](const char* name, std::int64_t heads, const std::string& axis) {
        const ir::ValueId flat = projected(context, name, x, heads * head_width, transformer_init(),
                                           "embed", axis, d.qkv_bias);
        return ops::reshape(b, flat, {samples, length, heads, head_width});
    };
    const ir::ValueId query = rotated(context, d, part("query", d.heads, head_axis));
    const ir::ValueId key = rotated(context, d, part("key", d.kv_heads, kv_axis));
    const ir::ValueId value = part("value", d.kv_heads, kv_axis);
    const ir::ValueId mixed = attend(context, {true, d.context, 0.0, positions}, query, key, value);
    return projected(context, "output", mixed, d.width, residual_init(d.layers), head_axis,
                     "embed");
}

// SwiGLU (Shazeer 2020): down(silu(gate(x)) * up(x))
ir::ValueId gated_mlp(ModelContext& context, const LlamaVariant& d, const ExpertSettings& experts,
                      ir::ValueId x) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "mlp");
    if (experts.experts > 0) {
        const ExpertNetwork network{.inner = d.ffn,
                                    .activation = "silu",
                                    .gated = true,
                                    .init = transformer_init(),
                                    .down_init = residual_init(d.layers)};
        return mixture_of_experts(context, experts, network, x);
    }
    const ir::ValueId gate =
        projected(context, "gate", x, d.ffn, transformer_init(), "embed", "mlp");
    const ir::ValueId up = projected(context, "up", x, d.ffn, transformer_init(), "embed", "mlp");
    const ir::ValueId inner = ops::mul(b, activation(context, "silu", gate), up);
    return projected(context, "down", inner, d.width, residual_init(d.layers), "mlp", "embed");
}

ir::ValueId rms_normalised(ModelContext& context, const char* name, ir::ValueId x, double eps) {
    const Scope scope(context, name);
    return rms_norm(context, x, eps);
}

ir::ValueId llama_block(ModelContext& context, const LlamaVariant& d, const ExpertSettings& experts,
                        ir::ValueId positions, ir::ValueId x) {
    ops::Builder& b = context.builder();
    x = ops::add(b, x,
                 attention(context, d, positions, rms_normalised(context, "norm1", x, d.norm_eps)));
    return ops::add(
        b, x, gated_mlp(context, d, experts, rms_normalised(context, "norm2", x, d.norm_eps)));
}

ir::ValueId build_llama(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    LlamaVariant d = llama_dimensions(settings);
    d.vocab = d.vocab == 0 ? context.data().classes : d.vocab;
    const Tokens tokens = tokens_of(context, "llama", d.context, d.vocab, inputs);
    const ExpertSettings experts = expert_settings(settings, d.experts);
    ir::ValueId table;
    ir::ValueId x; // [B, T, C]
    {
        const Scope scope(context, "embedding");
        table =
            context.parameter("weight", {d.vocab, d.width}, transformer_init(), {"vocab", "embed"});
        x = context.builder().emit("embedding", {table, tokens.ids});
    }
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const Scope scope(context, "blocks." + std::to_string(i));
        x = llama_block(context, d, experts, tokens.positions, x);
    }
    x = rms_normalised(context, "norm", x, d.norm_eps);
    const Scope scope(context, "head");
    if (d.tied) {
        return ops::matmul(context.builder(), x, table, false, true);
    }
    return dense(context, x, d.vocab, transformer_init(), {"embed", "vocab"}, false);
}

constexpr std::string_view kLlamaTensors =
    "embedding.weight [V, C]\n"
    "blocks.*.norm1.weight [C]: before attention (input_layernorm)\n"
    "blocks.*.attention.query.weight [C, H D]\n"
    "blocks.*.attention.key.weight [C, K D]\n"
    "blocks.*.attention.value.weight [C, K D]\n"
    "blocks.*.attention.query.bias [H D]: with qkv_bias, as key and value\n"
    "blocks.*.attention.key.bias [K D]\n"
    "blocks.*.attention.value.bias [K D]\n"
    "blocks.*.attention.output.weight [H D, C]\n"
    "blocks.*.norm2.weight [C]: before the MLP (post_attention_layernorm)\n"
    "blocks.*.mlp.gate.weight [C, F]\n"
    "blocks.*.mlp.up.weight [C, F]\n"
    "blocks.*.mlp.down.weight [F, C]\n"
    "blocks.*.mlp.router.weight [C, E]: with E experts, in place of gate, up and down\n"
    "blocks.*.mlp.experts.gate.weight [E, C, F]\n"
    "blocks.*.mlp.experts.up.weight [E, C, F]\n"
    "blocks.*.mlp.experts.down.weight [E, F, C]\n"
    "norm.weight [C]\n"
    "head.weight [C, V]: where tied is false\n";

} // namespace

const ModelDef kLlamaModel = {"llama",
                              "Llama language model; on text data it reads bytes.",
                              kLlamaTensors,
                              llama_fields,
                              build_llama,
                              check_llama,
                              llama_context_length,
                              llama_experts,
                              resolved_llama};

} // namespace weft::nn
