// SPDX-License-Identifier: Apache-2.0
#include "core/train/pictures/picture_document.h"

#include "core/data/transforms/transform.h"

#include <array>
#include <cstdio>

namespace weft::train {
namespace {

/// The first samples that can be read, and their numbers.
MadeSamples first_of(const data::Source& source, std::int64_t count,
                     std::vector<std::int64_t>& indices) {
    const ir::Shape& shape = source.info().input.shape;
    MadeSamples out;
    std::vector<float> sample(static_cast<std::size_t>(shape.elements()));
    for (std::int64_t i = 0; i < source.samples() && std::ssize(indices) < count; ++i) {
        try {
            source.read(i, std::as_writable_bytes(std::span(sample)), {});
        } catch (const data::DamagedSample&) {
            continue; // the evaluation has told it
        }
        indices.push_back(i);
        out.values.insert(out.values.end(), sample.begin(), sample.end());
    }
    out.shape = {std::ssize(indices), shape[0], shape[1], shape[2]};
    return out;
}

std::string sheet_name(std::int64_t step) {
    std::array<char, 32> out{};
    std::snprintf(out.data(), out.size(), "step-%08lld.png", static_cast<long long>(step));
    return out.data();
}

} // namespace

std::optional<PictureDocument> picture_document(exec::Executor& executor,
                                                const data::Source& source,
                                                const std::string& split,
                                                const config::Json& transforms, std::uint64_t seed,
                                                std::int64_t step, std::int64_t count) {
    if (count <= 0 || !is_picture(source.info().input)) {
        return std::nullopt;
    }
    std::vector<std::int64_t> indices;
    std::vector<MadeSamples> rows = {first_of(source, count, indices)};
    if (indices.empty()) {
        return std::nullopt;
    }
    config::Json names = {"data"};
    if (reconstructs(executor)) {
        rows.push_back(reconstructions(executor, source, indices));
        names.push_back("reconstruction");
    }
    rows.push_back(
        make_samples(executor, source.info(), draw_latents(executor, seed, std::ssize(indices))));
    names.push_back("made");
    PictureDocument out;
    out.sheet = picture_sheet(rows, pixel_scale(data::fitted_for(source, transforms)));
    out.document = {{"step", step},
                    {"kind", "pictures"},
                    {"split", split},
                    {"sheet", sheet_name(step)},
                    {"cell", {rows[0].shape[1], rows[0].shape[2]}},
                    {"rows", names},
                    {"samples", config::Json::array()}};
    const std::int64_t classes = sample_classes(executor, source.info());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        config::Json sample{{"index", indices[i]}};
        if (classes > 0) {
            const std::size_t made = i % static_cast<std::size_t>(classes);
            const auto& class_names = source.info().class_names;
            sample["class"] = made;
            if (made < class_names.size()) {
                sample["name"] = class_names[made];
            }
        }
        out.document["samples"].push_back(std::move(sample));
    }
    return out;
}

} // namespace weft::train
