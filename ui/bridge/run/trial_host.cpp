// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/trial_host.h"

#include "core/base/error.h"
#include "core/compile/config/metric_facts.h"
#include "core/data/transforms/transform.h"
#include "core/train/boards/board_text.h"
#include "core/train/engine.h"
#include "core/train/evaluation.h"
#include "core/train/pictures/picture_sheet.h"
#include "core/train/sample_look/sample_looker.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/sample_pictures.h"

#include <QElapsedTimer>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace weft::ui {
namespace {

constexpr int kThreads = 1;           // of compute: training has the machine
constexpr int kNiceness = 10;         // of its thread: a tenth of the share of one that trains
constexpr std::size_t kTop = 5;       // classes of a prediction
constexpr qint64 kTextMs = 30;        // between two pieces of text
constexpr std::int64_t kChunk = 1024; // samples between two looks at whether to go on

/// One sample that lies in memory, in the form of the data of a run.
class OneSample final : public data::Source {
public:
    OneSample(const data::Source& like, std::vector<float> values)
        : info_(like.info()), scale_(like.target_scale()), values_(std::move(values)) {}

    const data::SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return 1; }
    void read(std::int64_t, std::span<std::byte> input, std::span<std::byte>) const override {
        const auto bytes = std::as_bytes(std::span(values_));
        std::copy(bytes.begin(), bytes.end(), input.begin());
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return {}; }
    data::TargetScale target_scale() const override { return scale_; }

private:
    data::SampleInfo info_;
    data::TargetScale scale_;
    std::vector<float> values_;
};

QStringList texts(const std::vector<std::string>& names) {
    QStringList out;
    for (const std::string& name : names) {
        out << toQString(name);
    }
    return out;
}

/// Written numbers as a source of one sample, after transforms.
std::shared_ptr<const data::Source> one_sample(const train::LoadedModel& model,
                                               std::vector<float> values) {
    const data::SampleInfo& info = model.data.train->info();
    if (info.input.dtype != ir::DType::f32 ||
        info.input.shape.elements() != static_cast<std::int64_t>(values.size())) {
        throw Error(ErrorKind::usage, "input",
                    "it has " + std::to_string(values.size()) + " numbers; the model takes " +
                        ir::to_text(info.input));
    }
    return data::transformed(
        std::make_shared<OneSample>(*model.data.train, std::move(values)),
        data::fitted_for(*model.data.train, model.config.section("data").at("transforms")),
        model.config.seed, false);
}

TrialPrediction predict_one(train::LoadedModel& model, std::vector<float> values) {
    const data::SampleInfo& info = model.data.train->info();
    const auto source = one_sample(model, std::move(values));
    const std::int64_t index = 0;
    auto said = train::predict(*model.executor, *source, std::span(&index, 1), kTop);
    return {std::move(said.front().values), std::move(said.front().top), texts(info.class_names),
            texts(info.classes > 0 ? std::vector<std::string>() : info.target_names),
            model.manifest.record.step};
}

std::vector<QImage> walk_through(train::LoadedModel& model, const SampleWalk& walk) {
    const data::Source& train = *model.data.train;
    const data::SampleInfo& info = train.info();
    if (!train::is_picture(info.input)) {
        throw Error(ErrorKind::usage, "make", "what this model makes are no pictures",
                    "use weft generate, which writes arrays too");
    }
    const std::vector<float> latents =
        train::latent_walk(*model.executor, walk.from, walk.to, walk.pictures);
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(walk.pictures), walk.label);
    const train::MadeSamples made = train::make_samples(*model.executor, info, latents, labels);
    const train::PixelScale scale =
        train::pixel_scale(data::fitted_for(train, model.config.section("data").at("transforms")));
    std::vector<QImage> out;
    for (std::int64_t i = 0; i < made.count(); ++i) {
        out.push_back(samplePicture(info.input, train::pixels(made, i, scale)));
    }
    return out;
}

