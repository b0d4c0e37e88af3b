// SPDX-License-Identifier: Apache-2.0
// Losses and metrics of symbols in order: figures of PyTorch 1.13 (ctc_loss in double on
// log_softmax), and of sacrebleu 2 (tokenize none, smooth_method none).
#include "tests/nn/loss_figures.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>

using namespace weft;

namespace {

// Two equal neighbours, which need a blank between them; one that ends early; one of all symbols.
const test::LossInput kSequences = {
    .samples = 3,
    .outputs = {-1.69F, 1.12F,  -0.25F, 0.89F,  1.91F,  0.15F,  0.0F,   -1.71F, -0.93F,
                0.0F,   0.72F,  1.21F,  -0.48F, -1.74F, -0.85F, 1.64F,  -1.15F, -0.19F,
                1.72F,  -1.9F,  0.4F,   1.8F,   -1.08F, 0.19F,  1.64F,  -1.47F, 0.09F,
                1.0F,   0.68F,  -0.13F, -1.18F, -0.04F, -0.51F, -0.09F, -0.54F, 1.35F,
                1.07F,  -0.74F, 0.29F,  -0.9F,  -0.19F, -0.59F, 0.63F,  -0.52F, -0.16F,
                0.88F,  -0.35F, 1.63F,  -1.28F, 0.96F,  -0.31F, -0.29F, 0.54F,  0.09F,
                -0.34F, -1.99F, -1.63F, 0.84F,  0.1F,   0.78F,  1.82F,  0.73F,  -1.79F,
                -0.76F, 0.37F,  -1.06F, 1.86F,  1.78F,  1.39F,  -0.11F, 1.37F,  -1.48F},
    .numbers = {1, 1, 2, 3, 0, 0, 2, 3, 1},
    .positions = 6};
const std::vector<double> kCtcTerms = {6.32297795, 4.56073772, 6.0518926};
const std::vector<double> kCtcGradient = {
    0.0270596005, -0.524317714,  0.120495766,   0.376762348,   -0.24466111,    0.11483556,
    0.109940987,  0.0198845637,  -0.0107428569, -0.784250228,  0.302012759,    0.492980326,
    -0.374482828, -0.170140834,  -0.263790931,  0.808414594,   0.0246186991,   0.106095062,
    -0.152460678, 0.0217469171,  -0.636097465,  0.665504545,   -0.162433195,   0.133026116,
    -0.326328888, 0.0249985548,  0.118963654,   0.18236668,    -0.238366391,   0.21312782,
    0.0745814697, -0.0493428994, -0.288232918,  0.153483206,   0.0978652133,   0.0368844985,
    -0.128463649, 0.0929052268,  0.260233657,   -0.224675234,  -0.383028379,   0.143853418,
    0.487258533,  -0.248083572,  -0.383716608,  0.265763265,   0.0776806297,   0.0402727135,
    -0.120927904, 0.597444756,   -0.647687641,  0.171170789,   -0.0662870332,  0.299065287,
    -0.186039471, -0.0467387828, -0.0263635107, 0.351418869,   -0.00908791833, -0.31596744,
    0.0973953202, -0.0662637854, 0.0137503857,  -0.0448819205, -0.324860506,   -0.255560495,
    0.45404545,   0.126375551,   -0.0519620013, -0.406836611,  0.4337109,      0.0250877125};

const char* const kCtc = R"({"type": "ctc", "symbols": 4})";

std::string text_of_bytes(std::span<const std::int32_t> tokens) {
    return {tokens.begin(), tokens.end()};
}

/// One row for texts that a model of bytes has written and should have.
std::vector<float> row_of(const std::string& written, const std::string& real) {
    const std::size_t places = std::max(written.size(), real.size());
    std::vector<float> row(2 * places, -1.0F);
    std::copy(written.begin(), written.end(), row.begin());
    std::copy(real.begin(), real.end(), row.begin() + static_cast<std::ptrdiff_t>(places));
    return row;
}

double errors(std::int64_t symbols, const std::vector<std::vector<float>>& rows) {
    const auto score = nn::kSymbolErrorRateMetric.score({.values = 5, .places = symbols});
    for (const std::vector<float>& row : rows) {
        score->add(row);
    }
    return score->value();
}

} // namespace

