# SPDX-License-Identifier: Apache-2.0
"""Models that the package sentencepiece (0.2) learns from a licence text, and the tokens that it gives:
unigram.model, bpe.model (as Llama 2 has it: nothing normalised, bytes where a character is unknown),
pieces.json.

    python3 make_sentencepiece.py FOLDER
"""
import json
import pathlib
import random
import sys

import sentencepiece

CORPUS = "/usr/share/common-licenses/GPL-2"


def texts():
    yield from ["", " ", "a", "Hello, world!", "  two  spaces ", "tabs\tand\nlines\r\n\r\n  end  ", "</s> <s> <unk>",
                "1234567890 3.14", "naïve café — “quotes” …", "e\u0301 vs \u00e9", "ｆｕｌｌ ｗｉｄｔｈ ﬁ ①", "日本語 中文 한국어",
                "👩‍👩‍👧‍👦 🇩🇪", "\u00a0\u2003x\u200by\u3000", "x" * 300, " " * 40 + "x", "\u2581already\u2581there", "<tool>a<tool>",
                "THE PROGRAM IS PROVIDED \"AS IS\" WITHOUT WARRANTY", "section 4(b)(ii)", "a\u0000b"]
    chance = random.Random(3)
    alphabet = "abcdeé \n\t'st.,0123λж漢😀\u0301\u00a0"
    for length in (3, 10, 50, 200):
        for _ in range(6):
            yield "".join(chance.choice(alphabet) for _ in range(length))


def learn(folder, name, **options):
    sentencepiece.SentencePieceTrainer.train(
        input=CORPUS, model_prefix=str(folder / name), user_defined_symbols=["<tool>"], minloglevel=2, **options)
    (folder / f"{name}.vocab").unlink()
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))


folder = pathlib.Path(sys.argv[1])
made = {"unigram": learn(folder, "unigram", vocab_size=400, model_type="unigram"),
        "bpe": learn(folder, "bpe", vocab_size=700, model_type="bpe", byte_fallback=True,
                     normalization_rule_name="identity", remove_extra_whitespaces=False)}
lines = pathlib.Path(CORPUS).read_text()
cases = [{"text": text,
          **{name: {"tokens": one.encode(text), "decoded": one.decode(one.encode(text))} for name, one in made.items()}}
         for text in [*texts(), lines[:3000]]]
(folder / "pieces.json").write_text(json.dumps(cases, indent=0) + "\n")
