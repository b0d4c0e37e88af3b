// SPDX-License-Identifier: GPL-3.0-or-later
// The reference as rows: every setting, event, command, member of a plan, file of a run and error
// that `weft help TOPIC` explains, narrowed to a topic and to words.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace weft::ui {

/// A page of the reference.
struct ReferenceTopic {
    QString topic; // "events", as `weft help` takes it
    QString title; // "Events of a run"
};

/// A name with its meaning; of a section or a page, its title with what it says as a whole.
struct ReferenceEntry {
    QString topic;
    QString section; // the title of the section that it is in; empty: it is one itself
    QString name;
    QString facts; // type, default and range on one line
    QString meaning;
};

class ReferenceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, SectionColumn, MeaningColumn, ColumnCount };

    explicit ReferenceModel(QObject* parent = nullptr);

    static const std::vector<ReferenceTopic>& topics();
    /// `topic` empty: all. Rows hold every word of `words`, wherever in them it stands.
    void show(const QString& topic, const QString& words);
    const ReferenceEntry& entry(int row) const { return *shown_[static_cast<std::size_t>(row)]; }
    /// The row of the setting of a JSON pointer in what is shown; -1: there is none.
    int rowOf(const QString& pointer) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void addSettings();

    std::vector<ReferenceEntry> entries_;
    std::vector<const ReferenceEntry*> shown_;
};

} // namespace weft::ui
