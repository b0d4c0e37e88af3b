// SPDX-License-Identifier: Apache-2.0
#include "core/train/evaluation.h"

#include "core/compile/programs/programs.h"
#include "core/data/files/damaged_files.h"
#include "core/nn/loss_def.h"
#include "core/train/generate.h"
#include "core/train/program_io.h"
#include "core/train/ranks/batch_feed.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::train {
namespace {

std::int64_t batch_rows(const exec::Executor& executor, std::string_view program) {
    const plan::PlannedPort* port = find_argument(executor, program, "inputs");
    WEFT_CHECK(port != nullptr, "the program takes inputs");
    return port->whole.shape[0];
}

/// Rows of the last predict run; valid until the next.
struct Predicted {
    Predicted(exec::Executor& executor, std::string_view name) {
        const plan::PlannedPort* port = find_result(executor, "predict", name);
        WEFT_CHECK(port != nullptr && port->operand.type.dtype == ir::DType::f32,
                   "predictions are f32");
        bytes = executor.read("predict", name);
        width = static_cast<std::size_t>(port->whole.shape.elements() / port->whole.shape[0]);
    }
    std::vector<double> row(std::size_t index) const {
        std::vector<float> values(width);
        std::memcpy(values.data(), bytes.data() + index * width * sizeof(float),
                    values.size() * sizeof(float));
        return {values.begin(), values.end()};
    }
    std::span<const std::byte> bytes;
    std::size_t width = 0;
};

/// A metric of the whole set, as its rows come in.
struct OfSet {
    const nn::MetricDef* metric;
    std::unique_ptr<nn::SetScore> score;
};

std::vector<OfSet> scores_of_set(const compile::RunConfig& config, const data::SampleInfo& info) {
    const nn::DataShape shape = compile::data_shape(config, info);
    nn::TextOf text;
    if (info.tokenizer != nullptr) {
        text = [tokenizer = info.tokenizer](std::span<const std::int32_t> tokens) {
            return tokenizer->decoded(tokens);
        };
    }
    std::vector<OfSet> out;
    for (const nn::MetricDef* metric : compile::metrics_of_sets(config)) {
        out.push_back({metric, metric->score({info.classes, shape.outputs(),
                                              info.target.shape.elements(), text})});
    }
    return out;
}

/// The rows of the last evaluate run whose term counts: those of samples, not of padding, that have
/// a class or number.
void add_rows(exec::Executor& executor, const data::Batch& batch, const data::SampleInfo& info,
              const OfSet& to) {
    const std::string name = compile::rows_port(*to.metric);
    const plan::PlannedPort* port = find_result(executor, "evaluate", name);
    WEFT_CHECK(port != nullptr && port->operand.type.dtype == ir::DType::f32, "rows are f32");
    const std::span<const std::byte> bytes = executor.read("evaluate", name);
    const auto width = static_cast<std::size_t>(port->whole.shape.back());
    const auto terms =
        static_cast<std::size_t>(info.classes > 0 ? info.target.shape.elements() : 1);
    std::vector<float> row(width);
    for (std::size_t sample = 0; sample < batch.weights.size(); ++sample) {
        for (std::size_t term = sample * terms; term < (sample + 1) * terms; ++term) {
            std::int32_t label = 0;
            if (info.classes > 0) {
                std::memcpy(&label, batch.targets.data() + term * sizeof label, sizeof label);
            }
            if (batch.weights[sample] > 0 && label >= 0) {
                std::memcpy(row.data(), bytes.data() + term * width * sizeof(float),
                            width * sizeof(float));
                to.score->add(row);
            }
        }
    }
}

constexpr std::int64_t kTextsWritten = 32;
constexpr std::ptrdiff_t kTokensWritten = 128; // of each: a large model takes long over a token

/// What a model is to write of a sample: after `prompt` the tokens of `truth`.
struct TextTask {
    std::vector<std::int32_t> prompt, truth;
    bool answers = false; // and it has done with the last of them
};

/// The first answer of a conversation; else the second half.
TextTask text_task(const data::Source& source, std::int64_t index) {
    const data::SampleInfo& info = source.info();
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(info.input.shape.elements()));
    std::vector<std::int32_t> targets(static_cast<std::size_t>(info.target.shape.elements()));
    source.read(index, std::as_writable_bytes(std::span(tokens)),
                std::as_writable_bytes(std::span(targets)));
    const auto counts = [](std::int32_t target) { return target >= 0; };
    auto first = std::find_if(targets.begin(), targets.end(), counts);
    const bool answers = first != targets.begin();
    auto last = std::find_if_not(first, targets.end(), counts);
    first = answers ? first : first + (last - first) / 2;
    last = first + std::min(last - first, kTokensWritten);
    const auto given = first - targets.begin() + 1; // the target stands behind its token
    return {{tokens.begin(), tokens.begin() + std::min<std::ptrdiff_t>(given, std::ssize(tokens))},
            {first, last},
            answers};
}

