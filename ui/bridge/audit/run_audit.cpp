// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/audit/run_audit.h"

#include "core/base/file.h"
#include "core/data/formats/format.h"
#include "ui/bridge/convert.h"

#include <QProcess>

#include <algorithm>
#include <unistd.h>

namespace weft::ui {
namespace {

namespace fs = std::filesystem;
using Kind = Decision::Kind;

constexpr std::int64_t kMostAuditBytes = std::int64_t{1} << 30;

/// Decisions beside the audit, in the form of the list that a run takes; a sample that is kept has
/// the class that it has.
fs::path decision_file(const fs::path& run) {
    return train::audit_file(run).parent_path() / "decisions.jsonl";
}

struct AuditReading {
    std::shared_ptr<const train::Audit> audit;
    std::map<std::int64_t, Decision> decisions;
    std::map<std::int64_t, data::Correction> samples; // that were decided about
    QString problem;
};

AuditReading read_audit(const fs::path& run) {
    AuditReading out;
    try {
        std::error_code none;
        if (fs::exists(train::audit_file(run), none)) {
            out.audit = std::make_shared<const train::Audit>(train::audit_of_json(
                config::json_or_discarded(read_file(train::audit_file(run), kMostAuditBytes))));
        }
        if (fs::exists(decision_file(run), none)) {
            for (const data::Correction& one : data::read_corrections(decision_file(run))) {
                out.decisions[one.index] = {one.excludes() ? Kind::Exclude : Kind::Label,
                                            one.label};
                out.samples[one.index] = one;
            }
        }
        for (const train::Suspect& one :
             out.audit ? out.audit->suspects : std::vector<train::Suspect>()) {
            out.samples[one.index] = {"train", one.index, one.crc32c, -1, train::reasons_text(one),
                                      0};
            const auto decided = out.decisions.find(one.index);
            if (decided != out.decisions.end() && decided->second.kind == Kind::Label &&
                decided->second.label == one.label) {
                decided->second = {Kind::Keep, -1};
            }
        }
    } catch (const std::exception& fault) {
        out.problem = faultText(fault);
    }
    return out;
}

/// Where the list lies: beside the data that it is about.
fs::path list_file(const compile::RunConfig& config, const fs::path& run) {
    const config::Json& train = config.section("data").at("train");
    const auto path = train.find("path");
    fs::path folder = train::audit_file(run).parent_path();
    std::error_code problem;
    if (path != train.end() && path->is_string()) {
        const fs::path data = data::resolve(config.base_dir, path->get<std::string>());
        const fs::path beside = fs::is_directory(data, problem) ? data : data.parent_path();
        if (::access(beside.c_str(), W_OK) == 0) {
            folder = beside;
        }
    }
    return folder / (run.filename().string() + "-corrections.jsonl");
}

} // namespace

RunAudit::RunAudit(RunModel& run, fs::path worker, QObject* parent)
    : QObject(parent), run_(run), worker_(std::move(worker)) {
    writer_.setMaxThreadCount(1);
    connect(&run_, &RunModel::reset, this, &RunAudit::reset);
    reset();
}

RunAudit::~RunAudit() {
    cancel();
}

void RunAudit::reset() {
    cancel();
    audit_.reset();
    decisions_.clear();
    samples_.clear();
    undone_.clear();
    problem_.clear();
    known_ = run_.isEmpty() || run_.isForeign();
    reading_.drop();
    if (!known_) {
        read();
    }
    emit changed();
}

void RunAudit::read() {
    reading_.start([folder = run_.folder()] { return read_audit(folder); },
                   [this](AuditReading read) {
                       known_ = true;
                       audit_ = std::move(read.audit);
                       // Of a second look only what was not decided meanwhile is news.
                       decisions_.merge(read.decisions);
                       samples_ = std::move(read.samples);
                       problem_ = read.problem;
                       emit changed();
                   });
}

void RunAudit::start() {
    if (isRunning() || run_.isEmpty()) {
        return;
    }
    problem_.clear();
    progress_ = tr("beginning");
    process_ = new QProcess(this);
    process_->setProgram(pathText(worker_));
    process_->setArguments({"data", "audit", pathText(run_.folder()), "--progress"});
    process_->setStandardOutputFile(QProcess::nullDevice());
    connect(process_, &QProcess::readyReadStandardError, this, &RunAudit::takeProgress);
    connect(process_, &QProcess::finished, this, &RunAudit::onFinished);
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            problem_ = process_->errorString();
            onFinished(-1);
        }
    });
    process_->start();
    process_->setReadChannel(QProcess::StandardError);
    emit changed();
}

