// SPDX-License-Identifier: GPL-3.0-or-later
// Tries a saved model out: one thread of its own, with one compute thread and a low priority, so
// that training goes on beside it. The model stays loaded between tries. The newest request of a
// kind takes the place of the one before; results come as signals on the GUI thread. The numbers
// are those of `weft predict`, `weft generate` and `weft eval`: the same functions of core/train
// make them.
#pragma once

#include "core/ir/type.h"
#include "core/train/boards/trace.h"
#include "core/train/generate.h"
#include "core/train/sample_look/sample_look.h"

#include <QByteArray>
#include <QImage>
#include <QObject>
#include <QStringList>

#include <filesystem>
#include <memory>
#include <vector>

namespace weft::tokenizer {
class Tokenizer;
}

namespace weft::ui {

/// What the model says of one input.
struct TrialPrediction {
    std::vector<double> values;                       // probabilities of the classes, or outputs
    std::vector<std::pair<std::int64_t, double>> top; // classes, the most probable first
    QStringList class_names;
    QStringList output_names; // of numbers that a table's columns have; may be empty
    std::int64_t step = 0;    // of the checkpoint
};

/// A way through what a model can make: from the latents of one seed to those of another.
struct SampleWalk {
    std::uint64_t from = 0;
    std::uint64_t to = 1;
    int pictures = 9;
    int label = 0; // of a model that makes samples of a class
};

/// A board that a model fills step by step.
struct SolvedBoard {
    QString given;               // as it was asked for
    std::vector<QString> cycles; // what it says after each
    train::Trace trace;
    std::int64_t step = 0; // of the checkpoint
};

/// What the layers of a model make of an input that was tried.
struct LookedInside {
    train::SampleLook look;
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer; // of a text; may be null
    QImage picture;                                        // null: the input is none
    std::int64_t step = 0;                                 // of the checkpoint
};

/// What a model takes and makes of the validation split: how often each class was said of each.
struct Confusion {
    std::filesystem::path checkpoint;
    std::int64_t step = 0;
    QStringList class_names;
    int classes = 0;
    std::vector<std::vector<std::int64_t>> cells; // [actual * classes + said]: sample numbers
    std::int64_t samples = 0;
    std::int64_t right = 0;
    const std::vector<std::int64_t>& cell(int actual, int said) const {
        return cells[static_cast<std::size_t>(actual * classes + said)];
    }
};

class TrialHost : public QObject {
    Q_OBJECT
public:
    explicit TrialHost(QObject* parent = nullptr);
    /// Cancels and joins.
    ~TrialHost() override;

    /// `values` is one sample before transforms, row-major; it has exactly the model's elements.
    void predict(const std::filesystem::path& checkpoint, std::vector<float> values);
    /// Goes on from `prompt`; text arrives by generated().
    void generate(const std::filesystem::path& checkpoint, const QByteArray& prompt,
                  const train::GenerateOptions& options);
    /// Makes the samples of a walk; pictures arrive by made().
    void make(const std::filesystem::path& checkpoint, const SampleWalk& walk);
    /// Fills a board, written as data::BoardForm says; it arrives by solved().
    void solve(const std::filesystem::path& checkpoint, const QString& board);
    /// Looks at what layers make of an input as predict() takes it, or of the end of a text; it
    /// arrives by looked().
    void look(const std::filesystem::path& checkpoint, std::vector<float> values);
    void lookAtText(const std::filesystem::path& checkpoint, const QByteArray& text);
    /// Predicts the whole validation split.
    void confuse(const std::filesystem::path& checkpoint);
    /// Ends what is under way of the kind; nothing more is said of it.
    void cancelGenerate();
    void cancelConfuse();
    /// Forgets the model that is loaded.
    void release();

signals:
    /// A model is being loaded, or has been.
    void loading(bool active);
    void predicted(const weft::ui::TrialPrediction& prediction);
    void generated(const QByteArray& text);
    void generationEnded();
    /// The samples of a walk, by the weights of this step.
    void made(const std::vector<QImage>& pictures, qint64 step);
    void solved(std::shared_ptr<const weft::ui::SolvedBoard> board);
    void looked(std::shared_ptr<const weft::ui::LookedInside> looked);
    void confusionProgress(double share);
    void confused(std::shared_ptr<const weft::ui::Confusion> confusion);
    /// `kind` is "predict", "generate", "make", "solve", "look" or "confuse".
    void failed(const QString& kind, const QString& problem);

private:
    struct Worker;
    enum class Kind : std::uint8_t { Predict, Generate, Make, Solve, Look, Confuse, Release };

    std::unique_ptr<Worker> worker_;
};

} // namespace weft::ui
