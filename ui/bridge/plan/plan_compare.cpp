// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/plan_compare.h"

#include "core/train/find_meshes.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <QObject>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace weft::ui {
namespace {

/// Collectives of one kind, of the device that sends most.
struct Traffic {
    qint64 bytes = 0;
    double ms = 0;
    double count = 0;
};

/// Collectives by kind, of the stage that sends most in all.
std::map<std::string, Traffic> trafficOf(const plan::ExecutionPlan& plan) {
    std::map<std::string, Traffic> most;
    qint64 most_bytes = -1;
    for (const plan::PlannedProgram* program : plan.all_stages("train_step")) {
        std::map<std::string, Traffic> own;
        qint64 bytes = 0;
        for (const plan::Collective& one : plan::collectives(*program)) {
            Traffic& kind = own[one.kind];
            kind.bytes += one.sent_bytes;
            kind.ms += one.predicted_ms;
            kind.count += one.count;
            bytes += one.sent_bytes;
        }
        if (bytes > most_bytes) {
            most_bytes = bytes;
            most = std::move(own);
        }
    }
    return most;
}

Traffic sumOf(const std::map<std::string, Traffic>& all) {
    Traffic out;
    for (const auto& [kind, one] : all) {
        out.bytes += one.bytes;
        out.ms += one.ms;
        out.count += one.count;
    }
    return out;
}

/// Of a device of the stage that needs most; what the host keeps beside simulated devices is not
/// theirs.
std::vector<std::int64_t> memoryOf(const PlanDigest& digest) {
    const plan::PlannedProgram* program = plan::largest_program(*digest.plan, digest.stage);
    return program == nullptr ? std::vector<std::int64_t>(plan::kCategories)
                              : plan::bytes_by_category(*digest.plan, *program);
}

ComparedSide sideOf(const PlanDigest& digest) {
    ComparedSide out;
    const auto bytes = memoryOf(digest);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            out.segments.push_back({toWidget(static_cast<plan::Category>(i)), bytes[i]});
        }
    }
    out.limit = train::limit_of_device(*digest.plan);
    return out;
}

Better lessOf(double a, double b) {
    return a < b ? Better::A : b < a ? Better::B : Better::Neither;
}

/// Adds rows for one kind of figure each.
class Figures {
public:
    void memory(const QString& group, const QString& name, qint64 a, qint64 b) {
        add(group, name, static_cast<double>(a), static_cast<double>(b),
            [](double bytes) { return widgets::formatMemory(std::llround(bytes)); });
    }
    void count(const QString& group, const QString& name, double a, double b) {
        add(group, name, a, b, [](double value) { return formatCount(std::llround(value)); });
    }
    void ms(const QString& group, const QString& name, std::optional<double> a,
            std::optional<double> b) {
        if (a && b) {
            add(group, name, *a, *b,
                [](double value) { return formatMilliseconds(value) + QStringLiteral(" ms"); });
        } else if (a || b) {
            const auto text = [](const std::optional<double>& value) {
                return value ? formatMilliseconds(*value) + QStringLiteral(" ms")
                             : QStringLiteral("–");
            };
            rows_.push_back({group, name, text(a), text(b), {}, Better::Neither});
        }
    }
    void share(const QString& group, const QString& name, double a, double b) {
        add(group, name, a, b, [](double value) {
            return QString::number(100 * value, 'f', 1) + QStringLiteral(" %");
        });
    }
    std::vector<ComparedFigure> take() { return std::move(rows_); }

private:
    template <class Text>
    void add(const QString& group, const QString& name, double a, double b, Text text) {
        if (a == 0 && b == 0) {
            return;
        }
        const bool alike = text(a) == text(b); // as far as is shown
        rows_.push_back({group, name, text(a), text(b),
                         alike ? QString() : withSign(b - a, text(std::abs(b - a))),
                         alike ? Better::Neither : lessOf(a, b)});
    }

    std::vector<ComparedFigure> rows_;
};

void addMemory(Figures& out, const PlanDigest& a, const PlanDigest& b) {
    const QString group = QObject::tr("memory");
    const auto of_a = memoryOf(a);
    const auto of_b = memoryOf(b);
    qint64 all_a = 0;
    qint64 all_b = 0;
    std::vector<std::tuple<widgets::MemoryCategory, qint64, qint64>> rows;
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        all_a += of_a[i];
        all_b += of_b[i];
        rows.emplace_back(toWidget(static_cast<plan::Category>(i)), of_a[i], of_b[i]);
    }
    std::sort(rows.begin(), rows.end());
    out.memory(group, QObject::tr("all"), all_a, all_b);
    for (const auto& [category, bytes_a, bytes_b] : rows) {
        out.memory(group, widgets::memoryName(category), bytes_a, bytes_b);
    }
}

void addTraffic(Figures& out, const PlanDigest& a, const PlanDigest& b) {
    const QString group = QObject::tr("collectives");
    auto of_a = trafficOf(*a.plan);
    auto of_b = trafficOf(*b.plan);
    const Traffic sum_a = sumOf(of_a);
    const Traffic sum_b = sumOf(of_b);
    out.memory(group, QObject::tr("sent"), sum_a.bytes, sum_b.bytes);
    out.count(group, QObject::tr("how many"), sum_a.count, sum_b.count);
    const bool timed = a.plan->predicted_step_ms && b.plan->predicted_step_ms;
    if (timed) {
        out.ms(group, QObject::tr("time"), sum_a.ms, sum_b.ms);
    }
    std::map<std::string, Traffic> kinds = of_a;
    kinds.insert(of_b.begin(), of_b.end());
    for (const auto& [kind, unused] : kinds) {
        const QString name =
            kind == "send_recv" ? QStringLiteral("send") : toQString(kind).replace('_', '-');
        out.memory(group, QObject::tr("%1 sent").arg(name), of_a[kind].bytes, of_b[kind].bytes);
        if (timed) {
            out.ms(group, QObject::tr("%1 time").arg(name), of_a[kind].ms, of_b[kind].ms);
        }
    }
}

