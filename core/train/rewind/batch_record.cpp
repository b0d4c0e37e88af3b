// SPDX-License-Identifier: Apache-2.0
#include "core/train/rewind/batch_record.h"

#include "core/data/text/token_samples.h"
#include "core/data/transforms/transform.h"
#include "core/train/pictures/picture_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

using config::Json;

constexpr std::int64_t kMostShown = 16;
constexpr std::int64_t kMostIndices = 4096;
constexpr std::int64_t kMostValues = 64;     // of a sample that is a row of numbers
constexpr std::int64_t kMostTextTokens = 96; // of a text
constexpr std::int64_t kMostArrayBytes = std::int64_t{64} << 20;

/// Suspects, then the first ones.
std::vector<std::int64_t> shown_rows(std::int64_t samples,
                                     const std::vector<std::int64_t>& suspects) {
    std::vector<std::int64_t> out;
    const auto add = [&](std::int64_t row) {
        const bool known = std::find(out.begin(), out.end(), row) != out.end();
        if (row >= 0 && row < samples && !known && std::ssize(out) < kMostShown) {
            out.push_back(row);
        }
    };
    std::for_each(suspects.begin(), suspects.end(), add);
    for (std::int64_t row = 0; row < std::min(samples, kMostShown); ++row) {
        add(row);
    }
    return out;
}

template <typename T>
std::vector<T> row_of(std::span<const std::byte> rows, const ir::Type& type, std::int64_t row) {
    std::vector<T> out(static_cast<std::size_t>(type.shape.elements()));
    const std::size_t size = out.size() * sizeof(T);
    std::memcpy(out.data(), rows.data() + static_cast<std::size_t>(row) * size, size);
    return out;
}

Json numbers_json(std::span<const float> values) {
    Json out = Json::array();
    for (const float value :
         values.first(std::min(values.size(), static_cast<std::size_t>(kMostValues)))) {
        out.push_back(std::isfinite(value) ? Json(value)
                      : std::isnan(value)  ? Json("nan")
                                           : Json(value > 0 ? "inf" : "-inf"));
    }
    return out;
}

std::string text_of(const std::vector<std::int32_t>& tokens, const data::SampleInfo& info) {
    const auto some =
        std::span(tokens).first(std::min(tokens.size(), static_cast<std::size_t>(kMostTextTokens)));
    if (info.tokenizer != nullptr) {
        return info.tokenizer->decoded(some);
    }
    std::string out;
    for (const std::int32_t token : some) {
        out += (out.empty() ? "" : " ") + std::to_string(token);
    }
    return out;
}

class RowReader {
public:
    RowReader(const data::Batch& batch, const data::Source& source)
        : batch_(batch), info_(source.info()) {}

    std::string kind() const {
        return is_picture(info_.input)                  ? "pictures"
               : data::token_positions(info_.input) > 0 ? "text"
               : info_.input.dtype == ir::DType::f32    ? "numbers"
                                                        : "";
    }

    void describe(std::int64_t row, Json& out) const {
        if (info_.classes > 0 && info_.target.shape.rank() == 0) {
            const auto label = row_of<std::int32_t>(batch_.targets, info_.target, row).front();
            out["label"] = label;
            if (label >= 0 && static_cast<std::size_t>(label) < info_.class_names.size()) {
                out["name"] = info_.class_names[static_cast<std::size_t>(label)];
            }
        } else if (info_.target.dtype == ir::DType::f32) {
            out["target"] = numbers_json(row_of<float>(batch_.targets, info_.target, row));
        }
        if (kind() == "text") {
            out["text"] = text_of(row_of<std::int32_t>(batch_.inputs, info_.input, row), info_);
        } else if (kind() == "numbers") {
            out["values"] = numbers_json(row_of<float>(batch_.inputs, info_.input, row));
        }
    }

    std::string sheet(const std::vector<std::int64_t>& rows, const PixelScale& scale) const {
        const ir::Shape& shape = info_.input.shape;
        MadeSamples made;
        made.shape = {std::ssize(rows), shape[0], shape[1], shape[2]};
        for (const std::int64_t row : rows) {
            auto values = row_of<float>(batch_.inputs, info_.input, row);
            std::replace_if(
                values.begin(), values.end(), [](float value) { return !std::isfinite(value); },
                0.0F);
            made.values.insert(made.values.end(), values.begin(), values.end());
        }
        return picture_sheet({made}, scale);
    }

    std::vector<checkpoint::ArrayToWrite> arrays() const {
        std::vector<checkpoint::ArrayToWrite> out;
        if (std::ssize(batch_.inputs) + std::ssize(batch_.targets) > kMostArrayBytes) {
            return out;
        }
        const auto add = [&](const char* name, const ir::Type& sample,
                             std::span<const std::byte> bytes) {
            const std::int64_t rows = std::ssize(bytes) / std::max<std::int64_t>(sample.bytes(), 1);
            ir::Type type{sample.dtype, {rows}};
            for (const std::int64_t extent : sample.shape) {
                type.shape.push_back(extent);
            }
            out.push_back({name, type, [kept = std::vector<std::byte>(bytes.begin(), bytes.end())] {
                               return kept;
                           }});
        };
        add("inputs", info_.input, batch_.inputs);
        add("targets", info_.target, batch_.targets);
        add("weights", {ir::DType::f32, {}}, std::as_bytes(std::span(batch_.weights)));
        return out;
    }

private:
    const data::Batch& batch_;
    const data::SampleInfo& info_;
};

} // namespace

BatchRecord record_batch(const data::Batch& batch, const data::Source& source,
                         const data::Sampler& sampler, const Json& transforms,
                         const std::vector<std::int64_t>& suspects) {
    const std::int64_t epoch = batch.first_sample / source.samples();
    const std::int64_t first = batch.first_sample % source.samples();
    Json indices = Json::array();
    for (std::int64_t row = 0; row < std::min(batch.samples, kMostIndices); ++row) {
        indices.push_back(sampler.index(epoch, first + row));
    }
    const RowReader reader(batch, source);
    BatchRecord out;
    out.document = {{"epoch", epoch},           {"first", first},
                    {"samples", batch.samples}, {"indices", std::move(indices)},
                    {"kind", reader.kind()},    {"input_names", source.info().input_names},
                    {"shown", Json::array()}};
    const std::vector<std::int64_t> rows = shown_rows(batch.samples, suspects);
    for (const std::int64_t row : rows) {
        const std::int64_t index = sampler.index(epoch, first + row);
        Json one{{"row", row},
                 {"index", index},
                 {"place", source.place_of(index)},
                 {"suspect", std::find(suspects.begin(), suspects.end(), row) != suspects.end()}};
        reader.describe(row, one);
        out.document["shown"].push_back(std::move(one));
    }
    if (reader.kind() == "pictures" && !rows.empty()) {
        const ir::Shape& shape = source.info().input.shape;
        out.document["cell"] = {shape[0], shape[1]};
        out.sheet = reader.sheet(rows, pixel_scale(data::fitted_for(source, transforms)));
    }
    out.arrays = reader.arrays();
    return out;
}

} // namespace weft::train
