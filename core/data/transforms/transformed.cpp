// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/data/views.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::data {
namespace {

struct Step {
    std::unique_ptr<const Transform> transform;
    bool random;
    RandomStream stream; // step = epoch, block = sample
};

class TransformedSource final : public SourceOver {
public:
    TransformedSource(std::shared_ptr<const Source> source, std::vector<Step> steps,
                      config::Json list)
        : SourceOver(std::move(source)), steps_(std::move(steps)), list_(std::move(list)) {}

    const config::Json& list() const { return list_; }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        source().read(index, input, target);
        const InStage transforming(Stage::transform);
        transform(index, std::nullopt, input);
    }

    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        source().read(index, input, target);
        const InStage transforming(Stage::transform);
        transform(index, epoch, input);
    }

    void read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                  const RowsOut& out) const override {
        source().read_run(first, epoch, out);
        const InStage transforming(Stage::transform);
        const auto bytes = static_cast<std::size_t>(info().input.bytes());
        for (std::size_t i = 0; i < out.places.size(); ++i) {
            transform(first + static_cast<std::int64_t>(i), epoch,
                      out.inputs.subspan(out.places[i] * bytes, bytes));
        }
    }

private:
    /// Random steps are for epochs.
    void transform(std::int64_t index, std::optional<std::int64_t> epoch,
                   std::span<std::byte> input) const {
        for (const Step& step : steps_) {
            if (!step.random) {
                step.transform->apply(as_floats(input), nullptr);
            } else if (epoch) {
                Chance chance(step.stream, *epoch, index);
                step.transform->apply(as_floats(input), &chance);
            }
        }
    }

    static std::span<float> as_floats(std::span<std::byte> bytes) {
        WEFT_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0,
                   "sample buffers are aligned for their numbers");
        return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
    }

    std::vector<Step> steps_;
    config::Json list_;
};

/// What takes pixels stands before what turns them into other numbers.
void check_order(const TransformDef& def, const config::Json& list, std::size_t place,
                 const std::string& where) {
    for (std::size_t i = 0; def.of_pixels && i < place; ++i) {
        if (list[i].at("type") == kNormalizeTransform.name) {
            throw Error(ErrorKind::data, where,
                        std::string(def.name) + " changes pixels between 0 and 1, and stands "
                                                "behind normalize",
                        "Put it before normalize.");
        }
    }
}

} // namespace

ImageShape image_shape(const SampleInfo& info, const std::string& where) {
    if (info.input.dtype != ir::DType::f32 || info.input.shape.rank() != 3) {
        throw Error(ErrorKind::data, where,
                    "this transform is for images f32[H,W,C]; the samples are " +
                        ir::to_text(info.input),
                    "Remove the transform or use image data.");
    }
    return {info.input.shape[0], info.input.shape[1], info.input.shape[2]};
}

std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const config::Json& list, std::uint64_t seed,
                                          bool training) {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& name = list[i].at("type").get_ref<const std::string&>();
        const auto found = std::find_if(kTransforms.begin(), kTransforms.end(),
                                        [&](const TransformDef* def) { return def->name == name; });
        WEFT_CHECK(found != kTransforms.end(), "the configuration was checked: transform " + name);
        const std::string where = "/data/transforms/" + std::to_string(i);
        check_order(**found, list, i, where);
        auto transform = (*found)->make(list[i], source->info(), where);
        if ((*found)->random && !training) {
            continue;
        }
        // The place in the list is part of the name: two flips are two coins.
        steps.push_back({std::move(transform), (*found)->random,
                         RandomStream(seed, "data." + std::to_string(i) + "." + name)});
    }
    return steps.empty()
               ? source
               : std::make_shared<TransformedSource>(std::move(source), std::move(steps), list);
}

config::Json fitted_for(const Source& train, const config::Json& list) {
    const auto* own = dynamic_cast<const TransformedSource*>(&train);
    return own == nullptr ? list : own->list();
}

} // namespace weft::data
