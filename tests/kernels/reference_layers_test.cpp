// SPDX-License-Identifier: Apache-2.0
// Norms, attention, convolution, pooling and losses of the reference back end, forward, against
// values worked out by hand or from identities.
#include "tests/kernels/reference_support.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft::test;

class ReferenceLayers : public QObject {
    Q_OBJECT

private slots:
    void softmax_and_norms_give_hand_made_values();
    void batch_norm_ignores_samples_of_weight_zero();
    void rms_norm_divides_by_the_root_of_the_mean_square();
    void experts_take_tokens_in_order_until_they_are_full();
    void rotary_turns_halves_against_each_other();
    void attention_with_equal_scores_averages_what_is_visible();
    void packed_sequences_do_not_see_each_other();
    void the_last_causal_query_sees_every_key();
    void grouped_queries_read_their_key_head();
    void parts_on_a_ring_see_what_stands_before_them();
    void cached_attention_equals_causal_attention();
    void convolution_and_pooling_give_hand_made_values();
    void losses_give_hand_made_values();
};

void ReferenceLayers::softmax_and_norms_give_hand_made_values() {
    // exp(ln 3) = 3, so that the shares are 1/4 and 3/4, also after a shift that would overflow.
    QVERIFY(near(values_of({"softmax",
                            {reals({2, 2}, {0, std::log(3.0), 5000, 5000 + std::log(3.0)})},
                            {f64({2, 2})},
                            {},
                            {},
                            {}}),
                 {0.25, 0.75, 0.25, 0.75}, 1e-11));
    // Mean 2, variance 1: normalised to -1 and 1, then scaled and shifted.
    QVERIFY(near(values_of({"layer_norm",
                            {reals({1, 2}, {1, 3}), reals({2}, {2, 3}), reals({2}, {10, 20})},
                            {f64({1, 2}), f64({1}), f64({1})},
                            {real("eps", 0)},
                            {},
                            {}}),
                 {8, 23, 2, 1}));
    QVERIFY(near(values_of({"batch_norm",
                            {reals({2, 1}, {1, 3}), reals({1}, {2}), reals({1}, {10})},
                            {f64({2, 1}), f64({1}), f64({1})},
                            {real("eps", 0)},
                            {},
                            {}}),
                 {8, 12, 2, 1}));
}

void ReferenceLayers::batch_norm_ignores_samples_of_weight_zero() {
    const Call call{
        "batch_norm",
        {reals({3, 1}, {1, 3, 1000}), reals({1}, {1}), reals({1}, {0}), reals({3}, {1, 1, 0})},
        {f64({3, 1}), f64({1}), f64({1})},
        {real("eps", 0)},
        {},
        {}};
    QVERIFY(near(values_of(call), {-1, 1, 998, 2, 1}));
}

void ReferenceLayers::rms_norm_divides_by_the_root_of_the_mean_square() {
    // Mean square of 3, 4: 12.5; with eps 12.5 the divisor is 5.
    const Call call{"rms_norm",
                    {reals({1, 2}, {3, 4}), reals({2}, {10, 5})},
                    {f64({1, 2}), f64({1})},
                    {real("eps", 12.5)},
                    {},
                    {}};
    QVERIFY(near(values_of(call), {6, 4, 0.2}));
}

