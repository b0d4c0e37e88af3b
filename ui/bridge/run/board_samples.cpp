// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/board_samples.h"

#include "core/compile/config/metric_facts.h"
#include "ui/bridge/background.h"

#include <algorithm>

namespace weft::ui {
namespace {

/// Places of the evaluation shown and of some before it, in ascending order.
std::vector<int> places_to_read(int evaluation) {
    std::vector<int> out{evaluation};
    for (const int before : {evaluation * 2 / 3, evaluation / 3}) {
        if (std::find(out.begin(), out.end(), before) == out.end()) {
            out.insert(out.begin(), before);
        }
    }
    return out;
}

} // namespace

BoardSamples::BoardSamples(RunModel& run, QObject* parent) : QObject(parent), run_(run) {
    connect(&run_, &RunModel::reset, this, [this] {
        evaluation_ = -1;
        board_ = 0;
        wanted_.clear();
        shown_.reset();
        earlier_.clear();
        emit stepsChanged();
        emit shownChanged();
    });
    connect(&run_, &RunModel::sampleAdded, this, &BoardSamples::stepsChanged);
    connect(&run_, &RunModel::stepsRewound, this, [this] {
        emit stepsChanged();
        read();
    });
}

bool BoardSamples::expected() const {
    return !run_.isEmpty() && !run_.isForeign() && compile::works_in_steps(run_.config());
}

std::vector<qint64> BoardSamples::steps() const {
    std::vector<qint64> out;
    for (const train::SampleEvent& sample : run_.samples()) {
        out.push_back(sample.step);
    }
    return out;
}

void BoardSamples::choose(int evaluation) {
    evaluation_ = evaluation;
    read();
}

void BoardSamples::chooseBoard(int board) {
    if (shown_ != nullptr && board >= 0 && board < static_cast<int>(shown_->boards.size()) &&
        board != board_) {
        board_ = board;
        emit boardChanged();
    }
}

void BoardSamples::read() {
    if (!expected() || evaluation_ < 0 || evaluation_ >= static_cast<int>(run_.samples().size())) {
        return;
    }
    std::vector<std::filesystem::path> paths;
    for (const int place : places_to_read(evaluation_)) {
        paths.push_back(run_.folder() / run_.samples()[static_cast<std::size_t>(place)].path);
    }
    wanted_ = paths;
    runInBackground(
        this,
        [paths] {
            std::vector<SaidBoards> out;
            for (const auto& path : paths) {
                out.push_back(readSampleFile(path).boards);
                if (path != paths.back()) {
                    out.back().boards.clear();
                }
            }
            return out;
        },
        [this, paths](std::vector<SaidBoards> read) {
            if (paths != wanted_) {
                return; // another one was chosen meanwhile
            }
            shown_ = read.back().boards.empty()
                         ? nullptr
                         : std::make_shared<const SaidBoards>(std::move(read.back()));
            read.pop_back();
            std::erase_if(read, [](const SaidBoards& one) { return one.right.empty(); });
            earlier_ = std::move(read);
            const int last = shown_ == nullptr ? 0 : static_cast<int>(shown_->boards.size()) - 1;
            board_ = std::clamp(board_, 0, last);
            emit shownChanged();
        });
}

} // namespace weft::ui