/// As many tokens at most as the truth has, from samples all over the source.
void add_texts(exec::Executor& executor, const data::Source& source, const std::stop_token& stop,
               const OfSet& to) {
    const std::int64_t count = std::min(kTextsWritten, source.samples());
    for (std::int64_t i = 0; i < count && !stop.stop_requested(); ++i) {
        const TextTask task = text_task(source, i * source.samples() / count);
        if (task.truth.empty()) {
            continue;
        }
        std::vector<float> row;
        generate(executor, task.prompt, {.tokens = std::ssize(task.truth), .temperature = 0.0},
                 [&](std::int32_t token) {
                     row.push_back(static_cast<float>(token));
                     return !stop.stop_requested() && !(task.answers && token == task.truth.back());
                 });
        row.resize(task.truth.size(), -1.0F);
        row.insert(row.end(), task.truth.begin(), task.truth.end());
        to.score->add(row);
    }
}

void rank(SamplePrediction& prediction, std::size_t top) {
    std::vector<std::int64_t> order(prediction.values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto value = [&](std::int64_t i) {
        return prediction.values[static_cast<std::size_t>(i)];
    };
    const std::size_t count = std::min(top, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [&](std::int64_t a, std::int64_t b) {
                          return value(a) != value(b) ? value(a) > value(b) : a < b;
                      });
    for (std::size_t i = 0; i < count; ++i) {
        prediction.top.emplace_back(order[i], value(order[i]));
    }
}

bool gives(const exec::Executor& executor, std::string_view result) {
    return !executor.plan().all_stages("predict").empty() &&
           find_result(executor, "predict", result) != nullptr;
}

} // namespace

std::optional<Metrics> evaluate(exec::Executor& executor, const compile::RunConfig& config,
                                const std::shared_ptr<const data::Source>& source,
                                const std::string& split, std::int64_t max_batches,
                                std::stop_token stop, std::vector<data::LeftOut>& left_out,
                                RankRows* ranks) {
    const std::vector<compile::EvaluatedMetric> metrics = compile::evaluated_metrics(config);
    std::vector<double> joined;
    for (const compile::EvaluatedMetric& metric : metrics) {
        joined.push_back(metric.reduction->start);
    }
    const std::vector<OfSet> sets = scores_of_set(config, source->info());
    double count = 0;
    double samples = 0;
    const bool counts_samples = find_result(executor, "evaluate", "samples") != nullptr;
    BatchOrder order;
    order.program = "evaluate";
    order.part = split;
    order.rows = batch_rows(executor, order.program);
    order.training = false;
    order.max_batches = max_batches;
    const bool looks = std::any_of(sets.begin(), sets.end(), [](const OfSet& set) {
        return set.metric->row != nullptr; // which rows count
    });
    BatchFeed feed(config, source, order, ranks,
                   looks ? BatchFeed::Looks::rank_0 : BatchFeed::Looks::nobody);
    while (const data::Batch* batch = feed.next()) {
        left_out.insert(left_out.end(), batch->left_out.begin(), batch->left_out.end());
        feed.write(executor);
        write_random(executor, "evaluate", config.seed, 0, batch->first_sample);
        if (executor.run("evaluate", stop) == exec::RunOutcome::stopped || stop.stop_requested()) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < metrics.size(); ++i) {
            joined[i] = metrics[i].reduction->join_numbers(
                joined[i], read_scalar(executor, "evaluate", metrics[i].port));
        }
        for (const OfSet& set : sets) {
            if (set.metric->row != nullptr) {
                add_rows(executor, *batch, source->info(), set);
            }
        }
        count += read_scalar(executor, "evaluate", "count");
        samples += counts_samples ? read_scalar(executor, "evaluate", "samples") : 0.0;
    }
    if (count <= 0) {
        return Metrics{};
    }
    Metrics out;
    double loss = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        const nn::ReductionDef& how = *metrics[i].reduction;
        const double value = how.per_term     ? joined[i] / count
                             : how.per_sample ? joined[i] / samples
                                              : joined[i];
        loss = metrics[i].name == "loss" ? value : loss;
        out.emplace_back(split + "/" + metrics[i].name, value);
    }
    for (const auto& [name, value] : compile::metrics_from_loss(config, loss)) {
        out.emplace_back(split + "/" + name, value);
    }
    for (const OfSet& set : sets) {
        if (set.metric->row == nullptr) {
            add_texts(executor, *source, stop, set);
        }
        if (stop.stop_requested()) {
            return std::nullopt;
        }
        out.emplace_back(split + "/" + std::string(set.metric->name), set.score->value());
    }
    rescale(source->target_scale(), out);
    return out;
}

