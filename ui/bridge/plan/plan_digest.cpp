// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/plan_digest.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/ir/op_tensors.h"
#include "core/memory/arena.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/collective_rows.h"
#include "ui/bridge/plan/mesh_devices.h"
#include "ui/bridge/plan/pipeline_chart.h"
#include "ui/bridge/plan/step_moment.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kMostFusedNames = 3;
constexpr int kTakeApartNiceness = 10; // nobody waits for it

class PlanDigestText {
    Q_DECLARE_TR_FUNCTIONS(PlanDigest)
};

/// A group is named by what it does: "fused add, gelu", "sweep of 148: add, mul".
QString kind_text(const ir::Op& op) {
    if (!op.structured()) {
        return toQString(op.kind);
    }
    QStringList names;
    for (const ir::Op& inner : op.body.front().ops) {
        const QString name = toQString(inner.kind);
        if (!names.contains(name)) {
            names.append(name);
        }
    }
    const bool more = names.size() > kMostFusedNames;
    names = names.mid(0, kMostFusedNames);
    const std::size_t tensors = ir::tensors_of(op);
    const QString over = tensors > 1 ? " of " + QString::number(tensors) + ": " : QString(" ");
    return toQString(op.kind) + over + names.join(", ") + (more ? ", …" : "");
}

/// A plan is hundreds of thousands of small objects: not the GUI thread's work, nor is the next
/// plan to wait for it in the pool of all.
void takeApart(PlanDigest* digest) {
    static QuietPool pool(kTakeApartNiceness);
    pool.start([digest] { delete digest; });
}

class Digester {
public:
    Digester(std::shared_ptr<const plan::ExecutionPlan> plan, const PlanDigest* step)
        : digest_(step != nullptr ? new PlanDigest(*step) : new PlanDigest, takeApart) {
        digest_->plan = std::move(plan);
        if (step == nullptr) {
            digest_->step = std::make_shared<char>();
        }
    }

    std::shared_ptr<const PlanDigest> run() {
        const plan::ExecutionPlan& plan = *digest_->plan;
        digest_->peak_bytes = plan.memory_bytes();
        if (!plan.mesh.single() && !plan.programs.empty()) {
            digest_->devices = std::make_shared<const widgets::DeviceSet>(meshDevices(plan));
        }
        if (!digest_->ops.empty()) {
            makeMoments();
            return digest_; // all else is of the training step
        }
        if (plan.pipeline) {
            digest_->schedule =
                std::make_shared<const pipeline::Schedule>(scheduleOf(*plan.pipeline));
        }
        const plan::PlannedProgram* program = nullptr; // of the stage that needs most
        for (const plan::PlannedProgram* one : plan.all_stages("train_step")) {
            program = program == nullptr || program->peak_bytes < one->peak_bytes ? one : program;
        }
        if (program == nullptr && !plan.programs.empty()) {
            program = &*std::max_element(
                plan.programs.begin(), plan.programs.end(),
                [](const auto& a, const auto& b) { return a.peak_bytes < b.peak_bytes; });
        }
        if (program != nullptr) {
            digest_->stage = program->stage;
            addOps(program->steps, 1);
            setShares(*program);
            addTensors(*program);
            makeTimeline();
        }
        digest_->collectives =
            std::make_shared<const CollectiveRows>(collectiveRows(plan, digest_->stage));
        makeMoments();
        return digest_;
    }

private:
    /// They live as long as the digest, and no longer than it.
    void makeMoments() {
        digest_->moments = std::make_shared<const StepMoments>(
            std::shared_ptr<const PlanDigest>(std::shared_ptr<void>(), digest_.get()));
    }

    void addOps(const std::vector<plan::Step>& steps, std::int64_t times) {
        for (const plan::Step& step : steps) {
            PlanOp op;
            op.kind = kind_text(step.op);
            op.path = toQString(step.op.path);
            op.phase = toQString(ir::phase_name(step.op.phase));
            op.action = toQString(step.op.action);
            op.kernel = toQString(step.kernel);
            op.times = step.is_loop() ? step.count : times;
            op.is_loop = step.is_loop();
            const double executions = static_cast<double>(times);
            op.flops = step.flops * executions;
            op.bytes = step.bytes * executions;
            op.ms = step.is_loop() ? 0 : step.predicted_ms * executions;
            digest_->ops.push_back(op);
            addOps(step.steps, step.is_loop() ? times * step.count : times);
        }
    }

