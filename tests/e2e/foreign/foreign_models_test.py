# SPDX-License-Identifier: Apache-2.0
"""Models of transformers, torchvision and timm give the same probabilities in `weft`, and ours there.

    python3 foreign_models_test.py WEFT [TestClass[.test]]

Needs torch, torchvision, transformers, tokenizers, timm, gguf, peft, safetensors and numpy, and no network: every
model is made from a configuration with random weights. Exits 77 where one of them is missing.
"""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import weft_program
from weft_program import weft

try:
    import gguf
    import numpy as np
    import peft
    import timm
    import tokenizers
    import torch
    import torchvision
    import transformers
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print("SKIPPED: torch, torchvision, transformers, tokenizers, timm, gguf, peft and safetensors are needed: "
          f"{missing}")
    sys.exit(77)

CONTEXT = 16
SAMPLES = 6
TOLERANCE = 1e-4  # of logits of order 1: f32 sums in another order
TEXT = (b"Whoever weaves must mind the weft as well as the warp: one thread out of place, "
        b"and the cloth says so for years. 0123456789 !?;,-()[]{}<>@#$%^&*+=~|/ ") * 8


def loud(model):
    """Weights large enough that a wrong one shows."""
    torch.manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            rows = parameter.dim() > 1
            scale = min(0.2, 0.7 / parameter[0].numel() ** 0.5) if rows else 0.2
            parameter.normal_(1.0 if "norm" in name.lower() or "bn" in name else 0.0, scale)
    return model.eval()


def probabilities(run, split="test"):
    document = json.loads(weft("predict", run, f"0-{SAMPLES - 1}", "--split", split, "--from", "latest",
                               "--json"))
    return np.array([sample["values"] for sample in document["predictions"]])


def windows():
    return torch.tensor([list(TEXT[i * CONTEXT:(i + 1) * CONTEXT]) for i in range(SAMPLES)])


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "text.txt").write_bytes(TEXT)

    def loaded_there(self, kind, folder):
        model, told = kind.from_pretrained(folder, dtype="auto", output_loading_info=True)
        for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            self.assertFalse(told[problem], problem)
        return model.eval()

    def assert_same(self, ours, logits):
        theirs = torch.log_softmax(logits.double(), -1).numpy()
        worst = np.abs(np.log(ours) - theirs).max()
        self.assertLess(worst, TOLERANCE)
        # The comparison is worth something: samples differ by far more.
        self.assertGreater(np.abs(theirs[0] - theirs[1]).max(), 100 * TOLERANCE)


class TextCase(Case):
    def data(self):
        source = json.dumps({"type": "text", "path": str(self.folder / "text.txt")})
        return ["--set", f"data.train={source}", "--set", f"data.test={source}", "--set",
                "training.global_batch_size=4", "--set", "training.precision=f32"]

    def logits(self, model):
        with torch.no_grad():
            return model(windows()).logits[:, -1]

    @staticmethod
    def llama(**changes):
        settings = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        num_key_value_heads=2, intermediate_size=48, vocab_size=256,
                        max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, bos_token_id=None,
                        eos_token_id=None)
        settings.update(changes)
        return settings


