// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/program_trace.h"

#include "core/compile/programs/programs.h"
#include "core/ir/text.h"
#include "core/train/planning.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>
#include <QHash>
#include <QRegularExpression>

#include <algorithm>
#include <map>
#include <set>

namespace weft::ui {
namespace {

QStringList linesOf(const std::string& text) {
    QStringList lines = toQString(text).split('\n');
    while (!lines.isEmpty() && lines.back().isEmpty()) {
        lines.removeLast();
    }
    return lines;
}

QStringList withoutValueNumbers(const QStringList& lines) {
    static const QRegularExpression number("%\\d+");
    QStringList plain = lines;
    for (QString& line : plain) {
        line.replace(number, "%");
    }
    return plain;
}

/// Counts lines as a bag: a line that moved is no change, a line that is there twice counts twice.
void compare(const QStringList& before, PassText& after) {
    QHash<QString, int> left;
    for (const QString& line : before) {
        ++left[line];
    }
    after.fresh.assign(static_cast<std::size_t>(after.lines.size()), false);
    for (qsizetype i = 0; i < after.lines.size(); ++i) {
        const auto found = left.find(after.lines[i]);
        if (found != left.end() && *found > 0) {
            --*found;
        } else {
            after.fresh[static_cast<std::size_t>(i)] = true;
            ++after.added;
        }
    }
    for (const int count : std::as_const(left)) {
        after.removed += count;
    }
    after.numbers_only = after.added > 0 && after.added == after.removed &&
                         withoutValueNumbers(before) == withoutValueNumbers(after.lines);
    if (after.numbers_only) {
        after.fresh.clear();
    }
}

ProgramTrace& traceOf(std::vector<ProgramTrace>& traces, const QString& program) {
    auto found = std::find_if(traces.begin(), traces.end(),
                              [&](const ProgramTrace& trace) { return trace.program == program; });
    if (found == traces.end()) {
        traces.push_back({program, {}});
        return traces.back();
    }
    return *found;
}

void addPass(ProgramTrace& trace, const QString& pass, const std::string& text) {
    PassText made;
    made.pass = pass;
    made.lines = linesOf(text);
    if (!trace.passes.empty()) {
        compare(trace.passes.back().lines, made);
    }
    trace.passes.push_back(std::move(made));
}

/// The part of a line between @ " and ": the layer that made the op.
QString pathOf(const QString& line) {
    const qsizetype at = line.indexOf(QLatin1String(" @ \""));
    if (at < 0) {
        return {};
    }
    const qsizetype end = line.indexOf('"', at + 4);
    return line.mid(at + 4, end - at - 4);
}

bool inside(const QString& path, const QString& layer) {
    return layer.isEmpty() || path == layer || path.startsWith(layer + ".");
}

class GraphBuilder {
    Q_DECLARE_TR_FUNCTIONS(GraphBuilder)

public:
    GraphBuilder(const ir::Program& program, const QString& layer)
        : program_(program), layer_(layer) {}

    widgets::Graph run() {
        for (const ir::Port& port : program_.arguments) {
            names_[port.value] = toQString(port.name);
        }
        visit(program_.body);
        return std::move(graph_);
    }

private:
    void visit(const ir::Block& block) {
        for (const ir::Op& op : block.ops) {
            if (op.is_loop()) {
                enter(op);
            } else if (inside(toQString(op.path), layer_)) {
                add(op);
            } else {
                for (const ir::ValueId value : op.outputs) {
                    names_[value] = toQString(op.kind) + " " + toQString(op.path);
                }
            }
        }
    }

    // A loop is drawn as its body; what goes in has the names that it has outside.
    void enter(const ir::Op& op) {
        const ir::Block& body = op.body.front();
        for (std::size_t i = 0; i < body.arguments.size() && i < op.inputs.size(); ++i) {
            alias_[body.arguments[i]] = resolve(op.inputs[i]);
        }
        visit(body);
        for (std::size_t i = 0; i < body.results.size() && i < op.outputs.size(); ++i) {
            alias_[op.outputs[i]] = resolve(body.results[i]);
        }
    }

    ir::ValueId resolve(ir::ValueId value) const {
        const auto found = alias_.find(value);
        return found == alias_.end() ? value : found->second;
    }

