// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/data/data_preview.h"

#include "core/data/transforms/transform_list.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kDataPreviewPauseMs = 250; // between an edit and opening: someone may still be typing

/// Whether training samples of the section are different in every epoch.
bool changesAtRandom(const config::Json& section) {
    return !section.at("mix").empty() ||
           std::any_of(section.at("transforms").begin(), section.at("transforms").end(),
                       [](const auto& entry) {
                           return std::any_of(data::kTransforms.begin(), data::kTransforms.end(),
                                              [&](const data::TransformDef* known) {
                                                  return known->random &&
                                                         entry.at("type") == known->name;
                                              });
                       });
}

} // namespace

DataPreview::DataPreview(Draft& draft, QObject* parent) : QObject(parent), draft_(draft) {
    timer_.setSingleShot(true);
    timer_.setInterval(kDataPreviewPauseMs);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (active_ && !opened_) {
            open();
        }
    });
    connect(&draft_, &Draft::changed, this, &DataPreview::onDraftChanged);
    onDraftChanged();
}

void DataPreview::setActive(bool active) {
    active_ = active;
    if (state_ != State::Opening) {
        return;
    }
    if (active_ && !opened_) {
        open();
    } else if (!active_ && opened_) { // a run may want the machine, and the same files
        abandonOpening();
        opened_ = false;
    }
}

void DataPreview::abandonOpening() {
    opening_.drop();
    reading_.drop();
    measuring_.drop();
    news_.end();
}

void DataPreview::reopen() {
    key_.clear();
    onDraftChanged();
}

void DataPreview::stopOpening() {
    opening_.stop(); // a split that is looked into says so itself
    reading_.stop();
    if (state_ == State::Opening) {
        abandonOpening();
        fail(State::Stopped, tr("Nothing was changed. A run opens the data by itself."), {});
    }
}

void DataPreview::fail(State state, const QString& problem, const QString& hint) {
    state_ = state;
    problem_ = problem;
    hint_ = hint;
    set_ = {};
    facts_ = {};
    lengths_ = {};
    samples_.clear();
    tellDraft();
    emit changed();
    emit samplesChanged();
}

/// Fills section_ and context_ from the draft; false when there is nothing to open.
bool DataPreview::readSettings() {
    const config::Json& document = draft_.document();
    const bool has_train = document.is_object() && document.contains("data") &&
                           document["data"].is_object() && document["data"].contains("train") &&
                           !document["data"]["train"].is_null();
    if (!has_train) {
        key_.clear();
        fail(State::Empty, {}, {});
        return false;
    }
    // The data can be looked into while another section of the draft is still wrong.
    config::Checked checked = config::check_fields(document["data"], data::data_fields(), "/data");
    config::Diagnostics problems = checked.diagnostics;
    if (checked.ok()) {
        const config::Diagnostics more = data::check_data(checked.value, "/data");
        problems.insert(problems.end(), more.begin(), more.end());
    }
    const auto error = std::find_if(problems.begin(), problems.end(), [](const auto& found) {
        return found.severity == config::Severity::error;
    });
    if (error != problems.end()) {
        key_.clear();
        fail(State::Invalid, toQString(error->pointer) + ": " + toQString(error->message),
             toQString(error->hint));
        return false;
    }
    section_ = std::move(checked.value);
    const auto number = [](const config::Json& from, const char* name) {
        return from.is_object() && from.contains(name) && from[name].is_number_integer()
                   ? from[name].get<std::int64_t>()
                   : 0;
    };
    const bool valid = draft_.isValid();
    context_.base_dir = draft_.baseDir();
    context_.sequence_length =
        valid ? draft_.config().context()
              : number(document.value("model", config::Json::object()), "context");
    context_.seed =
        valid ? draft_.config().seed : static_cast<std::uint64_t>(number(document, "seed"));
    return true;
}

void DataPreview::onDraftChanged() {
    if (!readSettings()) {
        return;
    }
    config::Json what = {section_.at("train"),
                         section_.at("validation"),
                         section_.at("test"),
                         section_.at("transforms"),
                         section_.at("mix"),
                         section_.at("shuffle"),
                         section_.at("shuffle_window"),
                         section_.at("tokenizer"),
                         context_.sequence_length,
                         context_.seed,
                         context_.base_dir.string()};
    if (std::string key = what.dump(); key == key_) {
        return;
    } else {
        key_ = std::move(key);
    }
    abandonOpening();
    opened_ = false;
    random_ = changesAtRandom(section_);
    state_ = State::Opening;
    problem_.clear();
    hint_.clear();
    missing_.clear();
    tellDraft();
    emit changed();
    if (active_) {
        timer_.start();
    }
}

