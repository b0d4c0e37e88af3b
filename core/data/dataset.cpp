// SPDX-License-Identifier: Apache-2.0
#include "core/data/dataset.h"

namespace weft::data {

void Source::read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                      const RowsOut& out) const {
    const auto input_bytes = static_cast<std::size_t>(info().input.bytes());
    const auto target_bytes = static_cast<std::size_t>(info().target.bytes());
    for (std::size_t i = 0; i < out.places.size(); ++i) {
        const std::int64_t index = first + static_cast<std::int64_t>(i);
        const auto input = out.inputs.subspan(out.places[i] * input_bytes, input_bytes);
        const auto target = out.targets.subspan(out.places[i] * target_bytes, target_bytes);
        if (epoch) {
            read_in_epoch(index, *epoch, input, target);
        } else {
            read(index, input, target);
        }
    }
}

} // namespace weft::data
