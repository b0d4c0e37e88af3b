// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_column.h"

#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

using ColumnKind = RunColumn::Kind;

struct KindName {
    ColumnKind kind;
    const char* id;
    const char* title;
};
constexpr KindName kKinds[] = {
    {ColumnKind::Name, "name", QT_TRANSLATE_NOOP("RunColumn", "run")},
    {ColumnKind::State, "state", QT_TRANSLATE_NOOP("RunColumn", "state")},
    {ColumnKind::Curve, "curve", QT_TRANSLATE_NOOP("RunColumn", "loss")},
    {ColumnKind::Best, "best", QT_TRANSLATE_NOOP("RunColumn", "best")},
    {ColumnKind::Step, "step", QT_TRANSLATE_NOOP("RunColumn", "step")},
    {ColumnKind::Time, "time", QT_TRANSLATE_NOOP("RunColumn", "time")},
    {ColumnKind::Size, "size", QT_TRANSLATE_NOOP("RunColumn", "size")},
    {ColumnKind::Tags, "tags", QT_TRANSLATE_NOOP("RunColumn", "tags")},
    {ColumnKind::Notes, "notes", QT_TRANSLATE_NOOP("RunColumn", "notes")},
    {ColumnKind::Parent, "parent", QT_TRANSLATE_NOOP("RunColumn", "parent")},
    {ColumnKind::When, "when", QT_TRANSLATE_NOOP("RunColumn", "written")},
    {ColumnKind::Model, "model", QT_TRANSLATE_NOOP("RunColumn", "model")},
    {ColumnKind::Data, "data", QT_TRANSLATE_NOOP("RunColumn", "data")},
};

const QString kSettingWord = QStringLiteral("setting ");

} // namespace

QString RunColumn::id() const {
    if (kind == ColumnKind::Metric) {
        const QString what = value == Value::Best   ? QStringLiteral("best")
                             : value == Value::Last ? QStringLiteral("last")
                                                    : QStringLiteral("at %1").arg(step);
        return "metric " + what + " " + toQString(metric);
    }
    if (kind == ColumnKind::Setting) {
        return kSettingWord + toQString(metric);
    }
    for (const KindName& known : kKinds) {
        if (known.kind == kind) {
            return known.id;
        }
    }
    return {};
}

std::optional<RunColumn> RunColumn::fromId(const QString& id) {
    RunColumn column;
    if (id.startsWith(kSettingWord)) {
        column.kind = ColumnKind::Setting;
        column.metric = id.mid(kSettingWord.size()).toStdString();
        return column.metric.empty() ? std::nullopt : std::optional(column);
    }
    if (!id.startsWith("metric ")) {
        for (const KindName& known : kKinds) {
            if (id == known.id) {
                column.kind = known.kind;
                return column;
            }
        }
        return std::nullopt;
    }
    column.kind = ColumnKind::Metric;
    const QString word = id.section(' ', 1, 1);
    int name_at = 2;
    if (word == "at") {
        bool good = false;
        column.value = Value::AtStep;
        column.step = id.section(' ', 2, 2).toLongLong(&good);
        name_at = 3;
        if (!good) {
            return std::nullopt;
        }
    } else if (word == "best" || word == "last") {
        column.value = word == "best" ? Value::Best : Value::Last;
    } else {
        return std::nullopt;
    }
    column.metric = id.section(' ', name_at).toStdString();
    return column.metric.empty() ? std::nullopt : std::optional(column);
}

QString RunColumn::title() const {
    if (kind == ColumnKind::Metric) {
        const QString name = toQString(metric);
        return value == Value::Best   ? tr("%1, best").arg(name)
               : value == Value::Last ? tr("%1, last").arg(name)
                                      : tr("%1 at %2").arg(name, formatCount(step));
    }
    if (kind == ColumnKind::Setting) {
        return toQString(metric).section('.', -1);
    }
    for (const KindName& known : kKinds) {
        if (known.kind == kind) {
            return tr(known.title);
        }
    }
    return {};
}

QString RunColumn::csvName() const {
    if (kind == ColumnKind::Setting) {
        return toQString(metric);
    }
    if (kind == ColumnKind::Metric) {
        return toQString(metric) + (value == Value::Best   ? QStringLiteral(":best")
                                    : value == Value::Last ? QStringLiteral(":last")
                                                           : QStringLiteral("@%1").arg(step));
    }
    return kind == ColumnKind::Curve ? QStringLiteral("loss") : id();
}

bool RunColumn::isNumber() const {
    return kind == ColumnKind::Best || kind == ColumnKind::Metric || kind == ColumnKind::Step ||
           kind == ColumnKind::Time || kind == ColumnKind::Size || kind == ColumnKind::When;
}

std::vector<RunColumn> RunColumn::usual() {
    std::vector<RunColumn> columns;
    for (const ColumnKind kind :
         {ColumnKind::Name, ColumnKind::State, ColumnKind::Curve, ColumnKind::Best,
          ColumnKind::Step, ColumnKind::Time, ColumnKind::Size, ColumnKind::Tags, ColumnKind::Notes,
          ColumnKind::Parent, ColumnKind::When}) {
        columns.emplace_back().kind = kind;
    }
    return columns;
}

std::vector<RunColumn> RunColumn::facts() {
    std::vector<RunColumn> columns;
    for (const KindName& known : kKinds) {
        columns.emplace_back().kind = known.kind;
    }
    return columns;
}

} // namespace weft::ui
