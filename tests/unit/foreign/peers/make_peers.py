# SPDX-License-Identifier: Apache-2.0
"""Writes the models beside this file: python3 make_peers.py (needs torch and transformers)."""
import json
import math
import pathlib

import torch
import transformers

HERE = pathlib.Path(__file__).parent
VOCAB, CONTEXT, CLASSES = 16, 8, 3
TOKENS = [3, 1, 4, 1, 5, 9, 2, 6]
LANGUAGE = dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                intermediate_size=12, vocab_size=VOCAB, max_position_embeddings=CONTEXT,
                bos_token_id=None, eos_token_id=None)


def image(extent):
    """[extent, extent, 1]: the test computes the same."""
    return torch.tensor([math.sin(0.37 * i) for i in range(extent * extent)]).view(1, 1, extent, extent)


def save(name, model, inputs, **saving):
    torch.manual_seed(11)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.normal_(1.0 if "norm" in key or ".ln_" in key else 0.0, 0.3)
        for key, buffer in model.named_buffers():
            if key.endswith("running_mean"):
                buffer.normal_(0.0, 0.3)
            elif key.endswith("running_var"):
                buffer.uniform_(0.5, 2.0)
        model.eval().save_pretrained(HERE / name, **saving)
        logits = model(inputs).logits
    (HERE / name / "generation_config.json").unlink(missing_ok=True)
    (HERE / name / "expected.json").write_text(json.dumps(
        {"logits": [round(x, 7) for x in logits.flatten().tolist()]}) + "\n")


tokens = torch.tensor([TOKENS])
save("gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(
    n_layer=2, n_embd=8, n_head=2, n_positions=CONTEXT, vocab_size=VOCAB, layer_norm_epsilon=1e-3,
    bos_token_id=0, eos_token_id=0)), tokens)
save("llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(
    **LANGUAGE, rms_norm_eps=1e-3, rope_parameters={"rope_type": "default", "rope_theta": 100.0})), tokens)
save("qwen2", transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
    **LANGUAGE, tie_word_embeddings=True)), tokens, max_shard_size="3KB")
save("vit", transformers.ViTForImageClassification(transformers.ViTConfig(
    hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12, image_size=8,
    patch_size=4, num_channels=1, num_labels=CLASSES, layer_norm_eps=1e-3)), image(8))
save("resnet", transformers.ResNetForImageClassification(transformers.ResNetConfig(
    embedding_size=1, hidden_sizes=[1, 2, 4, 8], depths=[2, 2, 2, 2], layer_type="basic",
    num_channels=1, num_labels=CLASSES)), image(32))
