# SPDX-License-Identifier: Apache-2.0
"""What the library tokenizers (0.23) of Hugging Face learns from a licence text, and the tokens that it
gives: gpt2.json, llama3.json, qwen2.json, tokens.json.

    python3 make_peers.py FOLDER
"""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

CORPUS = "/usr/share/common-licenses/GPL-2"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def learn(pre_tokenizer, size, normalizer=None, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train([CORPUS], trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def texts():
    yield from ["", " ", "a", "Hello, world!", "  two  spaces ", "tabs\tand\nlines\r\n\r\n  end  ",
                "don't we'll I'M they'RE o'clock ''s", "<|endoftext|>", "a<|endoftext|>b <|endoftext|>",
                "<|endoftext", "1234567890 3.14 1,000 x2", "naïve café — “quotes” …", "e\u0301 vs \u00e9",
                "日本語のテキスト 中文 한국어", "Ω≈ç√∫ ﬀ ſ K", "👩‍👩‍👧‍👦 🇩🇪 👍🏽", "\u00a0\u2003\u0085x\u180ey\u200bz\u3000",
                "العربية हिन्दी ไทย", "x" * 300, " " * 40 + "x", "\n" * 30, "\u0000\u0001\u007f\ufffd\ufeff",
                "THE PROGRAM IS PROVIDED \"AS IS\" WITHOUT WARRANTY", "section 4(b)(ii)"]
    chance = random.Random(3)
    alphabet = "abcdeé \n\t'st.,0123λж漢😀\u0301\u00a0"
    for length in (3, 10, 50, 200):
        for _ in range(6):
            yield "".join(chance.choice(alphabet) for _ in range(length))


folder = pathlib.Path(sys.argv[1])
made = {"gpt2": learn(pre_tokenizers.ByteLevel(add_prefix_space=False), 600),
        "llama3": learn(split(LLAMA3), 400, ignore_merges=True),
        "qwen2": learn(split(QWEN2), 400, normalizers.NFC())}
made["qwen2"].add_tokens([AddedToken("<tool>", normalized=False), AddedToken("<tool>s", normalized=False)])
cases = []
for text in [*texts(), "<tool><tool>s<tool"]:
    cases.append({"text": text, **{name: one.encode(text).ids for name, one in made.items()}})
for name, one in made.items():
    one.save(str(folder / f"{name}.json"))
(folder / "tokens.json").write_text(json.dumps(cases, indent=0) + "\n")
