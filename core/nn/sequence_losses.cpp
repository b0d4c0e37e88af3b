// SPDX-License-Identifier: Apache-2.0
// Of symbols in order: the loss of those whose places among the model's positions nobody knows, how
// far what it reads is from them, and how much of a text it writes.
#include "core/base/error.h"
#include "core/nn/functions.h"
#include "core/nn/loss_def.h"

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable ctc_fields() {
    return {config::integer_field("symbols", nullptr,
                                  "Classes that the model puts out at each position: 0 is the "
                                  "blank, the others are the symbols.")
                .must_be_given()
                .range(2, 1 << 16)};
}

std::int64_t symbols_of(const Json& settings) {
    return settings.at("symbols").get<std::int64_t>();
}

/// A sample's symbols lie in no more positions than there are. f32[B]
ir::ValueId build_ctc(ops::Builder& b, const Json&, const Prediction& p) {
    const std::int64_t positions = b.shape(p.output)[1];
    const std::int64_t symbols = b.shape(p.target)[1];
    if (positions < symbols) {
        throw Error(ErrorKind::usage, "/loss/type",
                    "the model puts out " + std::to_string(positions) +
                        " positions, but a sample has up to " + std::to_string(symbols) +
                        " symbols, which need one each",
                    "Let the model pool or stride less.");
    }
    const ir::ValueId log_p = log_softmax(b, ops::cast(b, p.output, ir::DType::f32));
    return b.emit_all("ctc", {log_p, ops::cast(b, p.target, ir::DType::i32)})[0];
}

/// The likeliest class at every position, behind it the symbols: f32 [B, T + S].
ir::ValueId path_and_symbols(ops::Builder& b, const Prediction& p) {
    return b.emit("concat",
                  {ops::cast(b, b.emit("argmax", {p.output}), ir::DType::f32),
                   ops::cast(b, p.target, ir::DType::f32)},
                  {{"dim", std::int64_t{1}}});
}

} // namespace

// Graves et al. 2006
const LossDef kCtcLoss = {
    .name = "ctc",
    .help = "Connectionist temporal classification: -log of the probability of a sample's symbols, "
            "in whatever positions. Targets [S] are whole numbers from 1; 0 fills up shorter ones.",
    .fields = ctc_fields,
    .needs_classes = false,
    .build = build_ctc,
    .symbols = symbols_of};

const MetricDef kSymbolErrorRateMetric = {
    .name = "symbol_error_rate",
    .help = "Symbols to insert, delete or replace until what is read is right, by the number of "
            "right ones: of characters it is the character error rate, of words that of words.",
    .needs_classes = false,
    .higher_is_better = false,
    .reduction = "mean",
    .build = nullptr,
    .row = path_and_symbols,
    .score = score_edits,
    .of_symbols = true};

const MetricDef kBleuMetric = {
    .name = "bleu",
    .help =
        "How many runs of one to four words the model's own text shares with the true one, 0 to "
        "1, over up to 32 samples and 128 tokens of each: it answers their questions, or goes on "
        "from their first half, always with the likeliest token.",
    .needs_classes = true,
    .higher_is_better = true,
    .reduction = "mean",
    .build = nullptr,
    .score = score_bleu,
    .of_text = true};

} // namespace weft::nn