class LanguageModels(TextCase):
    def both_ways(self, model, kind, **saving):
        model = loud(model)
        theirs, run, tuned, ours = (self.folder / name for name in ("theirs", "run", "tuned", "ours"))
        model.save_pretrained(theirs, **saving)
        told = weft("check", theirs, *self.data())
        self.assertIn("0 missing, 0 mismatched, 0 unexpected", told)
        weft("train", theirs, *self.data(), "--run-dir", run, "--max-steps", 0)
        self.assert_same(probabilities(run), self.logits(model))
        # Trained here, read there.
        weft("train", theirs, *self.data(), "--run-dir", tuned, "--max-steps", 3, "--set",
             "optimizer.learning_rate=0.01")
        weft("checkpoint", "export", tuned, "--to", ours, "--as", "huggingface")
        back = self.loaded_there(transformers.AutoModelForCausalLM, ours)
        self.assertIsInstance(back, kind)
        self.assert_same(probabilities(tuned), self.logits(back))
        self.assertGreater((self.logits(back) - self.logits(model)).abs().max(), 1e-2)
        return model, run, back

    def assert_export_is_exact(self, model, run):
        """What came in goes out bit for bit, under the same names."""
        weft("checkpoint", "export", run, "--to", self.folder / "same", "--as", "huggingface")
        saved = load_file(self.folder / "same" / "model.safetensors")
        wanted = {}
        for file in (self.folder / "theirs").glob("*.safetensors"):
            wanted.update(load_file(file))
        self.assertEqual(sorted(saved), sorted(wanted))
        for name, tensor in wanted.items():
            self.assertTrue(torch.equal(saved[name], tensor.float()), name)

    def test_gpt2(self):
        config = transformers.GPT2Config(n_layer=2, n_embd=32, n_head=4, n_positions=CONTEXT,
                                         vocab_size=256, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                                         bos_token_id=0, eos_token_id=0)
        model, run, _ = self.both_ways(transformers.GPT2LMHeadModel(config),
                                       transformers.GPT2LMHeadModel)
        self.assert_export_is_exact(model, run)

    def test_gpt2_without_its_prefix_and_with_its_masks(self):
        config = transformers.GPT2Config(n_layer=1, n_embd=16, n_head=2, n_positions=CONTEXT,
                                         vocab_size=256, bos_token_id=0, eos_token_id=0,
                                         layer_norm_epsilon=1e-3)
        model = loud(transformers.GPT2LMHeadModel(config))
        theirs = self.folder / "theirs"
        model.transformer.save_pretrained(theirs)
        bare = load_file(theirs / "model.safetensors")
        self.assertIn("wte.weight", bare)
        bare["h.0.attn.bias"] = torch.ones(1, 1, CONTEXT, CONTEXT)  # as the published file has it
        save_file(bare, theirs / "model.safetensors", {"format": "pt"})
        self.assertIn("0 unexpected", weft("check", theirs, *self.data()))
        weft("train", theirs, *self.data(), "--run-dir", self.folder / "run", "--max-steps", 0)
        self.assert_same(probabilities(self.folder / "run"), self.logits(model))

    def test_llama_with_grouped_heads_in_shards(self):
        config = transformers.LlamaConfig(**self.llama(
            rope_parameters={"rope_type": "default", "rope_theta": 500.0}))
        model, run, _ = self.both_ways(transformers.LlamaForCausalLM(config),
                                       transformers.LlamaForCausalLM, max_shard_size="20KB")
        self.assertTrue((self.folder / "theirs" / "model.safetensors.index.json").exists())
        self.assertGreater(len(list((self.folder / "theirs").glob("*.safetensors"))), 2)
        self.assert_export_is_exact(model, run)

    def test_llama_with_a_tied_head(self):
        config = transformers.LlamaConfig(**self.llama(tie_word_embeddings=True))
        model, run, _ = self.both_ways(transformers.LlamaForCausalLM(config),
                                       transformers.LlamaForCausalLM)
        self.assert_export_is_exact(model, run)

    def test_qwen2(self):
        config = transformers.Qwen2Config(**self.llama(rms_norm_eps=1e-6))
        model, run, _ = self.both_ways(transformers.Qwen2ForCausalLM(config),
                                       transformers.Qwen2ForCausalLM)
        self.assert_export_is_exact(model, run)

    def test_mistral_in_bf16(self):
        config = transformers.MistralConfig(**self.llama())
        model = transformers.MistralForCausalLM(config)
        with torch.no_grad():
            loud(model).to(torch.bfloat16).save_pretrained(self.folder / "theirs")
        self.assertEqual(load_file(self.folder / "theirs" / "model.safetensors")["lm_head.weight"].dtype,
                         torch.bfloat16)
        weft("train", self.folder / "theirs", *self.data(), "--run-dir", self.folder / "run",
             "--max-steps", 0)
        model = transformers.MistralForCausalLM.from_pretrained(self.folder / "theirs",
                                                                dtype=torch.float32)
        self.assert_same(probabilities(self.folder / "run"), self.logits(model))

    def test_a_window_that_slides_cuts_the_context(self):
        config = transformers.MistralConfig(**self.llama(max_position_embeddings=64,
                                                         sliding_window=CONTEXT))
        model = loud(transformers.MistralForCausalLM(config))
        model.save_pretrained(self.folder / "theirs")
        told = weft("check", self.folder / "theirs", *self.data())
        self.assertIn("attention slides over 16 positions", told)
        weft("train", self.folder / "theirs", *self.data(), "--run-dir", self.folder / "run",
             "--max-steps", 0)
        self.assert_same(probabilities(self.folder / "run"), self.logits(model))

    def test_settings_that_change_the_numbers_are_refused(self):
        config = transformers.LlamaConfig(**self.llama())
        loud(transformers.LlamaForCausalLM(config)).save_pretrained(self.folder / "theirs")
        for change in ("model.heads=2", "model.rope_theta=500", "model.norm_eps=1e-6"):
            told = weft("check", self.folder / "theirs", *self.data(), "--set", change, code=3)
            self.assertIn(change.split("=")[0] + " is ", told)
        scaled = transformers.LlamaConfig(**self.llama(
            rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}))
        transformers.LlamaForCausalLM(scaled).save_pretrained(self.folder / "scaled")
        self.assertIn("rotary frequencies are scaled",
                      weft("check", self.folder / "scaled", *self.data(), code=3))
        for key, value in (("attention_bias", True), ("hidden_act", "gelu"), ("head_dim", 16)):
            path = self.folder / "theirs" / "config.json"
            changed = json.loads(path.read_text())
            changed[key] = value
            (self.folder / "other").mkdir(exist_ok=True)
            (self.folder / "other" / "config.json").write_text(json.dumps(changed))
            self.assertIn("/" + key, weft("check", self.folder / "other", *self.data(), code=2))


