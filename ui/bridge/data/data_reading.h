// SPDX-License-Identifier: GPL-3.0-or-later
// What is read of data to look at it, off the GUI thread: opening it, what is known of a split, a
// page of its samples. Values only; nothing here is kept.
#pragma once

#include "core/data/dataset.h"
#include "core/data/files/named_files.h"
#include "core/data/lengths.h"
#include "core/data/tables/written_row.h"
#include "core/data/transforms/mixing.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace weft::ui {

/// One sample as training sees it.
struct SampleView {
    std::int64_t index = 0; // in its split
    std::int32_t label = -1;
    data::OtherClass other;           // beside `label`, where its share is below 1
    std::vector<float> values;        // images [H,W,C], features [F]
    std::vector<std::int32_t> tokens; // [T]
    std::vector<std::int32_t>
        positions;                  // [T], of tokens in their own sequences; of one sequence none
    std::vector<std::int32_t> next; // [T], of tokens: what is to be learnt there; below 0: nothing
    std::vector<float> targets;       // regression [K]
    QStringList cells;                // of a table: the row's inputs in the file's units
    QString problem;                  // why it cannot be read; then there is nothing else
};

/// How samples are drawn.
enum class SampleForm { Images, Features, Tokens };
SampleForm formOf(const data::SampleInfo& info);
/// "Pullover", or the number where classes have no names.
QString className(const data::SampleInfo& info, std::int32_t label);
/// Two where a sample is mixed: "62 % Pullover", "38 % Coat".
QStringList classesOf(const data::SampleInfo& info, const SampleView& sample);

/// What is known of one split once it was looked at.
struct SplitFacts {
    std::shared_ptr<const data::Source> source; // null: there is no such split
    data::SampleInfo info;
    std::int64_t samples = 0;
    std::int64_t cache_bytes = 0;
    QString fingerprint;
    std::vector<data::InputColumn> columns; // of a table; else empty
    data::TargetScale target_scale;
    /// Per sample; null where samples have no class, or are too many to be looked at one by one.
    std::shared_ptr<const std::vector<std::int32_t>> labels;
    std::vector<std::int64_t> counts; // by class
    QString problem, hint;            // why it cannot be opened
};

/// An opened data set, or why it is none.
struct OpenedData {
    data::DataSet set;
    QString problem, hint;
    std::vector<data::NamedFile> missing; // among those that the section names
};

OpenedData openData(const config::Json& section, const data::OpenContext& context);

/// Null where the texts of that part have no length of their own, or cannot be read.
std::shared_ptr<const data::Lengths>
readLengths(const config::Json& section, const data::OpenContext& context, const std::string& part);

SplitFacts factsOf(std::shared_ptr<const data::Source> source, const std::stop_token& stop);

/// A page of samples.
struct WantedSamples {
    std::shared_ptr<const SplitFacts> facts;
    std::int32_t label = -1;
    std::int64_t first = 0;
    int count = 0;
    std::int64_t epoch = -1; // -1: as evaluation reads
    /// Of the epochs of training; null: samples are not mixed.
    std::shared_ptr<const data::Mixing> mixing = {};
    std::optional<data::Sampler> sampler = {}; // with it
};

std::vector<SampleView> readSamples(const WantedSamples& wanted, const std::stop_token& stop);

} // namespace weft::ui