SolvedBoard solve_board(train::LoadedModel& model, const QString& board) {
    const data::SampleInfo& info = model.data.train->info();
    if (!info.board) {
        throw Error(ErrorKind::usage, "solve", "this run is not trained on boards");
    }
    const std::vector<std::int32_t> sample =
        train::sample_of(info, train::parse_board(*info.board, board.toStdString()));
    SolvedBoard out;
    out.given = board;
    out.step = model.manifest.record.step;
    train::trace(*model.executor, sample, [&](std::int64_t, const train::Trace& trace) {
        out.trace = trace;
        return false;
    });
    for (std::int64_t cycle = 0; cycle < out.trace.all_cycles(); ++cycle) {
        out.cycles.push_back(toQString(train::board_text(*info.board, out.trace.guesses(cycle))));
    }
    return out;
}

LookedInside look_at_values(const train::LoadedModel& model, train::SampleLooker& looker,
                            std::vector<float> values) {
    const data::SampleInfo& info = model.data.train->info();
    LookedInside out;
    out.picture = samplePicture(info.input, values);
    out.step = model.manifest.record.step;
    const auto source = one_sample(model, std::move(values));
    std::vector<std::byte> sample(static_cast<std::size_t>(source->info().input.bytes()));
    source->read(0, sample, {});
    out.look = looker.look(sample);
    return out;
}

LookedInside look_at_text(const train::LoadedModel& model, train::SampleLooker& looker,
                          const QByteArray& text) {
    const data::SampleInfo& info = model.data.train->info();
    LookedInside out;
    out.tokenizer = info.tokenizer;
    out.step = model.manifest.record.step;
    out.look = looker.look_at_text(
        train::prompt_tokens(info, {text.data(), static_cast<std::size_t>(text.size())}));
    return out;
}

Confusion empty_confusion(const train::LoadedModel& model) {
    const data::SampleInfo& info = model.data.train->info();
    if (!compile::predicts_classes(model.config) || info.target.shape.rank() != 0) {
        throw Error(ErrorKind::usage, "data", "this model does not tell classes apart");
    }
    if (model.data.validation == nullptr) {
        throw Error(ErrorKind::usage, "data", "this run has no validation split",
                    "set data.validation");
    }
    Confusion out;
    out.checkpoint = model.manifest.path;
    out.step = model.manifest.record.step;
    out.class_names = texts(info.class_names);
    out.classes = static_cast<int>(info.classes);
    out.cells.resize(static_cast<std::size_t>(info.classes * info.classes));
    return out;
}

} // namespace

struct TrialHost::Worker {
    struct Task {
        Kind kind;
        std::function<void(Worker&, const std::stop_token&)> work;
    };

    explicit Worker(TrialHost* host) : host(host) {
        thread = std::jthread([this](const std::stop_token& end) { run(end); });
    }
    ~Worker() {
        {
            const std::lock_guard guard(mutex);
            tasks.clear();
            current.request_stop();
        }
        thread.request_stop();
        thread.join();
    }

    void post(Kind kind, std::function<void(Worker&, const std::stop_token&)> work) {
        const std::lock_guard guard(mutex);
        drop(kind);
        if (work) {
            tasks.push_back({kind, std::move(work)});
            wake.notify_one();
        }
    }
    // Under the lock.
    void drop(Kind kind) {
        std::erase_if(tasks, [kind](const Task& task) { return task.kind == kind; });
        if (running && *running == kind) {
            current.request_stop();
        }
    }