class Tokenizers(TextCase):
    """A model and the tokenizer beside it, here and back there."""
    PROSE = ("Whoever weaves must mind the weft as well as the warp; \u201eein F\u00e4dchen\u201c, 12 or 345 "
             "threads,\n  don't they?  So says the cloth for years\u2026 \u65e5\u672c\u8a9e <|endoftext|>\n") * 12

    def setUp(self):
        super().setUp()
        (self.folder / "text.txt").write_text(self.PROSE, encoding="utf-8")

    def tokenizer(self, size):
        """GPT-2's kind, learnt by the library."""
        made = tokenizers.Tokenizer(tokenizers.models.BPE())
        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = tokenizers.decoders.ByteLevel()
        made.train_from_iterator([self.PROSE], tokenizers.trainers.BpeTrainer(
            vocab_size=size, show_progress=False, special_tokens=["<|endoftext|>"],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
        return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|endoftext|>")

    @staticmethod
    def gpt2(vocab):
        return loud(transformers.GPT2LMHeadModel(transformers.GPT2Config(
            n_layer=2, n_embd=32, n_head=4, n_positions=CONTEXT, vocab_size=vocab, resid_pdrop=0,
            embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0)))

    def saved(self, model, tokenizer):
        folder = self.folder / "theirs"
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    def logits_of_text(self, folder):
        """Of the text's first windows, in the tokens of the folder's own tokenizer."""
        tokens = transformers.AutoTokenizer.from_pretrained(folder)(
            self.PROSE, add_special_tokens=False)["input_ids"]
        self.assertGreater(len(tokens), SAMPLES * CONTEXT)
        model = self.loaded_there(transformers.AutoModelForCausalLM, folder)
        with torch.no_grad():
            cut = [tokens[i * CONTEXT:(i + 1) * CONTEXT] for i in range(SAMPLES)]
            return tokens, model(torch.tensor(cut)).logits[:, -1]

    def exported(self, run, name, kind="huggingface"):
        told = weft("checkpoint", "export", run, "--to", self.folder / name, "--as", kind)
        self.assertNotIn("ithout a tokenizer", told)
        return self.folder / name

    def test_a_text_is_read_here_and_there_in_the_models_own_tokens(self):
        theirs = self.saved(self.gpt2(300), self.tokenizer(300))
        run, tuned = self.folder / "run", self.folder / "tuned"
        self.assertIn("0 missing, 0 mismatched, 0 unexpected", weft("check", theirs, *self.data()))
        weft("train", theirs, *self.data(), "--run-dir", run, "--max-steps", 0)
        wanted, logits = self.logits_of_text(theirs)
        self.assert_same(probabilities(run), logits)
        weft("train", theirs, *self.data(), "--run-dir", tuned, "--max-steps", 3, "--set",
             "optimizer.learning_rate=0.01")
        ours_here = probabilities(tuned)
        document = (theirs / "tokenizer.json").read_bytes()
        (theirs / "tokenizer.json").unlink()  # the checkpoint holds it
        ours = self.exported(tuned, "ours")
        self.assertEqual((ours / "tokenizer.json").read_bytes(), document)
        tokens, logits = self.logits_of_text(ours)
        self.assertEqual(tokens, wanted)
        self.assert_same(ours_here, logits)
        back = transformers.AutoTokenizer.from_pretrained(ours)
        self.assertEqual(back.decode(tokens), self.PROSE)
        self.assertEqual(back.model_max_length, CONTEXT)

    def test_a_model_of_bytes_goes_out_with_its_bytes_as_tokens(self):
        loud(self.gpt2(256)).save_pretrained(self.folder / "bytes")
        weft("train", self.folder / "bytes", *self.data(), "--run-dir", self.folder / "run", "--max-steps", 0)
        tokens, logits = self.logits_of_text(self.exported(self.folder / "run", "ours"))
        self.assertEqual(tokens, list(self.PROSE.encode()))
        self.assert_same(probabilities(self.folder / "run"), logits)

    def test_factors_go_out_with_the_tokenizer(self):
        theirs = self.saved(self.gpt2(300), self.tokenizer(300))
        weft("train", theirs, *self.data(), "--run-dir", self.folder / "run", "--max-steps", 0, "--set",
             'init.lora={"rank": 2}')
        factors = self.exported(self.folder / "run", "factors", "peft")
        self.assertEqual((factors / "tokenizer.json").read_bytes(), (theirs / "tokenizer.json").read_bytes())

    def test_a_tokenizer_that_is_not_here_never_becomes_bytes(self):
        tokenizer = self.tokenizer(300)
        tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        theirs = self.saved(self.gpt2(300), tokenizer)
        self.assertIn("Metaspace is not here", weft("check", theirs))
        self.assertIn("Metaspace is not here", weft("check", theirs, *self.data(), code=3))
        weft("check", theirs, *self.data(), "--set", "data.tokenizer=bytes")
        source = json.dumps({"train": {"type": "text", "path": str(self.folder / "text.txt")}})
        self.assertIn("byte by byte", weft("check", theirs, "--set", f"data={source}", code=2))


class LowRankFactors(TextCase):
    """Trained here beside a frozen base; read there merged, and as PEFT's."""

    def tuned(self, model, targets, **settings):
        model = loud(model)
        base, run = self.folder / "base", self.folder / "run"
        model.save_pretrained(base)
        lora = json.dumps({"rank": 3, "alpha": 12, "targets": targets, "dropout": 0.1, **settings})
        weft("train", base, *self.data(), "--run-dir", run, "--max-steps", 5, "--set",
             f"init.lora={lora}", "--set", "optimizer.learning_rate=0.05")
        return model, base, run

    def assert_base_is_bitwise(self, base, run):
        weft("checkpoint", "export", run, "--to", self.folder / "all.safetensors", "--all")
        ours = load_file(self.folder / "all.safetensors")
        names = [name for name in ours if "/" not in name and ".lora." not in name
                 and not name.startswith("training.")]
        weft("train", base, *self.data(), "--run-dir", self.folder / "plain", "--max-steps", 0)
        weft("checkpoint", "export", self.folder / "plain", "--to", self.folder / "plain.safetensors")
        plain = load_file(self.folder / "plain.safetensors")
        self.assertEqual(sorted(names), sorted(plain))
        for name in names:
            self.assertTrue(torch.equal(ours[name], plain[name]), name)

    def both_exports(self, model, targets):
        model, base, run = self.tuned(model, targets)
        self.assert_base_is_bitwise(base, run)
        ours = probabilities(run)
        before = torch.log_softmax(self.logits(model).double(), -1).numpy()
        self.assertGreater(np.abs(np.log(ours) - before).max(), 100 * TOLERANCE)  # it learned
        weft("checkpoint", "export", run, "--to", self.folder / "merged", "--as", "huggingface")
        self.assert_same(ours, self.logits(
            self.loaded_there(transformers.AutoModelForCausalLM, self.folder / "merged")))
        weft("checkpoint", "export", run, "--to", self.folder / "factors", "--as", "peft")
        self.assertEqual(peft.PeftConfig.from_pretrained(self.folder / "factors")
                         .base_model_name_or_path, str(base))
        there = transformers.AutoModelForCausalLM.from_pretrained(base)
        with_factors = peft.PeftModel.from_pretrained(there, self.folder / "factors").eval()
        self.assert_same(ours, self.logits(with_factors))
        self.assert_same(ours, self.logits(with_factors.merge_and_unload()))

    def test_gpt2(self):
        self.both_exports(transformers.GPT2LMHeadModel(transformers.GPT2Config(
            n_layer=2, n_embd=32, n_head=4, n_positions=CONTEXT, vocab_size=256, resid_pdrop=0,
            embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0)), ["blocks.*"])

    def test_llama_in_some_layers(self):
        self.both_exports(transformers.LlamaForCausalLM(transformers.LlamaConfig(**self.llama())),
                          ["*.query.*", "*.value.*", "blocks.1.mlp.*"])

    def test_qwen2_with_its_head(self):
        self.both_exports(transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
            **self.llama(rms_norm_eps=1e-6))), ["blocks.*", "head.*"])

    def factors_of_peft(self, model, **settings):
        """A base, and beside it factors that PEFT made for it."""
        model = loud(model)
        base, folder = self.folder / "base", self.folder / "factors"
        model.save_pretrained(base)
        there = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **settings))
        torch.manual_seed(11)
        with torch.no_grad():
            for name, parameter in there.named_parameters():
                if "lora_" in name:
                    parameter.normal_(0.0, 0.2)
        there.save_pretrained(folder)
        return there.eval(), base, folder

    def assert_factors_come_in(self, model, lora, **settings):
        there, base, folder = self.factors_of_peft(model, **settings)
        with there.disable_adapter():
            before = torch.log_softmax(self.logits(there).double(), -1)
        after = torch.log_softmax(self.logits(there).double(), -1)
        self.assertGreater((after - before).abs().max(), 100 * TOLERANCE)
        start = ["--set", f"init.lora={json.dumps({'from': str(folder), **lora})}"]
        self.assertIn("0 mismatched, 0 unexpected", weft("check", base, *self.data(), *start))
        run = self.folder / "run"
        weft("train", base, *self.data(), *start, "--run-dir", run, "--max-steps", 0)
        self.assert_same(probabilities(run), self.logits(there))
        # They are trained on, resumed without the folder, and read there again.
        shutil.rmtree(folder)
        weft("resume", run, "--extend", 2)
        weft("checkpoint", "export", run, "--to", self.folder / "back", "--as", "peft")
        plain = transformers.AutoModelForCausalLM.from_pretrained(base)
        self.assert_same(probabilities(run),
                         self.logits(peft.PeftModel.from_pretrained(plain, self.folder / "back").eval()))

    def small_gpt2(self):
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(
            n_layer=2, n_embd=32, n_head=4, n_positions=CONTEXT, vocab_size=256, resid_pdrop=0, embd_pdrop=0,
            attn_pdrop=0, bos_token_id=0, eos_token_id=0))

    def test_factors_of_peft_for_gpt2(self):
        self.assert_factors_come_in(self.small_gpt2(), {}, r=3, lora_alpha=7, target_modules=["c_attn", "c_fc"],
                                    fan_in_fan_out=True)

    def test_rank_stabilised_factors_of_peft_for_llama(self):
        self.assert_factors_come_in(
            transformers.LlamaForCausalLM(transformers.LlamaConfig(**self.llama())),
            {"targets": ["*.query.*", "*.value.*", "*.down.*"]}, r=4, lora_alpha=5, use_rslora=True,
            target_modules=["q_proj", "v_proj", "down_proj"])

    def test_factors_that_fit_no_layer_or_are_of_another_kind_are_refused(self):
        _, base, folder = self.factors_of_peft(self.small_gpt2(), r=3, lora_alpha=7, fan_in_fan_out=True,
                                               target_modules=["c_attn", "c_fc"])

        def told(**lora):
            return weft("check", base, *self.data(), "--set",
                        f"init.lora={json.dumps({'from': str(folder), **lora})}", code=3 if lora else 2)
        self.assertIn("no layer here takes blocks.0.mlp.up.lora.a", told(targets=["*.attention.*"]))
        self.assertIn("have rank 3 and alpha 7; init.lora says 4 and 7", told(rank=4, alpha=7))
        settings = json.loads((folder / "adapter_config.json").read_text())
        for change in ({"use_dora": True}, {"bias": "all"}, {"modules_to_save": ["lm_head"]}, {"peft_type": "LOHA"}):
            (folder / "adapter_config.json").write_text(json.dumps({**settings, **change}))
            self.assertIn(next(iter(change.values())) if change.get("peft_type") else next(iter(change)), told())

    def test_gguf_and_npz_hold_the_merged_weights(self):
        _, _, run = self.tuned(transformers.LlamaForCausalLM(transformers.LlamaConfig(**self.llama())),
                               ["blocks.*"])
        weft("checkpoint", "export", run, "--to", self.folder / "merged", "--as", "huggingface")
        merged = load_file(self.folder / "merged" / "model.safetensors")["model.layers.0.mlp.up_proj.weight"]
        weft("checkpoint", "export", run, "--to", self.folder / "ours.npz")
        ours = np.load(self.folder / "ours.npz")
        self.assertFalse([name for name in ours.files if "lora" in name])
        np.testing.assert_array_equal(ours["blocks.0.mlp.up.weight"], merged.numpy().T)
        weft("checkpoint", "export", run, "--to", self.folder / "ours.gguf", "--type", "f32")
        tensors = {t.name: t for t in gguf.GGUFReader(self.folder / "ours.gguf").tensors}
        np.testing.assert_array_equal(tensors["blk.0.ffn_up.weight"].data, merged.numpy())


