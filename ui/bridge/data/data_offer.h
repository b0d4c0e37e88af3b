// SPDX-License-Identifier: GPL-3.0-or-later
// Files that somebody brings: what they are, what of them is to be predicted, and the run that
// would learn it, from the beginning or from weights. Looked at in the background; the draft of the
// studio is not touched.
#pragma once

#include "core/advise/suggest_tuning.h"
#include "core/data/recognise.h"
#include "ui/bridge/data/data_preview.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/newest_job.h"

#include <QObject>
#include <QStringList>

#include <filesystem>

namespace weft::ui {

class DataOffer : public QObject {
    Q_OBJECT
public:
    enum class State {
        None,    // nothing was brought
        Looking, // at the files
        Nothing, // they are nothing that can be read: problems() says why
        Found,   // found() says what; run() what would learn it
    };

    explicit DataOffer(QObject* parent = nullptr);

    /// Looks at a file or folder in place of what was looked at before.
    void look(const std::filesystem::path& path);
    /// Weights as well.
    void forget();

    /// Weights that the run goes on from (see readTrained); empty: a model is suggested.
    void setWeights(const std::filesystem::path& weights);
    const std::filesystem::path& weights() const { return weights_; }
    void setTuning(advise::Tuning tuning);
    advise::Tuning tuning() const { return tuning_; }

    State state() const { return state_; }
    const std::filesystem::path& path() const { return path_; }
    /// Found, and something was changed: what is shown is still of before.
    bool isWorking() const { return working_; }
    const std::vector<std::string>& problems() const { return recognition_.problems; }

    /// Ways to read it, the likeliest first, and the one chosen.
    const std::vector<data::Recognised>& formats() const { return recognition_.formats; }
    std::size_t chosen() const { return chosen_; }
    const data::Recognised& found() const { return recognition_.formats[chosen_]; }
    void choose(std::size_t format);

    /// Tables: names of the columns to predict.
    QStringList targets() const;
    void setTargets(const QStringList& columns);

    /// The whole run; none while it is worked out, or where it cannot be: see runProblem().
    const std::optional<advise::Suggestion>& run() const { return run_; }
    QString runProblem() const { return run_problem_; }
    /// The samples as that run would see them.
    DataPreview& preview() { return preview_; }
    /// How far looking at the files is, once it takes long.
    const OpeningNews& news() const { return news_; }

signals:
    void changed();

private:
    struct Suggested {
        data::Recognised found;
        std::optional<advise::Suggestion> run;
        QString problem;
    };
    /// What decides on the run beside the data.
    struct Asked {
        std::filesystem::path path;
        std::filesystem::path weights;
        advise::Tuning tuning;
        data::OpenContext opening;
    };
    static Suggested suggest(data::Recognised found, const Asked& asked);
    Asked ask();
    void suggestAgain();
    /// That what is begun now is opened with.
    data::OpenContext opening();
    void take(Suggested suggested);
    void restart();
    void clear();

    State state_ = State::None;
    std::filesystem::path path_;
    std::filesystem::path weights_;
    advise::Tuning tuning_ = advise::Tuning::factors;
    data::Recognition recognition_;
    std::size_t chosen_ = 0;
    bool working_ = false;
    std::optional<advise::Suggestion> run_;
    QString run_problem_;
    Draft scratch_; // what preview_ looks at
    DataPreview preview_;
    OpeningNews news_;
    NewestJob job_{this};
};

} // namespace weft::ui