    void setShares(const plan::PlannedProgram& program) {
        double ms = 0;
        for (const PlanOp& op : digest_->ops) {
            ms += op.ms;
        }
        digest_->timed = ms > 0;
        for (PlanOp& op : digest_->ops) {
            if (!op.is_loop) {
                op.share = digest_->timed ? op.ms / ms : op.flops / std::max(1.0, program.flops);
            }
        }
    }

    void addTensors(const plan::PlannedProgram& program) {
        const int last = static_cast<int>(digest_->ops.size()) - 1;
        const plan::ExecutionPlan& plan = *digest_->plan;
        for (const plan::StateSlot& slot : plan.state_slots) {
            if (slot.stage == program.stage) {
                add(toQString(slot.name), toWidget(slot.category), memory::align(slot.type.bytes()),
                    0, last, true);
            }
        }
        for (const plan::Buffer& buffer : program.buffers) {
            if (!buffer.is_state) {
                add(toQString(buffer.name), toWidget(buffer.category), memory::align(buffer.bytes),
                    std::max(0, buffer.first_step), std::min(last, buffer.last_step), false);
            }
        }
        if (plan.device == "cpu") {
            using Category = widgets::MemoryCategory;
            add(PlanDigestText::tr("data set in memory"), Category::Batch,
                plan.host.data_cache_bytes, 0, last, true);
            add(PlanDigestText::tr("batches read ahead"), Category::Batch, plan.host.prefetch_bytes,
                0, last, true);
            add(PlanDigestText::tr("checkpoint being written"), Category::Staging,
                plan.host.staging_bytes, 0, last, true);
            add(PlanDigestText::tr("looks inside"), Category::Staging, plan.host.inside_bytes, 0,
                last, true);
            add(PlanDigestText::tr("libraries"), Category::Library, plan.host.library_bytes, 0,
                last, true);
        } else {
            using Category = widgets::MemoryCategory;
            add(PlanDigestText::tr("next batch"), Category::Batch, plan.landing_bytes(), 0, last,
                true);
            add(PlanDigestText::tr("driver"), Category::Library, plan.beside.context_bytes, 0, last,
                true);
            add(PlanDigestText::tr("libraries"), Category::Library, plan.beside.library_bytes, 0,
                last, true);
            add(PlanDigestText::tr("groups of devices"), Category::Communication,
                plan.beside.exchange_bytes, 0, last, true);
        }
    }

    void add(const QString& name, widgets::MemoryCategory category, std::int64_t bytes, int first,
             int last, bool whole_step) {
        if (bytes > 0 && last >= first) {
            digest_->tensors.push_back({name, category, bytes, first, last, whole_step});
        }
    }

    void makeTimeline() {
        const std::size_t steps = digest_->ops.size();
        std::array<std::vector<qint64>, widgets::kMemoryCategoryCount> change;
        for (const PlanTensor& tensor : digest_->tensors) {
            auto& column = change[static_cast<std::size_t>(tensor.category)];
            column.resize(steps + 1, 0);
            column[static_cast<std::size_t>(tensor.first)] += tensor.bytes;
            column[static_cast<std::size_t>(tensor.last) + 1] -= tensor.bytes;
        }
        digest_->totals.assign(steps, 0);
        for (std::size_t i = 0; i < change.size(); ++i) {
            if (change[i].empty()) {
                continue;
            }
            widgets::TimelineLayer layer;
            layer.category = static_cast<widgets::MemoryCategory>(i);
            qint64 alive = 0;
            for (std::size_t step = 0; step < steps; ++step) {
                alive += change[i][step];
                layer.bytes.push_back(alive);
                digest_->totals[step] += alive;
            }
            digest_->timeline.layers.push_back(std::move(layer));
        }
        for (const PlanOp& op : digest_->ops) {
            digest_->timeline.names.push_back(opTitle(op));
        }
        makeSpans();
        const auto most = std::max_element(digest_->totals.begin(), digest_->totals.end());
        digest_->peak =
            most == digest_->totals.end() ? -1 : static_cast<int>(most - digest_->totals.begin());
    }

