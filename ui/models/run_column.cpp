// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_column.h"

#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

using Kind = RunColumn::Kind;

struct KindName {
    Kind kind;
    const char* id;
    const char* title;
};
constexpr KindName kKinds[] = {
    {Kind::Name, "name", QT_TRANSLATE_NOOP("RunColumn", "run")},
    {Kind::State, "state", QT_TRANSLATE_NOOP("RunColumn", "state")},
    {Kind::Curve, "curve", QT_TRANSLATE_NOOP("RunColumn", "loss")},
    {Kind::Best, "best", QT_TRANSLATE_NOOP("RunColumn", "best")},
    {Kind::Step, "step", QT_TRANSLATE_NOOP("RunColumn", "step")},
    {Kind::Time, "time", QT_TRANSLATE_NOOP("RunColumn", "time")},
    {Kind::Size, "size", QT_TRANSLATE_NOOP("RunColumn", "size")},
    {Kind::Tags, "tags", QT_TRANSLATE_NOOP("RunColumn", "tags")},
    {Kind::Notes, "notes", QT_TRANSLATE_NOOP("RunColumn", "notes")},
    {Kind::Parent, "parent", QT_TRANSLATE_NOOP("RunColumn", "parent")},
    {Kind::When, "when", QT_TRANSLATE_NOOP("RunColumn", "written")},
    {Kind::Model, "model", QT_TRANSLATE_NOOP("RunColumn", "model")},
    {Kind::Data, "data", QT_TRANSLATE_NOOP("RunColumn", "data")},
};

} // namespace

QString RunColumn::id() const {
    if (kind == Kind::Metric) {
        const QString what = value == Value::Best   ? QStringLiteral("best")
                             : value == Value::Last ? QStringLiteral("last")
                                                    : QStringLiteral("at %1").arg(step);
        return "metric " + what + " " + toQString(metric);
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
    if (!id.startsWith("metric ")) {
        for (const KindName& known : kKinds) {
            if (id == known.id) {
                column.kind = known.kind;
                return column;
            }
        }
        return std::nullopt;
    }
    column.kind = Kind::Metric;
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
    if (kind == Kind::Metric) {
        const QString name = toQString(metric);
        return value == Value::Best   ? tr("%1, best").arg(name)
               : value == Value::Last ? tr("%1, last").arg(name)
                                      : tr("%1 at %2").arg(name, formatCount(step));
    }
    for (const KindName& known : kKinds) {
        if (known.kind == kind) {
            return tr(known.title);
        }
    }
    return {};
}

bool RunColumn::isNumber() const {
    return kind == Kind::Best || kind == Kind::Metric || kind == Kind::Step || kind == Kind::Time ||
           kind == Kind::Size || kind == Kind::When;
}

std::vector<RunColumn> RunColumn::usual() {
    std::vector<RunColumn> columns;
    for (const Kind kind :
         {Kind::Name, Kind::State, Kind::Curve, Kind::Best, Kind::Step, Kind::Time, Kind::Size,
          Kind::Tags, Kind::Notes, Kind::Parent, Kind::When}) {
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
