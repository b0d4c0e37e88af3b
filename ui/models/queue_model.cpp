// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/queue_model.h"

#include "ui/bridge/convert.h"

#include <algorithm>

namespace weft::ui {
namespace {

using queue::EntryView;
using queue::State;

QString stateWord(State state) {
    switch (state) {
    case State::waiting: return QueueModel::tr("waiting");
    case State::running: return QueueModel::tr("running");
    case State::paused: return QueueModel::tr("at its rung");
    case State::done: return QueueModel::tr("done");
    case State::failed: return QueueModel::tr("failed");
    case State::stopped: return QueueModel::tr("stopped");
    case State::held: return QueueModel::tr("held");
    }
    return {};
}

QString queueStepText(const EntryView& row) {
    if (row.step < 0) {
        return {};
    }
    return row.until > 0
               ? QueueModel::tr("%1 of %2").arg(formatCount(row.step), formatCount(row.until))
               : formatCount(row.step);
}

QString leftText(const EntryView& row) {
    return row.eta_s ? formatDuration(*row.eta_s) : QString();
}

QString lossText(const EntryView& row) {
    return row.loss ? formatMetric(*row.loss) : QString();
}

QString queueRowTip(const EntryView& row) {
    QString out = toQString(row.entry.name) + QLatin1String(": ") + queueStateText(row.entry);
    for (const auto& [path, value] : row.entry.settings.items()) {
        out += QLatin1Char('\n') + toQString(path) + QLatin1Char(' ') +
               toQString(queue::value_text(value));
    }
    return row.entry.run.empty() ? out : out + QLatin1Char('\n') + pathText(row.entry.run);
}

bool sameEntries(const std::vector<EntryView>& a, const std::vector<EntryView>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.entry.id == y.entry.id; });
}

} // namespace

QString queueStateText(const queue::Entry& entry) {
    if (entry.state == State::running && entry.stop) {
        return QueueModel::tr("stopping");
    }
    const QString word = stateWord(entry.state);
    const QString reason = toQString(entry.reason);
    return reason.isEmpty()          ? word
           : reason.startsWith(word) ? reason
                                     : QueueModel::tr("%1: %2").arg(word, reason);
}

QueueModel::QueueModel(QObject* parent) : TableModel(parent) {
    using widgets::TextStyle;
    describe({{.title = tr("no."),
               .text = [](const EntryView& row) { return QString::number(row.entry.id); },
               .number = true},
              {.title = tr("name"),
               .text = [](const EntryView& row) { return toQString(row.entry.name); }},
              {.title = tr("state"),
               .text = [](const EntryView& row) { return queueStateText(row.entry); }},
              {.title = tr("step"), .text = queueStepText, .number = true},
              {.title = tr("time left"), .text = leftText, .number = true},
              {.title = tr("loss"), .text = lossText, .number = true},
              {.title = tr("devices"),
               .text =
                   [](const EntryView& row) {
                       return toQString(row.entry.hosts.empty() ? row.entry.devices
                                                                : row.entry.hosts);
                   },
               .font = TextStyle::Mono}},
             queueRowTip);
}

bool QueueModel::setEntries(std::vector<queue::EntryView> entries) {
    const bool same = sameEntries(rows_, entries);
    return replaceRows(std::move(entries), same);
}

int QueueModel::rowOf(std::int64_t id) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [id](const EntryView& row) { return row.entry.id == id; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QVariant QueueModel::data(const QModelIndex& index, int role) const {
    if (role == Qt::ForegroundRole && index.isValid() && index.column() == StateColumn) {
        const State state = row(index.row()).entry.state;
        const auto color = [](widgets::Role of) {
            return QVariant(widgets::Theme::current().color(of));
        };
        switch (state) {
        case State::failed: return color(widgets::Role::Error);
        case State::running: return color(widgets::Role::Accent);
        case State::done: return color(widgets::Role::Success);
        case State::stopped:
        case State::held: return color(widgets::Role::Muted);
        default: break;
        }
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
