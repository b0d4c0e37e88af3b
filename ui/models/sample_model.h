// SPDX-License-Identifier: GPL-3.0-or-later
// Samples with features as a table: number, every feature, what is to be predicted.
#pragma once

#include "ui/bridge/data_preview.h"

#include <QAbstractTableModel>

namespace weft::ui {

class SampleModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit SampleModel(QObject* parent = nullptr);

    void setSamples(const data::SampleInfo& info, std::vector<SampleView> samples);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    int targets() const;
    int firstTarget() const { return 1; }
    int firstFeature() const { return 1 + targets(); }
    QString display(const SampleView& sample, int column) const;

    data::SampleInfo info_;
    std::vector<SampleView> samples_;
};

} // namespace weft::ui
