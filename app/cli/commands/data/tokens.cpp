// SPDX-License-Identifier: Apache-2.0
// weft data tokens TEXT --tokenizer FILE --to FOLDER: text as files of tokens. weft data tokenizer
// TEXT --to FILE: a tokenizer learnt from a text.
#include "app/cli/commands/commands.h"
#include "app/cli/opening_line.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/text/encode_text.h"
#include "core/data/text/write_tokens.h"

#include <cstdio>

namespace weft::cli {
namespace {

struct TokensOptions {
    std::string text, tokenizer, to;
};

data::OnOpening told_on(OpeningLine& line) {
    return data::when_slow(
        [&line](const data::Opening& opening, double seconds) { line.show(opening, seconds); });
}

int write_token_files(const TokensOptions& options, const Context& context) {
    OpeningLine line(context);
    data::OpenContext open;
    open.tokenizer = data::tokenizer_of(options.tokenizer, {});
    open.on_opening = data::when_slow(
        [&line](const data::Opening& opening, double seconds) { line.show(opening, seconds); });
    const data::WrittenTokens written = data::write_tokens(options.text, open, options.to);
    line.clear();
    std::printf("%s: %s tokens of %s of text, %.2f bytes a token, in %s %s\n", options.to.c_str(),
                format_thousands(written.tokens).c_str(), format_bytes(written.text_bytes).c_str(),
                static_cast<double>(written.text_bytes) /
                    static_cast<double>(std::max<std::int64_t>(1, written.tokens)),
                format_thousands(written.files).c_str(), written.files == 1 ? "file" : "files");
    return 0;
}

struct LearnOptions {
    std::string text, to;
    tokenizer::TrainOptions train;
    bool force = false;
};

int learn(const LearnOptions& options, const Context& context) {
    std::error_code unreadable;
    if (std::filesystem::exists(options.to, unreadable) && !options.force) {
        throw Error(ErrorKind::usage, options.to, "it is there already",
                    "Name another file, or replace it with --force.");
    }
    OpeningLine line(context);
    const data::OnOpening tell = told_on(line);
    const auto made =
        data::learn_tokenizer(options.text, options.train, {}, [&](std::int64_t tokens) {
            tell({.name = options.to,
                  .unit = "tokens",
                  .done = tokens,
                  .total = options.train.size});
        });
    line.clear();
    write_file_atomically(options.to, made->document());
    std::printf("%s: %s\n", options.to.c_str(), made->description().c_str());
    if (made->size() < options.train.size) {
        std::printf("The text has no more pairs that come %s times.\n",
                    format_thousands(options.train.fewest).c_str());
    }
    return 0;
}

} // namespace

void add_tokens(Command data, Context& context) {
    auto options = std::make_shared<TokensOptions>();
    const Command tokens =
        data.subcommand("tokens", "write the tokens of a text into files that a run streams");
    tokens.positional("TEXT", &options->text, "text file, or folder of text files").required();
    tokens
        .option("--tokenizer", &options->tokenizer,
                "tokenizer.json, a model of SentencePiece, a folder that holds one, or bytes")
        .required();
    tokens.option("--to", &options->to, "folder to write").required();
    tokens.callback(
        [options, &context] { context.exit_code = write_token_files(*options, context); });

    auto learnt = std::make_shared<LearnOptions>();
    const Command tokenizer = data.subcommand("tokenizer", "learn a byte-level BPE from a text");
    tokenizer.positional("TEXT", &learnt->text, "text file, or folder of text files").required();
    tokenizer.option("--to", &learnt->to, "tokenizer.json to write").required();
    tokenizer.option("--size", &learnt->train.size, "tokens in all").positive().show_default();
    tokenizer.option("--fewest", &learnt->train.fewest, "times that a pair must come to be merged")
        .positive()
        .show_default();
    tokenizer.option("--added", &learnt->train.added, "token of its own, e.g. <|endoftext|>");
    tokenizer.flag("--force", &learnt->force, "replace what is there");
    tokenizer.callback([learnt, &context] { context.exit_code = learn(*learnt, context); });
}

} // namespace weft::cli