class Gguf(TextCase):
    def in_gguf(self, model, architecture, kind):
        model = loud(model)
        model.save_pretrained(self.folder / "theirs")
        run = self.folder / "run"
        weft("train", self.folder / "theirs", *self.data(), "--run-dir", run, "--max-steps", 0)
        names = gguf.get_tensor_name_map(architecture, model.config.num_hidden_layers)
        state = {}
        for name, tensor in model.state_dict().items():
            if model.config.tie_word_embeddings and name == "lm_head.weight":
                continue
            tensor = tensor.numpy()
            if kind == "gpt2" and ".c_" in name and name.endswith("weight"):
                tensor = tensor.T  # Conv1D
            if kind == "llama" and (".q_proj." in name or ".k_proj." in name):
                heads = (model.config.num_attention_heads if ".q_proj." in name
                         else model.config.num_key_value_heads)
                # As convert_hf_to_gguf.py has it.
                tensor = (tensor.reshape(heads, 2, tensor.shape[0] // heads // 2, *tensor.shape[1:])
                          .swapaxes(1, 2).reshape(tensor.shape))
            state[names.get_name(name, try_suffixes=(".weight", ".bias"))] = tensor
        for kind_name, ggml in (("f32", gguf.GGMLQuantizationType.F32),
                                ("f16", gguf.GGMLQuantizationType.F16),
                                ("bf16", gguf.GGMLQuantizationType.BF16),
                                ("q8_0", gguf.GGMLQuantizationType.Q8_0)):
            file = self.folder / f"{kind_name}.gguf"
            weft("checkpoint", "export", run, "--to", file, "--type", kind_name)
            reader = gguf.GGUFReader(file)
            self.assertEqual(sorted(t.name for t in reader.tensors), sorted(state))
            for tensor in reader.tensors:
                wanted = state[tensor.name]
                plain = wanted.ndim < 2 or tensor.name == "position_embd.weight"
                stored = gguf.GGMLQuantizationType.F32 if plain else ggml
                self.assertEqual(tensor.tensor_type, stored, tensor.name)
                expected = gguf.quants.quantize(np.ascontiguousarray(wanted), stored)
                np.testing.assert_array_equal(tensor.data.reshape(expected.shape).view(np.uint8),
                                              expected.view(np.uint8), tensor.name)
        return model, reader

    def field(self, reader, key):
        return reader.get_field(key).contents()

    def test_gpt2_in_gguf(self):
        config = transformers.GPT2Config(n_layer=2, n_embd=32, n_head=4, n_positions=CONTEXT,
                                         vocab_size=256, bos_token_id=0, eos_token_id=0)
        _, reader = self.in_gguf(transformers.GPT2LMHeadModel(config), gguf.MODEL_ARCH.GPT2, "gpt2")
        for key, value in (("general.architecture", "gpt2"), ("gpt2.block_count", 2),
                           ("gpt2.context_length", CONTEXT), ("gpt2.embedding_length", 32),
                           ("gpt2.feed_forward_length", 128), ("gpt2.attention.head_count", 4),
                           ("tokenizer.ggml.model", "none"), ("general.file_type", 7)):
            self.assertEqual(self.field(reader, key), value, key)

    def test_llama_in_gguf(self):
        config = transformers.LlamaConfig(**self.llama(intermediate_size=64))
        _, reader = self.in_gguf(transformers.LlamaForCausalLM(config), gguf.MODEL_ARCH.LLAMA, "llama")
        for key, value in (("general.architecture", "llama"), ("llama.attention.head_count", 4),
                           ("llama.attention.head_count_kv", 2), ("llama.rope.dimension_count", 8),
                           ("llama.rope.freq_base", 10000.0), ("llama.vocab_size", 256)):
            self.assertEqual(self.field(reader, key), value, key)

    def test_qwen2_in_gguf(self):
        config = transformers.Qwen2Config(**self.llama(intermediate_size=64))
        _, reader = self.in_gguf(transformers.Qwen2ForCausalLM(config), gguf.MODEL_ARCH.QWEN2, "qwen2")
        self.assertEqual(self.field(reader, "general.architecture"), "qwen2")


class Images(Case):
    SHAPE = (32, 32, 3)
    CLASSES = 5

    def setUp(self):
        super().setUp()
        generator = np.random.default_rng(3)
        self.images = generator.uniform(-1, 1, (SAMPLES * 4, *self.SHAPE)).astype(np.float32)
        np.save(self.folder / "x.npy", self.images)
        np.save(self.folder / "y.npy",
                (np.arange(len(self.images)) % self.CLASSES).astype(np.int64))

    def source(self):
        return {"type": "npy", "inputs": str(self.folder / "x.npy"),
                "targets": str(self.folder / "y.npy")}

    def data(self):
        source = json.dumps(self.source())
        return ["--set", f"data.train={source}", "--set", f"data.test={source}", "--set",
                "training.global_batch_size=8", "--set", "training.precision=f32"]

    def logits(self, model):
        with torch.no_grad():
            out = model(torch.from_numpy(self.images[:SAMPLES]).permute(0, 3, 1, 2))
            return out.logits if hasattr(out, "logits") else out

    def settled(self, model):
        """Running statistics of these images: without them the depth would drown the input."""
        model = loud(model)
        for part in model.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.momentum = 1.0
        with torch.no_grad():
            model.train()(torch.from_numpy(self.images).permute(0, 3, 1, 2))
        return model.eval()

    def run_with(self, model_section, weights, run, steps, **init):
        config = {"data": {"train": self.source(), "test": self.source()}, "model": model_section,
                  "init": {"from": str(weights), **init}, "training": {"global_batch_size": 8, "precision": "f32"},
                  "optimizer": {"type": "adamw", "learning_rate": 0.003}}
        path = self.folder / "run.json"
        path.write_text(json.dumps(config))
        told = weft("check", path)
        self.assertIn("0 missing, 0 mismatched, 0 unexpected", told)
        weft("train", path, "--run-dir", run, "--max-steps", steps)

    def of_transformers(self, model):
        model = self.settled(model)
        theirs, run, tuned = self.folder / "theirs", self.folder / "run", self.folder / "tuned"
        model.save_pretrained(theirs)
        self.assertIn("0 missing, 0 mismatched, 0 unexpected", weft("check", theirs, *self.data()))
        weft("train", theirs, *self.data(), "--run-dir", run, "--max-steps", 0)
        self.assert_same(probabilities(run), self.logits(model))
        weft("train", theirs, *self.data(), "--run-dir", tuned, "--max-steps", 3)
        weft("checkpoint", "export", tuned, "--to", self.folder / "ours", "--as", "huggingface")
        back = self.loaded_there(transformers.AutoModelForImageClassification, self.folder / "ours")
        self.assert_same(probabilities(tuned), self.logits(back))

    def test_vit_of_transformers(self):
        self.of_transformers(transformers.ViTForImageClassification(transformers.ViTConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
            image_size=32, patch_size=8, num_labels=self.CLASSES)))

    def resnet_of_transformers(self, kind, widths, depths):
        self.of_transformers(transformers.ResNetForImageClassification(transformers.ResNetConfig(
            embedding_size=8, hidden_sizes=widths, depths=depths, layer_type=kind,
            num_labels=self.CLASSES)))

    def test_factors_on_a_vit_of_transformers(self):
        model = self.settled(transformers.ViTForImageClassification(transformers.ViTConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
            image_size=32, patch_size=8, num_labels=self.CLASSES)))
        base, run = self.folder / "base", self.folder / "run"
        model.save_pretrained(base)
        weft("train", base, *self.data(), "--run-dir", run, "--max-steps", 5, "--set",
             'init.lora={"rank": 3}', "--set", "optimizer.learning_rate=0.05")
        ours = probabilities(run)
        weft("checkpoint", "export", run, "--to", self.folder / "merged", "--as", "huggingface")
        self.assert_same(ours, self.logits(self.loaded_there(
            transformers.AutoModelForImageClassification, self.folder / "merged")))
        self.assertIn("--as huggingface", weft("checkpoint", "export", run, "--to",
                                               self.folder / "factors", "--as", "peft", code=2))

    def test_resnet_18_of_transformers(self):
        self.resnet_of_transformers("basic", [8, 16, 32, 64], [2, 2, 2, 2])

    def test_resnet_50_of_transformers(self):
        self.resnet_of_transformers("bottleneck", [32, 64, 128, 256], [3, 4, 6, 3])

    def by_one_file(self, make, section, exported_as):
        model = self.settled(make())
        weights, run, tuned = self.folder / "theirs.safetensors", self.folder / "run", self.folder / "tuned"
        save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, weights)
        self.run_with(section, weights, run, 0)
        self.assert_same(probabilities(run), self.logits(model))
        self.run_with(section, weights, tuned, 3)
        ours = self.folder / "ours.safetensors"
        weft("checkpoint", "export", tuned, "--to", ours, "--as", exported_as)
        back = make()
        back.load_state_dict(load_file(ours), strict=True)
        self.assert_same(probabilities(tuned), self.logits(back.eval()))

    def test_resnet_18_of_torchvision(self):
        self.by_one_file(lambda: torchvision.models.resnet18(num_classes=self.CLASSES),
                         {"type": "resnet", "depth": 18}, "torchvision")

    def test_resnet_50_of_torchvision(self):
        self.by_one_file(lambda: torchvision.models.resnet50(num_classes=self.CLASSES),
                         {"type": "resnet", "depth": 50}, "torchvision")

    def test_resnet_of_timm(self):
        self.by_one_file(lambda: timm.create_model("resnet18", num_classes=self.CLASSES),
                         {"type": "resnet", "depth": 18}, "timm")

    def test_vit_of_timm(self):
        self.by_one_file(
            lambda: timm.models.vision_transformer.VisionTransformer(
                img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4,
                num_classes=self.CLASSES),
            {"type": "vit", "patch": 8, "width": 32, "layers": 2, "heads": 4}, "timm")

    def test_another_number_of_classes_keeps_the_body(self):
        model = loud(timm.create_model("resnet18", num_classes=7))
        save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()},
                  self.folder / "theirs.safetensors")
        path = self.folder / "run.json"
        path.write_text(json.dumps({
            "data": {"train": self.source()}, "model": {"type": "resnet", "depth": 18},
            "init": {"from": str(self.folder / "theirs.safetensors")}}))
        self.assertIn("head.weight", weft("check", path, code=3))
        told = weft("check", path, "--set", "init.strict=false")
        self.assertIn("0 missing, 2 mismatched, 0 unexpected", told)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    weft_program.program = sys.argv.pop(1)
    unittest.main(verbosity=2)
