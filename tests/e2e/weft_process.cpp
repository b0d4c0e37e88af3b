// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/weft_process.h"

#include "core/train/record/run_folder.h"

#include <csignal>
#include <fstream>

namespace weft::test {
namespace {

constexpr int kPatienceMs = 120000;

} // namespace

Finished run_weft(const QStringList& arguments, const QStringList& environment) {
    QProcess process;
    process.setProgram(QStringLiteral(WEFT_PROGRAM));
    process.setArguments(arguments);
    process.setEnvironment(QProcess::systemEnvironment() + environment);
    process.start(QIODevice::ReadOnly);
    Finished out;
    if (process.waitForFinished(kPatienceMs) && process.exitStatus() == QProcess::NormalExit) {
        out.code = process.exitCode();
    }
    out.out = process.readAllStandardOutput().toStdString();
    out.err = process.readAllStandardError().toStdString();
    return out;
}

Finished train_weft(const QString& config, const QString& run, const QStringList& settings,
                    const QStringList& more) {
    QStringList arguments{"train", config, "--run-dir", run};
    for (const QString& setting : settings) {
        arguments << "--set" << setting;
    }
    return run_weft(arguments + more);
}

LiveWeft::LiveWeft(const QStringList& arguments) {
    process_.setProgram(QStringLiteral(WEFT_PROGRAM));
    process_.setArguments(arguments + QStringList{"--events"});
    process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process_.start();
    process_.waitForStarted(kPatienceMs);
}

LiveWeft::~LiveWeft() {
    process_.kill();
    process_.waitForFinished();
}

std::optional<train::Event>
LiveWeft::wait_for(const std::function<bool(const train::Event&)>& wanted) {
    for (;;) {
        while (process_.canReadLine()) {
            const std::string line = process_.readLine().trimmed().toStdString();
            auto event = train::parse_event(line);
            if (event && wanted(*event)) {
                return event;
            }
        }
        if (!process_.waitForReadyRead(kPatienceMs)) {
            return std::nullopt;
        }
    }
}

std::optional<train::Event> LiveWeft::wait_for_step(std::int64_t step) {
    return wait_for([step](const train::Event& event) {
        const auto* found = std::get_if<train::StepEvent>(&event.payload);
        return found != nullptr && found->step >= step;
    });
}

std::optional<train::Event> LiveWeft::wait_for_state(train::RunState state) {
    return wait_for([state](const train::Event& event) {
        const auto* found = std::get_if<train::StateEvent>(&event.payload);
        return found != nullptr && found->state == state;
    });
}

std::optional<train::CommandEvent> LiveWeft::wait_for_answer(const std::string& id) {
    const auto event = wait_for([&](const train::Event& candidate) {
        const auto* found = std::get_if<train::CommandEvent>(&candidate.payload);
        return found != nullptr && found->id == id;
    });
    return event ? std::optional(std::get<train::CommandEvent>(event->payload)) : std::nullopt;
}

void LiveWeft::send(const std::string& line) {
    process_.write((line + "\n").c_str());
    process_.waitForBytesWritten(kPatienceMs);
}

void LiveWeft::signal(int number) {
    ::kill(static_cast<pid_t>(process_.processId()), number);
}

int LiveWeft::finish() {
    process_.waitForFinished(kPatienceMs);
    return process_.exitStatus() == QProcess::NormalExit ? process_.exitCode() : -1;
}

QString write_config(const std::filesystem::path& folder, const config::Json& changes) {
    config::Json document = config::json_of(R"({
        "name": "tiny", "seed": 7,
        "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12, "classes": 4,
                           "samples": 180, "seed": 1},
                 "validation": {"split": 0.2}},
        "model": {"type": "mlp", "hidden": [24], "dropout": 0.25},
        "lr_schedule": {"type": "warmup_cosine", "warmup_steps": 5},
        "training": {"length": {"steps": 40}, "global_batch_size": 32, "precision": "bf16"},
        "evaluation": {"every": {"steps": 15}},
        "checkpoint": {"every": {"steps": 7}},
        "log": {"tensorboard": false}
    })");
    if (changes.is_object()) {
        document.merge_patch(changes);
    }
    std::filesystem::create_directories(folder);
    const std::filesystem::path path = folder / "config.json";
    std::ofstream(path) << document.dump(2);
    return QString::fromStdString(path.string());
}

std::vector<train::Event> events_of(const std::filesystem::path& run) {
    return train::EventReader(run).read();
}

} // namespace weft::test
