// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/data/data_reading.h"

#include "core/base/error.h"
#include "core/data/text/token_samples.h"
#include "ui/bridge/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::ui {
namespace {

/// Without the hint, which stands by itself, and without the pointer of a field, which says it too.
QString withPlace(const Error& error) {
    const bool field =
        error.where().starts_with("/data/") && !std::filesystem::exists(error.where());
    const QString where = field ? QString() : toQString(error.where());
    return (where.isEmpty() ? QString() : where + ": ") + toQString(error.text());
}

template <class T>
std::vector<T> valuesOf(const std::vector<std::byte>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

/// The row that a sample of a table is made of.
QStringList cellsOf(const SplitFacts& facts, const std::vector<float>& values) {
    QStringList cells;
    if (!facts.columns.empty()) {
        for (const std::string& cell : data::row_of_sample(*facts.source->encoding(), values)) {
            cells << toQString(cell);
        }
    }
    return cells;
}

/// Where the samples asked for stand in the split.
std::vector<std::int64_t> positions(const WantedSamples& wanted) {
    std::vector<std::int64_t> found;
    if (wanted.label < 0 || wanted.facts->labels == nullptr) {
        const std::int64_t end = std::min(wanted.facts->samples, wanted.first + wanted.count);
        for (std::int64_t i = wanted.first; i < end; ++i) {
            found.push_back(i);
        }
        return found;
    }
    const std::vector<std::int32_t>& labels = *wanted.facts->labels;
    std::int64_t nth = 0;
    for (std::size_t i = 0;
         i < labels.size() && found.size() < static_cast<std::size_t>(wanted.count); ++i) {
        if (labels[i] == wanted.label && nth++ >= wanted.first) {
            found.push_back(static_cast<std::int64_t>(i));
        }
    }
    return found;
}

} // namespace

SampleForm formOf(const data::SampleInfo& info) {
    return info.input.dtype == ir::DType::i32 ? SampleForm::Tokens
           : info.input.shape.rank() == 3     ? SampleForm::Images
                                              : SampleForm::Features;
}

QString className(const data::SampleInfo& info, std::int32_t label) {
    return label >= 0 && static_cast<std::size_t>(label) < info.class_names.size()
               ? toQString(info.class_names[static_cast<std::size_t>(label)])
               : QString::number(label);
}

QStringList classesOf(const data::SampleInfo& info, const SampleView& sample) {
    const QString name = className(info, sample.label);
    if (sample.other.share >= 1 || sample.other.label == sample.label) {
        return {name};
    }
    const int percent = static_cast<int>(std::lround(100 * sample.other.share));
    return {QObject::tr("%1 % %2").arg(percent).arg(name),
            QObject::tr("%1 % %2").arg(100 - percent).arg(className(info, sample.other.label))};
}

OpenedData openData(const config::Json& section, const data::OpenContext& context) {
    OpenedData opened;
    try {
        opened.set = data::open_data(section, context);
    } catch (const Error& error) {
        opened.problem = withPlace(error);
        opened.hint = toQString(error.hint());
        opened.missing = data::missing_files(section, context.base_dir);
    } catch (const std::exception& error) { // no memory for what a header announces
        opened.problem = toQString(error.what());
    }
    return opened;
}

std::shared_ptr<const data::Lengths> readLengths(const config::Json& section,
                                                 const data::OpenContext& context,
                                                 const std::string& part) {
    try {
        auto found = data::lengths_of(section, context, part);
        return found ? std::make_shared<const data::Lengths>(*std::move(found)) : nullptr;
    } catch (const Error&) { // opening says what is wrong with the files
        return nullptr;
    }
}

SplitFacts factsOf(std::shared_ptr<const data::Source> source, const std::stop_token& stop) {
    SplitFacts facts;
    facts.source = source;
    if (source == nullptr) {
        return facts;
    }
    try {
        facts.samples = source->samples();
        facts.info = source->info();
        facts.fingerprint = toQString(source->fingerprint());
        facts.cache_bytes = source->cache_bytes();
        facts.columns = data::input_columns(source->encoding().get());
        facts.target_scale = source->target_scale();
        // What is read block by block is too much to look at every label.
        if (facts.samples == 0 || !source->blocks().empty() || source->label(0) < 0 ||
            facts.info.classes <= 0) {
            return facts;
        }
        auto labels = std::make_shared<std::vector<std::int32_t>>();
        labels->reserve(static_cast<std::size_t>(facts.samples));
        facts.counts.assign(static_cast<std::size_t>(facts.info.classes), 0);
        for (std::int64_t i = 0; i < facts.samples && !stop.stop_requested(); ++i) {
            const std::int32_t label = source->label(i);
            labels->push_back(label);
            if (label >= 0 && label < facts.info.classes) {
                ++facts.counts[static_cast<std::size_t>(label)];
            }
        }
        facts.labels = std::move(labels);
    } catch (const Error& error) {
        facts.problem = withPlace(error);
        facts.hint = toQString(error.hint());
    }
    return facts;
}

std::vector<SampleView> readSamples(const WantedSamples& wanted, const std::stop_token& stop) {
    std::vector<SampleView> out;
    const SplitFacts& facts = *wanted.facts;
    const data::SampleInfo& info = facts.info;
    std::vector<std::byte> input(static_cast<std::size_t>(info.input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(info.target.bytes()));
    std::vector<std::byte> scratch;
    for (const std::int64_t index : positions(wanted)) {
        if (stop.stop_requested()) {
            break;
        }
        SampleView view;
        view.index = index;
        try {
            view.label = facts.source->label(index);
            if (wanted.epoch < 0) {
                facts.source->read(index, input, target);
            } else if (wanted.mixing == nullptr) {
                facts.source->read_in_epoch(index, wanted.epoch, input, target);
            } else {
                view.other = wanted.mixing->read(*facts.source, *wanted.sampler, wanted.epoch,
                                                 wanted.sampler->position(wanted.epoch, index),
                                                 {input, target}, scratch);
                view.label = wanted.mixing->of_classes() ? valuesOf<std::int32_t>(target).front()
                                                         : view.label;
            }
            if (info.input.dtype == ir::DType::i32) {
                view.tokens = valuesOf<std::int32_t>(input);
                const auto length = static_cast<std::size_t>(data::token_positions(info.input));
                if (data::is_packed(info.input)) {
                    view.positions.assign(view.tokens.begin() + static_cast<std::ptrdiff_t>(length),
                                          view.tokens.end());
                }
                view.tokens.resize(length);
                if (info.target == data::one_sequence(info.input)) {
                    view.next = valuesOf<std::int32_t>(target);
                }
            } else {
                view.values = valuesOf<float>(input);
                view.cells = cellsOf(facts, view.values);
            }
            if (info.target.dtype == ir::DType::f32) {
                view.targets = valuesOf<float>(target);
            }
        } catch (const Error& error) {
            view.problem = toQString(error.message());
        }
        out.push_back(std::move(view));
    }
    return out;
}

} // namespace weft::ui
