// SPDX-License-Identifier: Apache-2.0
// Llama, Qwen2 and Mistral of Hugging Face's transformers (modeling_llama.py, modeling_qwen2.py,
// modeling_mistral.py): one set of names. Linear layers are [out, in] there. The rotary layout is
// ours.
#include "core/foreign/family_list.h"

#include <algorithm>

namespace weft::foreign {
namespace {

TensorPairs llama_tensors() {
    TensorPairs out = {
        {"embedding.weight", {"model.embed_tokens.weight"}},
        {"blocks.*.norm1.weight", {"model.layers.*.input_layernorm.weight"}},
        {"blocks.*.norm2.weight", {"model.layers.*.post_attention_layernorm.weight"}},
        {"norm.weight", {"model.norm.weight"}},
        {"head.weight", {"lm_head.weight"}, Layout::transposed}};
    const std::pair<const char*, const char*> products[] = {
        {"attention.query", "self_attn.q_proj"},
        {"attention.key", "self_attn.k_proj"},
        {"attention.value", "self_attn.v_proj"},
        {"attention.output", "self_attn.o_proj"},
        {"mlp.gate", "mlp.gate_proj"},
        {"mlp.up", "mlp.up_proj"},
        {"mlp.down", "mlp.down_proj"}};
    for (const auto& [ours, theirs] : products) {
        out.push_back({std::string("blocks.*.") + ours + ".weight",
                       {std::string("model.layers.*.") + theirs + ".weight"},
                       Layout::transposed});
    }
    for (const char* part : {"query", "key", "value"}) {
        out.push_back({std::string("blocks.*.attention.") + part + ".bias",
                       {std::string("model.layers.*.self_attn.") + part[0] + "_proj.bias"}});
    }
    return out;
}

std::string refused_llama(const Json& settings) {
    return !settings.at("experts").is_null() && settings.at("experts").get<std::int64_t>() > 0
               ? "mixtures of experts drop tokens here and never there"
           : settings.at("qkv_bias").get<bool>() ? "Llama has no bias on query, key and value"
                                                 : "";
}

std::string refused_qwen2(const Json& settings) {
    Json plain = settings;
    plain["qkv_bias"] = false;
    return settings.at("qkv_bias").get<bool>() ? refused_llama(plain)
                                               : "Qwen2 always has a bias on query, key and value";
}

/// What the settings of the rotary embedding are called: rope_parameters since transformers 5.
const char* rope_key(const ConfigReader& theirs) {
    return theirs.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
}

double rope_theta_of(const ConfigReader& theirs) {
    constexpr double kUsualTheta = 1e4;
    const Json& rope = theirs.object(rope_key(theirs));
    const auto theta = rope.find("rope_theta");
    return theta != rope.end() && theta->is_number() ? theta->get<double>()
                                                     : theirs.real("rope_theta", kUsualTheta);
}

/// Whether the wave lengths are stretched, as Llama's are since 3.1.
void check_rope(const ConfigReader& theirs, Described& out) {
    const Json& rope = theirs.object(rope_key(theirs));
    for (const char* key : {"rope_type", "type"}) {
        const auto kind = rope.find(key);
        if (kind != rope.end() && kind->is_string() && *kind != "default") {
            out.otherwise.push_back("the rotary frequencies are scaled ('" +
                                    kind->get<std::string>() + "'), which is not had here");
            theirs.warn(rope_key(theirs), out.otherwise.back());
            return;
        }
    }
}

/// Where attention slides over a window, what lies within it is the same.
void limit_context(const ConfigReader& theirs, std::int64_t window, Described& out) {
    const auto positions = out.model.at("context").get<std::int64_t>();
    if (window < 1 || window >= positions) {
        return;
    }
    out.window = window;
    out.model["context"] = window;
    theirs.warn("sliding_window", "attention slides over " + std::to_string(window) +
                                      " positions, which is not had here: the context is " +
                                      std::to_string(window) + " instead of " +
                                      std::to_string(positions));
}

Described describe(const ConfigReader& theirs, bool qkv_bias) {
    const std::int64_t width = theirs.needed("hidden_size");
    const std::int64_t heads = theirs.needed("num_attention_heads");
    const std::int64_t head_width = heads > 0 ? width / heads : 0;
    if (theirs.whole("head_dim", head_width) != head_width) {
        theirs.refuse("head_dim", "heads are " + std::to_string(theirs.whole("head_dim", 0)) +
                                      " wide, here always hidden_size / num_attention_heads = " +
                                      std::to_string(head_width));
    }
    if (const std::string act = theirs.text("hidden_act", "silu"); act != "silu") {
        theirs.refuse("hidden_act", "the activation is '" + act + "', here always silu");
    }
    if (theirs.flag("attention_bias", false)) {
        theirs.refuse("attention_bias", "attention's output has a bias too");
    }
    if (theirs.flag("mlp_bias", false)) {
        theirs.refuse("mlp_bias", "the MLP has biases");
    }
    const std::int64_t vocab = theirs.needed("vocab_size");
    Described out{{{"type", "llama"},
                   {"layers", theirs.needed("num_hidden_layers")},
                   {"width", width},
                   {"heads", heads},
                   {"kv_heads", theirs.whole("num_key_value_heads", heads)},
                   {"ffn", theirs.needed("intermediate_size")},
                   {"vocab", vocab},
                   {"context", theirs.whole("max_position_embeddings", 2048)},
                   {"rope_theta", rope_theta_of(theirs)},
                   {"norm_eps", theirs.real("rms_norm_eps", 1e-6)},
                   {"qkv_bias", qkv_bias},
                   {"tied", theirs.flag("tie_word_embeddings", false)}},
                  {{"type", "synthetic"}, {"kind", "tokens"}, {"vocab", vocab}}};
    check_rope(theirs, out);
    return out;
}

Described describe_llama(const ConfigReader& theirs) {
    return describe(theirs, false);
}

Described describe_mistral(const ConfigReader& theirs) {
    Described out = describe(theirs, false);
    limit_context(theirs, theirs.whole("sliding_window", 0), out);
    return out;
}

Described describe_qwen2(const ConfigReader& theirs) {
    Described out = describe(theirs, true);
    if (theirs.flag("use_sliding_window", false)) {
        limit_context(theirs, theirs.whole("sliding_window", 4096), out);
    }
    return out;
}

Json config_of(const Facts& ours, const char* type, const char* architecture) {
    const Json& s = ours.settings;
    return {{"architectures", {architecture}},
            {"model_type", type},
            {"hidden_act", "silu"},
            {"num_hidden_layers", s.at("layers")},
            {"hidden_size", s.at("width")},
            {"num_attention_heads", s.at("heads")},
            {"num_key_value_heads", s.at("kv_heads")},
            {"intermediate_size", s.at("ffn")},
            {"vocab_size", ours.vocab},
            {"max_position_embeddings", s.at("context")},
            {"rope_theta", s.at("rope_theta")},
            {"rms_norm_eps", s.at("norm_eps")},
            {"tie_word_embeddings", s.at("tied")},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr}};
}

Json config_of_llama(const Facts& ours) {
    return config_of(ours, "llama", "LlamaForCausalLM");
}

Json config_of_qwen2(const Facts& ours) {
    Json out = config_of(ours, "qwen2", "Qwen2ForCausalLM");
    out["use_sliding_window"] = false;
    return out;
}

// What older versions of transformers saved: it follows from rope_theta.
const std::vector<std::string_view> kIdleOfLlama = {"*.rotary_emb.inv_freq"};

} // namespace

const Family kLlamaFamily = {.name = "llama",
                             .as = "huggingface",
                             .model = "llama",
                             .help = "Llama of transformers",
                             .tensors = llama_tensors,
                             .prefix = "model.",
                             .idle = kIdleOfLlama,
                             .refuses = refused_llama,
                             .describe = describe_llama,
                             .config = config_of_llama};

const Family kQwen2Family = {.name = "qwen2",
                             .as = "huggingface",
                             .model = "llama",
                             .help = "Qwen2 of transformers",
                             .tensors = llama_tensors,
                             .prefix = "model.",
                             .idle = kIdleOfLlama,
                             .refuses = refused_qwen2,
                             .describe = describe_qwen2,
                             .config = config_of_qwen2};

const Family kMistralFamily = {.name = "mistral",
                               .as = "huggingface",
                               .model = "llama",
                               .help = "Mistral of transformers",
                               .tensors = llama_tensors,
                               .prefix = "model.",
                               .idle = kIdleOfLlama,
                               .refuses = refused_llama,
                               .describe = describe_mistral};

} // namespace weft::foreign
