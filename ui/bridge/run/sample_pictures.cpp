// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/sample_pictures.h"

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "widgets/views/image_grid.h"

#include <cstring>
#include <mutex>

namespace weft::ui {
namespace {

data::DataSet open_untransformed(const compile::RunConfig& config) {
    config::Json section = config.section("data");
    section["transforms"] = config::Json::array();
    return data::open_data(section, {config.base_dir, config.context(), config.seed});
}

SampleSet read_set(const data::Source& source, const std::vector<std::int64_t>& indices) {
    SampleSet set;
    const data::SampleInfo& info = source.info();
    for (const std::string& name : info.class_names) {
        set.class_names << toQString(name);
    }
    set.total = source.samples();
    const bool numbers = info.input.dtype == ir::DType::f32;
    for (const std::int64_t index : indices) {
        if (index < 0 || index >= source.samples()) {
            continue; // of a data set that has changed since
        }
        SamplePicture picture{index, source.label(index), {}, {}};
        if (numbers) {
            picture.values.resize(static_cast<std::size_t>(info.input.shape.elements()));
            source.read(index, std::as_writable_bytes(std::span(picture.values)), {});
            picture.image = samplePicture(info.input, picture.values);
        }
        set.pictures.push_back(std::move(picture));
    }
    return set;
}

} // namespace

QString SampleSet::className(std::int64_t index) const {
    return index >= 0 && index < class_names.size() ? class_names[index] : QString::number(index);
}

QImage samplePicture(const ir::Type& type, std::span<const float> values) {
    if (type.dtype != ir::DType::f32 || type.shape.rank() != 3) {
        return {};
    }
    return widgets::imageFromFloats(values, static_cast<int>(type.shape[1]),
                                    static_cast<int>(type.shape[0]),
                                    static_cast<int>(type.shape[2]), 0.0F, 1.0F);
}

struct SamplePictures::Held {
    std::mutex mutex;
    compile::RunConfig config;
    bool open = false;
    std::shared_ptr<const data::Source> source; // null: there is no validation split
    std::shared_ptr<const data::Encoding> encoding;

    SampleSet read(const std::vector<std::int64_t>& indices) {
        if (!open) {
            const data::DataSet set = open_untransformed(config);
            source = set.validation;
            encoding = set.train->encoding();
            open = true;
        }
        SampleSet out = source ? read_set(*source, indices) : SampleSet{};
        out.encoding = encoding;
        return out;
    }
};

SamplePictures::SamplePictures(RunModel& run, QObject* parent) : QObject(parent), run_(run) {
    connect(&run_, &RunModel::reset, this, [this] { held_.reset(); });
}

void SamplePictures::read(QObject* context, std::vector<std::int64_t> indices,
                          std::function<void(const SampleSet&)> done) {
    if (!held_) {
        held_ = std::make_shared<Held>();
        held_->config = run_.config();
    }
    runInBackground(
        context,
        [held = held_, indices = std::move(indices)]() -> SampleSet {
            const std::lock_guard guard(held->mutex);
            try {
                return held->read(indices);
            } catch (const Error& error) {
                SampleSet none;
                none.problem = toQString(error.message());
                return none;
            }
        },
        [this, self = QPointer<SamplePictures>(this), held = held_,
         done = std::move(done)](const SampleSet& set) {
            if (self && held == held_) {
                done(set);
            }
        });
}

} // namespace weft::ui
