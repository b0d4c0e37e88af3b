// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/mixing.h"

#include "core/base/file.h"
#include "core/data/loader.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace weft;
using namespace weft::data::test;
using config::Json;
using data::Loader;
using data::LoaderOptions;
using data::Mix;
using data::Mixing;
using data::Sampler;

namespace {

/// Images f32[5,6,2] of classes sample % 4, as in peers/make_mixing.py.
class Pictures final : public data::Source {
public:
    explicit Pictures(std::int64_t samples) : samples_(samples) {
        info_.input = {ir::DType::f32, {5, 6, 2}};
        info_.target = {ir::DType::i32, {}};
        info_.classes = 4;
    }
    const data::SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return samples_; }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        std::vector<float> values;
        for (std::int64_t i = 0; i < 60; ++i) {
            values.push_back(static_cast<float>((i * 37 + index * 11) % 101) / 100.0F);
        }
        const std::int32_t own = label(index);
        std::memcpy(input.data(), values.data(), input.size());
        std::memcpy(target.data(), &own, target.size());
    }
    std::int32_t label(std::int64_t index) const override {
        return static_cast<std::int32_t>(index % 4);
    }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return "pictures"; }

private:
    std::int64_t samples_;
    data::SampleInfo info_;
};

/// A checked "mix" list.
Json mix_list(const std::string& list) {
    Json section;
    section["train"] = config::json_of(R"({"type": "synthetic", "kind": "images"})");
    section["mix"] = config::json_of(list);
    return normalised(section).at("mix");
}

std::shared_ptr<const Mixing> mixing(const data::SampleInfo& info, const std::string& list,
                                     std::uint64_t seed = 7) {
    return data::mixing_of(mix_list(list), info, seed);
}

const std::string kAlways = R"([{"type": "mixup", "alpha": 1.0}])";

std::vector<double> shares_of(double alpha, std::int64_t count) {
    const Pictures source(10);
    const auto own =
        mixing(source.info(), R"([{"type": "mixup", "alpha": )" + std::to_string(alpha) + "}]");
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i) {
        out.push_back(static_cast<double>(own->draw(0, i, {0, 10}).share));
    }
    return out;
}

std::shared_ptr<NumberSource> numbers_in_blocks(std::int64_t samples, std::int64_t block) {
    auto out = std::make_shared<NumberSource>(samples, [](std::int64_t i) {
        return i % 10 == 9 ? -1 : static_cast<std::int32_t>(i % 10);
    });
    for (std::int64_t first = 0; block > 0 && first < samples; first += block) {
        out->starts.push_back(first);
    }
    if (block > 0) {
        out->starts.push_back(samples);
    }
    return out;
}

/// A batch with what mixing adds to it.
struct MixedBatch {
    SeenBatch seen;
    std::vector<std::int32_t> others;
    std::vector<float> shares;
    bool operator==(const MixedBatch&) const = default;
};

std::vector<MixedBatch> taken(Loader& loader, int most) {
    std::vector<MixedBatch> out;
    for (int i = 0; i < most; ++i) {
        const data::Batch* batch = loader.next();
        if (batch == nullptr) {
            break;
        }
        out.push_back({{floats(batch->inputs), integers(batch->targets), batch->weights,
                        batch->samples, batch->first_sample, batch->count, batch->after},
                       batch->others,
                       batch->shares});
    }
    return out;
}

LoaderOptions mixed_options(const data::Source& source, int workers, std::int64_t batch_size = 16,
                            const std::string& list = kAlways) {
    LoaderOptions options;
    options.batch_size = batch_size;
    options.workers = workers;
    options.mixing = mixing(source.info(), list);
    return options;
}

constexpr std::int64_t kNumberBytes = 8; // of a sample of NumberSource

} // namespace