void rescale(const data::TargetScale& scale, std::vector<double>& values) {
    for (std::size_t k = 0; k < std::min(values.size(), scale.scale.size()); ++k) {
        values[k] = values[k] * scale.scale[k] + scale.mean[k];
    }
}

void rescale(const data::TargetScale& scale, Metrics& metrics) {
    const std::vector<double>& all = scale.scale;
    if (all.empty() || std::any_of(all.begin(), all.end(), [&](double s) { return s != all[0]; })) {
        return;
    }
    for (auto& [name, value] : metrics) {
        const nn::MetricDef* metric = nn::find_metric(name.substr(name.find('/') + 1));
        if (metric != nullptr && metric->in_target_units) {
            value *= all[0];
        }
    }
}

bool predicts(const exec::Executor& executor) {
    return gives(executor, "prediction");
}

std::vector<SamplePrediction> predict(exec::Executor& executor, const data::Source& source,
                                      std::span<const std::int64_t> indices, std::size_t top) {
    const bool of_points = gives(executor, compile::kPointPort);
    const bool of_symbols = gives(executor, compile::kPathPort);
    if (!of_points && !of_symbols && !predicts(executor)) {
        throw Error(ErrorKind::usage, "predict", "this model predicts nothing: it makes samples",
                    "use weft generate, or look at what its evaluations kept");
    }
    const std::int64_t rows = batch_rows(executor, "predict");
    const auto sample_bytes = static_cast<std::size_t>(source.info().input.bytes());
    std::vector<std::byte> inputs(static_cast<std::size_t>(rows) * sample_bytes);
    std::vector<SamplePrediction> out;
    for (std::size_t first = 0; first < indices.size(); first += static_cast<std::size_t>(rows)) {
        const std::size_t n = std::min(indices.size() - first, static_cast<std::size_t>(rows));
        std::fill(inputs.begin(), inputs.end(), std::byte{0});
        std::vector<std::string> faults(n);
        for (std::size_t i = 0; i < n; ++i) {
            try {
                source.read(indices[first + i],
                            std::span(inputs).subspan(i * sample_bytes, sample_bytes), {});
            } catch (const data::DamagedSample& fault) {
                faults[i] = data::fault_of(fault);
            }
        }
        write_argument(executor, "predict", "inputs", inputs);
        executor.run("predict");
        const Predicted predicted(executor, of_points    ? compile::kPointPort
                                            : of_symbols ? compile::kPathPort
                                                         : "prediction");
        for (std::size_t i = 0; i < n; ++i) {
            SamplePrediction prediction;
            prediction.index = indices[first + i];
            prediction.label = source.label(prediction.index);
            prediction.fault = std::move(faults[i]);
            if (!prediction.fault.empty()) {
                out.push_back(std::move(prediction));
                continue;
            }
            prediction.values = predicted.row(i);
            if (of_symbols) {
                const std::vector<float> path(prediction.values.begin(), prediction.values.end());
                const std::vector<std::int32_t> read = nn::symbols_of_path(path);
                prediction.values.assign(read.begin(), read.end());
            }
            if (of_points || of_symbols) {
                out.push_back(std::move(prediction));
                continue;
            }
            if (source.info().classes > 0) {
                rank(prediction, top);
            } else {
                rescale(source.target_scale(), prediction.values);
            }
            out.push_back(std::move(prediction));
        }
    }
    return out;
}

} // namespace weft::train