void RunAudit::cancel() {
    if (process_ != nullptr) {
        process_->disconnect(this);
        connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
        process_->terminate();
        process_->setParent(nullptr); // it ends by itself
        process_ = nullptr;
        progress_.clear();
        emit changed();
    }
}

// Lines of progress; what is none says why it ended.
void RunAudit::takeProgress() {
    while (process_->canReadLine() ||
           (process_->state() == QProcess::NotRunning && process_->bytesAvailable() > 0)) {
        const QByteArray line = process_->readLine().trimmed();
        const config::Json json = config::json_or_discarded(line.toStdString());
        if (json.is_object() && json.contains("phase") && json.contains("share")) {
            progress_ = tr("%1 %2 %")
                            .arg(toQString(json.at("phase").get<std::string>()))
                            .arg(qRound(100 * json.at("share").get<double>()));
        } else if (!line.isEmpty()) {
            problem_ = QString::fromUtf8(line);
        }
    }
    emit changed();
}

void RunAudit::onFinished(int code) {
    takeProgress();
    process_->deleteLater();
    process_ = nullptr;
    progress_.clear();
    if (code == 0) {
        problem_.clear();
        read();
    } else {
        problem_ = problem_.isEmpty()
                       ? tr("The audit ended with code %1 and said nothing").arg(code)
                       : problem_;
        emit failed(problem_);
    }
    emit changed();
}

Decision RunAudit::decision(std::int64_t index) const {
    const auto found = decisions_.find(index);
    return found == decisions_.end() ? Decision() : found->second;
}

void RunAudit::decide(std::int64_t index, Decision decision) {
    const Decision before = this->decision(index);
    if (before == decision) {
        return;
    }
    undone_.emplace_back(index, before);
    decisions_[index] = decision;
    keep();
    emit decided(index);
}

std::optional<std::int64_t> RunAudit::undo() {
    if (undone_.empty()) {
        return std::nullopt;
    }
    const auto [index, before] = undone_.back();
    undone_.pop_back();
    decisions_[index] = before;
    keep();
    emit decided(index);
    return index;
}

int RunAudit::countOf(Kind kind) const {
    return static_cast<int>(
        std::count_if(decisions_.begin(), decisions_.end(),
                      [kind](const auto& one) { return one.second.kind == kind; }));
}

std::vector<data::Correction> RunAudit::corrections() const {
    std::vector<data::Correction> out;
    for (const auto& [index, decision] : decisions_) {
        const auto sample = samples_.find(index);
        if (sample != samples_.end() &&
            (decision.kind == Kind::Exclude || decision.kind == Kind::Label)) {
            out.push_back(sample->second);
            out.back().label = decision.kind == Kind::Label ? decision.label : -1;
        }
    }
    return out;
}

std::vector<data::Correction> RunAudit::decidedSamples() const {
    std::vector<data::Correction> out = corrections();
    for (const train::Suspect& one : audit_ ? audit_->suspects : std::vector<train::Suspect>()) {
        if (decision(one.index).kind == Kind::Keep && one.label >= 0) {
            out.push_back(samples_.at(one.index));
            out.back().label = one.label;
        }
    }
    return out;
}

void RunAudit::keep() {
    runInBackground(
        this,
        [file = decision_file(run_.folder()), list = decidedSamples()]() -> QString {
            try {
                make_directories(file.parent_path());
                data::write_corrections(file, list);
                return {};
            } catch (const std::exception& fault) {
                return faultText(fault);
            }
        },
        [this](const QString& problem) {
            if (!problem.isEmpty()) {
                emit failed(problem);
            }
        },
        &writer_);
}

void RunAudit::writeList() {
    struct Written {
        fs::path file;
        QString problem;
    };
    runInBackground(
        this,
        [config = run_.config(), run = run_.folder(), list = corrections()] {
            Written out{list_file(config, run), {}};
            try {
                make_directories(out.file.parent_path());
                data::write_corrections(out.file, train::with_earlier(config, list));
            } catch (const std::exception& fault) {
                out.problem = faultText(fault);
            }
            return out;
        },
        [this](const Written& out) {
            out.problem.isEmpty() ? emit written(out.file) : emit failed(out.problem);
        },
        &writer_);
}

} // namespace weft::ui