    void add(const ir::Op& op) {
        const int node = static_cast<int>(graph_.nodes.size());
        widgets::GraphNode made;
        made.title = toQString(op.kind);
        if (op.structured()) {
            QStringList kinds;
            for (const ir::Op& inner : op.body.front().ops) {
                kinds.append(toQString(inner.kind));
            }
            made.title = kinds.size() <= 3
                             ? toQString(op.kind) + " " + kinds.join(", ")
                             : tr("%1, %2 ops").arg(toQString(op.kind)).arg(kinds.size());
            made.tooltip = toQString(op.kind) + " " + kinds.join(", ");
        }
        made.detail = toQString(op.path);
        made.tooltip = (made.tooltip.isEmpty() ? made.title : made.tooltip) + "\n" + made.detail +
                       ", " + toQString(ir::phase_name(op.phase));
        made.shade = op.phase == ir::Phase::backward ? 1 : op.phase == ir::Phase::update ? 2 : 0;
        graph_.nodes.push_back(made);
        std::set<ir::ValueId> seen;
        for (const ir::ValueId raw : op.inputs) {
            const ir::ValueId value = resolve(raw);
            if (seen.insert(value).second) {
                graph_.edges.push_back({producer(value), node, toQString(type_text(raw))});
            }
        }
        for (const ir::ValueId value : op.outputs) {
            node_of_[value] = node;
        }
    }

    std::string type_text(ir::ValueId value) const { return ir::to_text(program_.type(value)); }

    /// The node that a value comes from; one from outside gets a node of its own.
    int producer(ir::ValueId value) {
        const auto found = node_of_.find(value);
        if (found != node_of_.end()) {
            return found->second;
        }
        const int node = static_cast<int>(graph_.nodes.size());
        const auto name = names_.find(value);
        widgets::GraphNode outside;
        outside.title = name != names_.end() ? name->second : QString("%%1").arg(value.index);
        outside.shade = 3;
        graph_.nodes.push_back(outside);
        node_of_[value] = node;
        return node;
    }

    const ir::Program& program_;
    QString layer_;
    widgets::Graph graph_;
    std::map<ir::ValueId, int> node_of_;
    std::map<ir::ValueId, QString> names_;
    std::map<ir::ValueId, ir::ValueId> alias_;
};

} // namespace

std::vector<ProgramTrace> traceProgram(const compile::RunConfig& config,
                                       const cost::Hardware* hardware,
                                       const std::stop_token& stop) {
    const train::PlanTarget target = hardware != nullptr
                                         ? train::planned_hardware(*hardware, nullptr)
                                         : train::this_machine(0, nullptr);
    const data::DataOutline data = train::outline_run_data(config, target);
    std::vector<ProgramTrace> traces;
    for (const ir::Program& program : compile::build_programs(config, data.sample).programs) {
        addPass(traceOf(traces, toQString(program.name)), QObject::tr("as built"),
                ir::print(program));
    }
    compile::PipelineOptions options;
    options.verify = false;
    options.stop = stop;
    options.dump = [&](const std::string& name, const std::string& pass,
                       const ir::Program& program) {
        addPass(traceOf(traces, toQString(name)), toQString(pass), ir::print(program));
    };
    const plan::ExecutionPlan plan =
        compile::compile_run(config, data.sample, options, compile::Scope::run, target.limit_bytes);
    for (const plan::PlannedProgram& program : plan.programs) {
        QString name = toQString(program.name);
        if (plan.pipeline) {
            name = QObject::tr("%1, stage %2").arg(name).arg(program.stage);
        }
        addPass(traceOf(traces, name), "share memory", program.text);
    }
    for (const plan::PassTime& time : plan.pass_times) {
        for (PassText& pass : traceOf(traces, toQString(time.program)).passes) {
            if (pass.pass == toQString(time.pass)) {
                pass.ms = time.ms;
            }
        }
    }
    return traces;
}

QStringList layersOf(const QStringList& lines) {
    QStringList order;
    QSet<QString> known;
    for (const QString& line : lines) {
        const QString path = pathOf(line);
        for (qsizetype dot = 0; dot >= 0 && !path.isEmpty();) {
            dot = path.indexOf('.', dot + 1);
            const QString part = dot < 0 ? path : path.left(dot);
            if (!known.contains(part)) {
                known.insert(part);
                order.append(part);
            }
        }
    }
    return order;
}

bool isOfLayer(const QString& line, const QString& layer) {
    return layer.isEmpty() || inside(pathOf(line), layer);
}

widgets::Graph programGraph(const QString& text, const QString& layer) {
    const ir::Program program = ir::parse(text.toStdString());
    return GraphBuilder(program, layer).run();
}

} // namespace weft::ui