class MixingTest : public QObject {
    Q_OBJECT

private slots:
    // Kolmogorov and Smirnov: the largest distance is beyond 1.95 / sqrt(n) in one case of a
    // thousand. The distributions have closed forms.
    void shares_are_beta_distributed() {
        const auto check = [](double alpha, auto&& distribution) {
            constexpr std::int64_t kCount = 20000;
            std::vector<double> shares = shares_of(alpha, kCount);
            std::sort(shares.begin(), shares.end());
            double most = 0;
            for (std::size_t i = 0; i < shares.size(); ++i) {
                const double expected = distribution(shares[i]);
                most = std::max({most, std::abs(expected - static_cast<double>(i) / kCount),
                                 std::abs(expected - static_cast<double>(i + 1) / kCount)});
            }
            QVERIFY2(most < 1.95 / std::sqrt(static_cast<double>(kCount)),
                     (std::to_string(alpha) + ": " + std::to_string(most)).c_str());
        };
        check(0.5, [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); });
        check(1.0, [](double x) { return x; });
        check(2.0, [](double x) { return x * x * (3 - 2 * x); });
        check(3.0, [](double x) { return x * x * x * (10 - 15 * x + 6 * x * x); });
    }

    // Mean 1/2, variance 1 / (4 (2 alpha + 1)). Of (x - 1/2)^2, which is at most 1/4, the mean of
    // 20,000 deviates by less than 0.25 / sqrt(20000) = 0.0018; five of these.
    void shares_of_any_alpha_have_the_variance_of_beta() {
        for (const double alpha : {0.001, 0.05, 0.2, 0.7, 5.0, 300.0}) {
            const std::vector<double> shares = shares_of(alpha, 20000);
            double mean = 0;
            double variance = 0;
            for (const double share : shares) {
                QVERIFY(share >= 0 && share <= 1); // no NaN
                mean += share / 20000;
                variance += (share - 0.5) * (share - 0.5) / 20000;
            }
            QVERIFY(std::abs(mean - 0.5) < 5 * 0.5 / std::sqrt(20000.0));
            QVERIFY2(std::abs(variance - 1 / (4 * (2 * alpha + 1))) < 0.009,
                     (std::to_string(alpha) + ": " + std::to_string(variance)).c_str());
        }
    }

    // peers/make_mixing.py draws the same numbers and mixes in numpy.
    void samples_are_mixed_as_another_program_mixes_them() {
        const Json cases = config::json_of(read_file(peer("mixing.json")));
        QVERIFY(cases.size() >= 32);
        const Pictures source(50);
        const Sampler sampler(50, true, 7);
        std::vector<std::byte> scratch;
        for (const Json& one : cases) {
            const auto own = mixing(source.info(), one.at("mix").dump());
            std::vector<std::byte> input(240);
            std::vector<std::byte> target(4);
            const data::OtherClass other =
                own->read(source, sampler, 3, one.at("position").get<std::int64_t>(),
                          {input, target}, scratch);
            const std::string name = one.dump().substr(0, 120);
            QVERIFY2(integers(target).front() == one.at("class").get<std::int32_t>(), name.c_str());
            QVERIFY2(other.label == one.at("other").get<std::int32_t>(), name.c_str());
            QVERIFY2(std::abs(other.share - one.at("share").get<float>()) < 2e-6F, name.c_str());
            const auto expected = one.at("expected").get<std::vector<float>>();
            const std::vector<float> seen = floats(input);
            QCOMPARE(seen.size(), expected.size());
            for (std::size_t i = 0; i < seen.size(); ++i) {
                QVERIFY2(std::abs(seen[i] - expected[i]) < 2e-5F, name.c_str());
            }
        }
    }

    void a_position_is_the_order_the_other_way_round() {
        for (const std::int64_t block : {0, 7, 64}) {
            const auto source = numbers_in_blocks(200, block);
            for (const bool shuffle : {false, true}) {
                for (const std::int64_t window_rows : {30, 1000}) {
                    const Sampler sampler(*source, shuffle, 5, window_rows * kNumberBytes);
                    for (std::int64_t i = 0; i < 200; ++i) {
                        QCOMPARE(sampler.position(2, sampler.index(2, i)), i);
                    }
                }
            }
        }
    }

    void threads_and_resuming_change_nothing_data() {
        QTest::addColumn<int>("block");
        QTest::addColumn<int>("window_rows");
        QTest::newRow("at hand") << 0 << 0;
        QTest::newRow("many windows") << 16 << 50;
        QTest::newRow("one window") << 16 << 500;
    }

    void threads_and_resuming_change_nothing() {
        QFETCH(int, block);
        QFETCH(int, window_rows);
        const auto source = numbers_in_blocks(203, block);
        const Sampler sampler(*source, true, 9, window_rows * kNumberBytes);
        Loader alone(source, sampler, mixed_options(*source, 0), {});
        const std::vector<MixedBatch> expected = taken(alone, 40);
        for (const int workers : {1, 2, 4}) {
            Loader loader(source, sampler, mixed_options(*source, workers), {});
            QVERIFY(taken(loader, 40) == expected);
        }
        for (std::size_t i = 0; i + 1 < expected.size(); i += 3) {
            Loader rest(source, sampler, mixed_options(*source, 2), expected[i].seen.after);
            const auto seen = taken(rest, static_cast<int>(expected.size() - i - 1));
            QVERIFY(std::equal(seen.begin(), seen.end(),
                               expected.begin() + static_cast<std::ptrdiff_t>(i) + 1));
        }
    }

    void one_window_mixes_as_samples_at_hand() {
        const auto at_hand = numbers_in_blocks(203, 0);
        const auto streamed = numbers_in_blocks(203, 16);
        Loader one(at_hand, Sampler(*at_hand, true, 9), mixed_options(*at_hand, 1), {});
        Loader other(streamed, Sampler(*streamed, true, 9, 500 * kNumberBytes),
                     mixed_options(*streamed, 1), {});
        QVERIFY(taken(one, 30) == taken(other, 30));
    }

    // A number that is mixed tells of which two it was made: both are of one window.
    void mates_lie_in_the_window_of_the_sample() {
        const auto source = numbers_in_blocks(400, 10);
        const Sampler sampler(*source, true, 9, 60 * kNumberBytes);
        const auto own = mixing(source->info(), kAlways);
        Loader loader(source, sampler, mixed_options(*source, 2, 400), {});
        const MixedBatch batch = taken(loader, 1).front();
        int mixed = 0;
        for (std::int64_t position = 0; position < 400; ++position) {
            const data::Stretch mates = sampler.stretch(0, position);
            QVERIFY(position >= mates.first && position < mates.first + mates.count);
            QVERIFY(mates.count <= 60);
            const Mix mix = own->draw(0, position, mates);
            QVERIFY(mix.other >= mates.first && mix.other < mates.first + mates.count);
            const auto first = static_cast<float>(sampler.index(0, position));
            const auto second = static_cast<float>(sampler.index(0, mix.other));
            const bool classes = source->label(static_cast<std::int64_t>(first)) >= 0 &&
                                 source->label(static_cast<std::int64_t>(second)) >= 0;
            const float expected = classes ? mix.share * first + (1 - mix.share) * second : first;
            QVERIFY(std::abs(batch.seen.inputs[static_cast<std::size_t>(position)] - expected) <
                    1e-3F);
            mixed += classes ? 1 : 0;
        }
        QVERIFY(mixed > 280); // 0.9 squared of 400 is 324, its deviation 8
    }

    void what_has_no_class_is_not_mixed_and_does_not_count() {
        const auto source = numbers_in_blocks(200, 0);
        const Sampler sampler(200, false, 0);
        Loader loader(source, sampler, mixed_options(*source, 1, 200), {});
        const MixedBatch batch = taken(loader, 1).front();
        QCOMPARE(batch.seen.count, 180.0);
        for (std::size_t i = 9; i < 200; i += 10) {
            QCOMPARE(batch.seen.inputs[i], static_cast<float>(i));
            QCOMPARE(batch.seen.targets[i], -1);
            QCOMPARE(batch.shares[i], 1.0F);
        }
    }

    void a_damaged_mate_leaves_the_sample_as_it_is() {
        const auto whole = numbers_in_blocks(40, 0);
        const auto damaged = numbers_in_blocks(40, 0);
        damaged->damaged = 3;
        const Sampler sampler(40, true, 2);
        Loader expected(whole, sampler, mixed_options(*whole, 0, 40), {});
        Loader loader(damaged, sampler, mixed_options(*damaged, 0, 40), {});
        const auto own = mixing(whole->info(), kAlways);
        int met = 0;
        for (int epoch = 0; epoch < 5; ++epoch) {
            const MixedBatch a = taken(expected, 1).front();
            const MixedBatch b = taken(loader, 1).front();
            for (std::int64_t i = 0; i < 40; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const std::int64_t index = sampler.index(epoch, i);
                const bool mate =
                    sampler.index(epoch, own->draw(epoch, i, {0, 40}).other) == 3 && index != 3;
                met += mate ? 1 : 0;
                if (index != 3) { // a damaged row is another again
                    QCOMPARE(b.seen.inputs[at],
                             mate ? static_cast<float>(index) : a.seen.inputs[at]);
                }
                QCOMPARE(b.seen.weights[at], index == 3 ? 0.0F : 1.0F);
            }
        }
        QVERIFY(met > 0);
    }

    void numbers_to_predict_are_blended_as_inputs_are() {
        const data::DataSet set = open(config::json_of(R"({
            "train": {"type": "synthetic", "kind": "regression", "samples": 60, "targets": 2},
            "validation": null, "mix": [{"type": "mixup", "alpha": 1.0}]})"));
        const Sampler sampler(60, true, 1);
        const auto own = mixing(set.train->info(), kAlways);
        Loader loader(set.train, sampler, mixed_options(*set.train, 1, 60), {});
        const data::Batch& batch = *loader.next();
        QVERIFY(batch.others.empty() && batch.shares.empty());
        const std::vector<float> seen = floats(batch.targets);
        const auto target = [&](std::int64_t position) {
            std::vector<std::byte> input(static_cast<std::size_t>(set.train->info().input.bytes()));
            std::vector<std::byte> out(static_cast<std::size_t>(set.train->info().target.bytes()));
            set.train->read(sampler.index(0, position), input, out);
            return floats(out);
        };
        for (std::int64_t i = 0; i < 60; ++i) {
            const Mix mix = own->draw(0, i, {0, 60});
            for (std::size_t k = 0; k < 2; ++k) {
                const float expected =
                    mix.share * target(i)[k] + (1 - mix.share) * target(mix.other)[k];
                QVERIFY(std::abs(seen[static_cast<std::size_t>(i) * 2 + k] - expected) < 1e-5F);
            }
        }
    }

    void data_that_cannot_be_mixed_are_refused() {
        const auto refused = [](const std::string& section, const std::string& where) {
            const auto error = error_of([&] { open(config::json_of(section)); });
            return error && error->where() == where;
        };
        QVERIFY(refused(R"({"train": {"type": "synthetic", "kind": "classification"},
                           "mix": [{"type": "mixup"}, {"type": "cutmix"}]})",
                        "/data/mix/1"));
        QVERIFY(refused(R"({"train": {"type": "synthetic", "kind": "regression"},
                           "mix": [{"type": "cutmix"}]})",
                        "/data/mix/0"));
        for (const char* train : {R"({"type": "text", "path": "book.txt"})",
                                  R"({"type": "synthetic", "kind": "tokens", "length": 4})"}) {
            const Json section = {{"train", config::json_of(train)},
                                  {"mix", config::json_of(R"([{"type": "mixup"}])")}};
            Json checked = config::check_fields(section, data::data_fields(), "/data").value;
            const config::Diagnostics found = data::check_data(checked, "/data");
            QVERIFY(!found.empty() && found.front().pointer == "/data/mix");
        }
        const data::SampleInfo tokens = open(config::json_of(R"({"train": {"type": "synthetic",
            "kind": "tokens", "length": 4}})"))
                                            .train->info();
        QVERIFY(error_of([&] { mixing(tokens, kAlways); }).has_value());
    }

    void evaluation_reads_samples_as_they_are() {
        const char* text = R"({"train": {"type": "synthetic", "kind": "images", "samples": 60},
                               "validation": {"split": 0.5}, "mix": [{"type": "cutmix"}]})";
        Json plain = config::json_of(text);
        plain.erase("mix");
        const data::DataSet mixed = open(config::json_of(text));
        const data::DataSet alone = open(plain);
        for (std::int64_t i = 0; i < 20; ++i) {
            QCOMPARE(input_floats(*mixed.validation, i), input_floats(*alone.validation, i));
            QCOMPARE(target_integers(*mixed.train, i), target_integers(*alone.train, i));
        }
    }
};

WEFT_TEST(MixingTest)
#include "mixing_test.moc"
