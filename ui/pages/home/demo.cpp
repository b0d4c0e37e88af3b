// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/home/demo.h"

#include "core/base/error.h"
#include "core/compile/config/run_config.h"
#include "core/data/dataset.h"
#include "ui/bridge/convert.h"

#include <cstring>

namespace weft::ui {
namespace {

constexpr auto kClothesPreset = "fashion-mlp.json";
constexpr auto kMadePreset = "waves-mlp.json";
constexpr auto kClothesPackage = "dataset-fashion-mnist";
constexpr int kPictures = 10;

/// The first validation picture of each class, through the engine's own reader. Throws weft::Error.
std::vector<widgets::GridImage> readPictures(const compile::RunConfig& config) {
    config::Json section = config.section("data");
    section["transforms"] = config::Json::array(); // plain pictures, before normalising
    const data::DataSet set = data::open_data(section, {config.base_dir, 0, 0});
    const data::Source& source = set.validation ? *set.validation : *set.train;
    const ir::Shape shape = source.info().input.shape;
    std::vector<widgets::GridImage> images(kPictures);
    std::vector<std::byte> pixels(static_cast<std::size_t>(source.info().input.bytes()));
    int found = 0;
    for (std::int64_t i = 0; i < source.samples() && found < kPictures; ++i) {
        const std::int32_t label = source.label(i);
        if (label < 0 || label >= kPictures ||
            !images[static_cast<std::size_t>(label)].image.isNull()) {
            continue;
        }
        source.read(i, pixels, {});
        std::vector<float> values(static_cast<std::size_t>(shape.elements()));
        std::memcpy(values.data(), pixels.data(), pixels.size());
        widgets::GridImage& image = images[static_cast<std::size_t>(label)];
        image.image = widgets::imageFromFloats(values, static_cast<int>(shape[1]),
                                               static_cast<int>(shape[0]), 1, 0.0F, 1.0F);
        const auto& names = source.info().class_names;
        image.caption = static_cast<std::size_t>(label) < names.size()
                            ? toQString(names[static_cast<std::size_t>(label)])
                            : QString::number(label);
        ++found;
    }
    return images;
}

bool isThere(const compile::RunConfig& config) {
    std::error_code ignored;
    const std::string path = config.section("data").at("train").value("path", std::string());
    return path.empty() || std::filesystem::exists(config.base_dir / path, ignored);
}

Demo tryPreset(const std::filesystem::path& preset) {
    Demo demo;
    demo.preset = preset;
    demo.name = preset.stem().string();
    const compile::CheckedRun checked = compile::read_run_config_file(preset);
    if (!checked.ok()) {
        demo.problem = QObject::tr("The demo preset is missing.");
        return demo;
    }
    demo.name = checked.config.name;
    if (!isThere(checked.config)) {
        demo.problem = QObject::tr("The pictures of clothes are not on this machine: the package "
                                   "%1 brings them.")
                           .arg(kClothesPackage);
        return demo;
    }
    try {
        demo.pictures = readPictures(checked.config);
    } catch (const Error& error) {
        demo.problem =
            QObject::tr("The pictures cannot be read: %1").arg(toQString(error.message()));
    }
    return demo;
}

} // namespace

Demo findDemo(const std::filesystem::path& presets) {
    Demo clothes = tryPreset(presets / kClothesPreset);
    if (clothes.problem.isEmpty()) {
        return clothes;
    }
    Demo made = tryPreset(presets / kMadePreset);
    if (!made.problem.isEmpty()) {
        return clothes;
    }
    made.made = true;
    made.clothes_problem = clothes.problem;
    return made;
}

} // namespace weft::ui