    void run(const std::stop_token& end) {
        // Linux gives each thread a niceness of its own; without the right to it all goes on as
        // well.
        setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNiceness);
        for (;;) {
            Task task;
            std::stop_token stop;
            {
                std::unique_lock lock(mutex);
                running.reset();
                wake.wait(lock, end, [this] { return !tasks.empty(); });
                if (end.stop_requested()) {
                    return;
                }
                task = std::move(tasks.front());
                tasks.pop_front();
                running = task.kind;
                current = std::stop_source();
                stop = current.get_token();
            }
            perform(task, stop);
        }
    }

    void perform(const Task& task, const std::stop_token& stop) {
        constexpr const char* kNames[] = {"predict", "generate", "make",   "solve",
                                          "look",    "confuse",  "release"};
        QString problem;
        try {
            task.work(*this, stop);
            return;
        } catch (const Error& error) {
            problem = toQString(error.text());
            if (!error.hint().empty()) {
                problem += ". " + toQString(error.hint());
            }
        } catch (const std::exception& fault) {
            problem = toQString(fault.what());
        }
        const QString kind = kNames[static_cast<int>(task.kind)];
        say(stop, [kind, problem](TrialHost& to) { emit to.failed(kind, problem); });
    }

    train::LoadedModel& model_of(const std::filesystem::path& checkpoint) {
        if (!model || model->manifest.path != checkpoint) {
            forget();
            tell([](TrialHost& to) { emit to.loading(true); });
            try {
                model = train::load_model(checkpoint, nullptr, kThreads);
            } catch (...) {
                tell([](TrialHost& to) { emit to.loading(false); });
                throw;
            }
            tell([](TrialHost& to) { emit to.loading(false); });
        }
        return *model;
    }

    /// The same model, planned so that layers are seen.
    train::SampleLooker& looker_of(const std::filesystem::path& checkpoint) {
        const train::LoadedModel& loaded = model_of(checkpoint);
        if (!looker) {
            tell([](TrialHost& to) { emit to.loading(true); });
            try {
                looker.emplace(loaded, kThreads);
            } catch (...) {
                tell([](TrialHost& to) { emit to.loading(false); });
                throw;
            }
            tell([](TrialHost& to) { emit to.loading(false); });
        }
        return *looker;
    }
    void forget() {
        looker.reset();
        model.reset();
    }

    // Text is handed over in pieces: a small model writes quicker than one can read.
    void write(const std::filesystem::path& checkpoint, const QByteArray& prompt,
               const train::GenerateOptions& options, const std::stop_token& stop) {
        train::LoadedModel& loaded = model_of(checkpoint);
        const data::SampleInfo& info = loaded.data.train->info();
        const std::vector<std::int32_t> tokens =
            train::prompt_tokens(info, {prompt.data(), static_cast<std::size_t>(prompt.size())});
        std::string last;
        QByteArray written;
        QElapsedTimer since;
        since.start();
        const auto hand_over = [&] {
            say(stop,
                [text = std::exchange(written, {})](TrialHost& to) { emit to.generated(text); });
            since.restart();
        };
        train::generate(*loaded.executor, tokens, options, [&](std::int32_t token) {
            last.clear();
            info.tokenizer->decode(token, last);
            written.append(last.data(), static_cast<qsizetype>(last.size()));
            if (since.elapsed() >= kTextMs) {
                hand_over();
            }
            return !stop.stop_requested();
        });
        hand_over();
        say(stop, [](TrialHost& to) { emit to.generationEnded(); });
    }

    template <class Say>
    void tell(Say what) {
        QMetaObject::invokeMethod(
            host, [to = host, what = std::move(what)] { what(*to); }, Qt::QueuedConnection);
    }
    // Not what was cancelled, even if it was on its way already.
    template <class Say>
    void say(const std::stop_token& stop, Say what) {
        tell([stop, what = std::move(what)](TrialHost& to) {
            if (!stop.stop_requested()) {
                what(to);
            }
        });
    }

    TrialHost* host;
    std::mutex mutex;
    std::condition_variable_any wake;
    std::deque<Task> tasks;
    std::optional<Kind> running;
    std::stop_source current;
    std::optional<train::LoadedModel> model;   // of the thread
    std::optional<train::SampleLooker> looker; // into that model
    std::jthread thread;
};

TrialHost::TrialHost(QObject* parent) : QObject(parent), worker_(std::make_unique<Worker>(this)) {}

TrialHost::~TrialHost() = default;

void TrialHost::predict(const std::filesystem::path& checkpoint, std::vector<float> values) {
    worker_->post(Kind::Predict, [checkpoint, values = std::move(values)](
                                     Worker& worker, const std::stop_token& stop) {
        TrialPrediction said = predict_one(worker.model_of(checkpoint), values);
        worker.say(stop, [said = std::move(said)](TrialHost& to) { emit to.predicted(said); });
    });
}

void TrialHost::generate(const std::filesystem::path& checkpoint, const QByteArray& prompt,
                         const train::GenerateOptions& options) {
    worker_->post(Kind::Generate,
                  [checkpoint, prompt, options](Worker& worker, const std::stop_token& stop) {
                      worker.write(checkpoint, prompt, options, stop);
                  });
}

