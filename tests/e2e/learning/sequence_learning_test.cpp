// SPDX-License-Identifier: Apache-2.0
// Symbols in order are learnt without anybody saying where they are, and answers until the network
// writes them itself, through the path that a user's run takes.
#include "core/base/file.h"
#include "core/base/npy.h"
#include "tests/e2e/learning/run_session.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <array>
#include <cmath>
#include <random>

using namespace weft;
using config::Json;

namespace {

constexpr std::int64_t kMoments = 20;
constexpr std::int64_t kNumbers = 6;
constexpr std::int64_t kPlaces = 4; // symbols of a sample, at most

/// Two moments for each symbol, of noise with one number high, at random distances.
void write_symbols(const std::string& folder, std::int64_t samples) {
    std::mt19937 random(11); // NOLINT: the same in every run
    std::normal_distribution<float> noise(0.0F, 0.3F);
    std::vector<float> moments;
    std::vector<std::int32_t> symbols;
    for (std::int64_t i = 0; i < samples; ++i) {
        std::vector<float> one(static_cast<std::size_t>(kMoments * kNumbers));
        for (float& number : one) {
            number = noise(random);
        }
        const std::int64_t count = 1 + i % kPlaces;
        for (std::int64_t s = 0; s < kPlaces; ++s) {
            const auto symbol = static_cast<std::int64_t>(1 + random() % (kNumbers - 1));
            symbols.push_back(s < count ? static_cast<std::int32_t>(symbol) : 0);
            const std::int64_t at = 5 * s + static_cast<std::int64_t>(random() % 3);
            for (std::int64_t k = at; s < count && k < at + 2; ++k) {
                one[static_cast<std::size_t>(k * kNumbers + symbol)] += 2.0F;
            }
        }
        moments.insert(moments.end(), one.begin(), one.end());
    }
    const auto write = [&](const char* name, const char* type, std::vector<std::int64_t> shape,
                           const void* data, std::size_t bytes) {
        write_file_atomically(folder + "/" + name,
                              npy_beginning(type, shape) +
                                  std::string(static_cast<const char*>(data), bytes));
    };
    write("moments.npy", "<f4", {samples, kMoments, kNumbers}, moments.data(),
          moments.size() * sizeof(float));
    write("symbols.npy", "<i4", {samples, kPlaces}, symbols.data(),
          symbols.size() * sizeof(std::int32_t));
}

/// Questions whose answers can only be learnt by heart.
void write_answers(const std::string& path) {
    constexpr std::array kWords = {"red", "green", "blue", "black", "white", "grey", "pink"};
    std::string out;
    for (std::size_t i = 0; i < 12; ++i) {
        std::string answer;
        for (std::size_t k = 1; k < 6; ++k) {
            answer += (k == 1 ? "" : " ") + std::string(kWords[(i * k + k) % kWords.size()]);
        }
        const Json messages = {{{"role", "user"}, {"content", "number " + std::to_string(i)}},
                               {{"role", "assistant"}, {"content", answer}}};
        out += Json{{"messages", messages}}.dump() + "\n";
    }
    write_file_atomically(path, out);
}

} // namespace

class SequenceLearningTest : public QObject {
    Q_OBJECT
private slots:
    // A reader that puts out nothing has a rate of 1.
    void symbols_are_read_wherever_they_are() {
        const QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        write_symbols(path, 1200);
        const test::SessionRun run = test::run_session(
            {{"data",
              {{"train",
                {{"type", "npy"},
                 {"inputs", path + "/moments.npy"},
                 {"targets", path + "/symbols.npy"}}},
               {"validation", {{"split", 0.2}}}}},
             {"model",
              {{"type", "sequential"},
               {"layers",
                {{{"type", "sequence"}},
                 {{"type", "conv1d"}, {"channels", 24}, {"kernel", 3}},
                 {{"type", "relu"}},
                 {{"type", "linear"}}}}}},
             {"loss", {{"type", "ctc"}, {"symbols", kNumbers}}},
             {"optimizer", {{"type", "adamw"}, {"learning_rate", 0.01}}},
             {"training", {{"global_batch_size", 32}, {"length", {{"epochs", 12}}}}}},
            path + "/run");
        QVERIFY(run.first_metric("validation/symbol_error_rate") > 0.7);
        QVERIFY2(run.last_metric("validation/symbol_error_rate") < 0.05,
                 std::to_string(run.last_metric("validation/symbol_error_rate")).c_str());
    }

    // Two, two, two, two are four symbols with a position between each: seven.
    void symbols_without_room_are_told_before_anything_is_trained() {
        const QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        const std::vector<float> moments(8 * kMoments * kNumbers, 0.5F);
        const std::vector<std::int32_t> symbols(8 * kPlaces, 2);
        write_file_atomically(
            path + "/moments.npy",
            npy_beginning("<f4", std::array<std::int64_t, 3>{8, kMoments, kNumbers}) +
                std::string(reinterpret_cast<const char*>(moments.data()),
                            moments.size() * sizeof(float)));
        write_file_atomically(path + "/symbols.npy",
                              npy_beginning("<i4", std::array<std::int64_t, 2>{8, kPlaces}) +
                                  std::string(reinterpret_cast<const char*>(symbols.data()),
                                              symbols.size() * sizeof(std::int32_t)));
        const auto run = [&](int stride) {
            return test::run_session(
                {{"data",
                  {{"train",
                    {{"type", "npy"},
                     {"inputs", path + "/moments.npy"},
                     {"targets", path + "/symbols.npy"}}},
                   {"validation", nullptr}}},
                 {"model",
                  {{"type", "sequential"},
                   {"layers",
                    {{{"type", "sequence"}},
                     {{"type", "conv1d"}, {"channels", 8}, {"kernel", 3}, {"stride", stride}},
                     {{"type", "relu"}},
                     {{"type", "linear"}}}}}},
                 {"loss", {{"type", "ctc"}, {"symbols", kNumbers}}},
                 {"training", {{"global_batch_size", 4}, {"length", {{"steps", 3}}}}}},
                path + "/run" + std::to_string(stride));
        };
        const test::SessionRun refused = run(4);
        QVERIFY2(refused.problem.find("need 7 positions") != std::string::npos,
                 refused.problem.c_str());
        QVERIFY(refused.steps.empty());
        const test::SessionRun fits = run(2); // ten positions
        QVERIFY2(fits.problem.empty(), fits.problem.c_str());
        QVERIFY(std::isfinite(fits.losses().back()));
    }

    void an_answer_learnt_by_heart_is_written_word_by_word() {
        const QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        write_answers(path + "/answers.jsonl");
        const Json source = {{"type", "chat"}, {"path", path + "/answers.jsonl"}};
        const test::SessionRun run = test::run_session(
            {{"data", {{"train", source}, {"validation", source}}},
             {"model",
              {{"type", "gpt2"},
               {"layers", 1},
               {"width", 64},
               {"heads", 4},
               {"context", 128},
               {"dropout", 0.0}}},
             {"metrics", {"bleu"}},
             {"optimizer", {{"type", "adamw"}, {"learning_rate", 0.005}}},
             {"training", {{"global_batch_size", 4}, {"length", {{"steps", 250}}}}},
             {"evaluation", {{"every", {{"steps", 250}}}}}},
            path + "/run");
        QVERIFY(run.first_metric("validation/bleu") < 0.1);
        QVERIFY2(run.last_metric("validation/bleu") > 0.9,
                 std::to_string(run.last_metric("validation/bleu")).c_str());
    }
};

WEFT_TEST(SequenceLearningTest)
#include "sequence_learning_test.moc"
