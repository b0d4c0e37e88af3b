// SPDX-License-Identifier: Apache-2.0
// What the generative presets make out of nothing, another preset takes for clothes: the CNN sorts
// their samples into all ten classes, and is sure of it.
#include "core/base/file.h"
#include "core/data/transforms/transform.h"
#include "core/train/engine.h"
#include "core/train/evaluation.h"
#include "core/train/pictures/made_samples.h"
#include "core/train/pictures/picture_sheet.h"
#include "tests/e2e/learning/run_session.h"
#include "tests/support/weft_test.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace {

using namespace weft;

constexpr std::int64_t kSamples = 1000; // of 200 the mean is known to 0.016 only
constexpr std::size_t kClothes = 10;
constexpr double kSure = 0.8; // mean probability of the class found

config::Json generative_preset(const std::string& name) {
    const std::string path = std::string(WEFT_PRESETS) + "/" + name + ".json";
    return config::parse_json(read_file(path), path).value;
}

train::PixelScale scale_of(const train::LoadedModel& model) {
    return train::pixel_scale(
        data::fitted_for(*model.data.train, model.config.section("data").at("transforms")));
}

/// Pictures as the classifier's own data would give them.
class MadeSource : public data::Source {
public:
    MadeSource(const data::Source& like, const train::PixelScale& scale,
               std::vector<std::vector<float>> pictures)
        : info_(like.info()), scale_(scale), pictures_(std::move(pictures)) {}

    const data::SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return std::ssize(pictures_); }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> /*target*/) const override {
        std::vector<float> values = pictures_[static_cast<std::size_t>(index)];
        for (float& value : values) {
            value = (value - scale_.shift[0]) / scale_.factor[0];
        }
        std::memcpy(input.data(), values.data(), input.size());
    }
    std::int32_t label(std::int64_t /*index*/) const override { return -1; }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return {}; }

private:
    data::SampleInfo info_;
    train::PixelScale scale_;
    std::vector<std::vector<float>> pictures_;
};

} // namespace

class MadeClassesTest : public QObject {
    Q_OBJECT

private slots:
    void the_cnn_sorts_samples_into_all_classes_data() {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"fashion-vae", "fashion-gan", "fashion-flow", "fashion-diffusion"}) {
            QTest::newRow(name) << name;
        }
    }
    void the_cnn_sorts_samples_into_all_classes() {
        QFETCH(QString, name);
        train::LoadedModel maker = trained(name.toStdString());
        train::LoadedModel judge = trained("fashion-cnn");
        const auto latents = train::draw_latents(*maker.executor, 1, kSamples);
        const auto made =
            train::make_samples(*maker.executor, maker.data.train->info(), latents, {});
        std::vector<std::vector<float>> pictures;
        for (std::int64_t i = 0; i < made.count(); ++i) {
            pictures.push_back(train::pixels(made, i, scale_of(maker)));
        }
        const MadeSource source(*judge.data.train, scale_of(judge), std::move(pictures));
        std::vector<std::int64_t> all(static_cast<std::size_t>(kSamples));
        std::iota(all.begin(), all.end(), 0);
        std::array<int, kClothes> found{};
        double sure = 0;
        for (const train::SamplePrediction& said :
             train::predict(*judge.executor, source, all, 1)) {
            ++found.at(static_cast<std::size_t>(said.top.front().first));
            sure += said.top.front().second / static_cast<double>(kSamples);
        }
        QString counts;
        for (const int count : found) {
            counts += QString::number(count) + ' ';
        }
        qInfo("%s: mean confidence %.3f, samples by class %s", qPrintable(name), sure,
              qPrintable(counts));
        QVERIFY(std::all_of(found.begin(), found.end(), [](int count) { return count > 0; }));
        QVERIFY(sure >= kSure);
    }

private:
    train::LoadedModel trained(const std::string& name) {
        const std::filesystem::path folder =
            std::filesystem::path(dir_.path().toStdString()) / name;
        if (!std::filesystem::exists(folder)) {
            QElapsedTimer timer;
            timer.start();
            const test::SessionRun run = test::run_session(generative_preset(name), folder);
            WEFT_CHECK(run.problem.empty(), run.problem);
            qInfo("%s: %lld s", name.c_str(), timer.elapsed() / 1000);
        }
        const auto run = std::filesystem::directory_iterator(folder / "runs")->path();
        return train::load_model(train::find_checkpoint(run, "best"), nullptr, 0);
    }

    QTemporaryDir dir_;
};

WEFT_TEST(MadeClassesTest)
#include "made_classes_test.moc"