class SequenceLossTest : public QObject {
    Q_OBJECT
private slots:
    void ctc_is_that_of_pytorch() {
        const test::LossFigures found = test::figures_of(kCtc, kSequences);
        QCOMPARE(found.terms.size(), kCtcTerms.size());
        for (std::size_t i = 0; i < kCtcTerms.size(); ++i) {
            QVERIFY(std::abs(found.terms[i] - kCtcTerms[i]) < 2e-6);
        }
        QCOMPARE(found.gradient.size(), kCtcGradient.size());
        for (std::size_t i = 0; i < kCtcGradient.size(); ++i) {
            QVERIFY2(std::abs(found.gradient[i] - kCtcGradient[i]) < 2e-6,
                     std::to_string(i).c_str());
        }
    }

    // The only path is blank at every position.
    void nothing_to_read_is_all_blank() {
        test::LossInput input = kSequences;
        std::fill(input.numbers.begin(), input.numbers.end(), -1.0F);
        double blank = 0;
        for (std::size_t t = 0; t < 6; ++t) {
            double sum = 0;
            for (std::size_t c = 0; c < 4; ++c) {
                sum += std::exp(static_cast<double>(input.outputs[4 * t + c]));
            }
            blank += std::log(sum) - static_cast<double>(input.outputs[4 * t]);
        }
        QVERIFY(std::abs(test::figures_of(kCtc, input).terms[0] - blank) < 2e-6);
    }

    // Four symbols that are alike need seven positions.
    void what_does_not_fit_is_infinite_and_teaches_nothing() {
        test::LossInput input = kSequences;
        input.numbers = {1, 1, 1, 1, 1, 2, 3, 1, 1, 0, 0, 0};
        const test::LossFigures found = test::figures_of(kCtc, input);
        QVERIFY(std::isinf(found.terms[0]) && std::isfinite(found.terms[1]));
        for (std::size_t i = 0; i < 24; ++i) {
            QCOMPARE(found.gradient[i], 0.0);
        }
        QVERIFY(std::abs(found.gradient[24]) > 1e-3);
    }

    void more_symbols_than_positions_are_refused() {
        test::LossInput input = kSequences;
        input.numbers.assign(std::size_t{3} * 7, 1.0F);
        QVERIFY_THROWS_EXCEPTION(weft::Error, test::figures_of(kCtc, input));
    }

    // "kitten" to "sitting" takes three edits (Wagner and Fischer 1974); a b b with a blank between
    // reads as it is, without one as a b.
    void errors_are_edits_by_symbols() {
        QCOMPARE(errors(3, {{1, 1, 0, 2, 0, 2, 1, 2, 2}}), 0.0);
        QCOMPARE(errors(3, {{1, 1, 0, 2, 2, 2, 1, 2, 2}}), 1.0 / 3);
        QCOMPARE(errors(7, {{1, 2, 3, 0, 3, 4, 5, 0, 6, 2, 3, 3, 2, 5, 7}}), 3.0 / 7);
        QCOMPARE(errors(2, {{0, 0, 0, 1, 0}, {2, 1, 0, 2, 1}}), 1.0 / 3);
        QVERIFY(std::isnan(errors(2, {{1, 0, 1, 0, 0}})));
    }

    void bleu_of_tokens_is_that_of_sacrebleu() {
        const auto score = nn::kBleuMetric.score({});
        score->add(std::vector<float>{1, 2, 3, 4, 9, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8});
        QVERIFY(std::abs(score->value() - 0.5) < 1e-9);
    }

    void bleu_of_text_is_that_of_sacrebleu() {
        const std::vector<std::pair<std::string, std::string>> texts = {
            {"the cat sat on a mat near the door.", "the cat sat on the mat near the door."},
            {"it is a fine day to go out isn't it?", "it is a good day to go out, isn't it?"},
            {"short one here", "short one here now"}};
        const auto score = nn::kBleuMetric.score({.text = text_of_bytes});
        for (const auto& [found, real] : texts) {
            score->add(row_of(found, real));
        }
        QVERIFY2(std::abs(score->value() - 0.5790976035456272) < 1e-9,
                 std::to_string(score->value()).c_str());
    }

    void bleu_of_nothing_alike_is_0() {
        const auto score = nn::kBleuMetric.score({});
        QVERIFY(std::isnan(score->value()));
        score->add(std::vector<float>{5, 6, 7, 8, 1, 2, 3, 4});
        QCOMPARE(score->value(), 0.0);
    }
};

WEFT_TEST(SequenceLossTest)
#include "sequence_loss_test.moc"
