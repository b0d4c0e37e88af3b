// SPDX-License-Identifier: Apache-2.0
#include "core/advise/suggest_run.h"

#include "core/base/text.h"
#include "core/compile/config/data_defaults.h"

#include <algorithm>
#include <cmath>

namespace weft::advise {
namespace {

using config::Json;

constexpr std::int64_t kUpdates = 2000; // that a first run takes, give or take what its data holds
constexpr std::int64_t kLargestBatch = 128;
constexpr std::int64_t kSmallText = 200'000; // tokens

class Suggester {
public:
    Suggester(const Json& section, const data::OpenContext& opening, const std::string& name)
        : section_(section), opening_(opening), name_(name) {}

    Suggestion suggest() {
        const data::DataOutline data = outline(kShortContext);
        const ir::Type& input = data.sample.input;
        out_.document = {{"schema_version", 1}, {"name", name_}, {"data", section_}};
        if (data.sample.board) {
            puzzles(data);
        } else if (input.dtype == ir::DType::i32) {
            language(data);
        } else {
            const bool image = input.shape.rank() == 3;
            image ? images(data) : table(data);
            loss(data);
            length(data, image);
        }
        return std::move(out_);
    }

private:
    static constexpr std::int64_t kShortContext = 64;

    data::DataOutline outline(std::int64_t context) const {
        data::OpenContext opening = opening_;
        opening.sequence_length = context;
        return data::outline_data(section_, opening);
    }

    void because(std::string reason) { out_.reasons.push_back(std::move(reason)); }

    void language(const data::DataOutline& data) {
        const bool bytes = reads_bytes(data.sample);
        const std::int64_t tokens = data.samples * kShortContext;
        const bool small = tokens < kSmallText;
        const std::int64_t context = small ? kShortContext : 2 * kShortContext;
        const std::int64_t width = small ? 64 : 128;
        Json& run = out_.document;
        run["model"] = {{"type", "gpt2"}, {"layers", small ? 2 : 4}, {"width", width},
                        {"heads", 4},     {"context", context},      {"dropout", 0.1}};
        run["metrics"] = {bytes ? "bits_per_byte" : "perplexity", "accuracy"};
        run["optimizer"] = {{"type", "adamw"},
                            {"learning_rate", 3e-3},
                            {"betas", {0.9, 0.95}},
                            {"weight_decay", 0.1},
                            {"groups",
                             {{{"match", "*.bias"}, {"weight_decay", 0.0}},
                              {{"match", "*norm*"}, {"weight_decay", 0.0}}}}};
        constexpr std::int64_t kBatch = 16;
        const std::int64_t epoch = std::max<std::int64_t>(1, tokens / context / kBatch);
        const std::int64_t steps = std::clamp<std::int64_t>(20 * epoch, 300, 2 * kUpdates);
        finish_steps(steps, kBatch);
        run["training"]["precision"] = "bf16";
        because("a language model of " + std::to_string(small ? 2 : 4) + " layers reads " +
                (bytes ? format_bytes(tokens) + " of text byte by byte"
                       : format_thousands(tokens) + " tokens"));
        because(format_thousands(steps) + " updates of " + std::to_string(kBatch) + " windows of " +
                std::to_string(context) + (bytes ? " bytes" : " tokens"));
    }

    /// Boards to be filled: a small model that improves its answer step by step.
    void puzzles(const data::DataOutline& data) {
        constexpr std::int64_t kSmallBoard = 100; // cells
        constexpr std::int64_t kBatch = 32;
        const std::int64_t cells = data.sample.board->cells();
        const bool small = cells <= kSmallBoard;
        Json& run = out_.document;
        run["model"] = {{"type", "trm"}, {"mixer", small ? "mlp" : "attention"},
                        {"width", 64},   {"heads", 4},
                        {"h_cycles", 2}, {"l_cycles", 2},
                        {"prefix", 1},   {"halt_max_steps", 4}};
        run["loss"] = {{"type", "stablemax"}};
        run["metrics"] = {"accuracy", "exact_accuracy", "halting_accuracy", "halting_steps"};
        run["optimizer"] = {{"type", "adam_atan2"},
                            {"learning_rate", 2e-3},
                            {"weight_decay", 0.1},
                            {"weight_decay_on", "all"}};
        if (data.sample.identifiers > 0) {
            run["optimizer"]["groups"] = {{{"match", "prefix.rows"},
                                           {"type", "sign_sgd"},
                                           {"learning_rate", 1e-2},
                                           {"weight_decay", 0.1}}};
            because("each of " + format_thousands(data.sample.identifiers - 1) +
                    " kinds of puzzles has a learned row, of which an update changes those of its "
                    "batch");
        }
        finish_steps(kUpdates, std::clamp<std::int64_t>(data.samples, 1, kBatch));
        run["lr_schedule"] = {
            {"type", "warmup_constant"}, {"warmup_steps", 100}, {"step_convention", "one_based"}};
        run["training"]["max_grad_norm"] = nullptr;
        run["training"]["ema_decay"] = 0.99;
        because("a model that improves its answer step by step suits boards of " +
                format_thousands(cells) + " cells");
    }