// theta 100 and D = 4: channels 0 and 2 turn by 1 radian per position, channels 1 and 3 by 0.1.
void ReferenceLayers::experts_take_tokens_in_order_until_they_are_full() {
    // Of equal ones the first; each token's largest come first.
    QVERIFY(near(values_of({"top_k",
                            {reals({2, 3}, {1, 4, 2, 5, 5, 7})},
                            {f64({2, 2}), type_of(WEFT_I32, {2, 2})},
                            {integer("k", 2)},
                            {},
                            {}}),
                 {4, 2, 7, 5, /* indices */ 1, 2, 2, 0}));
    // Three tokens, two choices each, two rows per expert: the last token finds expert 1 full.
    const Tensor indices = tensor(WEFT_I32, {1, 3, 2}, {1, 0, 2, 1, 1, 2});
    QVERIFY(near(values_of({"expert_rows",
                            {indices},
                            {type_of(WEFT_I32, {1, 3, 2})},
                            {integer("experts", 3), integer("capacity", 2)},
                            {},
                            {}}),
                 {2, 0, 4, 3, -1, 5}));
    // Rows 2 and 0 of the first token, 3 of the second, none of the third's first choice.
    const Tensor rows = tensor(WEFT_I32, {1, 3, 2}, {2, 0, 3, -1, -1, 1});
    const Tensor gates = reals({1, 3, 2}, {2, 3, 4, 5, 6, 7});
    QVERIFY(near(values_of({"dispatch",
                            {reals({1, 3, 1}, {10, 20, 30}), rows, gates},
                            {f64({2, 1, 2, 1})},
                            {integer("experts", 2), integer("capacity", 2)},
                            {},
                            {}}),
                 {30, 210, 20, 80}));
    const Tensor results = reals({2, 1, 2, 1}, {1, 2, 3, 4});
    QVERIFY(near(values_of({"combine", {results, rows, gates}, {f64({1, 3, 1})}, {}, {}, {}}),
                 {2 * 3 + 3 * 1, 4 * 4, 7 * 2}));
    QVERIFY(near(values_of({"gate_grad",
                            {results, rows, reals({1, 3, 1}, {10, 20, 30})},
                            {f64({1, 3, 2})},
                            {},
                            {},
                            {}}),
                 {30, 10, 80, 0, 0, 60}));
}

void ReferenceLayers::rotary_turns_halves_against_each_other() {
    const auto turned = [](bool inverse, std::vector<double> x, std::int64_t position) {
        return values_of({"rotary",
                          {reals({1, 1, 1, 4}, x), integers({}, {position})},
                          {f64({1, 1, 1, 4})},
                          {real("theta", 100), flag("inverse", inverse)},
                          {},
                          {}});
    };
    QVERIFY(near(turned(false, {1, 0, 0, 0}, 3), {std::cos(3.0), 0, std::sin(3.0), 0}));
    QVERIFY(near(turned(false, {0, 0, 0, 1}, 3), {0, -std::sin(0.3), 0, std::cos(0.3)}));
    QVERIFY(near(turned(true, turned(false, {1, 2, 3, 4}, 77), 77), {1, 2, 3, 4}));
    QVERIFY(near(turned(false, {1, 2, 3, 4}, 0), {1, 2, 3, 4}));
}

void ReferenceLayers::attention_with_equal_scores_averages_what_is_visible() {
    const Tensor zero = reals({1, 3, 1, 1}, {0, 0, 0});
    const Tensor values = reals({1, 3, 1, 1}, {3, 6, 12});
    for (const bool causal : {false, true}) {
        const Call call{"attention",
                        {zero, zero, values},
                        {f64({1, 3, 1, 1}), f64({1, 1, 3})},
                        {flag("causal", causal), real("scale", 1)},
                        {},
                        {}};
        const double ln2 = std::log(2.0);
        const double ln3 = std::log(3.0);
        QVERIFY(near(values_of(call), causal ? std::vector<double>{3, 4.5, 7, 0, ln2, ln3}
                                             : std::vector<double>{7, 7, 7, ln3, ln3, ln3}));
    }
}

void ReferenceLayers::packed_sequences_do_not_see_each_other() {
    Tensor positions(type_of(WEFT_I32, {1, 3}));
    positions.set(0, 0);
    positions.set(1, 1);
    positions.set(2, 0); // of two sequences
    const Call call{"attention",
                    {reals({1, 3, 1, 1}, {0, 0, 0}), reals({1, 3, 1, 1}, {0, 0, 0}),
                     reals({1, 3, 1, 1}, {3, 6, 12}), positions},
                    {f64({1, 3, 1, 1}), f64({1, 1, 3})},
                    {flag("causal"), flag("packed"), real("scale", 1)},
                    {},
                    {}};
    QVERIFY(near(values_of(call), {3, 4.5, 12, 0, std::log(2.0), 0}));
}

