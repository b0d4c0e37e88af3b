// SPDX-License-Identifier: Apache-2.0
// GPT-2 of Hugging Face's transformers (modeling_gpt2.py). Its Conv1D keeps weights as [in, out],
// as we do, so that only an untied head is transposed.
#include "core/foreign/family_list.h"

namespace weft::foreign {
namespace {

TensorPairs gpt2_tensors() {
    TensorPairs out = {{"wte.weight", {"transformer.wte.weight"}},
                       {"wpe.weight", {"transformer.wpe.weight"}},
                       {"head.weight", {"lm_head.weight"}, Layout::transposed}};
    const std::pair<const char*, const char*> layers[] = {
        {"blocks.*.norm1", "transformer.h.*.ln_1"},
        {"blocks.*.attention.qkv", "transformer.h.*.attn.c_attn"},
        {"blocks.*.attention.output", "transformer.h.*.attn.c_proj"},
        {"blocks.*.norm2", "transformer.h.*.ln_2"},
        {"blocks.*.mlp.up", "transformer.h.*.mlp.c_fc"},
        {"blocks.*.mlp.down", "transformer.h.*.mlp.c_proj"},
        {"norm", "transformer.ln_f"}};
    for (const auto& [ours, theirs] : layers) {
        for (const char* part : {".weight", ".bias"}) {
            out.push_back({std::string(ours) + part, {std::string(theirs) + part}});
        }
    }
    return out;
}

std::string refused_gpt2(const Json& settings) {
    return settings.at("experts").get<std::int64_t>() > 0 ? "GPT-2 has no mixtures of experts there"
                                                          : "";
}

Described describe_gpt2(const ConfigReader& theirs) {
    const std::int64_t width = theirs.whole("n_embd", 768);
    const std::int64_t inner = theirs.whole("n_inner", 4 * width);
    if (inner != 4 * width) {
        theirs.refuse("n_inner", "the inner width is " + std::to_string(inner) +
                                     ", here always four times the width of " +
                                     std::to_string(width));
    }
    const std::string activation = theirs.text("activation_function", "gelu_new");
    if (activation != "gelu_new" && activation != "gelu_pytorch_tanh") {
        theirs.refuse("activation_function", "the activation is '" + activation +
                                                 "', here always GELU by tanh (gelu_new)");
    }
    if (!theirs.flag("scale_attn_weights", true) ||
        theirs.flag("scale_attn_by_inverse_layer_idx", false)) {
        theirs.refuse("scale_attn_weights", "scores are scaled otherwise than by the root of the "
                                            "head's width");
    }
    if (theirs.flag("add_cross_attention", false)) {
        theirs.refuse("add_cross_attention", "it attends to another model's output");
    }
    const std::int64_t vocab = theirs.whole("vocab_size", 50257);
    return {{{"type", "gpt2"},
             {"layers", theirs.whole("n_layer", 12)},
             {"width", width},
             {"heads", theirs.whole("n_head", 12)},
             {"context", theirs.whole("n_positions", 1024)},
             {"vocab", vocab},
             {"dropout", theirs.real("resid_pdrop", 0.1)},
             {"norm_eps", theirs.real("layer_norm_epsilon", 1e-5)},
             {"tied", theirs.flag("tie_word_embeddings", true)}},
            {{"type", "synthetic"}, {"kind", "tokens"}, {"vocab", vocab}}};
}

Json config_of_gpt2(const Facts& ours) {
    const Json& s = ours.settings;
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"activation_function", "gelu_new"},
            {"n_layer", s.at("layers")},
            {"n_embd", s.at("width")},
            {"n_head", s.at("heads")},
            {"n_positions", s.at("context")},
            {"vocab_size", ours.vocab},
            {"layer_norm_epsilon", s.at("norm_eps")},
            {"resid_pdrop", s.at("dropout")},
            {"embd_pdrop", s.at("dropout")},
            {"attn_pdrop", s.at("dropout")},
            {"tie_word_embeddings", s.at("tied")},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr}};
}

} // namespace

const Family kGpt2Family = {.name = "gpt2",
                            .as = "huggingface",
                            .model = "gpt2",
                            .help = "GPT-2 of transformers",
                            .tensors = gpt2_tensors,
                            .prefix = "transformer.",
                            .idle = {"*.attn.bias", "*.attn.masked_bias"},
                            .refuses = refused_gpt2,
                            .describe = describe_gpt2,
                            .config = config_of_gpt2};

} // namespace weft::foreign
