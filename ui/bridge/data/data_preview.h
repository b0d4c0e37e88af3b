// SPDX-License-Identifier: GPL-3.0-or-later
// The data of the draft, opened in the background as a run would open it, and looked into: a page
// of samples at a time, drawn by the source that training reads from; how many there are of each
// class. Opened again after every edit that matters; the newest wins and results for older ones are
// dropped.
#pragma once

#include "core/data/lengths.h"
#include "ui/bridge/data/data_reading.h"
#include "ui/bridge/data/opening_news.h"
#include "ui/bridge/newest_job.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <array>
#include <filesystem>
#include <memory>
#include <vector>

namespace weft::ui {

class Draft;

/// The split of the data that is looked at.
enum class DataSplit { Train, Validation, Test };

class DataPreview : public QObject {
    Q_OBJECT
public:
    enum class State {
        Empty,   // no draft, or a draft without data
        Invalid, // the settings have a mistake: problem() says which
        Opening,
        Stopped, // on request, before the data were open; reopen() begins again
        Failed,  // the data cannot be opened: problem(), hint(), missing()
        Ready,
    };

    explicit DataPreview(Draft& draft, QObject* parent = nullptr);

    /// Opens only while somebody looks; what is being opened when nobody does any more is begun
    /// again when somebody does.
    void setActive(bool active);
    /// Opens again though nothing was edited: files may have changed.
    void reopen();
    /// Ends the opening, of all or of the split looked at.
    void stopOpening();
    /// How far that is, once it takes long.
    OpeningNews& news() { return news_; }

    State state() const { return state_; }
    QString problem() const { return problem_; }
    QString hint() const { return hint_; }
    /// Files and folders that the settings name and that are not there.
    const std::vector<data::NamedFile>& missing() const { return missing_; }
    /// What was decided and skipped while opening.
    const data::Notes& notes() const { return set_.notes; }
    /// The normalised "data" section that is open, or that failed to open.
    const config::Json& section() const { return section_; }
    data::OpenContext context() const { return context_; }
    const data::DataSet& set() const { return set_; }
    /// Training samples have random transforms or are mixed: another epoch shows them otherwise.
    bool isRandom() const { return random_; }

    DataSplit split() const { return split_; }
    /// Looking at the test split opens it.
    void setSplit(DataSplit split);
    bool hasSplit(DataSplit split) const;
    /// Of the split looked at; null while it is being opened.
    std::shared_ptr<const SplitFacts> facts() const;

    /// Of the texts that the split looked at is made of; null while they are measured, and where
    /// they have no length of their own.
    std::shared_ptr<const data::Lengths> lengths() const;

    std::int64_t epoch() const { return epoch_; }
    /// The same samples as the next epoch of training will see them.
    void reroll();

    /// Only samples of one class; -1: all.
    void setClass(std::int32_t label);
    std::int32_t chosenClass() const { return class_; }
    /// Samples that can be looked at: of the split, or of the chosen class in it.
    std::int64_t available() const;
    /// The first one shown, counted among those available.
    std::int64_t first() const { return first_; }
    void setFirst(std::int64_t first);
    void setPageSize(int samples);
    int pageSize() const { return page_size_; }
    const std::vector<SampleView>& samples() const { return samples_; }
    /// Samples are being read; samples() are those of before.
    bool isReading() const { return reading_.isRunning(); }

signals:
    void changed();        // state, split, what is known of it
    void samplesChanged(); // samples, epoch, class, first
    void lengthsChanged();

private:
    void onDraftChanged();
    bool readSettings();
    void open();
    void abandonOpening();
    void lookInto();
    void readSamples();
    void measureLengths();
    void fail(State state, const QString& problem, const QString& hint);
    void tellDraft();

    Draft& draft_;
    QTimer timer_;
    bool active_ = false;
    bool opened_ = false; // what the settings say was opened, or failed to
    State state_ = State::Empty;
    QString problem_, hint_;
    std::vector<data::NamedFile> missing_;
    std::string key_; // what was opened, as text
    config::Json section_;
    data::OpenContext context_;
    data::DataSet set_;
    bool random_ = false;
    DataSplit split_ = DataSplit::Train;
    std::array<std::shared_ptr<const SplitFacts>, 3> facts_;
    std::array<std::shared_ptr<const data::Lengths>, 3> lengths_;
    std::int64_t epoch_ = 0;
    std::int32_t class_ = -1;
    std::int64_t first_ = 0;
    int page_size_ = 60;
    std::vector<SampleView> samples_;
    OpeningNews news_;
    NewestJob opening_{this}; // and finding out what is known of a split
    NewestJob reading_{this}; // samples
    NewestJob measuring_{this}; // lengths
};

} // namespace weft::ui