    void makeSpans() {
        auto& spans = digest_->timeline.spans;
        for (std::size_t i = 0; i < digest_->ops.size(); ++i) {
            const PlanOp& op = digest_->ops[i];
            // A loop belongs to what its body begins with.
            const QString phase =
                op.is_loop && i + 1 < digest_->ops.size() ? digest_->ops[i + 1].phase : op.phase;
            const QString name = op.action.isEmpty() ? phase : op.action;
            if (!spans.empty() && spans.back().name == name) {
                ++spans.back().count;
            } else {
                const bool works = !op.action.isEmpty() || phase != "update";
                const bool forward =
                    op.action.isEmpty() ? phase == "forward" : op.action.startsWith('F');
                spans.push_back({name, static_cast<int>(i), 1, forward ? 0 : works ? 1 : 2});
            }
        }
    }

    std::shared_ptr<PlanDigest> digest_;
};

} // namespace

std::vector<int> PlanDigest::aliveAt(int op) const {
    std::vector<int> alive;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].first <= op && op <= tensors[i].last) {
            alive.push_back(static_cast<int>(i));
        }
    }
    std::stable_sort(alive.begin(), alive.end(), [this](int a, int b) {
        return tensors[static_cast<std::size_t>(a)].bytes >
               tensors[static_cast<std::size_t>(b)].bytes;
    });
    return alive;
}

std::shared_ptr<const PlanDigest> digestPlan(std::shared_ptr<const plan::ExecutionPlan> plan,
                                             const PlanDigest* step) {
    return Digester(std::move(plan), step).run();
}

bool sameStep(const std::shared_ptr<const PlanDigest>& a,
              const std::shared_ptr<const PlanDigest>& b) {
    return a && b ? a->step == b->step : a == b;
}

QString writePlan(const plan::ExecutionPlan& plan, const std::filesystem::path& file) {
    try {
        write_file_atomically(file, plan::to_json(plan).dump(2) + "\n");
        return {};
    } catch (const Error& error) {
        return toQString(error.message());
    }
}

QString opTitle(const PlanOp& op) {
    const QString place = op.path.isEmpty() ? op.kind : op.kind + " " + op.path;
    return op.is_loop ? place + " × " + QString::number(op.times) : place + ", " + op.phase;
}

QString formatFlops(double flops) {
    constexpr std::pair<double, const char*> kUnits[] = {
        {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    for (const auto& [size, unit] : kUnits) {
        if (flops >= size) {
            const double value = flops / size;
            return QString("%1 %2").arg(value, 0, 'f', value < 10 ? 2 : 1).arg(unit);
        }
    }
    return QString::number(flops, 'f', 0);
}

QString formatMilliseconds(double ms) {
    return ms >= 100 ? formatCount(std::llround(ms))
                     : QString::number(ms, 'f',
                                       ms < 1    ? 3
                                       : ms < 10 ? 2
                                                 : 1);
}

widgets::NumberStyle millisecondStyle(std::vector<double> ms) {
    constexpr double kToTheMicrosecond = 0.1; // numbers of this size have three decimals
    for (double& one : ms) {
        one = std::max(one, kToTheMicrosecond);
    }
    return widgets::NumberStyle(std::move(ms));
}

QString withSign(double value, const QString& text) {
    return (value > 0   ? QStringLiteral("+")
            : value < 0 ? QStringLiteral("−")
                        : QStringLiteral("±")) +
           text;
}

QString withoutNumbers(const QString& path) {
    QStringList parts = path.split('.');
    for (QString& part : parts) {
        const bool number = !part.isEmpty() && std::all_of(part.begin(), part.end(),
                                                           [](QChar c) { return c.isDigit(); });
        if (number) {
            part = "*";
        }
    }
    return parts.join('.');
}

QString withoutPrefix(const QString& text) {
    QStringList words = text.split(QLatin1Char(' '));
    for (QString& word : words) {
        const qsizetype star = word.lastIndexOf(QLatin1String("*."));
        word = star < 0 ? word : word.mid(star + 2);
        if (word.endsWith(QLatin1String(".weight"))) {
            word.chop(7);
        }
    }
    return words.join(QLatin1Char(' '));
}

} // namespace weft::ui