void ReferenceLayers::the_last_causal_query_sees_every_key() {
    // Two queries on four keys: the first sees three, the second all.
    const Call call{"attention",
                    {reals({1, 2, 1, 1}, {0, 0}), reals({1, 4, 1, 1}, {0, 0, 0, 0}),
                     reals({1, 4, 1, 1}, {3, 6, 12, 19})},
                    {f64({1, 2, 1, 1}), f64({1, 1, 2})},
                    {flag("causal"), real("scale", 1)},
                    {},
                    {}};
    QVERIFY(near(values_of(call), {7, 10, std::log(3.0), std::log(4.0)}));
}

void ReferenceLayers::grouped_queries_read_their_key_head() {
    // Four query heads on two key heads: heads 0, 1 read the first, 2, 3 the second.
    const Call call{"attention",
                    {reals({1, 1, 4, 1}, {0, 0, 0, 0}), reals({1, 1, 2, 1}, {0, 0}),
                     reals({1, 1, 2, 1}, {5, 9})},
                    {f64({1, 1, 4, 1}), f64({1, 4, 1})},
                    {real("scale", 1)},
                    {},
                    {}};
    QVERIFY(near(values_of(call), {5, 5, 9, 9, 0, 0, 0, 0}));
}

// Scores are 0, so that a query averages the values that it sees. Positions 0 to 4 on three devices
// of two, the sixth is padding.
void ReferenceLayers::parts_on_a_ring_see_what_stands_before_them() {
    const auto attend = [](bool causal, std::int64_t first, std::int64_t step) {
        return values_of({"attention",
                          {reals({1, 2, 1, 1}, {0, 0}), reals({1, 2, 1, 1}, {1, 1}),
                           reals({1, 2, 1, 1}, {3, 5}), integers({1}, {first})},
                          {f64({1, 2, 1, 1}), f64({1, 1, 2})},
                          {flag("causal", causal), real("scale", 1), list("ring", {5, step, 3})},
                          {},
                          {}});
    };
    const double two = std::log(2.0);
    QVERIFY(near(attend(true, 2, 0), {3, 4, 0, two}));       // itself
    QVERIFY(near(attend(true, 2, 1), {4, 4, two, two}));     // all before
    QVERIFY(near(attend(true, 2, 2), {0, 0, -1e30, -1e30})); // none behind: keys 4 and 5
    QVERIFY(near(attend(false, 2, 2), {3, 3, 0, 0}));        // key 4 alone is real
}

void ReferenceLayers::cached_attention_equals_causal_attention() {
    const Shape shape{2, 6, 2, 3};
    const Tensor q = noise(WEFT_F64, shape, 1);
    const Tensor k = noise(WEFT_F64, shape, 2);
    const Tensor v = noise(WEFT_F64, shape, 3);
    const auto whole_run = values_of({"attention",
                                      {q, k, v},
                                      {f64(shape), f64({2, 2, 6})},
                                      {flag("causal"), real("scale", 0.5)},
                                      {},
                                      {}});
    // The last two queries over a cache that also holds rows written by cache_write.
    const Tensor cache =
        run(weft_reference_backend(),
            {"cache_write",
             {reals({2, 6, 2, 3}, std::vector<double>(72, -9)), k, integers({}, {0})},
             {f64(shape)},
             {},
             {},
             {}})
            .outputs.at(0);
    const Result tail =
        run(weft_reference_backend(), {"slice",
                                       {q},
                                       {f64({2, 2, 2, 3})},
                                       {list("starts", {0, 4, 0, 0}), list("sizes", {2, 2, 2, 3})},
                                       {},
                                       {}});
    const auto cached = values_of({"attention_cached",
                                   {tail.outputs.at(0), cache, v, integers({}, {4})},
                                   {f64({2, 2, 2, 3})},
                                   {real("scale", 0.5)},
                                   {},
                                   {}});
    for (std::size_t n = 0; n < 2; ++n) {
        for (std::size_t i = 0; i < 12; ++i) {
            QVERIFY(std::fabs(cached.at(n * 12 + i) - whole_run.at(n * 36 + 24 + i)) < 1e-12);
        }
    }
}

