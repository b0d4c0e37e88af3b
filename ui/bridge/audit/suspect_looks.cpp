// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/audit/suspect_looks.h"

#include "core/data/dataset.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/sample_pictures.h"

#include <algorithm>
#include <mutex>

namespace weft::ui {
namespace {

constexpr std::size_t kMostShownNumbers = 12; // numbers of a sample that are shown

QString words_of(const data::SampleInfo& info, const std::vector<float>& values) {
    QStringList parts;
    for (std::size_t i = 0; i < std::min(values.size(), kMostShownNumbers); ++i) {
        const QString name =
            i < info.input_names.size() ? toQString(info.input_names[i]) : QString::number(i);
        parts << SuspectLooks::tr("%1 %2").arg(name, formatMetric(static_cast<double>(values[i])));
    }
    if (values.size() > kMostShownNumbers) {
        parts << QStringLiteral("…");
    }
    return parts.join(QStringLiteral(", "));
}

SampleLook look_at_sample(const data::Source& source, const SampleName& name, int side) {
    SampleLook out{name, {}, {}, source.label(name.index)};
    const data::SampleInfo& info = source.info();
    if (info.input.dtype != ir::DType::f32) {
        return out;
    }
    std::vector<float> values(static_cast<std::size_t>(info.input.shape.elements()));
    source.read(name.index, std::as_writable_bytes(std::span(values)), {});
    out.picture = samplePicture(info.input, values);
    if (out.picture.isNull()) {
        out.words = words_of(info, values);
    } else if (out.picture.width() > side || out.picture.height() > side) {
        out.picture = out.picture.scaled(side, side, Qt::KeepAspectRatio, Qt::SmoothTransformation);
    }
    return out;
}

} // namespace

struct SuspectLooks::Held {
    std::mutex mutex;
    compile::RunConfig config;
    std::optional<data::DataSet> data;

    std::vector<SampleLook> read(const std::vector<SampleName>& names, int side) {
        if (!data) {
            config::Json section = config.section("data");
            section["transforms"] = config::Json::array();
            data = data::open_data(section, {config.base_dir, config.context(), config.seed});
        }
        std::vector<SampleLook> out;
        for (const SampleName& name : names) {
            const auto& source = name.part == "train"        ? data->train_files
                                 : name.part == "validation" ? data->validation_files
                                                             : data->test;
            // A share of train is numbered among the samples of its files.
            const auto& files =
                name.part == "validation" && source == nullptr ? data->train_files : source;
            if (files != nullptr && name.index < files->samples()) {
                out.push_back(look_at_sample(*files, name, side));
            }
        }
        return out;
    }
};

SuspectLooks::SuspectLooks(RunModel& run, QObject* parent) : QObject(parent), run_(run) {
    connect(&run_, &RunModel::reset, this, [this] { held_.reset(); });
}

void SuspectLooks::read(std::vector<SampleName> samples, int side,
                        std::function<void(const std::vector<SampleLook>&)> done) {
    if (run_.isEmpty() || run_.isForeign()) {
        return;
    }
    if (!held_) {
        held_ = std::make_shared<Held>();
        held_->config = run_.config();
    }
    runInBackground(
        this,
        [held = held_, samples = std::move(samples), side]() -> std::vector<SampleLook> {
            const std::lock_guard guard(held->mutex);
            try {
                return held->read(samples, side);
            } catch (const Error&) {
                return {}; // data that have gone since: what was found is shown without them
            }
        },
        [this, held = held_, done = std::move(done)](const std::vector<SampleLook>& looks) {
            if (held == held_) {
                done(looks);
            }
        });
}

} // namespace weft::ui