void DataPreview::open() {
    opened_ = true;
    data::OpenContext context = context_;
    context.stop = opening_.token();
    context.on_opening = news_.begin();
    opening_.join([section = section_, context] { return openData(section, context); },
                  [this](OpenedData opened) {
                      news_.end();
                      missing_ = opened.missing;
                      if (opened.set.train == nullptr) {
                          fail(State::Failed, opened.problem, opened.hint);
                          return;
                      }
                      set_ = std::move(opened.set);
                      facts_ = {};
                      lengths_ = {};
                      state_ = State::Ready;
                      if (!hasSplit(split_)) {
                          split_ = DataSplit::Train;
                      }
                      class_ = -1;
                      first_ = 0;
                      lookInto();
                  });
}

/// Data that cannot be opened are a problem of the draft. Files that are not there it knows itself.
void DataPreview::tellDraft() {
    config::Diagnostics findings;
    if (state_ == State::Failed && missing_.empty()) {
        findings.push_back(
            {"/data/train", config::Severity::error, problem_.toStdString(), hint_.toStdString()});
    }
    draft_.setFindings(FindingSource::Data, findings);
}

bool DataPreview::hasSplit(DataSplit split) const {
    return (split == DataSplit::Train        ? set_.train
            : split == DataSplit::Validation ? set_.validation
                                             : set_.test) != nullptr;
}

std::shared_ptr<const SplitFacts> DataPreview::facts() const {
    return state_ == State::Ready ? facts_[static_cast<std::size_t>(split_)] : nullptr;
}

/// What is not known yet of the split looked at is found out first.
void DataPreview::lookInto() {
    emit changed();
    if (facts()) {
        readSamples();
        measureLengths();
        return;
    }
    samples_.clear();
    emit samplesChanged();
    opening_.join([source = split_ == DataSplit::Train        ? set_.train
                            : split_ == DataSplit::Validation ? set_.validation
                                                             : set_.test](
                      const std::stop_token& stop) { return factsOf(source, stop); },
                  [this, split = split_](SplitFacts found) {
                      news_.end();
                      facts_[static_cast<std::size_t>(split)] =
                          std::make_shared<const SplitFacts>(std::move(found));
                      if (split == split_) {
                          emit changed();
                          readSamples();
                          measureLengths();
                      }
                  });
}

std::shared_ptr<const data::Lengths> DataPreview::lengths() const {
    return facts() ? lengths_[static_cast<std::size_t>(split_)] : nullptr;
}

void DataPreview::measureLengths() {
    measuring_.drop();
    const auto known = facts();
    if (!known || !known->problem.isEmpty() || formOf(known->info) != SampleForm::Tokens ||
        lengths()) {
        return;
    }
    measuring_.start(
        [section = section_, context = context_, split = split_](const std::stop_token& stop) {
            data::OpenContext measured = context;
            measured.stop = stop;
            return readLengths(section, measured,
                               split == DataSplit::Train        ? "train"
                               : split == DataSplit::Validation ? "validation"
                                                                : "test");
        },
        [this, split = split_](std::shared_ptr<const data::Lengths> found) {
            lengths_[static_cast<std::size_t>(split)] = std::move(found);
            emit lengthsChanged();
        });
}

void DataPreview::setSplit(DataSplit split) {
    if (split != split_ && state_ == State::Ready && hasSplit(split)) {
        split_ = split;
        class_ = -1;
        first_ = 0;
        reading_.drop();
        lookInto();
    }
}

void DataPreview::reroll() {
    ++epoch_;
    readSamples();
}

void DataPreview::setClass(std::int32_t label) {
    if (label != class_) {
        class_ = label;
        first_ = 0;
        readSamples();
    }
}

std::int64_t DataPreview::available() const {
    const auto known = facts();
    if (!known) {
        return 0;
    }
    return class_ >= 0 && static_cast<std::size_t>(class_) < known->counts.size()
               ? known->counts[static_cast<std::size_t>(class_)]
               : known->samples;
}

void DataPreview::setFirst(std::int64_t first) {
    const std::int64_t last_page = std::max<std::int64_t>(0, available() - 1);
    const std::int64_t wanted = std::clamp<std::int64_t>(first, 0, last_page);
    if (wanted != first_) {
        first_ = wanted;
        readSamples();
    }
}

void DataPreview::setPageSize(int samples) {
    if (samples != page_size_ && samples > 0) {
        page_size_ = samples;
        readSamples();
    }
}

void DataPreview::readSamples() {
    const auto known = facts();
    if (!known || !known->problem.isEmpty()) {
        emit samplesChanged();
        return;
    }
    WantedSamples wanted{known, class_, first_, page_size_,
                         split_ == DataSplit::Train ? epoch_ : -1};
    if (wanted.epoch >= 0 && !section_.at("mix").empty()) {
        wanted.mixing = data::mixing_of(section_.at("mix"), known->info, context_.seed);
        wanted.sampler.emplace(*known->source, section_.at("shuffle").get<bool>(), context_.seed,
                               section_.at("shuffle_window").get<std::int64_t>() << 20);
    }
    reading_.start([wanted](const std::stop_token& stop) { return ui::readSamples(wanted, stop); },
                   [this](std::vector<SampleView> read) {
                       samples_ = std::move(read);
                       emit samplesChanged();
                   });
    emit samplesChanged();
}

} // namespace weft::ui
