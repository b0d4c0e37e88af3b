// SPDX-License-Identifier: GPL-3.0-or-later
// Samples with features as a table: number, what is to be predicted, every feature; of a table that
// somebody brought also its columns as they were.
#pragma once

#include "ui/bridge/data/data_preview.h"
#include "widgets/look/number_style.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace weft::ui {

class SampleModel : public QAbstractTableModel {
    Q_OBJECT
public:
    /// As the columns of the file hold it, or as the numbers that go into the network.
    enum class Seen { Raw, ByNetwork };

    explicit SampleModel(QObject* parent = nullptr);

    /// `seen` counts where the data are a table.
    void setSamples(std::shared_ptr<const SplitFacts> facts, std::vector<SampleView> samples,
                    Seen seen);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    int targets() const;
    int firstTarget() const { return 1; }
    int firstFeature() const { return 1 + targets(); }
    bool isRaw() const { return seen_ == Seen::Raw && !facts_->columns.empty(); }
    std::optional<double> number(const SampleView& sample, int column) const;
    void chooseStyles();
    QString display(const SampleView& sample, int column) const;
    QString title(int section) const;

    std::shared_ptr<const SplitFacts> facts_;
    std::vector<SampleView> samples_;
    Seen seen_ = Seen::ByNetwork;
    std::vector<std::optional<widgets::NumberStyle>> styles_; // of the columns of numbers
};

} // namespace weft::ui