void TrialHost::make(const std::filesystem::path& checkpoint, const SampleWalk& walk) {
    worker_->post(Kind::Make, [checkpoint, walk](Worker& worker, const std::stop_token& stop) {
        train::LoadedModel& model = worker.model_of(checkpoint);
        worker.say(stop, [pictures = walk_through(model, walk), step = model.manifest.record.step](
                             TrialHost& to) { emit to.made(pictures, step); });
    });
}

void TrialHost::solve(const std::filesystem::path& checkpoint, const QString& board) {
    worker_->post(Kind::Solve, [checkpoint, board](Worker& worker, const std::stop_token& stop) {
        train::LoadedModel& model = worker.model_of(checkpoint);
        auto solved = std::make_shared<const SolvedBoard>(solve_board(model, board));
        worker.say(stop, [solved](TrialHost& to) { emit to.solved(solved); });
    });
}

void TrialHost::look(const std::filesystem::path& checkpoint, std::vector<float> values) {
    worker_->post(Kind::Look, [checkpoint, values = std::move(values)](
                                  Worker& worker, const std::stop_token& stop) {
        train::SampleLooker& looker = worker.looker_of(checkpoint);
        auto looked = std::make_shared<const LookedInside>(
            look_at_values(worker.model_of(checkpoint), looker, values));
        worker.say(stop, [looked](TrialHost& to) { emit to.looked(looked); });
    });
}

void TrialHost::lookAtText(const std::filesystem::path& checkpoint, const QByteArray& text) {
    worker_->post(Kind::Look, [checkpoint, text](Worker& worker, const std::stop_token& stop) {
        train::SampleLooker& looker = worker.looker_of(checkpoint);
        auto looked = std::make_shared<const LookedInside>(
            look_at_text(worker.model_of(checkpoint), looker, text));
        worker.say(stop, [looked](TrialHost& to) { emit to.looked(looked); });
    });
}

void TrialHost::confuse(const std::filesystem::path& checkpoint) {
    worker_->post(Kind::Confuse, [checkpoint](Worker& worker, const std::stop_token& stop) {
        train::LoadedModel& model = worker.model_of(checkpoint);
        Confusion out = empty_confusion(model);
        const data::Source& source = *model.data.validation;
        const std::int64_t samples = source.samples();
        out.samples = samples;
        for (std::int64_t first = 0; first < samples; first += kChunk) {
            if (stop.stop_requested()) {
                return;
            }
            std::vector<std::int64_t> indices(
                static_cast<std::size_t>(std::min(kChunk, samples - first)));
            std::iota(indices.begin(), indices.end(), first);
            for (const auto& said : train::predict(*model.executor, source, indices, 1)) {
                if (!said.fault.empty()) {
                    --out.samples; // damaged
                    continue;
                }
                if (said.label < 0 || said.label >= out.classes) {
                    continue; // a sample without a class is right or wrong about nothing
                }
                const auto guess = said.top.front().first;
                out.cells[static_cast<std::size_t>(said.label * out.classes + guess)].push_back(
                    said.index);
                out.right += guess == said.label ? 1 : 0;
            }
            const double share = static_cast<double>(first) / static_cast<double>(samples);
            worker.say(stop, [share](TrialHost& to) { emit to.confusionProgress(share); });
        }
        worker.say(stop, [made = std::make_shared<const Confusion>(std::move(out))](TrialHost& to) {
            emit to.confused(made);
        });
    });
}

void TrialHost::cancelGenerate() {
    worker_->post(Kind::Generate, nullptr);
}

void TrialHost::cancelConfuse() {
    worker_->post(Kind::Confuse, nullptr);
}

void TrialHost::release() {
    cancelGenerate();
    cancelConfuse();
    worker_->post(Kind::Predict, nullptr);
    worker_->post(Kind::Make, nullptr);
    worker_->post(Kind::Solve, nullptr);
    worker_->post(Kind::Look, nullptr);
    worker_->post(Kind::Release, [](Worker& worker, const std::stop_token&) { worker.forget(); });
}

} // namespace weft::ui
