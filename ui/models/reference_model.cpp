// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/reference_model.h"

#include "core/compile/config/run_config.h"
#include "core/config/reference_tables.h"
#include "core/train/reference/reference.h"
#include "ui/bridge/convert.h"
#include "widgets/look/theme.h"

#include <QRegularExpression>

#include <algorithm>

namespace weft::ui {
namespace {

const QString kSettingsTopic = QStringLiteral("config");

/// Without the back quotes in which Markdown puts what is literal.
QString referenceText(std::string_view text) {
    return toQString(text).remove('`');
}

QString factsOfSetting(const config::ReferenceRow& row) {
    QStringList facts{referenceText(row.type)};
    if (!row.range.empty()) {
        facts << toQString(row.range);
    }
    if (row.required) {
        facts << ReferenceModel::tr("required");
    } else if (!row.default_value.empty()) {
        facts << ReferenceModel::tr("default %1").arg(toQString(row.default_value));
    }
    return facts.join(QStringLiteral(" · "));
}

bool holdsWords(const ReferenceEntry& entry, const QStringList& words) {
    return std::all_of(words.begin(), words.end(), [&](const QString& word) {
        return entry.name.contains(word, Qt::CaseInsensitive) ||
               entry.meaning.contains(word, Qt::CaseInsensitive) ||
               entry.section.contains(word, Qt::CaseInsensitive) ||
               entry.facts.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace

ReferenceModel::ReferenceModel(QObject* parent) : QAbstractTableModel(parent) {
    addSettings();
    for (const train::ReferencePage* page : train::reference_pages()) {
        const QString topic = toQString(page->topic);
        entries_.push_back({topic, "", toQString(page->title), "", referenceText(page->text)});
        for (const train::ReferenceSection& section : page->sections) {
            const QString title = toQString(section.title);
            entries_.push_back({topic, "", title, "", referenceText(section.text)});
            for (const train::ReferenceName& name : section.names) {
                entries_.push_back({topic, title, toQString(name.name), referenceText(name.type),
                                    referenceText(name.meaning)});
            }
        }
    }
    show({}, {});
}

void ReferenceModel::addSettings() {
    for (const config::ReferenceTable& table :
         config::reference_tables(compile::run_config_table())) {
        QString title;
        if (table.record != nullptr) {
            title = tr("%1: %2").arg(toQString(table.path), toQString(table.record->name));
            entries_.push_back({kSettingsTopic, "", title, "", referenceText(table.record->help)});
        }
        for (const config::ReferenceRow& row : table.rows) {
            entries_.push_back({kSettingsTopic, title, toQString(row.path), factsOfSetting(row),
                                referenceText(row.help)});
        }
    }
}

const std::vector<ReferenceTopic>& ReferenceModel::topics() {
    static const std::vector<ReferenceTopic> kTopics = [] {
        std::vector<ReferenceTopic> out{{kSettingsTopic, tr("Run configuration")}};
        for (const train::ReferencePage* page : train::reference_pages()) {
            out.push_back({toQString(page->topic), toQString(page->title)});
        }
        return out;
    }();
    return kTopics;
}

void ReferenceModel::show(const QString& topic, const QString& words) {
    const QStringList wanted = words.simplified().split(' ', Qt::SkipEmptyParts);
    beginResetModel();
    shown_.clear();
    for (const ReferenceEntry& entry : entries_) {
        if ((topic.isEmpty() || entry.topic == topic) && holdsWords(entry, wanted)) {
            shown_.push_back(&entry);
        }
    }
    endResetModel();
}

int ReferenceModel::rowOf(const QString& pointer) const {
    static const QRegularExpression kItem("/\\d+(?=/|$)");
    const QString name = QString(pointer).replace(kItem, "[]").mid(1).replace('/', '.');
    const auto found = std::find_if(shown_.begin(), shown_.end(), [&](const ReferenceEntry* entry) {
        return entry->topic == kSettingsTopic && entry->name == name;
    });
    return found == shown_.end() ? -1 : static_cast<int>(found - shown_.begin());
}

int ReferenceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

int ReferenceModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ReferenceModel::data(const QModelIndex& index, int role) const {
    const ReferenceEntry& row = entry(index.row());
    const bool heading = row.section.isEmpty() && row.facts.isEmpty();
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == NameColumn      ? row.name
               : index.column() == SectionColumn ? row.section
                                                 : row.meaning;
    case Qt::FontRole:
        if (index.column() == NameColumn) {
            return widgets::Theme::current().font(heading ? widgets::TextStyle::Strong
                                                          : widgets::TextStyle::MonoSmall);
        }
        return {};
    case Qt::ForegroundRole:
        if (index.column() != NameColumn) {
            return widgets::Theme::current().color(widgets::Role::Muted);
        }
        return {};
    default: return {};
    }
}

QVariant ReferenceModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        return int(Qt::AlignLeft | Qt::AlignVCenter);
    }
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == NameColumn ? tr("name") : section == SectionColumn ? tr("in") : tr("meaning");
}

} // namespace weft::ui