    void finish_steps(std::int64_t steps, std::int64_t batch) {
        Json& run = out_.document;
        const std::int64_t every = std::max<std::int64_t>(20, steps / 20);
        run["lr_schedule"] = {{"type", "warmup_cosine"}, {"end_factor", 0.05}};
        run["training"] = {{"length", {{"steps", steps}}}, {"global_batch_size", batch}};
        run["evaluation"] = {{"every", {{"steps", every}}}, {"max_batches", 50}};
        run["checkpoint"] = {{"every", {{"steps", every}}}};
    }

    /// Convolutions and poolings down to about eight places on a side.
    void images(const data::DataOutline& data) {
        const ir::Shape& shape = data.sample.input.shape;
        const std::int64_t side = std::min(shape[0], shape[1]);
        if (side < 12) {
            perceptron(data, "images of " + std::to_string(shape[1]) + "x" +
                                 std::to_string(shape[0]) + " are too small to convolve");
        } else {
            Json layers = Json::array();
            undecayed_ = {"*.bias"};
            std::int64_t channels = 16;
            int stages = 0;
            for (std::int64_t left = side; left >= 12 && stages < 5; left /= 2, ++stages) {
                layers.push_back({{"type", "conv2d"}, {"channels", channels}});
                undecayed_.push_back("layers." + std::to_string(layers.size()) + ".weight");
                layers.push_back({{"type", "batch_norm"}});
                layers.push_back({{"type", "relu"}});
                layers.push_back({{"type", "max_pool"}});
                channels = std::min<std::int64_t>(2 * channels, 128);
            }
            for (const char* rest : {"flatten", "dropout"}) {
                layers.push_back({{"type", rest}});
            }
            layers.push_back({{"type", "linear"}, {"units", 128}});
            for (const char* rest : {"relu", "dropout", "linear"}) {
                layers.push_back({{"type", rest}});
            }
            out_.document["model"] = {{"type", "sequential"}, {"layers", std::move(layers)}};
            because("a convolutional network of " + std::to_string(stages) +
                    (stages == 1 ? " stage suits images of " : " stages suits images of ") +
                    std::to_string(shape[1]) + "x" + std::to_string(shape[0]));
        }
        if (!section_.contains("transforms")) {
            out_.document["data"]["transforms"] = {
                {{"type", "normalize"}, {"mean", {0.5}}, {"std", {0.25}}}};
        }
    }

    void table(const data::DataOutline& data) {
        perceptron(data, format_thousands(data.sample.input.shape.elements()) +
                             " numbers per sample suit a perceptron");
    }

    void perceptron(const data::DataOutline& data, const std::string& reason) {
        const std::int64_t width = data.samples < 1000 ? 64 : data.samples < 20'000 ? 128 : 256;
        out_.document["model"] = {{"type", "mlp"}, {"hidden", {width, width}}, {"dropout", 0.1}};
        because(reason);
    }

    void loss(const data::DataOutline& data) {
        Json& run = out_.document;
        if (data.sample.classes > 0) {
            because("cross-entropy, since the target is one of " +
                    format_thousands(data.sample.classes) + " classes");
        } else {
            run["loss"] = {{"type", "mse"}};
            run["metrics"] = {"mean_absolute_error"};
            because("mean squared error, since the target is a number");
        }
    }

    void length(const data::DataOutline& data, bool image) {
        Json& run = out_.document;
        const std::int64_t batch = std::min(kLargestBatch, compile::fitted_batch(data.samples));
        const std::int64_t epoch = (data.samples + batch - 1) / batch;
        const std::int64_t epochs =
            std::clamp<std::int64_t>(kUpdates / epoch, image ? 5 : 10, image ? 20 : 100);
        const std::int64_t every = std::max<std::int64_t>(1, epochs / 20);
        run["optimizer"] = {{"type", "adamw"}, {"learning_rate", 1e-3}, {"weight_decay", 0.01}};
        for (const std::string& name : undecayed_) {
            run["optimizer"]["groups"].push_back({{"match", name}, {"weight_decay", 0.0}});
        }
        run["lr_schedule"] = {{"type", "warmup_cosine"}, {"end_factor", 0.02}};
        run["training"] = {
            {"length", {{"epochs", epochs}}}, {"global_batch_size", batch}, {"precision", "f32"}};
        run["evaluation"] = {{"every", {{"epochs", every}}}};
        run["checkpoint"] = {{"every", {{"epochs", every}}}};
        // Not by accuracy: of few samples it is soon as high as it gets, long before the loss is.
        run["checkpoint"]["metric"] = data.has_validation ? "validation/loss" : "train/loss";
        because(format_thousands(epochs) + " epochs of " + format_thousands(epoch) + " updates, " +
                std::to_string(batch) + " samples each");
    }

    const Json& section_;
    const data::OpenContext& opening_;
    const std::string& name_;
    std::vector<std::string> undecayed_; // what decay is not for, where it is not the default
    Suggestion out_;
};

} // namespace

bool reads_bytes(const data::SampleInfo& sample) {
    return sample.tokenizer != nullptr && sample.tokenizer->document().empty();
}

Suggestion suggest_run(const Json& data_section, const data::OpenContext& opening,
                       const std::string& name) {
    return Suggester(data_section, opening, name).suggest();
}

} // namespace weft::advise
