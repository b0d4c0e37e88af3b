// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/data/data_offer.h"

#include "core/base/error.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/data/trained_weights.h"

#include <utility>

namespace weft::ui {
namespace {

/// "photos", or "prices" of "prices.csv".
std::string offerName(const std::filesystem::path& path) {
    const std::filesystem::path whole = path.has_filename() ? path : path.parent_path();
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored) ? whole.filename().string()
                                                        : whole.stem().string();
}

data::Recognition recogniseData(const std::filesystem::path& path,
                                const data::OpenContext& opening) {
    try {
        return data::recognise(path, opening);
    } catch (const Error& error) { // it went away while it was looked at
        return {{}, {error.message()}};
    }
}

} // namespace

DataOffer::DataOffer(QObject* parent) : QObject(parent), preview_(scratch_) {
    connect(&news_, &OpeningNews::changed, this, &DataOffer::changed);
}

void DataOffer::restart() {
    job_.drop();
    news_.end();
}

data::OpenContext DataOffer::opening() {
    data::OpenContext out{.sequence_length = data::kUsualContext};
    out.base_dir = path_.parent_path();
    out.stop = job_.token();
    out.on_opening = news_.begin();
    return out;
}

void DataOffer::forget() {
    clear();
    weights_.clear();
    tuning_ = advise::Tuning::factors;
    emit changed();
}

void DataOffer::clear() {
    restart();
    state_ = State::None;
    path_.clear();
    recognition_ = {};
    chosen_ = 0;
    working_ = false;
    run_.reset();
    run_problem_.clear();
    scratch_.setDocument(config::Json::object(), {});
}

void DataOffer::setWeights(const std::filesystem::path& weights) {
    weights_ = weights;
    suggestAgain();
}

void DataOffer::setTuning(advise::Tuning tuning) {
    tuning_ = tuning;
    suggestAgain();
}

void DataOffer::suggestAgain() {
    if (state_ != State::Found) {
        emit changed();
        return;
    }
    restart();
    working_ = true;
    emit changed();
    job_.join([found = found(), asked = ask()] { return suggest(found, asked); },
              [this](Suggested suggested) { take(std::move(suggested)); });
}

DataOffer::Asked DataOffer::ask() {
    return {path_, weights_, tuning_, opening()};
}

DataOffer::Suggested DataOffer::suggest(data::Recognised found, const Asked& asked) {
    Suggested out;
    out.found = std::move(found);
    if (!out.found.problems.empty()) {
        return out;
    }
    try {
        const std::string name = offerName(asked.path);
        out.run = asked.weights.empty()
                      ? advise::suggest_run(out.found.data, asked.opening, name)
                      : advise::suggest_tuning(out.found.data, asked.opening, name,
                                               readTrained(asked.weights), asked.tuning);
    } catch (const Error& error) {
        out.problem = toQString(error.message());
    }
    return out;
}

void DataOffer::look(const std::filesystem::path& path) {
    clear();
    state_ = State::Looking;
    path_ = path;
    emit changed();
    struct Looked {
        data::Recognition recognition;
        Suggested first;
    };
    job_.join(
        [asked = ask()] {
            Looked looked;
            looked.recognition = recogniseData(asked.path, asked.opening);
            if (!looked.recognition.formats.empty() && !asked.opening.stop.stop_requested()) {
                looked.first = suggest(looked.recognition.formats.front(), asked);
            }
            return looked;
        },
        [this](Looked looked) {
            news_.end();
            recognition_ = std::move(looked.recognition);
            state_ = recognition_.formats.empty() ? State::Nothing : State::Found;
            if (state_ == State::Found) {
                take(std::move(looked.first));
            } else {
                emit changed();
            }
        });
}

void DataOffer::take(Suggested suggested) {
    working_ = false;
    news_.end();
    recognition_.formats[chosen_] = std::move(suggested.found);
    run_ = std::move(suggested.run);
    run_problem_ = suggested.problem;
    scratch_.setDocument(run_ ? run_->document : config::Json::object(), path_.parent_path());
    emit changed();
}

void DataOffer::choose(std::size_t format) {
    if (state_ != State::Found || format == chosen_ || format >= formats().size()) {
        return;
    }
    chosen_ = format;
    suggestAgain();
}

QStringList DataOffer::targets() const {
    QStringList names;
    if (state_ != State::Found || !found().data.contains("train") ||
        !found().data["train"].contains("targets")) {
        return names;
    }
    const config::Json& targets = found().data["train"]["targets"];
    if (targets.is_string()) {
        names << toQString(targets.get<std::string>());
    } else if (targets.is_array()) {
        for (const config::Json& name : targets) {
            names << (name.is_string() ? toQString(name.get<std::string>())
                                       : toQString(name.dump()));
        }
    }
    return names;
}

void DataOffer::setTargets(const QStringList& columns) {
    if (state_ != State::Found || columns.isEmpty() || columns == targets()) {
        return;
    }
    restart();
    config::Json& train = recognition_.formats[chosen_].data["train"];
    config::Json names = config::Json::array();
    for (const QString& column : columns) {
        names.push_back(column.toStdString());
    }
    train["targets"] = names;
    working_ = true;
    emit changed();
    job_.join(
        [section = found().data, asked = ask()] {
            try {
                return suggest(data::describe(section, asked.opening), asked);
            } catch (const Error& error) {
                Suggested failed;
                failed.found.data = section;
                failed.found.problems = {error.message()};
                return failed;
            }
        },
        [this](Suggested suggested) { take(std::move(suggested)); });
}

} // namespace weft::ui