/// The stage whose devices hold a slot; -1: all devices do.
int stageOf(const plan::ExecutionPlan& plan, const plan::StateSlot& slot) {
    return plan.pipeline ? slot.stage : -1;
}

/// The stages of the tensors of one row, from the first to the last.
struct Stages {
    int first = -1;
    int last = -1;

    void add(int stage) {
        first = first < 0 ? stage : std::min(first, stage);
        last = std::max(last, stage);
    }
    /// "P('model') on stage 1 to 3"
    QString after(const QString& spec) const {
        return first < 0 ? spec
               : first == last
                   ? QObject::tr("%1 on stage %2").arg(spec).arg(first)
                   : QObject::tr("%1 on stages %2 to %3").arg(spec).arg(first).arg(last);
    }
};

/// What a device holds of a tensor: of those in a pipeline, a device of its stage.
void addTensors(PlanComparison& out, const plan::ExecutionPlan& a, const plan::ExecutionPlan& b,
                sharding::SpecDialect dialect) {
    std::map<std::string, const plan::StateSlot*> of_b;
    for (const plan::StateSlot& slot : b.state_slots) {
        of_b.try_emplace(slot.name, &slot);
    }
    std::map<std::tuple<QString, QString, QString, qint64, qint64>, std::size_t> known;
    std::vector<std::pair<Stages, Stages>> stages; // [row]
    for (const plan::StateSlot& slot : a.state_slots) {
        const auto other = of_b.find(slot.name);
        if (other == of_b.end()) {
            continue; // a slot of a second stage, or of another model
        }
        const QString spec_a = specText(a, slot, dialect);
        const QString spec_b = specText(b, *other->second, dialect);
        const qint64 bytes_a = slot.type.bytes();
        const qint64 bytes_b = other->second->type.bytes();
        const int stage_a = stageOf(a, slot);
        const int stage_b = stageOf(b, *other->second);
        of_b.erase(other);
        if (spec_a == spec_b && bytes_a == bytes_b && stage_a == stage_b) {
            out.equal_tensors += 1;
            continue;
        }
        const QString name = withoutNumbers(toQString(slot.name));
        const auto [found, is_new] =
            known.try_emplace({name, spec_a, spec_b, bytes_a, bytes_b}, out.tensors.size());
        if (is_new) {
            out.tensors.push_back({name, 0, spec_a, spec_b, bytes_a, bytes_b});
            stages.emplace_back();
        }
        out.tensors[found->second].count += 1;
        if (stage_a != stage_b) {
            stages[found->second].first.add(stage_a);
            stages[found->second].second.add(stage_b);
        }
    }
    for (std::size_t row = 0; row < stages.size(); ++row) {
        out.tensors[row].a_spec = stages[row].first.after(out.tensors[row].a_spec);
        out.tensors[row].b_spec = stages[row].second.after(out.tensors[row].b_spec);
    }
    std::stable_sort(out.tensors.begin(), out.tensors.end(), [](const auto& x, const auto& y) {
        return x.count * std::abs(x.b_bytes - x.a_bytes) >
               y.count * std::abs(y.b_bytes - y.a_bytes);
    });
}

qint64 memorySum(const PlanDigest& digest) {
    qint64 sum = 0;
    for (const std::int64_t bytes : memoryOf(digest)) {
        sum += bytes;
    }
    return sum;
}

} // namespace

PlanComparison comparePlans(const PlanDigest& a, const PlanDigest& b,
                            sharding::SpecDialect dialect) {
    PlanComparison out;
    out.a = sideOf(a);
    out.b = sideOf(b);
    Figures figures;
    const QString step = QObject::tr("step");
    figures.ms(step, QObject::tr("time"), a.plan->predicted_step_ms, b.plan->predicted_step_ms);
    const auto bubble = [](const plan::ExecutionPlan& plan) {
        return plan.pipeline ? plan.pipeline->bubble_fraction : 0.0;
    };
    figures.share(step, QObject::tr("bubbles"), bubble(*a.plan), bubble(*b.plan));
    addMemory(figures, a, b);
    addTraffic(figures, a, b);
    out.figures = figures.take();
    addTensors(out, *a.plan, *b.plan, dialect);
    return out;
}

QString verdictOn(const PlanDigest& a, const PlanDigest& b) {
    QStringList parts;
    if (a.plan->predicted_step_ms && b.plan->predicted_step_ms && *a.plan->predicted_step_ms > 0) {
        const double more = *b.plan->predicted_step_ms / *a.plan->predicted_step_ms - 1;
        const QString percent = QString::number(100 * std::abs(more), 'f', 1);
        if (std::abs(more) >= 0.0005) {
            parts.append(more < 0 ? QObject::tr("takes %1 % less time").arg(percent)
                                  : QObject::tr("takes %1 % more time").arg(percent));
        }
    }
    const qint64 bytes = memorySum(b) - memorySum(a);
    if (bytes != 0) {
        const QString text = widgets::formatMemory(std::abs(bytes));
        parts.append(bytes < 0 ? QObject::tr("needs %1 less on a device").arg(text)
                               : QObject::tr("needs %1 more on a device").arg(text));
    }
    if (!b.plan->fits()) {
        parts.append(QObject::tr("does not fit"));
    }
    return parts.isEmpty() ? QString() : QObject::tr("B %1").arg(parts.join(QStringLiteral(", ")));
}

} // namespace weft::ui