void ReferenceLayers::convolution_and_pooling_give_hand_made_values() {
    const Tensor image = reals({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6});
    // Correlation, not mirrored: out(0,0) = 1*1 + 2*10 + 4*100 + 5*1000.
    const Tensor weight = reals({2, 2, 1, 1}, {1, 10, 100, 1000});
    QVERIFY(near(values_of({"conv2d",
                            {image, weight},
                            {f64({1, 1, 2, 1})},
                            {list("stride", {1, 1}), list("padding", {0, 0, 0, 0})},
                            {},
                            {}}),
                 {5421, 6532}));
    // One row of zeros above, one column of zeros to the right, stride 2.
    QVERIFY(near(values_of({"conv2d",
                            {image, weight},
                            {f64({1, 1, 2, 1})},
                            {list("stride", {2, 2}), list("padding", {1, 0, 0, 1})},
                            {},
                            {}}),
                 {2100, 300}));
    const std::vector<Attribute> window = {list("window", {2, 2}), list("stride", {1, 1}),
                                           list("padding", {0, 0, 0, 0})};
    QVERIFY(near(values_of({"max_pool", {image}, {f64({1, 1, 2, 1})}, window, {}, {}}), {5, 6}));
    QVERIFY(near(values_of({"avg_pool", {image}, {f64({1, 1, 2, 1})}, window, {}, {}}), {3, 4}));
    const Tensor flat = reals({1, 2, 2, 1}, {7, 7, 7, 7}); // a tie: the first takes all
    QVERIFY(near(values_of({"max_pool_grad",
                            {flat, reals({1, 1, 1, 1}, {7}), reals({1, 1, 1, 1}, {3})},
                            {f64({1, 2, 2, 1})},
                            window,
                            {},
                            {}}),
                 {3, 0, 0, 0}));
}

void ReferenceLayers::losses_give_hand_made_values() {
    // Equal logits: ln V whatever the label and the smoothing; an ignored label costs nothing.
    const double ln4 = std::log(4.0);
    for (const double smoothing : {0.0, 0.3}) {
        QVERIFY(near(values_of({"cross_entropy",
                                {reals({2, 4}, {1, 1, 1, 1, 2, 2, 2, 2}), whole({2}, {2, -1})},
                                {f64({2}), f64({2})},
                                {real("label_smoothing", smoothing)},
                                {},
                                {}}),
                     {ln4, 0, 1 + ln4, 2 + ln4}));
    }
    // Smoothing 0.2 over two classes: 0.9 and 0.1 of the two log-probabilities.
    const double gap = std::log(3.0);
    const double expected = -(0.9 * std::log(0.75) + 0.1 * std::log(0.25));
    QVERIFY(near(values_of({"cross_entropy",
                            {reals({1, 2}, {0, gap}), whole({1}, {1})},
                            {f64({1}), f64({1})},
                            {real("label_smoothing", 0.2)},
                            {},
                            {}}),
                 {expected, std::log(4.0)}));
    QVERIFY(near(values_of({"correct",
                            {reals({3, 2}, {1, 2, 2, 2, 2, 2}), whole({3}, {1, 0, 1})},
                            {f64({3})},
                            {},
                            {},
                            {}}),
                 {1, 1, 0}));
}

WEFT_TEST(ReferenceLayers)
#include "reference_layers_test.moc"
